"""The calculations written out in an answer: those that do not hold, and what the right ones prove."""

from __future__ import annotations

import re
from fractions import Fraction

from ..values import Fact, Number, expressions, facts_in, near
from .known import Known
from .prose import spoken

CONSTANTS = frozenset(
    {1, 2, 5, 7, 9, 10, 12, 24, 30, 32, 52, 60, 100, 365, 1000, 1024, 3600}
    | {Fraction(f) for f in ("1.8", "3.6", "1.6", "1.609", "1.60934", "1.609344", "0.621371", "0.6214", "0.62")}
    | {Fraction(f) for f in ("2.2", "2.205", "2.2046", "2.20462", "0.4536", "0.453592", "0.45359237")}
)
"""Figures that a calculation may use without having been told them."""

_EQUALS = re.compile(
    r"[ *)`（(]{0,4}(?<![=<>!])(?:=|≈|等于|是|\bis\b|\bequals\b)(?!=)[ *]{0,4}(?:(?:about|approximately|约)\s?)?"
)
_GOES_ON = re.compile(r"\s?(?:[-+*/×÷^%(]\s?\d|r\s?\d|remainder|余|\.{3}|…)")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_LOOSE = re.compile(r"[./÷%]")


def wrong_sums(text: str) -> list[tuple[str, Number]]:
    """Return the equations of a text that do not hold, each as it is written with the right value."""
    out: list[tuple[str, Number]] = []
    flat = spoken(text)
    for start, end, value in expressions(flat):
        sign = _EQUALS.match(flat, end)
        if not sign or _DATE.match(flat, start):
            continue
        rest = flat[sign.end() : sign.end() + 100]
        given = next((f for f in facts_in(rest) if f.kind == "number"), None)
        if given is None or given.start > 2 or _GOES_ON.match(rest, given.end):
            continue
        if not _holds(given, value, flat[start:end]):
            out.append((flat[start:end].strip(), value))
    return out


def _holds(given: Fact, value: Number, written: str) -> bool:
    rounded = given.step != 1 or (not isinstance(value, int) and _LOOSE.search(written))
    slack = given.step if rounded else 0
    for right in (value, value * 100) if given.unit == "%" else (value,):
        apart = abs(given.value - right)
        if apart <= slack or (given.about and apart * 20 <= abs(right)):
            return True
    return False


def proven(text: str, known: Known) -> list[Fact]:
    """Return the results of calculations that the text writes out from known figures."""
    out: list[Fact] = []
    for start, end, value in expressions(text):
        operands = [f for f in facts_in(text[start:end]) if f.kind == "number"]
        if all(f.value in CONSTANTS or known.holds(f) or any(equal(f, o) for o in out) for f in operands):
            out.append(Fact("number", text[start:end], start, end, value=value, step=0))
    return out


def equal(claimed: Fact, known: Fact) -> bool:
    """Whether a figure is the value of a calculation, to the digits it gives; 0.38 may be written as 38%."""
    return near(claimed, known.value) or (claimed.unit == "%" and near(claimed, known.value * 100))


def expected(known: Known) -> Number | None:
    """Return the value of the one calculation that the question asks for, if it is one."""
    values = {v for _, _, v in known.computed}
    return values.pop() if len(values) == 1 else None


def shown(value: Number) -> str:
    """Write an exact number for a model: whole numbers in full, others to six decimals at most."""
    return str(value) if isinstance(value, int) else f"{float(value):.6f}".rstrip("0").rstrip(".")
