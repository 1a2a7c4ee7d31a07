"""Numerals written in words: Chinese (三十五, 一万二千, 百分之六十, 二〇三一) and English (forty-five, two hundred).

Each function takes one numeral as it stands in a text and gives its value, or None when the
characters form no number. Nothing here looks at the words around a numeral; `scan.py` does.
"""

from __future__ import annotations

import re
from fractions import Fraction

Number = int | Fraction
"""An exact figure: `int` where it is whole, `Fraction` elsewhere."""

ZH_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "○": 0}
_ZH_SMALL = {"十": 10, "百": 100, "千": 1000}
_ZH_LARGE = {"万": 10**4, "亿": 10**8}

_EN_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
EN_WORDS: dict[str, int] = {w: i for i, w in enumerate(_EN_UNITS)} | {w: 20 + 10 * i for i, w in enumerate(_EN_TENS)}
EN_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_WORD = re.compile(r"[a-z]+")


def whole(value: Number) -> Number:
    """Return an `int` for a whole number, the value itself otherwise."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def chinese(text: str) -> Number | None:
    """Read a Chinese numeral.

    Args:
        text: Only numeral characters, with an optional decimal part after 点.
    """
    head, _, tail = text.partition("点")
    if "点" in text:
        if not head or not tail or any(c not in ZH_DIGITS for c in tail):
            return None
        base = chinese(head)
        if base is None:
            return None
        return whole(Fraction(base) + Fraction(int("".join(str(ZH_DIGITS[c]) for c in tail)), 10 ** len(tail)))
    if not head:
        return None
    if all(c in ZH_DIGITS for c in head):  # digit by digit, as in years and room numbers
        return int("".join(str(ZH_DIGITS[c]) for c in head))
    return _grouped(head)


def _grouped(text: str) -> int | None:
    total = section = digit = 0
    last_scale = 0
    for c in text:
        if c in ZH_DIGITS:
            digit = digit * 10 + ZH_DIGITS[c] if digit else ZH_DIGITS[c]
            last_scale = 0 if c in "零〇○" else last_scale
        elif c in _ZH_SMALL:
            if c != "十" and not digit:
                return None
            section += (digit or 1) * _ZH_SMALL[c]
            digit, last_scale = 0, _ZH_SMALL[c]
        elif c in _ZH_LARGE:
            section += digit
            if not section and not total:
                return None
            total = (total + section) * _ZH_LARGE[c] if c == "亿" else total + section * _ZH_LARGE[c]
            section, digit, last_scale = 0, 0, _ZH_LARGE[c]
        else:
            return None
    # 一万二 is 12,000: a last bare digit right after a scale counts tenths of it
    if digit and digit < 10 and last_scale >= 100:
        digit *= last_scale // 10
    return total + section + digit


def english(text: str) -> int | None:
    """Read an English numeral such as "forty-five" or "two hundred and six"."""
    total = section = 0
    seen = False
    for word in _WORD.findall(text.lower()):
        if word in EN_WORDS:
            section += EN_WORDS[word]
        elif word == "hundred" and seen:
            section *= 100
        elif word in EN_SCALES and seen:
            total += section * EN_SCALES[word]
            section = 0
        elif word not in ("and", "a"):
            return None
        seen = seen or word in EN_WORDS
    return total + section if seen else None
