"""What one run of a case is worth, read from its events alone.

Owes: the same events give the same score, whether they come from a live run or from a journal;
every failed check says in one sentence what was wanted and what there was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ..errors import GlassloopError
from ..events import Event, ModelRetried
from ..journal.rebuild import fold
from ..state import State
from ..types import Observation, Record, ToolCall
from ..verify.failures import untold
from ..verify.figures import FigureCheck
from ..verify.known import Known
from .cases import Case, ExpectedCall
from .matchers import Said, fits, tells

NOTHING = "—"
"""Stands in the confusion table where no tool was expected, or none was called."""


@dataclass(frozen=True)
class Score(Record):
    """The score of one run. Shares are from 0 to 1; None where the case does not ask."""

    passed: bool
    problems: tuple[str, ...] = ()
    selection: bool | None = None
    precision: float | None = None
    recall: float | None = None
    arguments: float | None = None
    sequence: bool | None = None
    facts: float | None = None
    lies: int = 0
    grounded: bool = True
    honest: bool = True
    thoughts: float | None = None
    faults: float = 0.0
    repairs: float = 0.0
    retries: int = 0
    steps: int = 0
    tokens: int = 0
    cached: float = 0.0
    seconds: float = 0.0
    cost: float | None = None
    stop: str = ""
    answer: str = ""
    confusion: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Made:
    """A call that was really decided on, with what was observed before it."""

    name: str
    arguments: dict[str, Any]
    observation: Observation
    before: tuple[Observation, ...]


def score(case: Case, events: Iterable[Event]) -> Score:
    """Score a run of a case from its events."""
    listed = list(events)
    state = fold(listed)
    run = state.to_run()
    calls = calls_made(state)
    problems: list[str] = []
    selection = _Selection(case, calls, problems)
    said = Said.of(run.answer)
    missing = [fact for fact in case.facts if not tells(said, fact)]
    lies = [lie for lie in case.lies if tells(said, lie)]
    problems += [f"The answer does not tell {_named(fact)}." for fact in missing]
    problems += [f"The answer tells {_named(lie)}, which is wrong." for lie in lies]
    grounded, honest = _truth(state, run.answer, problems)
    if run.stop not in case.stop:
        detail = f": {run.detail}" if run.detail else ""
        problems.append(f"The run ended with {run.stop}{detail}; wanted {' or '.join(case.stop)}.")
    acting = [step for step in run.steps if step.move.calls]
    steps = len(run.steps) or 1
    mended = sum(len(s.move.repairs) for s in run.steps) + sum(len(o.repairs) for o in run.observations)
    faults = sum(s.move.fault is not None for s in run.steps) + sum(not o.ran for o in run.observations)
    return Score(
        passed=not problems,
        problems=tuple(problems),
        selection=selection.good,
        precision=selection.precision,
        recall=selection.recall,
        arguments=selection.arguments,
        sequence=selection.sequence,
        facts=1 - len(missing) / len(case.facts) if case.facts else None,
        lies=len(lies),
        grounded=grounded,
        honest=honest,
        thoughts=sum(bool(s.move.thought.strip()) for s in acting) / len(acting) if acting else None,
        faults=faults / steps,
        repairs=mended / steps,
        retries=sum(isinstance(e, ModelRetried) for e in listed),
        steps=len(run.steps),
        tokens=run.usage.total,
        cached=run.usage.cached / run.usage.prompt if run.usage.prompt else 0.0,
        seconds=run.seconds,
        cost=run.cost,
        stop=run.stop,
        answer=run.answer,
        confusion=tuple(selection.confusion),
    )


def failed_to_run(error: Exception) -> Score:
    """The score of a run that could not be made at all: it fails, and says why."""
    text = str(error) if isinstance(error, GlassloopError) else f"{type(error).__name__}: {error}"
    return Score(False, (f"The run could not be made: {text}",), grounded=False, honest=False, stop="error")


def calls_made(state: State) -> list[Made]:
    """The calls a run decided on: not those sent back before they ran, put off, or answered from the record."""
    out: list[Made] = []
    seen: list[Observation] = []
    for call, observation in state.observed:
        if observation.ran and not observation.deferred and not observation.cached:
            given = observation.arguments if observation.arguments is not None else call.arguments
            out.append(Made(observation.name, given, observation, tuple(seen)))
        seen.append(observation)
    waiting: Sequence[ToolCall] = state.pending
    out += [Made(c.name, c.arguments, Observation(c.id, c.name, "unknown", ""), tuple(seen)) for c in waiting]
    return out


def _truth(state: State, answer: str, problems: list[str]) -> tuple[bool, bool]:
    known = Known(state)
    loose = FigureCheck(answer, known, state).unsupported() if answer else []
    hidden = untold(answer, known, state)
    if loose:
        problems.append(f"Nothing observed supports {', '.join(f.text for f in loose[:4])}.")
    if hidden:
        problems.append(f"The answer does not tell that {', '.join(sorted({o.name for _, o in hidden}))} failed.")
    return not loose, not hidden


def _named(fact: Any) -> str:
    return " or ".join(map(_named, cast("list[Any]", fact))) if isinstance(fact, list) else repr(fact)


class _Selection:
    """Compares the calls a case wants with the calls that were made, and says where they differ."""

    def __init__(self, case: Case, calls: list[Made], problems: list[str]) -> None:
        self.case = case
        self.calls = calls
        self.good: bool | None = None
        self.precision: float | None = None
        self.recall: float | None = None
        self.arguments: float | None = None
        self.sequence: bool | None = None
        self.confusion: list[tuple[str, str]] = []
        strayed = sorted({c.name for c in calls} & set(case.forbid))
        if case.calls is None and not case.forbid:
            return
        problems += [f"{name} was called and is forbidden." for name in strayed]
        self.good = not strayed
        if case.calls is not None:
            self._compare(case.calls, problems)

    def _compare(self, wanted: tuple[ExpectedCall, ...], problems: list[str]) -> None:
        pairs = self._pair(wanted)
        taken = {i for i in pairs if i is not None}
        needed = [w for w in wanted if not w.optional]
        missing = [w for w, i in zip(wanted, pairs, strict=True) if i is None and not w.optional]
        extra = [c for i, c in enumerate(self.calls) if i not in taken]
        self.recall = 1 - len(missing) / len(needed) if needed else 1.0
        self.precision = len(taken) / len(self.calls) if self.calls else (1.0 if not needed else 0.0)
        self.confusion = _confused(wanted, pairs, missing, extra, self.calls)
        problems += [f"{w.tool} was not called." for w in missing]
        unwanted = extra if self.case.match in ("exact", "any_order") else []
        if unwanted:
            names = Counter(c.name for c in unwanted)
            problems.append(f"Called without need: {', '.join(f'{n} ×{k}' if k > 1 else n for n, k in names.items())}.")
        self.good = bool(self.good) and not missing and not unwanted
        self._arguments(wanted, pairs, problems)
        self._order(wanted, pairs, problems)

    def _pair(self, wanted: tuple[ExpectedCall, ...]) -> list[int | None]:
        """For each wanted call the made one that fits it best: by name, then by how many arguments fit."""
        out: list[int | None] = [None] * len(wanted)
        free = set(range(len(self.calls)))
        options = [
            (-_share(w, self.calls[i]), abs(at - i), at, i)
            for at, w in enumerate(wanted)
            for i in free
            if self.calls[i].name == w.tool
        ]
        for _, _, at, i in sorted(options):
            if out[at] is None and i in free:
                out[at] = i
                free.discard(i)
        return out

    def _arguments(self, wanted: tuple[ExpectedCall, ...], pairs: list[int | None], problems: list[str]) -> None:
        shares: list[float] = []
        for w, i in zip(wanted, pairs, strict=True):
            if i is None:
                continue
            made = self.calls[i]
            shares.append(_share(w, made))
            for name, rule in w.arguments.items():
                given = made.arguments.get(name)
                absent = name not in made.arguments
                if absent or not fits(rule, given, made.before):
                    was = "left out" if absent else f"{given!r}"
                    problems.append(f"{w.tool}: {name} was {was}; wanted {rule!r}.")
            if not w.extra and (more := sorted(set(made.arguments) - set(w.arguments))):
                problems.append(f"{w.tool}: given without need: {', '.join(more)}.")
        self.arguments = sum(shares) / len(shares) if shares else None

    def _order(self, wanted: tuple[ExpectedCall, ...], pairs: list[int | None], problems: list[str]) -> None:
        if self.case.match not in ("exact", "in_order") or len(wanted) < 2:
            return
        places = [i for i in pairs if i is not None]
        self.sequence = places == sorted(places) and len(places) >= sum(not w.optional for w in wanted)
        if places != sorted(places):
            problems.append(f"The calls came in the order {' → '.join(self.calls[i].name for i in sorted(places))}; "
                            f"wanted {' → '.join(w.tool for w in wanted)}.")  # fmt: skip


def _share(wanted: ExpectedCall, made: Made) -> float:
    """The share of the wanted arguments that fit; 1 when none is asked for."""
    names = {*wanted.arguments, *(() if wanted.extra else made.arguments)}
    good = sum(
        name in wanted.arguments
        and name in made.arguments
        and fits(wanted.arguments[name], made.arguments[name], made.before)
        for name in names
    )
    return good / len(names) if names else 1.0


def _confused(
    wanted: Sequence[ExpectedCall],
    pairs: Sequence[int | None],
    missing: Sequence[ExpectedCall],
    extra: Sequence[Made],
    calls: Sequence[Made],
) -> list[tuple[str, str]]:
    """Pairs of the tool expected and the tool called; a missing call is set against the stray one made in its place."""
    out = [(w.tool, calls[i].name) for w, i in zip(wanted, pairs, strict=True) if i is not None]
    names = {w.tool for w in wanted}
    stray = [c.name for c in extra if c.name not in names]
    for w in missing:
        out.append((w.tool, stray.pop(0) if stray else NOTHING))
    return out + [(NOTHING, name) for name in stray]
