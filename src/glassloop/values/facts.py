"""What a value found in text or data is: the `Fact`, and the units figures come in.

Owes its neighbours the plain record and the unit tables; reads nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from .numerals import Number

Kind = Literal["number", "date", "time", "id", "name"]
Role = Literal["figure", "count", "ordinal", "weak"]


@dataclass(frozen=True)
class Fact:
    """One value found in a text or in data.

    Attributes:
        kind: What it is.
        text: The value as it is written.
        start: First character in the text it was found in.
        end: Character after the last.
        value: Normal form: an exact number, `(year, month, day)` with None for parts not given, minutes
            of the day, or a folded string.
        unit: Normal name of a number's unit, "" for none; for a time `12` when the half of the day is open.
        step: Size of the last digit given: 1 for 29, 1/10 for 6.2, 100,000 for "4.4 million".
        role: `count` for lengths of lists, `ordinal` for places in an order, `weak` for numerals that may
            be part of ordinary words.
        key: The key under which data held it.
        about: True after "about", 大约 and the like.
        hour: Whether a plain number may be an hour of the day: "at 3", `{"opens": 9}`.
        parts: Other readings: the members of "100,200,300", day and month of 03/04/2025 exchanged.
    """

    kind: Kind
    text: str
    start: int = 0
    end: int = 0
    value: Any = None
    unit: str = ""
    step: Number = 1
    role: Role = "figure"
    key: str = ""
    about: bool = False
    hour: bool = False
    parts: tuple[Any, ...] = ()


_UNIT_NAMES = {
    "%": "% percent pct 个百分点",
    "C": "°c ℃ 摄氏度 celsius",
    "F": "°f ℉ 华氏度 fahrenheit",
    "°": "° degrees degree deg 度",
    "USD": "usd dollars dollar 美元 美金 us$ $",
    "CNY": "cny rmb yuan 元 块钱 块 人民币 ¥ ￥",
    "EUR": "eur euros euro 欧元 €",
    "GBP": "gbp 英镑 £",
    "km": "km kilometers kilometres kilometer kilometre 公里 千米",
    "mi": "mi miles mile 英里",
    "m": "meters metres meter metre 米",
    "kg": "kg kgs kilograms kilogram kilos 公斤 千克",
    "lb": "lb lbs pounds pound 磅",
    "h": "hours hour hrs hr h 个小时 小时 个钟头",
    "min": "minutes minute mins min 分钟",
    "s": "seconds second secs sec 秒钟 秒",
    "day": "days day 天",
    "week": "weeks week 周 个星期 星期",
    "month": "months month 个月",
    "year": "years year 年",
}
UNITS = {name: unit for unit, names in _UNIT_NAMES.items() for name in names.split()}
"""Every spelling of a unit, folded, with its normal name."""

DIMENSIONS = {
    **dict.fromkeys(("C", "F", "°"), "temp"),
    **dict.fromkeys(("USD", "CNY", "EUR", "GBP"), "money"),
    **dict.fromkeys(("km", "mi", "m"), "length"),
    **dict.fromkeys(("kg", "lb"), "mass"),
    **dict.fromkeys(("h", "min", "s", "day", "week", "month", "year"), "time"),
    "%": "share",
}

KEY_UNITS = {
    **{"c": "C", "celsius": "C", "f": "F", "fahrenheit": "F", "percent": "%", "pct": "%", "humidity": "%"},
    **{"usd": "USD", "cny": "CNY", "eur": "EUR", "km": "km", "miles": "mi", "kg": "kg", "lb": "lb", "lbs": "lb"},
    **{"hours": "h", "minutes": "min", "seconds": "s", "days": "day"},
}
"""Units told by the last word of a data key, such as `temp_c`. No short words that mean other things (`min`)."""

SCALES: dict[str, int] = {
    **{"百": 100, "thousand": 10**3, "k": 10**3, "千": 10**3, "万": 10**4, "million": 10**6, "m": 10**6, "mn": 10**6},
    **{"百万": 10**6, "千万": 10**7, "亿": 10**8, "十亿": 10**9, "billion": 10**9, "bn": 10**9, "b": 10**9},
    **{"万亿": 10**12, "trillion": 10**12},
}

_F = Fraction
CONVERSIONS: dict[tuple[str, str], tuple[Fraction, Fraction]] = {
    ("C", "F"): (_F(9, 5), _F(32)),
    ("km", "mi"): (_F(1) / _F("1.609344"), _F(0)),
    ("km", "m"): (_F(1000), _F(0)),
    ("kg", "lb"): (_F(1) / _F("0.45359237"), _F(0)),
    ("h", "min"): (_F(60), _F(0)),
    ("min", "s"): (_F(60), _F(0)),
    ("h", "s"): (_F(3600), _F(0)),
    ("day", "h"): (_F(24), _F(0)),
    ("week", "day"): (_F(7), _F(0)),
    ("year", "month"): (_F(12), _F(0)),
}
"""`(from, to)` → factor and offset; the way back is computed."""


def convert(value: Number, unit: str, to: str) -> Fraction | None:
    """Convert a figure between two units of this module, or None when it knows no way."""
    forth = CONVERSIONS.get((unit, to))
    if forth:
        return value * forth[0] + forth[1]
    back = CONVERSIONS.get((to, unit))
    return (value - back[1]) / back[0] if back else None


def compatible(a: str, b: str) -> bool:
    """Whether two figures with these units may be one and the same; an unknown unit fits any."""
    if a == b or a not in DIMENSIONS or b not in DIMENSIONS:
        return True
    return "°" in (a, b) and DIMENSIONS[a] == DIMENSIONS[b]
