"""What follows from known dates and clock times: shifted days, times after a while, the time between two of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence

from .facts import Fact

_MOST = 40
DAY = 1440


def date_parts(facts: Iterable[Fact]) -> list[dt.date]:
    """Return the complete dates among the facts."""
    out: list[dt.date] = []
    for fact in facts:
        if fact.kind == "date" and None not in fact.value:
            try:
                out.append(dt.date(*fact.value))
            except ValueError:
                continue
    return out


def date_follows(claimed: Fact, known: Sequence[Fact], *, nearby: int = 0) -> bool:
    """Whether a date is a known one moved by a known number of days, weeks, months or years.

    Args:
        claimed: The date, perhaps without its year or day.
        known: All known facts.
        nearby: Days by which a date may be moved without a figure for it ("tomorrow", "next Monday").
    """
    shifts = set(range(1, nearby + 1))
    months: set[int] = set()
    for fact in known:
        if fact.kind == "number" and isinstance(fact.value, int) and 0 < fact.value <= 1000:
            if fact.unit == "day":
                shifts.add(fact.value)
            elif fact.unit == "week":
                shifts.add(7 * fact.value)
            elif fact.unit in ("month", "year"):
                months.add(fact.value * (12 if fact.unit == "year" else 1))
    for base in dict.fromkeys(date_parts(known)[:_MOST]):
        if any(_fits(claimed.value, _moved(base, sign * days)) for days in list(shifts)[:200] for sign in (1, -1)):
            return True
        for count in months:
            month = base.year * 12 + base.month - 1 + count
            if _fits(claimed.value, (month // 12, month % 12 + 1, claimed.value[2])):
                return True
    return False


def _moved(base: dt.date, days: int) -> tuple[int, int, int] | None:
    try:
        there = base + dt.timedelta(days)
    except OverflowError:
        return None
    return there.year, there.month, there.day


def _fits(claimed: tuple[int | None, ...], there: tuple[int | None, ...] | None) -> bool:
    return there is not None and all(a is None or a == b for a, b in zip(claimed, there, strict=True))


def time_follows(claimed: Fact, known: Sequence[Fact], *, zones: bool = False) -> bool:
    """Whether a clock time is a known one moved by a known span; with `zones` also by half hours, as zones differ."""
    clocks = [f.value for f in known if f.kind == "time"][:_MOST]
    if zones and any((claimed.value - c) % 30 == 0 for c in clocks):
        return True
    spans = [minutes(f) for f in known if f.kind == "number" and f.unit in ("h", "min")][:_MOST]
    turn = 720 if claimed.unit == "12" else DAY
    return any((claimed.value - c + sign * s) % turn == 0 for c in clocks for s in spans for sign in (1, -1))


def minutes(fact: Fact) -> float:
    """Return a duration in minutes."""
    return float(fact.value) * {"h": 60, "min": 1, "s": 1 / 60, "day": DAY}.get(fact.unit, 1)


def span_follows(claimed: Fact, known: Sequence[Fact]) -> bool:
    """Whether a number of days, weeks, hours or minutes is the time between two known dates or clock times."""
    if claimed.unit in ("", "day", "week"):
        days, scale = sorted(set(date_parts(known)))[:_MOST], 7 if claimed.unit == "week" else 1
        return any(abs((b - a).days - claimed.value * scale) < scale for i, a in enumerate(days) for b in days[i + 1 :])
    if claimed.unit not in ("h", "min"):
        return False
    clocks = [f.value for f in known if f.kind == "time"][:_MOST]
    for span in {(a - b) % turn for a in clocks for b in clocks for turn in (720, DAY)} - {0}:
        # "8 hours 30 minutes" is read as two figures
        parts = (span / 60, span // 60) if claimed.unit == "h" else (span, span % 60)
        if any(abs(claimed.value - part) * 2 < claimed.step for part in parts):
            return True
    return False
