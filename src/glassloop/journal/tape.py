"""A recorded run, played back: it answers for the model, the tools and the people who allowed things.

The three doubles below take the places of the model, of the tools behind the executor,
and of the approver. Everything between them is today's code.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import ContextTooLong, ModelError
from ..events import (
    ApprovalAsked,
    ApprovalGiven,
    CallFinished,
    Event,
    HistoryCompacted,
    ModelReplied,
    ModelRetried,
    Noted,
    RunEnded,
)
from ..types import Capabilities, Delta, Observation, Reply, Request

if TYPE_CHECKING:
    from ..state import State
    from ..tools.executor import Prepared


class Interrupted(Exception):
    """The record has no answer here: the run was cut off at this place."""


class Tape:
    """The events of a run and how far they have been played.

    Args:
        events: The recorded events.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self.position = 0
        self._outcomes = {e.observation.call_id: e.observation for e in events if isinstance(e, CallFinished)}

    @property
    def next(self) -> Event | None:
        """The event that was recorded next."""
        return self.events[self.position] if self.position < len(self.events) else None

    @property
    def over(self) -> bool:
        """Whether everything that was recorded has been played."""
        return self.next is None

    def clock(self) -> float:
        """Unix time at which the next event was recorded: deadlines fall where they fell."""
        event = self.next or self.events[-1]
        return event.at

    def outcome(self, call_id: str) -> Observation | None:
        """The recorded observation of a call."""
        return self._outcomes.get(call_id)

    def ahead(self, count: int = 0) -> Event | None:
        """Return an event that lies `count` places ahead of the next one."""
        place = self.position + count
        return self.events[place] if place < len(self.events) else None


class TapeModel:
    """Gives the replies that were recorded, and fails where the model failed."""

    def __init__(self, tape: Tape, name: str, capabilities: Capabilities, retried: list[ModelRetried]) -> None:
        self.tape = tape
        self.name = name
        self.capabilities = capabilities
        self._retried = retried

    async def complete(self, request: Request) -> Reply:
        """Return the reply that comes next in the record."""
        ahead = 0
        while isinstance(event := self.tape.ahead(ahead), (ModelRetried, Noted)):
            if isinstance(event, ModelRetried):
                self._retried.append(replace(event, step=0, seq=0, at=0.0))
            ahead += 1
        if isinstance(event, ModelReplied):
            return event.reply
        if isinstance(event, HistoryCompacted):
            raise ContextTooLong("The prompt did not fit into the model's context.")
        if isinstance(event, RunEnded) and event.stop != "cancelled":
            raise ModelError(event.detail)
        self._retried.clear()
        raise Interrupted

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Yield the recorded reply whole; a replay listens to nothing."""
        yield await self.complete(request)


@dataclass(frozen=True)
class TapeDecision:
    """A recorded decision in the approver's form."""

    allowed: bool | None
    by: str = ""
    reason: str = ""


class TapePermission:
    """Decides as it was decided; where nobody had decided yet, the run waits as it did."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape

    async def decide(self, asked: ApprovalAsked, **_: Any) -> TapeDecision:
        """Return the recorded decision on this call."""
        given = self.tape.next
        if isinstance(given, ApprovalGiven) and given.call_id == asked.call.id:
            return TapeDecision(given.allowed, given.by, given.reason)
        return TapeDecision(None)


def tape_executor(tape: Tape, tools: Sequence[Any], words: Any, *, provenance: bool, cleaning: bool) -> Any:
    """Make the executor of a replay: every check is today's, but no tool is entered.

    Args:
        tape: The recorded run.
        tools: The tools, as they are declared today or as they were recorded.
        words: The executor's texts.
        provenance: Whether arguments must come from somewhere.
        cleaning: Whether results are cleaned again; only if it is known how these tools want it.
    """
    from ..tools.executor import ToolExecutor

    class TapeExecutor(ToolExecutor):
        async def run(self, item: Prepared, state: State) -> Observation:
            seen = tape.outcome(item.call.id)
            if seen is None:
                return self._observe(item, "unknown", "", None)
            return as_today(seen, item, cleaning=cleaning)

    async def preview(*values: Any, **arguments: Any) -> str:
        asked = tape.next
        return asked.preview if isinstance(asked, ApprovalAsked) else ""

    permission: Any = TapePermission(tape)
    shown = [replace(t, preview=preview) for t in tools]
    return TapeExecutor(
        shown,
        permission=permission,
        words=words,
        provenance=provenance,
        clock=lambda: 0.0,
    )


def as_today(seen: Observation, item: Prepared, *, cleaning: bool = True) -> Observation:
    """Return a recorded result as the executor hands it on today: its own call, casts and sources around it."""
    from ..tools import observation as shapes

    tool = item.tool
    assert tool is not None
    content = seen.content
    if seen.status == "ok" and cleaning and not seen.cached:
        content = shapes.clean(seen.data, tool.limit, keep=tool.keep, drop=tool.drop)
    own = len(item.repairs)
    rest = seen.repairs[own:] if seen.repairs[:own] == item.repairs else ()
    return replace(
        seen,
        content=content,
        repairs=(*item.repairs, *rest),
        sources=item.sources,
        arguments=item.arguments,
        approved_by="",
        cached=False,
        seconds=0.0,
    )
