"""Runs a recorded run again with today's code: no model, no tools, no network, and stops at the first difference.

Prompts are made, replies read, arguments cast and checked, answers verified and limits asked
by the code as it is now; what the model said, what the tools gave and who allowed what comes
from the journal. So every recorded run is a regression test.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ReplayDifference
from ..events import ApprovalGiven, Event, MoveRead, Noted, RunEnded, RunStarted
from ..state import State
from ..types import Record
from .compare import Change, changes, event_data, what_differs
from .conditions import capabilities_from, knows_tools, tool_from
from .rebuild import PAUSES, Source, load
from .record import RUNS
from .redact import Redactor, is_masked
from .tape import Interrupted, Tape, TapeModel, tape_executor

if TYPE_CHECKING:
    from ..agent import Agent
    from ..loop import Gears


@dataclass(frozen=True)
class Difference(Record):
    """The first place where a replay does something else than its record."""

    step: int
    what: str
    changes: tuple[Change, ...] = ()
    recorded: dict[str, Any] | None = None
    now: dict[str, Any] | None = None
    masked: bool = False

    def text(self) -> str:
        """Say it readably: where, what, and each value before and after."""
        lines = [
            f"Step {self.step}: {self.what} differs from the record."
            if self.both
            else f"Step {self.step}: {self.what}."
        ]
        lines += [f"  {line}" for change in self.changes for line in change.lines()]
        if self.masked:
            lines.append("  (Something in this event was masked when it was recorded.)")
        return "\n".join(lines)

    @property
    def both(self) -> bool:
        """Whether record and replay both have an event here, and of the same kind."""
        pair = (self.recorded, self.now)
        return all(x is not None for x in pair) and (self.recorded or {}).get("type") == (self.now or {}).get("type")


@dataclass(frozen=True)
class Replay(Record):
    """What a replay found: how many of the recorded events came again, and the first difference if there is one."""

    run_id: str
    events: int
    matched: int
    difference: Difference | None = None
    resumed: int = 0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the run came out the same."""
        return self.difference is None

    def check(self) -> Replay:
        """Return the replay itself if it is the same.

        Raises:
            ReplayDifference: It is not; the message shows where and how.
        """
        if self.difference is not None:
            raise ReplayDifference(f"The replay of {self.run_id} parts from its record.\n{self.difference.text()}")
        return self


def replay(
    source: Source, *, agent: Agent | None = None, tools: Iterable[Any] | None = None, directory: Path = RUNS
) -> Replay:
    """Run a recorded run again with today's code and compare every event.

    Args:
        source: The run: id, journal, or events.
        agent: The agent whose prompts, tools, memory, limits and verifier are tried; None makes one from the journal.
        tools: Today's declarations of the tools, instead of the recorded ones. They are not run.
        directory: Where runs are looked for by id.

    Returns:
        What was found; `.check()` raises on a difference.

    Raises:
        JournalError: There is no such run.
    """
    from ..agent import wait_for

    return wait_for(areplay(source, agent=agent, tools=tools, directory=directory))


async def areplay(
    source: Source, *, agent: Agent | None = None, tools: Iterable[Any] | None = None, directory: Path = RUNS
) -> Replay:
    """Like `replay`, as a coroutine."""
    begun = time.perf_counter()
    events = load(source, directory)
    tape = Tape(events)
    known = agent is not None or tools is not None or knows_tools(events[0])
    player = Player(tape, agent or agent_from(events, tools), cleaning=known)
    await player.play()
    return Replay(
        player.state.run_id, len(events), tape.position, player.difference, player.resumed, time.perf_counter() - begun
    )


def agent_from(events: Sequence[Event], tools: Iterable[Any] | None = None, **options: Any) -> Agent:
    """Make the agent a run was made by, as far as its journal tells, with tools that refuse to run unless given.

    Args:
        events: The run.
        tools: The tools; None makes them from their records.
        options: Whatever else `Agent` takes; these go before what the journal says.
    """
    from ..agent import Agent
    from ..limits import Limits

    start = events[0]
    assert isinstance(start, RunStarted)
    settings = start.settings
    language: Any = start.language
    protocol: Any = start.protocol
    fitting: dict[str, Any] = {
        "model": TapeModel(Tape(events), start.model, capabilities_from(settings), []),
        "system": start.system,
        "strategy": start.strategy,
        "final_temperature": settings.get("final_temperature"),
        "protocol": protocol,
        "language": language,
        "limits": Limits.from_dict(start.limits),
        "verifier": settings.get("verifier", "on") != "off",
        "provenance": settings.get("provenance", True),
        "temperature": settings.get("temperature", 0.1),
        "seed": settings.get("seed"),
        "allow": tuple(settings.get("allow", ())),
        "journal": False,
    }
    made = [tool_from(t) for t in start.tools] if tools is None else list(tools)
    return Agent(tools=made, **{**fitting, **options})


class Player:
    """Plays one tape against today's loop.

    Args:
        tape: The recorded run.
        agent: Whose gears are tried.
        cleaning: Whether results are cleaned again, with the options of the agent's tools.
    """

    def __init__(self, tape: Tape, agent: Agent, *, cleaning: bool = True) -> None:
        self.tape = tape
        self._cleaning = cleaning
        self.state = State()
        self.difference: Difference | None = None
        self.resumed = 0
        self._gears = self._put_together(agent)
        self._redact = Redactor()

    def _put_together(self, agent: Agent) -> Gears:
        """Take the agent's gears, and the tape's doubles for everything outside of the code."""
        gears = agent.gears(live=False)
        start = self.tape.events[0]
        assert isinstance(start, RunStarted)
        gears.limits = replace(gears.limits, clock=self.tape.clock)  # type: ignore[type-var]
        gears.model = TapeModel(self.tape, start.model, gears.model.capabilities, gears.retried)
        executor: Any = gears.executor
        gears.executor = tape_executor(
            self.tape,
            list(executor.tools.values()),
            executor.words,
            provenance=executor.provenance,
            cleaning=self._cleaning,
        )
        return gears

    async def play(self) -> None:
        """Play to the end of the record or to the first difference.

        Where the loop does something else than was recorded, somebody may have interrupted the run and gone on
        with it. Then a loop that begins anew from the same state does what was recorded; if it does not, the
        difference is a real one.
        """
        self._take(self.tape.events[0])
        open_question: Difference | None = None
        while self.tape.next is not None:
            self._take_from_outside()
            before = self.tape.position
            found = await self._play_until_pause()
            if self.tape.position == before:
                if not self.tape.over:
                    self.difference = open_question or found or self._differs(None)
                return
            self.resumed += open_question is not None
            open_question = found

    async def _play_until_pause(self) -> Difference | None:
        """Play until the loop ends, pauses, or does something else; return the difference in the last case."""
        from ..strategies import drive

        loop: Any = drive(self._gears, self.state)
        try:
            async for event in loop:
                self._pass_notes()
                recorded = self.tape.next
                if recorded is None:
                    return None  # the recorded run was cut off here
                if isinstance(recorded, RunEnded) and recorded.stop == "cancelled":
                    self._take(recorded)
                    return None
                same = self._same(event, recorded)
                if not same:
                    return self._differs(event)
                self._take(recorded)
                if isinstance(recorded, RunEnded):
                    return None
        except Interrupted:
            self._pass_notes()
            if isinstance(self.tape.next, RunEnded):
                self._take(self.tape.next)
                return None
            return self._differs(None) if self.tape.next is not None else None
        finally:
            await loop.aclose()
        return self._differs(None) if self.tape.next is not None else None

    def _take(self, event: Event) -> None:
        """Go past a recorded event; the state takes it as it was recorded, times and ids included."""
        self.tape.position += 1
        paused = isinstance(event, RunEnded) and event.stop in PAUSES and self.tape.next is not None
        if not paused:
            self.state.apply(event)

    def _pass_notes(self) -> None:
        while isinstance(self.tape.next, Noted):
            self._take(self.tape.next)

    def _take_from_outside(self) -> None:
        """A decision that was written while the run stood still comes from a person, not from the loop."""
        self._pass_notes()
        previous = self.tape.events[self.tape.position - 1]
        while isinstance(self.tape.next, ApprovalGiven) and isinstance(previous, (RunEnded, ApprovalGiven)):
            previous = self.tape.next
            self._take(previous)

    def _same(self, event: Event, recorded: Event) -> bool:
        return not self._compared(event, recorded)[2]

    def _compared(self, event: Event, recorded: Event) -> tuple[dict[str, Any], dict[str, Any], list[Change]]:
        then, now = event_data(recorded), event_data(event)
        if isinstance(event, RunEnded):
            # Money and sources are the agent's affair: the loop knows neither prices nor passages.
            then.pop("cost", None)
            then.pop("sources", None)
        if isinstance(event, MoveRead) and isinstance(recorded, MoveRead):
            now = _with_ids_of(recorded, now)
        if is_masked(then):
            now = event_data(self._redact(now))
            then.pop("hash", None)
            now.pop("hash", None)
        if then == now:
            return then, now, []
        return then, now, changes(then, now) if then.get("type") == now.get("type") else [Change("type", then, now)]

    def _differs(self, event: Event | None) -> Difference:
        recorded = self.tape.next
        assert recorded is not None
        if event is None:
            then = event_data(recorded)
            what = f"the replay ends, and {what_differs(then, then)} was recorded next"
            return Difference(recorded.step, what, recorded=then)
        then, now, found = self._compared(event, recorded)
        same_kind = then.get("type") == now.get("type")
        shown = tuple(found) if same_kind else ()
        return Difference(event.step, what_differs(then, now), shown, then, now, is_masked(then))


def _with_ids_of(recorded: MoveRead, now: dict[str, Any]) -> dict[str, Any]:
    """Give today's calls the ids of the recorded ones: ids are made anew in every run and say nothing."""
    ids = [call.id for call in recorded.move.calls]
    calls = now.get("move", {}).get("calls", [])
    if not ids or len(ids) != len(calls):
        return now
    renamed = [{**call, "id": known} for call, known in zip(calls, ids, strict=True)]
    return {**now, "move": {**now["move"], "calls": renamed}}


def replay_all(directory: Path = RUNS, *, tools: Iterable[Any] | None = None) -> Iterable[tuple[Path, Replay]]:
    """Replay every run of a directory, oldest first, and yield each with what was found."""
    given = list(tools) if tools is not None else None
    for path in sorted(directory.glob("*.jsonl")):
        yield path, replay(path, tools=given)
