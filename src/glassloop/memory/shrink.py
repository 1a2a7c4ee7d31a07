"""Make a long text shorter without making it false: JSON stays JSON, keys stay, numbers are never cut.

What is left out is always said, with its size, in the place where it was.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from ..prompts import text

_NUMBER = re.compile(r"[0-9０-９.,:：%‰/\-_+年月日]*[0-9０-９][0-9０-９.,:：%‰/\-_+eE]*")
_LONGEST_NUMBER = 40
_STRING_LIMITS = (2000, 1000, 600, 400, 250, 160, 100, 60, 32)
_ITEM_LIMITS = (200, 100, 50, 30, 20, 12, 8, 5, 3)


def shrink(content: str, limit: int, language: str = "en") -> str:
    """Return `content` at about `limit` characters at most; shorter content comes back unchanged.

    A JSON object or array is shrunk inside: long strings first, then long lists. Its keys, its first
    items and every number that is shown stay as they were. Any other text keeps its head and its tail.

    Args:
        content: An observation or another text the model was shown.
        limit: Characters to aim at. A structure that cannot go lower stays valid and a little longer.
        language: Language of the note on what was left out.
    """
    if len(content) <= limit:
        return content
    data = parse(content)
    if data is None:
        return clip(content, limit, language)
    shorter = content
    for strings, items in zip(_STRING_LIMITS, _ITEM_LIMITS, strict=True):
        if strings > limit:
            continue
        shorter = min(dump(_less(data, strings, items, language)), shorter, key=len)
        if len(shorter) <= limit:
            break
    return shorter


def clip(plain: str, limit: int, language: str = "en") -> str:
    """Return the head and the tail of a plain text, whole numbers only, with a note between them."""
    if len(plain) <= limit:
        return plain
    room = max(limit - len(text("memory", language, "cut", count=len(plain))), 8)
    head = _before_number(plain, room * 3 // 4)
    tail = _after_number(plain, len(plain) - room // 4)
    if tail <= head:
        return plain
    shorter = plain[:head] + text("memory", language, "cut", count=tail - head) + plain[tail:]
    return shorter if len(shorter) < len(plain) else plain


def one_line(plain: str, limit: int) -> str:
    """Return the beginning of a text as one line, ended with `…` when something is missing."""
    line = " ".join(plain[: 4 * limit + 100].split())
    return line if len(line) <= limit else line[: _before_number(line, limit - 1)].rstrip() + "…"


class Number(str):
    """A JSON number as it was written: `1.10` must not come back as `1.1`."""


def parse(content: str) -> Any:
    """Return a JSON object or array with its numbers as `Number`, or None when the text is anything else."""
    if content.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(content, parse_int=Number, parse_float=Number, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def dump(data: Any) -> str:
    """Write what `parse` read."""
    if isinstance(data, Number):
        return str(data)
    if isinstance(data, dict):
        pairs = cast("dict[str, Any]", data).items()
        return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{dump(v)}" for k, v in pairs) + "}"
    if isinstance(data, list):
        return "[" + ",".join(dump(v) for v in cast("list[Any]", data)) + "]"
    return json.dumps(data, ensure_ascii=False)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _less(data: Any, strings: int, items: int, language: str, depth: int = 0) -> Any:
    if isinstance(data, Number):
        if len(data) <= _LONGEST_NUMBER:
            return data
        return text("memory", language, "cut_number", count=len(data))
    if isinstance(data, str):
        return clip(data, strings, language)
    if isinstance(data, list):
        values = cast("list[Any]", data)
        kept: list[Any] = [_less(v, strings, items, language, depth + 1) for v in values[:items]]
        if len(values) > items:
            kept.append(text("memory", language, "cut_items", count=len(values) - items))
        return kept
    if isinstance(data, dict):
        fields = cast("dict[str, Any]", data)
        # The uniform shape (`status`, `reason`, `hint`, …) is a small object: only a table of many keys is cut.
        names = list(fields)[: max(items, 8)]
        less = {k: _less(fields[k], strings, items, language, depth + 1) for k in names}
        if len(fields) > len(names):
            less["…"] = text("memory", language, "cut_items", count=len(fields) - len(names))
        return less
    return data


def _before_number(plain: str, at: int) -> int:
    """Return the nearest place at or before `at` that does not lie inside a number."""
    return next((m.start() for m in _NUMBER.finditer(plain, max(0, at - 64)) if m.start() < at < m.end()), at)


def _after_number(plain: str, at: int) -> int:
    return next((m.end() for m in _NUMBER.finditer(plain, max(0, at - 64)) if m.start() < at < m.end()), at)
