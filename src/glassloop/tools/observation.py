"""What goes back to the model after a call: one shape, valid JSON, never longer than the limit.

Owes: `{"status":"ok","data":…}` or `{"status":"error","reason":…,"hint":…}` (and, for calls that
were not allowed or whose outcome nobody knows, the same with `denied` and `unknown`).
What is cut is said to be cut. Numbers, ids and short texts are not.

Data that is already an observation is not wrapped a second time: `{"status":"ok","data":x}` is
`x`, and a dict whose only meaning is an error (`{"error": "…"}`, alone or beside `ok: false`,
`success: false`, `status`, `code`, `message` and `hint`) takes the error shape, as an exception does;
so does a dict that says `ok: false` and why beside other fields, which then follow the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, cast

from .plain import plain
from .shrink import shrink

__all__ = ["clean", "denied", "error", "ok", "plain", "unknown", "with_note"]

LIMIT = 1_000
SMALLEST = 60
"""Below this many characters no shape has room for a word; smaller limits are read as this one."""

DROPPED = ("_*", "debug*", "trace*")
"""Fields that are not for a model, by pattern, in any case of letters."""

_ERROR_WORDS = ("error", "errors", "reason", "message", "detail", "error_message")
_BESIDE_ERROR = frozenset({*_ERROR_WORDS, "status", "ok", "success", "code", "status_code", "hint", "type", "data"})
_FAILED = (False, "error", "failed", "failure", "fail")


def dumps(value: Any) -> str:
    """Write JSON as observations have it: no spaces, Unicode as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def clean(data: Any, limit: int = LIMIT, *, keep: Iterable[str] = (), drop: Iterable[str] = ()) -> str:
    """Return what a model reads of a tool's result: always valid JSON of at most `limit` characters.

    Args:
        data: Whatever the tool returned.
        limit: Most characters of the whole text; anything under 60 counts as 60.
        keep: Patterns of field names that stay although they look private, debug or empty.
        drop: Patterns of further field names that go.
    """
    held = plain(data)
    if isinstance(data, BaseException):
        return error(str(held), limit=limit)
    held = _pruned(held, _patterns(keep), (*DROPPED, *_patterns(drop)))
    found = _as_error(held)
    if found is not None:
        return error(found[0], found[1], limit)
    if isinstance(held, dict):
        shape = cast("dict[str, Any]", held)
        if shape.get("status") == "ok" and shape.keys() == {"status", "data"}:
            held = shape["data"]
    return _ok(held, limit)


def ok(data: Any, limit: int = LIMIT, *, keep: Iterable[str] = (), drop: Iterable[str] = ()) -> str:
    """Return the observation of a result, whatever it looks like."""
    return _ok(_pruned(plain(data), _patterns(keep), (*DROPPED, *_patterns(drop))), limit)


def _ok(data: Any, limit: int) -> str:
    room = max(SMALLEST, limit) - len('{"status":"ok","data":}')
    return '{"status":"ok","data":' + shrink(data, room, dumps) + "}"


def _patterns(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(g.casefold() for g in given)


def error(reason: str, hint: str = "", limit: int = LIMIT) -> str:
    """Return the observation of a failure: what happened, and what can be done about it."""
    return _told("error", reason, hint, limit)


def denied(reason: str, hint: str = "", limit: int = LIMIT) -> str:
    """Return the observation of a call that was not allowed."""
    return _told("denied", reason, hint, limit)


def unknown(reason: str, hint: str = "", limit: int = LIMIT) -> str:
    """Return the observation of a call that was begun and whose outcome nobody knows."""
    return _told("unknown", reason, hint, limit)


def with_hint(content: str, hint: str, limit: int = LIMIT) -> str:
    """Give an error observation that says not what to do a hint."""
    told = json.loads(content)
    return error(str(told.get("reason", "")), hint, limit)


def with_note(content: str, note: str, limit: int = LIMIT) -> str:
    """Add a `note` to an observation, taking its room from the data if need be."""
    limit = max(SMALLEST, limit)
    try:
        shape = json.loads(content)
    except ValueError:
        shape = {"status": "ok", "data": content}
    if not isinstance(shape, dict):
        shape = {"status": "ok", "data": shape}
    held = cast("dict[str, Any]", shape)
    note = _cut(str(plain(note)), limit // 3)
    whole = {**held, "note": note}
    if len(dumps(whole)) <= limit:
        return dumps(whole)
    room = limit - len(dumps({"note": note})) + 1
    if "data" not in held:
        told = _told(str(held.get("status", "error")), str(held.get("reason", "")), str(held.get("hint", "")), room)
        return told[:-1] + "," + dumps({"note": note})[1:] if len(told) <= room else content
    frame = len('{"status":"","data":}') + len(str(held.get("status", "ok")))
    data = shrink(held["data"], max(4, room - frame), dumps)
    out = dumps({"status": held.get("status", "ok"), "data": None, "note": note}).replace("null", data, 1)
    return out if len(out) <= limit else content


def _told(status: str, reason: Any, hint: Any, limit: int) -> str:
    """Write a failure; the hint is the shorter half, and goes when there is no room for both."""
    limit = max(SMALLEST, limit)
    reason, hint = str(plain(reason)).strip(), str(plain(hint)).strip()
    for share in (limit, limit // 2, limit // 3, limit // 4, 0):
        for first in (limit, limit // 2, limit // 3, limit // 4, limit // 6):
            shape = {"status": status, "reason": _cut(reason, first), "hint": _cut(hint, share)}
            text = dumps(shape)
            if len(text) <= limit:
                return text
    return dumps({"status": status, "reason": "", "hint": ""})


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return text[: most - 1] + "…" if most > 1 else ""


_ERROR_TEXT = re.compile(r"\s*(?:error|错误|出错)\s*[:：]\s*(\S.*)", re.IGNORECASE | re.DOTALL)
_ERROR_CHARS = 300
"""A longer text that begins with "error:" is a log or a document, not a failure."""


def _as_error(data: Any) -> tuple[str, str] | None:
    """The reason and hint of data that is nothing but an error: an object that says so, or a short `error: …` text."""
    if isinstance(data, str):
        said = _ERROR_TEXT.match(data) if len(data) <= _ERROR_CHARS else None
        return (said[1].strip(), "") if said else None
    if not isinstance(data, dict):
        return None
    shape = {str(k).casefold(): v for k, v in cast("dict[str, Any]", data).items()}
    failed = any(shape.get(w) in _FAILED and shape.get(w) is not None for w in ("status", "ok", "success"))
    word = next((w for w in _ERROR_WORDS if shape.get(w) and shape[w] is not True), None)
    if word is None or not (failed or word in ("error", "errors")):
        return None  # a message alone is no error
    succeeded = shape.get("ok") is True or shape.get("success") is True or shape.get("status") in ("ok", "success")
    further = {k: v for k, v in shape.items() if k not in _BESIDE_ERROR}
    if succeeded or shape.get("data") or (further and not failed):
        return None
    reason, hint = shape[word], str(shape.get("hint") or "")
    inner = _as_error({"ok": False, **reason}) if isinstance(reason, dict) else None
    if inner is not None:
        return inner[0], inner[1] or hint
    text = reason if isinstance(reason, str) else dumps(reason)
    more = shape.get("message")
    if isinstance(more, str) and more and more != text:
        text = f"{text}: {more}"
    return (f"{text} {dumps(further)}" if further else text), hint


def _pruned(value: Any, keep: tuple[str, ...], drop: tuple[str, ...]) -> Any:
    """Without the fields that are empty or not for a model, at every depth; items of lists stay in place."""
    if isinstance(value, list):
        return [_pruned(item, keep, drop) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for name, item in cast("dict[str, Any]", value).items():
        low = name.casefold()
        if any(fnmatchcase(low, k) for k in keep):
            out[name] = _pruned(item, keep, drop)
            continue
        if any(fnmatchcase(low, d) for d in drop):
            continue
        left = _pruned(item, keep, drop)
        if left is not None and left != "" and left != [] and left != {}:
            out[name] = left
    return out
