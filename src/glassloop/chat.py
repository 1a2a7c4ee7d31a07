"""A conversation that is remembered: the agent's runs as turns of a session.

It owes that a turn is written down before its question is asked, completed when its
answer is there, and, when it was cut off in between, shown as interrupted and gone on
with from the run's own journal.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from .bridge import wait_for
from .errors import JournalError, SessionError
from .events import Event
from .journal.record import find_run, new_run_id
from .memory.sessions import ChatTurn, SessionStore
from .types import Run

if TYPE_CHECKING:
    from .agent import Agent
    from .stream import RunStream

STORE = "sessions.sqlite"
"""Name of the file of sessions, beside the runs' directory."""

PAUSED = ("cancelled", "approval_needed", "model_failed")
"""Ends after which a turn counts as interrupted and can be continued."""


class Session:
    """One conversation by name.

    ```python
    session = Agent(tools=[weather]).session("holiday")
    session.run("Weather in Paris?")
    session.run("And tomorrow?")
    ```

    Args:
        agent: Who answers.
        name: The session's name; one that exists is gone on with.
        store: Where sessions are kept; None puts them beside the agent's runs.
    """

    def __init__(self, agent: Agent, name: str, store: SessionStore | str | Path | None = None) -> None:
        if not name.strip():
            raise SessionError("A session needs a name: give one, for example 'work'.")
        self.agent = agent
        self.name = name
        self.store = store if isinstance(store, SessionStore) else SessionStore(store or agent.runs.parent / STORE)
        if self.store.redact is None:
            self.store.redact = agent.redact

    @property
    def turns(self) -> tuple[ChatTurn, ...]:
        """The turns so far, oldest first, each `finished`, `running` or `interrupted`."""
        return self.store.show(self.name)

    @property
    def interrupted(self) -> ChatTurn | None:
        """The last turn, if it was cut off before its answer."""
        return self.store.interrupted(self.name)

    def run(self, question: str) -> Run:
        """Ask a question that knows the turns before it, and return the finished run."""
        return wait_for(self.arun(question))

    async def arun(self, question: str) -> Run:
        """Like `run`, as a coroutine."""
        stream = self.stream(question, live=False)
        async for _ in stream:
            pass
        return stream.run

    def stream(self, question: str, *, live: bool = True) -> SessionStream:
        """Ask a question and yield every event as it happens; `.run` of what is returned is the finished run."""
        history = self.store.history(self.name)
        run_id = new_run_id()
        stream = self.agent.stream(question, history=history, run_id=run_id, live=live)
        # Written down only now: what cannot even begin is no turn.
        return SessionStream(self, self.store.begin(self.name, question, run_id), stream)

    def resume(self) -> Run:
        """Go on with the interrupted turn from its run's journal and return the finished run.

        Raises:
            SessionError: No turn was interrupted, or another process has it.
        """
        return wait_for(self.aresume())

    async def aresume(self) -> Run:
        """Like `resume`, as a coroutine."""
        stream = self.resume_stream(live=False)
        async for _ in stream:
            pass
        return stream.run

    def resume_stream(self, *, live: bool = True) -> SessionStream:
        """Like `resume`, yielding the events from there on.

        A turn whose run left no journal is asked anew; one whose run has ended meanwhile (somebody used
        `glassloop approve` or `resume`) is only completed.
        """
        turn = self.interrupted
        if turn is None or not self.store.take_over(turn.id):
            raise SessionError(f"No turn of session {self.name!r} was interrupted: ask the question again.")
        try:
            find_run(turn.run_id, self.agent.runs)
        except JournalError:
            history = self.store.history(self.name, before=turn.id)
            stream = self.agent.stream(turn.question, history=history, live=live)
        else:
            stream = self.agent.resume_stream(turn.run_id, live=live)
        return SessionStream(self, turn.id, stream)

    def export(self, form: str = "json") -> str:
        """Return the whole conversation as a text: `json` with everything, or `md` to read."""
        return self.store.export(self.name, form)

    def delete(self) -> int:
        """Forget the conversation and return how many turns it had. The runs' journals stay."""
        return self.store.delete(self.name)


class SessionStream:
    """The events of one turn as an async iterator; afterwards `.run` is the finished run."""

    def __init__(self, session: Session, turn: int, stream: RunStream) -> None:
        self.turn = turn
        self._store = session.store
        self._stream = stream
        self._events = self._narrate()

    @property
    def run(self) -> Run:
        """The run as far as it has come."""
        return self._stream.run

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events

    async def aclose(self) -> None:
        """Stop the turn; it counts as interrupted and can be continued."""
        await self._events.aclose()

    async def _narrate(self) -> AsyncGenerator[Event, None]:
        finished = False
        try:
            async for event in self._stream:
                yield event
            run = self._stream.run
            if run.stop not in PAUSED:
                self._store.finish(self.turn, run.answer, run.stop, self._stream.state.messages, run.id)
                finished = True
        finally:
            if not finished:
                await self._stream.aclose()
                self._store.leave(self.turn)
