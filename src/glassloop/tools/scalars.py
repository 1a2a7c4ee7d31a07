"""Casts of single values: number, boolean, null, choice, and JSON that came as text.

Owes: one reading or none. Each function gives None (or `MISSING`) when the value has no
evident meaning, and never judges by truthiness.
"""

from __future__ import annotations

import ast
import json
import math
import re
import unicodedata
from typing import Any, Final, cast

from .outline import same

MISSING: Final = object()
"""No reading; None cannot say so, because null is a reading."""

MAX_NUMBER = 400
MAX_TEXT = 1_000_000
MAX_LITERAL = 20_000

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_TRUE = frozenset("true yes y on 1 是 是的 对 真 开 开启 好".split())
_FALSE = frozenset("false no n off 0 否 不 不是 不对 假 关 关闭".split())
_NULL = frozenset("null none nil undefined 空 无 空值".split()) | {""}
_QUOTES = (('"', '"'), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’"), ("「", "」"), ("『", "』"), ("«", "»"))
_BETWEEN = re.compile(r"(?<=\w)[-_\s]+(?=\w)")


def width(text: str) -> str:
    """The text with full-width letters, digits and signs made ordinary, and white space around it removed."""
    return unicodedata.normalize("NFKC", text).replace("\u2212", "-").strip()


def unquoted(text: str) -> str:
    """The text without one layer of surrounding quotes, of whatever kind."""
    for left, right in _QUOTES:
        if len(text) >= 2 and text.startswith(left) and text.endswith(right):
            inner = text[1:-1]
            if left == '"' and "\\" in inner:
                decoded = parsed(text)
                return decoded if isinstance(decoded, str) else inner
            return inner
    return text


def number(value: Any) -> int | float | None:
    """Read a number: a real one, or text that is exactly one, with thousands separated by commas if at all."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value if isinstance(value, int) or math.isfinite(value) else None
    if not isinstance(value, str) or len(value) > MAX_NUMBER:
        return None
    text = unquoted(width(value)).strip()
    if not text.isascii():
        return None
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    if not _NUMBER.fullmatch(text):
        return None
    if text.lstrip("+-").isdigit():
        return int(text)
    found = float(text)
    return found if math.isfinite(found) else None


def integer(value: Any) -> int | None:
    """Read a whole number; 10.0 is one, 10.5 is not."""
    found = number(value)
    if isinstance(found, float):
        return int(found) if found.is_integer() else None
    return found


def boolean(value: Any) -> bool | None:
    """Read yes or no from a word, or from the numbers 1 and 0."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return None if value not in (0, 1) else bool(value)
    if not isinstance(value, str) or len(value) > 40:
        return None
    word = unquoted(width(value)).strip().casefold().rstrip(".。")
    return True if word in _TRUE else False if word in _FALSE else None


def nullish(value: Any) -> bool:
    """Whether the value is null or one of the words models write for it; an empty text is one of them."""
    if value is None:
        return True
    return isinstance(value, str) and len(value) <= 20 and unquoted(width(value)).strip().casefold() in _NULL


def parsed(text: str) -> Any:
    """Decode JSON text, or a Python literal of a list or dict; `MISSING` when it is neither."""
    if len(text) > MAX_TEXT:
        return MISSING
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        pass
    inner = text.strip()
    if inner[:1] not in ("[", "{", "(") or len(inner) > MAX_LITERAL:
        return MISSING
    try:
        return _jsonable(ast.literal_eval(inner))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return MISSING


def decoded(text: str) -> Any:
    """Decode JSON text of which one layer may itself be JSON text of a list or object."""
    found = parsed(text)
    if isinstance(found, str) and found.lstrip()[:1] in ("[", "{"):
        inner = parsed(found)
        return found if inner is MISSING else inner
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _jsonable(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, (list, tuple)):
        return [_jsonable(v) for v in cast("list[Any]", value)]
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {k if isinstance(k, str) else _no_constant(repr(k)): _jsonable(v) for k, v in items}
    raise ValueError("not JSON")


def folded(text: str) -> str:
    """The text as names and choices are compared: without case, width, quotes, and kind of separator."""
    return _BETWEEN.sub("_", unquoted(width(text)).strip().casefold())


def near(given: str, wanted: str) -> bool:
    """Whether two words differ by one typing slip: a letter too many, too few, wrong, or two swapped.

    Only Latin letters in words of four and more count, and never the first one: one character
    more turns 完成 into 未完成, and a digit changed is another number.
    """
    a, b = folded(given), folded(wanted)
    if a == b:
        return True
    if min(len(a), len(b)) < 4 or abs(len(a) - len(b)) > 1 or a[0] != b[0]:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    left, right = a[start : len(a) - end], b[start : len(b) - end]
    if not all(c.isascii() and (c.isalpha() or c == "_") for c in left + right):
        return False
    return max(len(left), len(right)) <= 1 or (len(left) == 2 and left == right[::-1])


def choice(value: Any, choices: list[Any]) -> tuple[Any, str, bool] | None:
    """Find the one choice that `value` means.

    Returns:
        The choice, the name of the cast, and whether it had to guess; None when none or several would do.
    """
    if isinstance(value, str):
        if len(value) > MAX_NUMBER:
            return None
        word = folded(value)
        alike = [c for c in choices if isinstance(c, str) and folded(c) == word]
        if alike:
            return (alike[0], "enum", False) if len(alike) == 1 else None
        for read in (number, boolean):
            found = read(value)
            if found is not None:
                alike = [c for c in choices if same(c, found)]
                if len(alike) == 1:
                    return alike[0], read.__name__, False
        if nullish(value) and any(c is None for c in choices):
            return None, "null", False
        close = [c for c in choices if isinstance(c, str) and near(value, c)]
        return (close[0], "near_enum", True) if len(close) == 1 else None
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < MAX_NUMBER:
        alike = [c for c in choices if isinstance(c, str) and c == str(value)]
        return (alike[0], "text", False) if len(alike) == 1 else None
    return None
