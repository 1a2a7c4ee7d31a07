"""Did it get worse? A report against a baseline, with noise told apart by the repeats.

The gate closes when the share passed has dropped by more than is allowed *and* a drop like this
would come by chance less than once in twenty (an exact permutation test over the repeats of every
case). A drop that may be chance is said, with how many repeats would settle it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..types import Record
from .intervals import fisher, redealt
from .summary import CaseRow, Report

CHANCE = 0.05


@dataclass(frozen=True)
class Change(Record):
    """One case that passes less often than in the baseline."""

    case: str
    model: str
    strategy: str
    before: tuple[int, int]
    after: tuple[int, int]
    chance: float
    problems: tuple[str, ...] = ()

    @property
    def sure(self) -> bool:
        """Whether chance is no explanation for this case alone."""
        return self.chance < CHANCE

    def __str__(self) -> str:
        word = "worse" if self.sure else "worse, or noise"
        why = f" · {self.problems[0]}" if self.problems else ""
        b, a = self.before, self.after
        return f"{self.case} ({self.model} · {self.strategy}): {b[0]} of {b[1]} → {a[0]} of {a[1]}, {word}{why}"


@dataclass(frozen=True)
class Verdict(Record):
    """Whether the gate is open, and why.

    Attributes:
        ok: Open.
        drop: Percentage points lost on the cases both have, averaged over cases; negative is a gain.
        chance: How likely a drop at least as large is by chance.
        worse: The cases that got worse, surest first.
        missing: Cases of the baseline that were not run now.
        compared: How many rows were compared.
        reason: The decision in a sentence.
    """

    ok: bool
    drop: float
    chance: float
    worse: tuple[Change, ...]
    missing: tuple[str, ...]
    compared: int
    reason: str


def compare(baseline: Report, now: Report, *, max_drop: float = 0.0, strict: bool = False) -> Verdict:
    """Hold a report against a baseline.

    Args:
        baseline: How it was.
        now: How it is.
        max_drop: Percentage points that may be lost.
        strict: Take every drop as real, for models that always do the same.
    """
    before, after = _rows(baseline), _rows(now)
    if not set(before) & set(after) and len(baseline.columns) == len(now.columns) == 1:
        # one model then and one model now: the cases are what is compared
        before = {("", "", k[2]): r for k, r in before.items()}
        after = {("", "", k[2]): r for k, r in after.items()}
    common = [key for key in before if key in after]
    missing = tuple(dict.fromkeys(key[2] for key in before if key not in after))
    if not common:
        return Verdict(False, 0.0, 1.0, (), missing, 0, "The baseline shares no case with this report: make it again.")
    pairs = [(_counts(before[k]), _counts(after[k])) for k in common]
    drop = 100 * sum(b[0] / b[1] - a[0] / a[1] for b, a in pairs) / len(pairs)
    chance = redealt(pairs)
    changes = [
        Change(k[2], after[k].model, after[k].strategy, b, a, fisher(b, a), after[k].problems)
        for k, (b, a) in zip(common, pairs, strict=True)
        if a[0] / a[1] < b[0] / b[1]
    ]
    changes.sort(key=lambda c: (c.chance, c.case))
    over = drop > max_drop + 1e-9
    ok = not over or (chance >= CHANCE and not strict)
    return Verdict(ok, drop, chance, tuple(changes), missing, len(common), _reason(drop, max_drop, chance, over, ok))


def _reason(drop: float, allowed: float, chance: float, over: bool, ok: bool) -> str:
    if not over:
        word = f"{drop:.1f} points lost" if drop > 0 else f"{-drop:.1f} points gained" if drop < 0 else "no change"
        return f"Good: {word}, {allowed:g} allowed."
    if ok:
        return (
            f"{drop:.1f} points lost, {allowed:g} allowed, but this may be noise (chance {chance:.0%}): "
            "settle it with more repeats (--repeat), or use --strict."
        )
    return f"Worse: {drop:.1f} points lost, {allowed:g} allowed; chance alone would do this in {chance:.1%}."


def _rows(report: Report) -> dict[tuple[str, str, str], CaseRow]:
    return {(r.model, r.strategy, r.case): r for r in report.cases}


def _counts(row: CaseRow) -> tuple[int, int]:
    return row.passed, row.total
