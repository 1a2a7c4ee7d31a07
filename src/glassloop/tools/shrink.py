"""Making data fit: what is cut first, what last, and how the cut is told.

Owes: JSON text of at most the room there is, for any JSON-ready data. Long texts lose their
middle, long lists their middle items, then deep parts become a count, then fields of wide
objects go; each cut says how much is missing. Numbers and short texts stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
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


class TooLong(Exception):
    """A cut version is certainly longer than the room; found out before it is written."""


def shrink(data: Any, room: int, dumps: Dumps) -> str:
    """Return the JSON text of `data`, cut until it has at most `room` characters.

    Args:
        data: JSON-ready data.
        room: Most characters; at least 4.
        dumps: How JSON is written.
    """
    whole = _fitting(data, (FAR, FAR, FAR, FAR), room, dumps)
    if whole is not None:
        return whole
    for chars, items in LEVELS:
        text = _fitting(data, (chars, items, FAR, FAR), room, dumps)
        if text is not None:
            return _grown(data, chars, items, text, room, dumps)
    hard = [(SHORT, 2, depth, FAR) for depth in DEPTHS]
    hard += [(SHORT, 2, 2 if width > 6 else 1, width) for width in WIDTHS]
    for sizes in hard:
        text = _fitting(data, sizes, room, dumps)
        if text is not None:
            return text
    return _last(data, room, dumps)


def _grown(data: Any, chars: int, items: int, text: str, room: int, dumps: Dumps) -> str:
    """Give the room that is left back: first to the lists, then to the texts."""
    best = text
    for grow_items in (True, False):
        low = items if grow_items else chars
        high = max(low, room)
        while low < high:
            middle = (low + high + 1) // 2
            sizes = (chars, middle, FAR, FAR) if grow_items else (middle, items, FAR, FAR)
            tried = _fitting(data, sizes, room, dumps)
            if tried is None:
                high = middle - 1
            else:
                low, best = middle, tried
        items, chars = (low, chars) if grow_items else (items, low)
    return best


def _fitting(data: Any, sizes: tuple[int, int, int, int], room: int, dumps: Dumps) -> str | None:
    """The text of `data` cut to these sizes, if it has room."""
    try:
        text = dumps(_Cut(*sizes, room).of(data, sizes[2]))
    except TooLong:
        return None
    return text if len(text) <= room else None


class _Cut:
    """Cuts texts to `chars`, lists to `items`, nesting to `depth` and objects to `width`.

    Every value takes at least one character and all but the first a comma, so that more
    values than half the room cannot fit, however large the data is.
    """

    def __init__(self, chars: int, items: int, depth: int, width: int, room: int) -> None:
        self.chars, self.items, self.depth, self.width = chars, items, depth, width
        self.left = room // 2 + 2

    def of(self, value: Any, depth: int) -> Any:
        self.left -= 1
        if self.left < 0:
            raise TooLong
        if isinstance(value, str):
            return cut_text(value, self.chars)
        if isinstance(value, list):
            held = cast("list[Any]", value)
            return f"[{len(held):,} items]" if depth <= 0 and held else self.items_of(held, depth)
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            return f"{{{len(fields):,} fields}}" if depth <= 0 and fields else self.fields_of(fields, depth)
        return value

    def items_of(self, held: list[Any], depth: int) -> list[Any]:
        if len(held) <= self.items + 1:
            return [self.of(item, depth - 1) for item in held]
        head = (self.items + 1) // 2
        tail = self.items - head
        first = [self.of(item, depth - 1) for item in held[:head]]
        last = [self.of(item, depth - 1) for item in held[len(held) - tail :]]
        return [*first, f"… {len(held) - self.items:,} items left out …", *last]

    def fields_of(self, fields: dict[str, Any], depth: int) -> dict[str, Any]:
        names = islice(fields, self.width)
        out = {cut_text(n, max(self.chars, SHORT)): self.of(fields[n], depth - 1) for n in names}
        if len(fields) > self.width:
            out["…"] = f"{len(fields) - self.width:,} fields left out"
        return out


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
