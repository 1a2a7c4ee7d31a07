"""Turn anything that was handed in as a conversation into plain chat-completions dicts of our own.

Junk is made readable or dropped; nothing here raises, and nothing handed in is changed.
What is already right comes back equal, byte for byte.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

Wire = dict[str, Any]
"""One message in chat-completions form."""

_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
}
_DEEPEST = 40
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


def clean_messages(messages: Any) -> list[Wire]:
    """Return the readable messages, each a new dict with a known role, a `content` key and sound calls."""
    if isinstance(messages, (str, Mapping)):
        items: list[Any] = [cast("Any", messages)]
    elif isinstance(messages, Iterable):
        items = list(cast("Iterable[Any]", messages))
    else:
        return []
    cleaned = (_clean(item) for item in items)
    return [message for message in cleaned if message is not None]


def _clean(item: Any) -> Wire | None:
    if isinstance(item, str):
        return {"role": "user", "content": plain(item)} if item.strip() else None
    if not isinstance(item, Mapping):
        return None
    data: Wire = plain(item)
    role = data.get("role")
    known = _ROLES.get(role.strip().lower()) if isinstance(role, str) else None
    if known is None and is_empty(data.get("content")) and not data.get("tool_calls"):
        return None
    if known is None:
        known = "assistant" if data.get("tool_calls") else "user"
    message: Wire = {"role": known, "content": None}
    message.update({k: v for k, v in data.items() if k not in ("role", "content", "tool_calls", "function_call")})
    message["content"] = _content(data.get("content"))
    if known == "assistant":
        return _clean_assistant(message, data)
    if message["content"] is None:
        message["content"] = ""
    if known == "tool":
        message["tool_call_id"] = _id(data.get("tool_call_id", data.get("id")))
        message.pop("id", None)
    return message


def _clean_assistant(message: Wire, data: Wire) -> Wire | None:
    given = data.get("tool_calls")
    calls = [c for c in map(_clean_call, cast("list[Any]", given)) if c] if isinstance(given, list) else []
    legacy = data.get("function_call")
    if not calls and isinstance(legacy, dict) and (call := _clean_call({"function": legacy})):
        calls = [call]
    if calls:
        message["tool_calls"] = calls
        if is_empty(message["content"]):
            # The key stays, with null: servers refuse both an empty string next to calls and a missing key.
            message["content"] = None
        return message
    return None if is_empty(message["content"]) else message


def _clean_call(call: Any) -> Wire | None:
    if not isinstance(call, dict):
        return None
    data = cast("Wire", call)
    function = data.get("function")
    if not isinstance(function, dict):
        function = {"name": data.get("name"), "arguments": data.get("arguments", data.get("args"))}
    inner = cast("Wire", function)
    name = inner.get("name")
    name = _NOT_IN_NAMES.sub("_", name.strip()) if isinstance(name, str) else ""
    arguments = inner.get("arguments")
    rest = {k: v for k, v in inner.items() if k not in ("name", "arguments")}
    kept = {k: v for k, v in data.items() if k not in ("id", "type", "function", "name", "arguments", "args")}
    shape = {"name": name or "unknown", "arguments": _arguments(arguments), **rest}
    return {"id": _id(data.get("id")), "type": "function", "function": shape, **kept}


def _arguments(given: Any) -> str:
    """Return arguments as the text of one JSON object. Text that is one already is not touched.

    Anything else becomes `{}`: a server refuses a history with broken arguments in every later request.
    What the model wrote is in the record, and the error it got stands in the call's result.
    """
    if isinstance(given, dict):
        return json.dumps(given, ensure_ascii=False)
    if not isinstance(given, str):
        return "{}"
    data = strict_json(given)
    if isinstance(data, dict):
        return given
    inner = strict_json(data) if isinstance(data, str) else None
    return cast("str", data) if isinstance(inner, dict) else "{}"


def strict_json(given: Any) -> Any:
    """Decode JSON as servers do, without Python's `NaN`; None when it is not JSON."""
    try:
        return json.loads(given, parse_constant=_refuse)
    except (ValueError, TypeError, RecursionError):
        return None


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _id(given: Any) -> str | None:
    if given is None or isinstance(given, (dict, list, bool)) or given == "":
        return None
    return str(given)


def _content(given: Any) -> Any:
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, list):
        items = ({"type": "text", "text": p} if isinstance(p, str) else p for p in cast("list[Any]", given))
        parts = [cast("Wire", p) for p in items if isinstance(p, dict) and p]
        typed = [p if isinstance(p.get("type"), str) else {"type": "text", "text": _text(p)} for p in parts]
        return typed or None
    return _text(given)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def text_of(content: Any) -> str:
    """Return the text of a message's content, be it a string or a list of parts."""
    if isinstance(content, list):
        parts = (cast("Wire", p) for p in cast("list[Any]", content) if isinstance(p, dict))
        return "\n".join(_text(p["text"]) for p in parts if p.get("text"))
    return content if isinstance(content, str) else ""


def is_empty(content: Any) -> bool:
    """Whether a content says nothing at all."""
    if isinstance(content, list):
        parts = [cast("Wire", p) for p in cast("list[Any]", content) if isinstance(p, dict)]
        return all(p.get("type") in (None, "text") and not _text(p.get("text") or "").strip() for p in parts)
    return content is None or (isinstance(content, str) and not content.strip())


def joined(first: Any, second: Any) -> Any:
    """Join two contents of one role into one; text with a blank line between, parts one after the other."""
    if isinstance(first, str) and isinstance(second, str):
        return "\n\n".join(part for part in (first, second) if part)
    if is_empty(first) or is_empty(second):
        return second if is_empty(first) else first
    return [*_parts(first), *_parts(second)]


def _parts(content: Any) -> list[Any]:
    return cast("list[Any]", content) if isinstance(content, list) else [{"type": "text", "text": content}]


def plain(value: Any, depth: int = 0) -> Any:
    """Copy a value as JSON data that can be sent: no lone surrogates, no NaN, no endless depth."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() <= 4096 else hex(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {_key(k): plain(v, depth + 1) for k, v in cast("Mapping[Any, Any]", value).items()}
    if depth < _DEEPEST and isinstance(value, (list, tuple)):
        return [plain(v, depth + 1) for v in cast("list[Any]", value)]
    try:
        return plain(str(value))
    except Exception:  # a stranger's __str__ or __repr__ may do anything; its type is all that can be said
        return type(value).__name__


def _key(key: Any) -> str:
    return plain(key) if isinstance(key, str) else str(plain(key))
