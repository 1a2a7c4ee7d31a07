"""Everything that happens in a run, as frozen values: the only thing logs, views, spans and metrics read.

The loop yields these in order. What a run is can be folded from its events
alone (see `state.py`), so the journal that keeps them is enough to show,
replay, resume or fork the run. An event that announces something irreversible
(`CallStarted`) is yielded, and therefore recorded, before it happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .errors import JournalError
from .types import Message, Move, Observation, Record, Reply, Request, Risk, Source, Stop, ToolCall, Usage, Verdict

EVENT_TYPES: dict[str, type[Event]] = {}
"""Every event class by the `type` it has in a journal; filled as the classes below are defined."""


@dataclass(frozen=True)
class Event(Record):
    """Base of all events. `at` is Unix time in seconds, `seq` the place in the run; both are set when recorded."""

    type: ClassVar[str] = "event"
    live_only: ClassVar[bool] = False
    """True for events that only a live view wants; they are never written to a journal."""

    step: int = 0
    seq: int = 0
    at: float = 0.0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.type = "".join("_" + c.lower() if c.isupper() else c for c in cls.__name__).lstrip("_")
        EVENT_TYPES[cls.type] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return the event as JSON-ready data with its `type` first."""
        return {"type": self.type, **super().to_dict()}


def event_from_dict(data: Mapping[str, Any]) -> Event:
    """Rebuild any event from `Event.to_dict`'s output.

    Raises:
        JournalError: The type is not one this version knows.
    """
    cls = EVENT_TYPES.get(data.get("type", ""))
    if cls is None:
        raise JournalError(
            f"The journal holds an event of type {data.get('type')!r} that this version of glassloop does not know: "
            "read it with the version that wrote it, or a newer one."
        )
    return cls.from_dict(data)


@dataclass(frozen=True)
class RunStarted(Event):
    """A run begins: everything that decides how it will go."""

    run_id: str = ""
    question: str = ""
    system: str = ""
    language: str = "en"
    model: str = ""
    protocol: str = ""
    strategy: str = "react"
    tools: tuple[dict[str, Any], ...] = ()
    limits: dict[str, Any] = field(default_factory=dict[str, Any])
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    history: tuple[Message, ...] = ()
    knowledge: tuple[dict[str, Any], ...] = ()
    parent: str = ""
    version: str = ""
    schema_version: int = 1


@dataclass(frozen=True)
class ModelAsked(Event):
    """A request goes out.

    `kept` counts the leading messages that are the same as in the request before; `request` holds only
    those after them, so that a journal grows with what is new.
    """

    request: Request = Request(messages=())
    kept: int = 0
    purpose: str = "step"


@dataclass(frozen=True)
class TextStreamed(Event):
    """A piece of a thought or an answer, understood while it is written; `part` is `thought` or `answer`."""

    live_only: ClassVar[bool] = True
    part: str = "thought"
    text: str = ""


@dataclass(frozen=True)
class ModelRetried(Event):
    """A request failed in a way that may heal and is tried again after `delay` seconds."""

    reason: str = ""
    delay: float = 0.0


@dataclass(frozen=True)
class ModelReplied(Event):
    """The model's reply, untouched."""

    reply: Reply = Reply()


@dataclass(frozen=True)
class MoveRead(Event):
    """How the protocol understood the reply. `protocol` is named when it differs from the run's."""

    move: Move = Move(answer="")
    protocol: str = ""


@dataclass(frozen=True)
class ApprovalAsked(Event):
    """A call waits for a yes: with its final arguments, their hash, sources and the tool's preview."""

    call: ToolCall = ToolCall("", "")
    risk: Risk = "write"
    hash: str = ""
    sources: tuple[Source, ...] = ()
    preview: str = ""
    unknown: bool = False


@dataclass(frozen=True)
class ApprovalGiven(Event):
    """The decision on exactly one call, by id and by the hash of its final arguments."""

    call_id: str = ""
    hash: str = ""
    allowed: bool = False
    by: str = ""
    reason: str = ""


@dataclass(frozen=True)
class CallStarted(Event):
    """A call is about to run with these final arguments. On disk before the tool is entered (write-ahead)."""

    call: ToolCall = ToolCall("", "")
    risk: Risk = "read"
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True)
class CallFinished(Event):
    """A call has its observation: from the tool, the record, or a refusal. One for every call of a move."""

    observation: Observation = Observation("", "", "ok", "")


@dataclass(frozen=True)
class AnswerChecked(Event):
    """The verifier's verdict on a candidate answer. `corrected` says that the model is asked once more."""

    answer: str = ""
    verdict: Verdict = Verdict(True)
    corrected: bool = False


@dataclass(frozen=True)
class PlanMade(Event):
    """A complete plan for what is left to do; a later one takes the place of an earlier one."""

    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnswerReworded(Event):
    """The final answer in new words, and the verdict on them; the answer stays as it was unless `kept`."""

    answer: str = ""
    verdict: Verdict = Verdict(True)
    kept: bool = False


@dataclass(frozen=True)
class HistoryCompacted(Event):
    """What the model sees was shortened: estimated tokens before and after, and the view that replaces it."""

    before: int = 0
    after: int = 0
    messages: tuple[Message, ...] = ()
    covers: int = 0
    how: str = ""


@dataclass(frozen=True)
class LimitReached(Event):
    """A limit ends the run; what follows is the wrap-up."""

    stop: Stop = "max_steps"
    detail: str = ""


@dataclass(frozen=True)
class Noted(Event):
    """Something a reader of the run should know and that changes nothing: a lost journal, an unknown price."""

    text: str = ""


@dataclass(frozen=True)
class RunEnded(Event):
    """The run is over. The last event of every run that was not killed."""

    ALWAYS: ClassVar[frozenset[str]] = frozenset({"stop"})
    stop: Stop = "answered"
    answer: str = ""
    answer_checked: bool = True
    reasons: tuple[str, ...] = ()
    detail: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    seconds: float = 0.0
    sources: tuple[dict[str, Any], ...] = ()
