"""How tools, calls and observations are written in a prompt: short, regular, the same every time.

A small model reads a signature better than a JSON Schema, and it costs a third of
the tokens. Rendering depends on nothing but its arguments, so that a prompt only
ever grows at its end and the server's prefix cache keeps working.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from ..gears import Turn
from ..prompts import text
from ..types import Declaration, Message

_MAX_DEPTH = 4
PATIENCE = 2
"""Steps with results before each further one ends with a reminder."""


def signature(tool: Declaration) -> str:
    """Write a tool as one signature line, its description, and a line for each described argument."""
    schema = tool.parameters
    required = set(schema.get("required", ()))
    properties: Mapping[str, Any] = schema.get("properties", {})
    arguments = ", ".join(_argument(name, prop, name in required, schema) for name, prop in properties.items())
    lines = [f"- {tool.name}({arguments}): {_one_line(tool.description)}".rstrip(": ")]
    for name, prop in properties.items():
        described: Any = cast("Mapping[str, Any]", prop).get("description") if isinstance(prop, Mapping) else None
        if described:
            lines.append(f"    {name}: {_one_line(described)}")
    return "\n".join(lines)


def signatures(tools: Iterable[Declaration]) -> str:
    """Write all tools, one under the other."""
    return "\n".join(signature(tool) for tool in tools)


def _argument(name: str, prop: Any, required: bool, root: Mapping[str, Any]) -> str:
    shown = f"{name}: {type_name(prop, root)}"
    if required:
        return shown
    default: Any = cast("Mapping[str, Any]", prop).get("default") if isinstance(prop, Mapping) else None
    return f"{shown} = {json.dumps(default, ensure_ascii=False)}" if default is not None else f"{shown}?"


def type_name(schema: Any, root: Mapping[str, Any], depth: int = 0) -> str:
    """Name a schema's type in a few characters: `string`, `integer[]`, `"km"|"mile"`, `{name: string}`."""
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return "any"
    schema = cast("Mapping[str, Any]", schema)
    if "$ref" in schema:
        target: Any = root
        for part in str(schema["$ref"]).lstrip("#/").split("/"):
            target = cast("Mapping[str, Any]", target).get(part, {}) if isinstance(target, Mapping) else {}
        return type_name(target, root, depth + 1)
    if "enum" in schema:
        return "|".join(json.dumps(v, ensure_ascii=False) for v in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return "|".join(dict.fromkeys(type_name(s, root, depth + 1) for s in schema[key]))
    kind: Any = schema.get("type", "any")
    if isinstance(kind, list):
        return "|".join(str(k) for k in cast("list[Any]", kind))
    if kind == "array":
        inner = type_name(schema.get("items", {}), root, depth + 1)
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind == "object" and schema.get("properties"):
        needed = set(schema.get("required", ()))
        inner = ", ".join(
            f"{k}{'' if k in needed else '?'}: {type_name(v, root, depth + 1)}" for k, v in schema["properties"].items()
        )
        return "{" + inner + "}"
    return f"{kind} ({schema['format']})" if schema.get("format") else str(kind)


def system_text(turn: Turn, rules: str) -> str:
    """The user's own instructions first, then the protocol's rules."""
    own = [m.content for m in turn.messages if m.role == "system"]
    return "\n\n".join(part for part in (*own, rules) if part)


def question_of(turn: Turn, most: int = 300) -> str:
    """The question in one line, to say again where many results stand between it and the answer."""
    asked = next((m.content for m in reversed(turn.messages) if m.kind == "question"), "")
    line = _one_line(asked)
    return line if len(line) <= most else f"{line[:most]}…"


def answer_in(turn: Turn) -> str:
    """Say the language of the answer, to stand behind "the answer"."""
    return text("answer", turn.language, f"in_{turn.answer_in or turn.language}")


def wire(
    turn: Turn, rules: str, one: Callable[[Message], tuple[str, str]], *, after_results: str = ""
) -> list[dict[str, Any]]:
    """Render a turn as plain system, user and assistant messages that alternate, which every chat template takes.

    Args:
        turn: What to show.
        rules: The protocol's instructions, after the user's own.
        one: Gives role and content of one message in the protocol's form.
        after_results: A line after the results of the third step and each later one: a reminder to come to an end.
            It depends on nothing but the place, so that the prefix holds.
    """
    out: list[dict[str, Any]] = [{"role": "system", "content": system_text(turn, rules)}]
    shown: list[tuple[str, str]] = []
    messages = [m for m in turn.messages if m.role != "system"]
    groups = 0
    for message, following in zip(messages, [*messages[1:], None], strict=True):
        shown.append(one(message))
        if message.role == "tool" and (following is None or following.role != "tool"):
            groups += 1
            if after_results and groups > PATIENCE:
                shown.append(("user", after_results))
    if turn.instruction:
        shown.append(("user", turn.instruction))
    for role, content in shown:
        if role == out[-1]["role"]:
            out[-1] = {"role": role, "content": f"{out[-1]['content']}\n{content}"}
        else:
            out.append({"role": role, "content": content})
    return out


def _one_line(words: str) -> str:
    return " ".join(str(words).split())
