"""What a request says that the one before did not: new messages, continued ones, dropped ones, other constraints."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from ..types import Record, Request


@dataclass(frozen=True)
class Sent(Record):
    """A message of a request. `how`: `new`, `continued` (only the addition is shown), `changed`, or `gone`."""

    role: str
    text: str
    how: str = "new"
    place: int = 0
    before: str = ""


def message_text(message: dict[str, Any]) -> str:
    """Write a chat-completions message as text: its content, then its calls as JSON."""
    content = message.get("content")
    parts = [content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)] if content else []
    for call in message.get("tool_calls") or ():
        function = call.get("function", call)
        parts.append(f"{function.get('name', '')}({function.get('arguments', '')})")
    return "\n".join(parts)


def prompt_change(before: Request | None, now: Request, kept: int) -> tuple[tuple[Sent, ...], dict[str, Any]]:
    """Return what is new in a request, and facts about the whole of it.

    Args:
        before: The request before, or None for the first.
        now: The whole request.
        kept: How many leading messages both share.
    """
    old = before.messages[kept:] if before else ()
    new = now.messages[kept:]
    sent: list[Sent] = []
    for i in range(max(len(old), len(new))):
        place = kept + i + 1
        if i >= len(new):
            sent.append(Sent(str(old[i].get("role", "")), message_text(old[i]), "gone", place))
        elif i >= len(old):
            sent.append(Sent(str(new[i].get("role", "")), message_text(new[i]), "new", place))
        else:
            sent.extend(_changed(old[i], new[i], place))
    facts: dict[str, Any] = {"kept": kept, "messages": len(now.messages), "temperature": now.temperature}
    if before is not None:
        facts.update(_constraints(before, now))
    else:
        facts["constraint"] = "a JSON schema" if now.schema else f"{len(now.tools)} tools" if now.tools else ""
    return tuple(sent), {k: v for k, v in facts.items() if v not in ("", None)}


def _changed(old: dict[str, Any], new: dict[str, Any], place: int) -> list[Sent]:
    role = str(new.get("role", ""))
    before, after = message_text(old), message_text(new)
    if old.get("role") == new.get("role") and after.startswith(before):
        return [Sent(role, after[len(before) :].lstrip("\n"), "continued", place)]
    if old.get("role") == new.get("role"):
        return [Sent(role, after, "changed", place, before)]
    return [Sent(str(old.get("role", "")), before, "gone", place), Sent(role, after, "new", place)]


def _constraints(before: Request, now: Request) -> dict[str, Any]:
    """Say what the model may do now that it could not before, or the other way round."""
    out: dict[str, Any] = {}
    if before.schema != now.schema:
        out["constraint"] = "another JSON schema" if now.schema else "no JSON schema any more"
    old, new = (
        [t.get("function", t).get("name", "") for t in r.tools] or schema_tools(r.schema) for r in (before, now)
    )
    if old != new:
        out["no_longer_offered"] = [n for n in old if n not in new]
        out["offered_again"] = [n for n in new if n not in old]
    return {k: v for k, v in out.items() if v}


def schema_tools(schema: Any) -> list[str]:
    """Return the tools a step's JSON schema lets through: the constants its calls may be named."""
    names: list[str] = []
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            fields = cast("dict[str, Any]", node)
            properties: Any = fields.get("properties") or {}
            if "arguments" in properties and "name" in properties:
                names.append(str(properties["name"].get("const", "")))
            else:
                stack.extend(reversed(list(fields.values())))
        elif isinstance(node, list):
            stack.extend(reversed(cast("list[Any]", node)))
    return names
