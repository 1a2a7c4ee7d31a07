"""When a run must end: one value with every limit, asked before each turn of the loop.

Zero or None means no limit, spelled the same way everywhere. Each limit has its own
`stop`, so that whoever reads a run sees which one it was. A limit only ever says
*that* the run ends; the wrap-up that follows is the loop's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .gears import Ending
from .types import Record

if TYPE_CHECKING:
    from .state import State

_LONGEST_CYCLE = 4


@dataclass(frozen=True)
class Limits(Record):
    """The limits of one run.

    Attributes:
        steps: Requests to the model, wrap-up excluded.
        tokens: Prompt and completion tokens of all requests together.
        cost: Money, in the currency of the price given to the agent (US dollars by default).
        seconds: Wall time of the whole run, models and tools included.
        repeats: How often one call may bring the same result before the run ends. A call whose first result was
            final is answered from the record instead.
        cycle: How often a cycle of up to four calls may be seen.
        idle: Steps in a row without a new observation.
        faults: Replies in a row that could not be understood.
    """

    steps: int = 8
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    repeats: int = 3
    cycle: int = 2
    idle: int = 5
    faults: int = 3


@dataclass
class LimitKeeper:
    """Holds a run against its `Limits`.

    Args:
        limits: The limits.
        price: Cost of a usage in money, or None when the model's price is not known.
        words: Gives the sentence for a limit in the run's language: `words(state, key, **values)`.
        clock: Unix time in seconds; replaced in tests and replays.
    """

    limits: Limits
    words: Callable[..., str]
    price: Callable[[Any], float | None] | None = None
    clock: Callable[[], float] = field(default=time.time)

    def check(self, state: State) -> Ending | None:
        """Return the first limit that is reached, in the order of the attributes above, or None."""
        for test in (self._spent, self._repeated, self._cycled, self._idle, self._faulty):
            if ending := test(state):
                return ending
        return None

    def seconds_left(self, state: State) -> float | None:
        """Seconds until the deadline (never below 0.05, so that a last request fails as a time-out), or None."""
        if not self.limits.seconds:
            return None
        return max(0.05, state.begun_at + self.limits.seconds - self.clock())

    def _spent(self, state: State) -> Ending | None:
        limits = self.limits
        if limits.seconds and state.begun_at and self.clock() - state.begun_at >= limits.seconds:
            return Ending("deadline", self.words(state, "deadline", limit=f"{limits.seconds:g}"))
        if limits.steps and state.turns >= limits.steps:
            return Ending("max_steps", self.words(state, "max_steps", limit=limits.steps))
        if limits.tokens and state.usage.total >= limits.tokens:
            return Ending("token_budget", self.words(state, "token_budget", limit=limits.tokens))
        spent = self.price(state.usage) if limits.cost and self.price else None
        if spent is not None and spent >= limits.cost:
            return Ending("cost_budget", self.words(state, "cost_budget", limit=f"{limits.cost:g}"))
        return None

    def _repeated(self, state: State) -> Ending | None:
        if not self.limits.repeats or not state.observed:
            return None
        call, last = state.observed[-1]
        same = sum(c.key == call.key and bare(o.content) == bare(last.content) for c, o in state.observed)
        if same >= self.limits.repeats:
            return Ending("repeated_call", self.words(state, "repeated_call", call=call.name, times=same))
        return None

    def _cycled(self, state: State) -> Ending | None:
        seen = [(c.key, bare(o.content)) for c, o in state.observed]
        for length in range(2, _LONGEST_CYCLE + 1):
            span = length * self.limits.cycle
            tail = seen[-span:]
            if not self.limits.cycle or len(tail) < span or len(set(tail[:length])) < 2:
                continue
            if all(tail[i] == tail[i % length] for i in range(span)):
                names = " → ".join(call.name for call, _ in state.observed[-length:])
                return Ending("ping_pong", self.words(state, "ping_pong", calls=names))
        return None

    def _idle(self, state: State) -> Ending | None:
        if not self.limits.idle:
            return None
        seen: set[str] = set()
        fresh_at = 0
        for step in state.steps:
            for call, note in zip(step.move.calls, step.observations):  # noqa: B905  # an interrupted step has fewer
                content = bare(note.content)
                if note.status == "ok" and not note.cached and content not in seen and says_something(note.data):
                    fresh_at = step.number
                seen.update((content, call.key))
        quiet = [s for s in state.steps[fresh_at:] if s.move.calls or s.move.fault]
        if len(quiet) >= self.limits.idle:
            return Ending("no_progress", self.words(state, "no_progress", limit=self.limits.idle))
        return None

    def _faulty(self, state: State) -> Ending | None:
        if self.limits.faults and state.faults_in_row >= self.limits.faults:
            return Ending("repeated_faults", self.words(state, "repeated_faults", limit=self.limits.faults))
        return None


def bare(content: str) -> str:
    """An observation without the mark that it is a repetition."""
    return content.partition(',"note":')[0].rstrip("}")


def says_something(data: Any) -> bool:
    """Whether an observation holds anything at all: an empty text, list or object brings a run no further."""
    return data not in (None, "", [], {}, ())
