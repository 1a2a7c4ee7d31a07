"""Making data fit: what is cut first, what last, and how the cut is told.

Owes: JSON text of at most the room there is, for any JSON-ready data. Long texts lose their
middle, long lists their middle items, then deep parts become a count, then fields of wide
objects go; each cut says how much is missing. Numbers and short texts stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

Dumps = Callable[[Any], str]

SHORT = 40
"""Texts up to this length are never cut, except when nothing else fits."""

NAME = 128
"""Ids, hashes, addresses and paths up to this length are worth nothing when cut, and stay whole like short texts."""

_NAME = re.compile(r"[!-~]+")

LEVELS = (
    (2000, 200),
    (1000, 100),
    (500, 50),
    (300, 30),
    (200, 20),
    (140, 14),
    (100, 10),
    (80, 8),
    (60, 6),
    (SHORT, 4),
    (SHORT, 3),
    (SHORT, 2),
    (SHORT, 1),
)
"""Characters of a text and items of a list, from mild to hard."""

DEPTHS = (6, 4, 3, 2, 1)
WIDTHS = (40, 24, 16, 10, 6, 4, 2, 1)
FAR = 10**9


def shrink(data: Any, room: int, dumps: Dumps) -> str:
    """Return the JSON text of `data`, cut until it has at most `room` characters.

    Args:
        data: JSON-ready data.
        room: Most characters; at least 4.
        dumps: How JSON is written.
    """
    text = dumps(data)
    if len(text) <= room:
        return text
    for chars, items in LEVELS:
        text = dumps(_cut(data, chars, items, FAR, FAR))
        if len(text) <= room:
            return _grown(data, chars, items, text, room, dumps)
    for depth in DEPTHS:
        text = dumps(_cut(data, SHORT, 2, depth, FAR))
        if len(text) <= room:
            return text
    for width in WIDTHS:
        text = dumps(_cut(data, SHORT, 2, 2 if width > 6 else 1, width))
        if len(text) <= room:
            return text
    return _last(data, room, dumps)


def _grown(data: Any, chars: int, items: int, text: str, room: int, dumps: Dumps) -> str:
    """Give the room that is left back: first to the lists, then to the texts."""
    best = text
    for grow_items in (True, False):
        low, high = (items, max(items, room)) if grow_items else (chars, max(chars, room))
        while low < high:
            middle = (low + high + 1) // 2
            tried = dumps(_cut(data, chars if grow_items else middle, middle if grow_items else items, FAR, FAR))
            if len(tried) <= room:
                low, best = middle, tried
            else:
                high = middle - 1
        items, chars = (low, chars) if grow_items else (items, low)
    return best


def _cut(value: Any, chars: int, items: int, depth: int, width: int) -> Any:
    if isinstance(value, str):
        return cut_text(value, chars)
    if isinstance(value, list):
        held = cast("list[Any]", value)
        if depth <= 0 and held:
            return f"[{len(held):,} items]"
        if len(held) <= items + 1:
            return [_cut(item, chars, items, depth - 1, width) for item in held]
        head = (items + 1) // 2
        tail = items - head
        left_out = f"… {len(held) - items:,} items left out …"
        first = [_cut(item, chars, items, depth - 1, width) for item in held[:head]]
        last = [_cut(item, chars, items, depth - 1, width) for item in held[len(held) - tail :]]
        return [*first, left_out, *last]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if depth <= 0 and fields:
            return f"{{{len(fields):,} fields}}"
        names = list(fields)[:width]
        out = {cut_text(n, max(chars, SHORT)): _cut(fields[n], chars, items, depth - 1, width) for n in names}
        if len(fields) > width:
            out["…"] = f"{len(fields) - width:,} fields left out"
        return out
    return value


def cut_text(text: str, chars: int) -> str:
    """Cut a text in the middle to about `chars` characters and say how many were left out."""
    if len(text) <= max(chars, SHORT) or (len(text) <= NAME and _NAME.fullmatch(text)):
        return text
    left_out = len(text) - chars
    mark = f" … {left_out:,} characters left out … "
    if len(mark) >= left_out:  # the mark would take the room it is to save
        return text
    head = (chars + 1) // 2
    return text[:head] + mark + text[len(text) - (chars - head) :]


def _last(data: Any, room: int, dumps: Dumps) -> str:
    """Say in a few words what there was: nothing of it fits."""
    if isinstance(data, list):
        what = f"list of {len(cast('list[Any]', data)):,} items, too long to show"
    elif isinstance(data, dict):
        what = f"object of {len(cast('dict[str, Any]', data)):,} fields, too long to show"
    elif isinstance(data, str):
        for keep in (room - 4, room // 2, room // 4, room // 8):
            text = dumps(data[: max(0, keep)] + "…")
            if len(text) <= room:
                return text
        what = "text"
    else:
        what = f"{type(data).__name__}, too long to show"
    return dumps(what[: max(0, room - 2)])
