"""The seams between the gears: what each owes the loop, as small protocols.

Pass any object with these methods to `Agent(...)` and it takes the gear's place.
No gear knows another one; `agent.py` introduces them to each other.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from .events import Event
from .types import Capabilities, Declaration, Delta, Message, Move, Reply, Request, Stop, ToolCall, Verdict

if TYPE_CHECKING:
    from .state import State


@dataclass(frozen=True)
class Turn:
    """All a protocol needs to ask for one step: the state of the run, as far as the grammar follows it.

    Attributes:
        messages: What memory lets the model see, oldest first.
        declared: All tools of the run, as the prompt lists them: the same in every turn, so that prefixes hold.
        tools: The tools that may be called now; empty when only an answer is left.
        language: Language of prompts, labels and corrections.
        answer_in: Language of the answer, where it is not that of the prompts.
        barred: Calls already answered, which are not offered again unchanged.
        answer_only: True when only an answer may be given (limits, wrap-up).
        parallel: Whether several calls may be asked for at once.
        instruction: A last instruction for this turn alone (the wrap-up), shown after all messages.
        temperature: Sampling temperature of this step.
    """

    messages: tuple[Message, ...]
    declared: tuple[Declaration, ...] = ()
    tools: tuple[Declaration, ...] = ()
    language: str = "en"
    answer_in: str = ""
    barred: tuple[ToolCall, ...] = ()
    answer_only: bool = False
    parallel: bool = True
    instruction: str = ""
    temperature: float = 0.1
    max_tokens: int | None = None


@runtime_checkable
class Model(Protocol):
    """A language model behind a server or in this process.

    `complete` and `stream` raise only `ModelError`s. `stream` yields `Delta`s and, last, the whole `Reply`.
    """

    @property
    def name(self) -> str:
        """The name in journals and traces."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the model and its server can do."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Answer one request."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Answer one request in pieces, and whole at the end."""
        ...


class ReplyProtocol(Protocol):
    """A way to ask for a step and to understand what came back. `read` never raises and never guesses silently."""

    @property
    def name(self) -> str:
        """The name in journals, traces and profiles."""
        ...

    def ask(self, turn: Turn) -> Request:
        """Say how the next step is asked for."""
        ...

    def read(self, reply: Reply, turn: Turn) -> Move:
        """Understand a reply, or say what is wrong with it."""
        ...


class Executor(Protocol):
    """Runs the calls of a move and yields what happens: approvals, starts, and one `CallFinished` for each call."""

    @property
    def declarations(self) -> Sequence[Declaration]:
        """All tools of the run, as a model is told of them."""
        ...

    def offered(self, state: State) -> Sequence[Declaration]:
        """The tools that may be called now."""
        ...

    def barred(self, state: State) -> Sequence[ToolCall]:
        """Calls that are not offered again unchanged."""
        ...

    def execute(self, move: Move, state: State) -> AsyncIterator[Event]:
        """Run the pending calls of a move."""
        ...


class Memory(Protocol):
    """Decides what the model sees. `compact` may answer with events that replace the oldest part of the view."""

    def view(self, state: State) -> tuple[Message, ...]:
        """The messages the model sees."""
        ...

    def compact(self, state: State, *, harder: bool = False) -> Sequence[Event]:
        """Shorten the view if it has grown too long; no events when it has not."""
        ...


@dataclass(frozen=True)
class Ending:
    """A limit's word: the run ends with this `stop`, for this reason."""

    stop: Stop
    detail: str


class Limiter(Protocol):
    """Says when a run must end, asked before every turn of the loop, and how many seconds are left."""

    def check(self, state: State) -> Ending | None:
        """The first limit that is reached."""
        ...

    def seconds_left(self, state: State) -> float | None:
        """Seconds until the deadline, None without one."""
        ...


class Verifier(Protocol):
    """Says whether an answer may be given: it may claim only what was observed."""

    def check(self, answer: str, state: State) -> Verdict:
        """Compare an answer with what was observed."""
        ...


class Recorder(Protocol):
    """Takes events in order. `record` returns only when the event is where it should be."""

    def record(self, event: Event) -> None:
        """Keep one event."""
        ...

    def close(self) -> None:
        """Let go of what is open; a further event opens it again."""
        ...


class Retriever(Protocol):
    """Finds passages with source, place and score."""

    def search(self, query: str, k: int = 5) -> Sequence[Any]:
        """The `k` best passages, best first."""
        ...
