"""`RunStream`: one run of the loop, told event by event, each recorded before the loop goes on.

It owes the journal every event in order, also the end of a run that was interrupted, and the
person who looks on a finished `Run`; a journal that cannot be written is said and ends nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from .events import Event, Noted, RunEnded, RunStarted
from .prices import NO_BUDGET, UNKNOWN, local_price
from .state import State
from .strategies import drive
from .types import Run, Usage
from .verify.citations import cited_sources

if TYPE_CHECKING:
    from .agent import Agent


class RunStream:
    """The events of a run as an async iterator; afterwards `.run` is the finished run.

    Every event is stamped, recorded and applied to the state before the loop goes on: that is what
    makes the journal a write-ahead log.
    """

    def __init__(self, agent: Agent, state: State, begin: RunStarted | None, *, live: bool) -> None:
        self.state = state
        self.recorder = agent.recorder(begin.run_id if begin else state.run_id)
        self._gears = agent.gears(live=live)
        self._begin = begin
        self._events = self._narrate()
        self._price = agent.price or local_price(begin.model if begin else state.started_event.model)
        self._asked_for_price = agent.price is not None
        self._shelf = agent.shelf

    @property
    def run(self) -> Run:
        """The run as far as it has come."""
        run = self.state.to_run()
        path = getattr(self.recorder, "path", None)
        return replace(run, journal=str(path)) if path is not None and not self.state.journal_lost else run

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events

    async def aclose(self) -> None:
        """Stop the run; it is recorded as cancelled and can be resumed."""
        await self._events.aclose()

    async def _narrate(self) -> AsyncGenerator[Event, None]:
        if self._shelf is not None:
            self._shelf.enter()
        try:
            if self._begin is not None:
                for event in self._take(self._begin):
                    yield event
                if note := self._price_note(self._begin):
                    for event in self._take(Noted(text=note)):
                        yield event
            async with aclosing(drive(self._gears, self.state)) as events:
                async for event in events:
                    for taken in self._take(event):
                        yield taken
        except (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt):
            if self.state.ended is None:
                self._take(RunEnded(self.state.number, stop="cancelled", usage=self.state.usage, detail="interrupted"))
            raise
        finally:
            if self._shelf is not None:
                self._shelf.leave()
            if self.recorder is not None:
                self.recorder.close()

    def _price_note(self, begin: RunStarted) -> str:
        """What to say of an unknown price where somebody wants to know it; empty when there is nothing to say."""
        if self._price is not None and self._price(Usage()) is not None:
            return ""
        if begin.limits.get("cost"):
            return NO_BUDGET
        return UNKNOWN if self._asked_for_price else ""

    def _take(self, event: Event) -> list[Event]:
        """Stamp, record and apply an event; a journal that cannot be written is said once and the run goes on."""
        if isinstance(event, RunEnded):
            cost = self._price(event.usage) if self._price is not None else None
            event = replace(event, cost=cost, sources=cited_sources(event.answer, self.state))
        event = replace(event, seq=self.state.seq + 1, at=time.time())
        out = [event]
        if self.recorder is not None and not self.state.journal_lost:
            try:
                self.recorder.record(event)
            except OSError as error:
                self.state.journal_lost = f"The run is not recorded: {error.strerror or error}."
                out.append(Noted(event.step, seq=event.seq + 1, at=event.at, text=self.state.journal_lost))
        for each in out:
            self.state.apply(each)
        return out
