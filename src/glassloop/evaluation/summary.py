"""Many scores as a table: per case, per model and strategy, and which tools were taken for which.

This is the report's data; `report.py` and `html.py` only write it down.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ..types import Record
from .intervals import mean_interval, pass_hat, wilson
from .runner import Result

MEASURES: dict[str, Callable[[Result], float | bool | None]] = {
    "selection": lambda r: r.score.selection,
    "precision": lambda r: r.score.precision,
    "recall": lambda r: r.score.recall,
    "arguments": lambda r: r.score.arguments,
    "sequence": lambda r: r.score.sequence,
    "facts": lambda r: r.score.facts,
    "grounded": lambda r: r.score.grounded,
    "honest": lambda r: r.score.honest,
    "thoughts": lambda r: r.score.thoughts,
    "faults": lambda r: r.score.faults,
    "repairs": lambda r: r.score.repairs,
    "steps": lambda r: r.score.steps,
    "tokens": lambda r: r.score.tokens,
    "cached": lambda r: r.score.cached,
    "seconds": lambda r: r.score.seconds,
    "cost": lambda r: r.score.cost,
}
"""Every measure beside passing, and where it stands in a result."""
SHARES = (
    "selection",
    "precision",
    "recall",
    "arguments",
    "sequence",
    "facts",
    "grounded",
    "honest",
    "thoughts",
    "cached",
)
"""Measures from 0 to 1, written in percent."""


@dataclass(frozen=True)
class Measure(Record):
    """A mean with its 95 % interval, and how many runs it is from."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class CaseRow(Record):
    """One case under one model and strategy."""

    case: str
    model: str
    strategy: str
    passed: int
    total: int
    problems: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    outcomes: tuple[bool, ...] = ()
    tags: tuple[str, ...] = ()
    answer: str = ""
    seconds: float = 0.0
    tokens: float = 0.0


@dataclass(frozen=True)
class Column(Record):
    """All cases under one model and strategy."""

    model: str
    strategy: str
    passed: int
    total: int
    low: float
    high: float
    pass_at_1: float
    pass_hat_k: float
    k: int
    measures: dict[str, Any]
    tags: dict[str, Any]
    confusion: tuple[tuple[str, str, int], ...] = ()

    @property
    def name(self) -> str:
        """Model and strategy in short."""
        return f"{self.model} · {self.strategy}"


@dataclass(frozen=True)
class Report(Record):
    """A whole evaluation."""

    columns: tuple[Column, ...]
    cases: tuple[CaseRow, ...]
    at: float = 0.0
    version: str = ""
    schema_version: int = 1


def summarise(results: Sequence[Result], *, at: float | None = None) -> Report:
    """Bring the results of an evaluation together."""
    from .. import __version__

    rows: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        rows.setdefault((result.cell.model, result.cell.strategy, result.cell.case), []).append(result)
    cases = tuple(_row(key, group) for key, group in rows.items())
    pairs = dict.fromkeys((model, strategy) for model, strategy, _ in rows)
    columns = tuple(_column(m, s, [r for r in results if (r.cell.model, r.cell.strategy) == (m, s)]) for m, s in pairs)
    return Report(columns, cases, time.time() if at is None else at, __version__)


def _row(key: tuple[str, str, str], group: list[Result]) -> CaseRow:
    model, strategy, case = key
    problems = Counter(p for r in group for p in r.score.problems)
    return CaseRow(
        case,
        model,
        strategy,
        sum(r.score.passed for r in group),
        len(group),
        tuple(p for p, _ in problems.most_common()),
        tuple(r.run for r in group),
        tuple(r.score.passed for r in group),
        group[0].tags,
        next((r.score.answer for r in group if not r.score.passed), group[0].score.answer),
        fmean(r.score.seconds for r in group),
        fmean(r.score.tokens for r in group),
    )


def _column(model: str, strategy: str, results: list[Result]) -> Column:
    by_case: dict[str, list[Result]] = {}
    for result in results:
        by_case.setdefault(result.cell.case, []).append(result)
    counts = [(sum(r.score.passed for r in group), len(group)) for group in by_case.values()]
    k = min(n for _, n in counts)
    passed, total = sum(c for c, _ in counts), len(results)
    confusion = Counter(pair for r in results for pair in r.score.confusion)
    return Column(
        model,
        strategy,
        passed,
        total,
        *wilson(passed, total),
        pass_at_1=fmean(c / n for c, n in counts),
        pass_hat_k=fmean(pass_hat(c, n, k) for c, n in counts),
        k=k,
        measures={name: m.to_dict() for name, of in MEASURES.items() if (m := measured(name, map(of, results)))},
        tags=_tags(results),
        confusion=tuple((a, b, n) for (a, b), n in sorted(confusion.items())),
    )


def measured(name: str, values: Iterable[float | bool | None]) -> Measure | None:
    """The mean of a measure over runs; None when no run has it."""
    found = [v for v in values if v is not None]
    if not found:
        return None
    if all(isinstance(v, bool) for v in found):
        return Measure(fmean(found), *wilson(sum(found), len(found)), count=len(found))  # pyright: ignore[reportArgumentType]
    mean, low, high = mean_interval([float(v) for v in found])
    return Measure(mean, max(0.0, low), min(1.0, high) if name in SHARES else high, len(found))


def _tags(results: list[Result]) -> dict[str, Any]:
    groups: dict[str, list[bool]] = {}
    for result in results:
        for tag in result.tags:
            groups.setdefault(tag, []).append(result.score.passed)
    return {tag: [sum(passed), len(passed)] for tag, passed in sorted(groups.items())}
