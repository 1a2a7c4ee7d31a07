"""`prepare_messages`: a conversation as a server will take it, however strict its template is.

    clean ─► pair calls and results ─► write in the profile's form ─► cut to size ─► put the roles in order

The result is deterministic, preparing it again changes nothing, what was handed in is never
changed, and no input raises. Only whole units are cut: a call and its results go together.
"""

from __future__ import annotations

import base64
import re
from typing import Any, cast

from ..prompts import language_of, text
from .pairing import Unit, paired, result_text
from .profiles import Profile, profile_of
from .trim import trim
from .wire import Wire, clean_messages, is_empty, joined, strict_json, text_of

_NOT_ASCII_NAME = re.compile(r"[^A-Za-z0-9_-]")


def prepare_messages(
    messages: Any,
    profile: Any = None,
    keep_last: int | None = None,
    max_chars: int | None = None,
    op: str | None = None,
    append_user: str | None = None,
    target: str | None = None,
) -> list[dict[str, Any]]:
    """Return the messages to send: every call answered once, ids unique, roles as the template wants them.

    Args:
        messages: A conversation of chat-completions dicts, as it was recorded or received.
        profile: What the server takes: `"openai"`, `"mistral"`, `"gemma"`, `"llama"`, `"ollama"`, a `Profile`,
            or a mapping of its fields such as `{"strict_alternation": True, "tool_role": False}`.
        keep_last: Keep about this many of the latest messages; system messages, the last question and the
            last unit stay in any case, and a call is never parted from its results.
        max_chars: Keep what is sent, counted as JSON, under this size.
        op: `"summarise"` puts a summary in the place of what is cut; any other value just cuts.
        append_user: A user message to add at the end.
        target: A wire form: `"ollama_native"` wants arguments as objects.
    """
    wanted = profile_of(profile, target)
    cleaned = clean_messages(messages)
    if isinstance(append_user, str) and append_user.strip():
        cleaned.extend(clean_messages([append_user]))
    keep, chars = _limit(keep_last), _limit(max_chars)
    found = _once(cleaned, wanted, keep, chars, op)
    # Joining roles can change what counts as one message, so a cut is repeated until it changes nothing.
    for _ in range(8 if keep is not None or chars is not None else 0):
        again = _once(clean_messages(found), wanted, keep, chars, op)
        if again == found:
            break
        found = again
    return found


def _limit(given: Any) -> int | None:
    return max(0, given) if isinstance(given, int) and not isinstance(given, bool) else None


def _once(cleaned: list[Wire], profile: Profile, keep: int | None, chars: int | None, op: Any) -> list[Wire]:
    units = [_written(unit, profile) for unit in paired(cleaned, short_ids=profile.short_ids)]
    hidden = False
    if keep is not None or chars is not None:
        summarise = op in ("summarise", "summarize", "compact")
        spare = 160 if profile.strict_alternation else 0  # for the words that keep the roles in order
        units, hidden = trim(units, keep=keep, chars=chars, summarise=summarise, spare=spare)
    flat = [message for unit in units for message in unit]
    if profile.single_leading_system or not profile.system_role:
        flat = _lead_with_system(flat, profile)
    if profile.strict_alternation:
        flat = _alternate(flat, profile, hidden)
    if not profile.user_after_tool:
        flat = _bridge_tools(flat)
    return flat


# -- the profile's form of one unit -----------------------------------------------------------


def _written(unit: Unit, profile: Profile) -> Unit:
    first = unit[0]
    if first.get("tool_calls"):
        if not profile.tool_role:
            return _as_text(unit)
        if profile.ascii_names:
            unit = _with_ascii_names(unit)
        if not profile.text_with_calls:
            unit = [{**unit[0], "content": None}, *unit[1:]]
        if not profile.parallel_calls:
            unit = _one_by_one(unit)
    return [_for_ollama(m, unit) for m in unit] if profile.object_arguments else unit


def _as_text(unit: Unit) -> Unit:
    """Write a batch as ordinary turns: what was called as assistant text, the results as user text."""
    language = language_of("".join(text_of(m["content"]) for m in unit))
    calls = [call["function"] for call in unit[0]["tool_calls"]]
    lines = [text("memory", language, "call", name=c["name"], arguments=c["arguments"]) for c in calls]
    said = joined(text_of(unit[0]["content"]), "\n".join(lines))
    results = [
        result_text(call["name"], text_of(result["content"]), language)
        for call, result in zip(calls, unit[1:], strict=True)
    ]
    return [{"role": "assistant", "content": said}, {"role": "user", "content": "\n\n".join(results)}]


def _with_ascii_names(unit: Unit) -> Unit:
    """A name no such server accepts would make it refuse every later request."""
    calls: list[Wire] = []
    for call in unit[0]["tool_calls"]:
        name = _NOT_ASCII_NAME.sub("_", call["function"]["name"])[:64]
        calls.append({**call, "function": {**call["function"], "name": name}})
    results = [
        {**m, "name": _NOT_ASCII_NAME.sub("_", m["name"])[:64] or "unknown"} if isinstance(m.get("name"), str) else m
        for m in unit[1:]
    ]
    return [{**unit[0], "tool_calls": calls}, *results]


def _one_by_one(unit: Unit) -> Unit:
    """Some templates refuse two calls in one message: call, result, call, result."""
    sequence: Unit = []
    for place, (call, result) in enumerate(zip(unit[0]["tool_calls"], unit[1:], strict=True)):
        first = unit[0] if place == 0 else {"role": "assistant", "content": None}
        sequence += [{**first, "tool_calls": [call]}, result]
    return sequence


def _for_ollama(message: Wire, unit: Unit) -> Wire:
    """The form of Ollama's own API: argument objects, content one text, images beside it, results by tool name."""
    message = dict(message)
    if isinstance(message["content"], list):
        parts = [cast("Wire", p) for p in cast("list[Any]", message["content"]) if isinstance(p, dict)]
        urls = [p["image_url"].get("url") for p in parts if isinstance(p.get("image_url"), dict)]
        images = [u.split(",", 1)[1] for u in urls if isinstance(u, str) and u.startswith("data:") and _base64(u)]
        if images:
            message["images"] = images
        message["content"] = text_of(message["content"])
    if message.get("tool_calls"):
        message["tool_calls"] = [
            {**c, "function": {**c["function"], "arguments": strict_json(c["function"]["arguments"]) or {}}}
            for c in message["tool_calls"]
        ]
    if message["role"] == "tool" and "tool_name" not in message:
        calls = unit[0]["tool_calls"]
        name = next((c["function"]["name"] for c in calls if c["id"] == message["tool_call_id"]), None)
        if name:
            message["tool_name"] = name
    return message


def _base64(url: str) -> bool:
    try:
        return bool(base64.b64decode(url.partition(",")[2], validate=True))
    except ValueError:
        return False


# -- the order of roles -----------------------------------------------------------------------


def _lead_with_system(flat: list[Wire], profile: Profile) -> list[Wire]:
    """Bring all system texts to the front; without a system role they open the first user message."""
    systems = [m for m in flat if m["role"] == "system" and not is_empty(m["content"])]
    rest = [m for m in flat if m["role"] != "system"]
    if not systems:
        return rest
    content = systems[0]["content"]
    for message in systems[1:]:
        content = joined(content, message["content"])
    if profile.system_role:
        return [{**systems[0], "content": content}, *rest]
    if rest and rest[0]["role"] == "user":
        return [{**rest[0], "content": joined(content, rest[0]["content"])}, *rest[1:]]
    return [{"role": "user", "content": content}, *rest]


def _alternate(flat: list[Wire], profile: Profile, hidden: bool) -> list[Wire]:
    """Make user and assistant take turns, the user first, by joining neighbours of one role."""
    turns: list[Wire] = []
    for message in flat:
        last = turns[-1] if turns else None
        role = message["role"]
        language = language_of(text_of(message["content"]))
        if role == "assistant" and (last is None or last["role"] == "system"):
            opening = "earlier_hidden" if hidden else "opening"
            turns.append({"role": "user", "content": text("memory", language, opening)})
        elif last is not None and role == last["role"] in ("user", "assistant"):
            if not last.get("tool_calls") and (not message.get("tool_calls") or profile.text_with_calls):
                turns[-1] = {**last, **message, "content": joined(last["content"], message["content"])}
                continue
            if role == "assistant":
                turns.append({"role": "user", "content": text("memory", language, "go_on")})
        turns.append(message)
    return turns


def _bridge_tools(flat: list[Wire]) -> list[Wire]:
    """Put a word of the assistant between a tool result and a user message that follows it directly."""
    bridged: list[Wire] = []
    for message in flat:
        if message["role"] == "user" and bridged and bridged[-1]["role"] == "tool":
            language = language_of(text_of(message["content"]))
            bridged.append({"role": "assistant", "content": text("memory", language, "noted")})
        bridged.append(message)
    return bridged
