"""When two values are the same although they are written differently, and what data holds.

29 is 29.4 rounded, 0.62 is 62 %, "at 3" may be 3 PM; a claim may give fewer digits or fewer parts than what is
known, never others. The values of plain data are found here too, with the unit that their key tells.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

from .facts import KEY_UNITS, Fact, compatible
from .numerals import Number, whole
from .scan import scan

MAX_TEXT = 400_000
"""Characters of one text that are read; what lies behind is left out."""
MAX_NODES = 20_000
"""Nodes of one piece of data that are read."""

_HOUR_KEY = re.compile("hours?|time|at|starts?|ends?|opens?|closes?|begins?|until|from|to")


def facts_in(text: str) -> tuple[Fact, ...]:
    """Return every figure, date, time, id and quoted name of a text, in order of place."""
    if len(text) <= 8_000:
        return _remembered(text)
    return tuple(scan(text[:MAX_TEXT]))


@lru_cache(maxsize=512)
def _remembered(text: str) -> tuple[Fact, ...]:
    return tuple(scan(text))


def facts_in_data(data: Any) -> tuple[Fact, ...]:
    """Return the values of JSON-like data: numbers with the unit their key tells, values in texts, lengths of lists."""
    out: list[Fact] = []
    stack: list[tuple[Any, str]] = [(data, "")]
    for _ in range(MAX_NODES):
        if not stack:
            break
        node, key = stack.pop()
        if isinstance(node, Mapping):
            items = list(cast("Mapping[Any, Any]", node).items())[:MAX_NODES]
            stack.extend((v, str(k)) for k, v in reversed(items))
        elif isinstance(node, (list, tuple, set, frozenset)):
            members = list(cast("Iterable[Any]", node))
            out.append(Fact("number", str(len(members)), value=len(members), role="count", key=key))
            stack.extend((v, key) for v in reversed(members[:MAX_NODES]))
        else:
            out.extend(_leaf(node, key))
    return tuple(out)


def _leaf(node: Any, key: str) -> Sequence[Fact]:
    number = as_number(node)
    if number is not None:
        word = key.lower().replace("-", "_").rpartition("_")[2]
        unit, hour = KEY_UNITS.get(word, ""), bool(_HOUR_KEY.fullmatch(word))
        return (Fact("number", str(node), value=number, unit=unit, step=_step(node), key=key, hour=hour),)
    if isinstance(node, (dt.date, dt.time)):
        return facts_in(node.isoformat())
    if node is None or isinstance(node, bool):
        return ()
    text = node if isinstance(node, str) else str(node)
    return [_keyed(f, key) for f in facts_in(text)] if key else facts_in(text)


def _keyed(fact: Fact, key: str) -> Fact:
    word = key.lower().rpartition("_")[2]
    unit = fact.unit or (KEY_UNITS.get(word, "") if fact.kind == "number" else "")
    return replace(fact, unit=unit, key=key)


def as_number(value: Any) -> Number | None:
    """Return a Python number as an exact one; None for anything else, truth values and NaN included."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, Fraction)):
        return whole(value)
    if isinstance(value, float):
        return whole(Fraction(repr(value))) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return whole(Fraction(value)) if value.is_finite() and abs(value.adjusted()) < 400 else None
    return None


def _step(value: Any) -> Number:
    _, dot, tail = str(value).partition(".")
    return Fraction(1, 10 ** min(len(tail), 40)) if dot and tail.isdigit() else 1


# -- equality --------------------------------------------------------------------------------


def same(claimed: Fact, known: Fact) -> bool:
    """Whether a claimed value is a known one, rounded or written differently perhaps.

    Rounding is allowed to the digits the claim gives: 29 is 29.4, 6.2 is 6.21371, but 30 is not 29.
    """
    if claimed.kind == "number" and known.kind == "number":
        return _same_number(claimed, known)
    if claimed.kind == "date" and known.kind == "date":
        return any(_same_date(a, b) for a in (claimed.value, *claimed.parts) for b in (known.value, *known.parts))
    if claimed.kind == "time" and known.kind == "time":
        loose = 720 if "12" in (claimed.unit, known.unit) else 1440
        apart = (claimed.value - known.value) % loose
        return apart == 0 or (claimed.about and min(apart, loose - apart) <= 15)
    if claimed.kind == "time" and known.kind == "number":  # "at 3" and 3 PM
        return (
            known.hour
            and claimed.value % 60 == 0
            and known.value in (claimed.value // 60, (claimed.value // 60 - 1) % 12 + 1)
        )
    if {claimed.kind, known.kind} == {"id", "number"}:
        return _digits(claimed) == _digits(known)
    if claimed.kind == "date" and known.kind == "number":
        return claimed.value[1:] == (None, None) and claimed.value[0] == known.value
    if claimed.kind == "number" and known.kind == "date":
        return claimed.value == known.value[0]
    return claimed.kind == known.kind and claimed.value == known.value


def _digits(fact: Fact) -> str:
    return str(fact.value).lstrip("0")


def _same_date(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return all(x is None or x == y for x, y in zip(a, b, strict=True))


def _same_number(claimed: Fact, known: Fact) -> bool:
    if compatible(claimed.unit, known.unit):
        if near(claimed, known.value):
            return True
    elif claimed.unit != "%" and known.unit != "%":
        return False
    if claimed.unit == "%" and known.unit != "%" and abs(known.value) <= 10:
        return near(claimed, known.value * 100)
    if known.unit == "%" and claimed.unit == "" and claimed.step != 1:
        return near(claimed, Fraction(known.value) / 100)
    return False


def near(claimed: Fact, value: Number) -> bool:
    """Whether an exact value is the claimed one, to the digits that the claim gives; a lost minus sign is forgiven."""
    apart = abs(claimed.value - value)
    if value < 0 <= claimed.value:  # "five below zero", "fell by 5"
        apart = min(apart, abs(claimed.value + value))
    if apart * 2 <= claimed.step:
        return apart == 0 or claimed.step != 1 or not isinstance(value, int)
    if claimed.step < 1 and 0 <= abs(value) - abs(claimed.value) < claimed.step:  # cut instead of rounded
        return True
    return claimed.about and apart * 20 <= abs(value)
