"""The words of the library as values: plain, frozen, serialisable, versioned.

This module imports nothing of the package, so that every gear can speak of a
`Message` or a `Move` without knowing any other gear. Each value turns into
JSON with `to_dict` and comes back with `from_dict`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import types as _types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from typing_extensions import Self

SCHEMA_VERSION = 1
"""Version of every record written by `to_dict`. 1: first release."""

Role = Literal["system", "user", "assistant", "tool"]
Risk = Literal["read", "write", "destructive"]
Status = Literal["ok", "error", "denied", "unknown"]
Language = Literal["en", "zh"]
FaultKind = Literal["format", "unknown_tool", "bad_arguments", "truncated", "empty"]
Stop = Literal[
    "answered",
    "max_steps",
    "token_budget",
    "cost_budget",
    "deadline",
    "repeated_call",
    "ping_pong",
    "no_progress",
    "repeated_faults",
    "approval_needed",
    "cancelled",
    "model_failed",
]
"""Why a run ended. Every run has exactly one."""


class Record:
    """Base of all serialisable values: `to_dict` and `from_dict` for frozen dataclasses."""

    ALWAYS: ClassVar[frozenset[str]] = frozenset()
    """Fields that are written even at their default, because whoever reads the JSON asks for them by name."""

    def to_dict(self) -> dict[str, Any]:
        """Return the value as JSON-ready plain data; fields at their default are left out, but for `ALWAYS`."""
        out: dict[str, Any] = {}
        for f in dataclasses.fields(typing.cast("Any", self)):
            value = getattr(self, f.name)
            if f.name in self.ALWAYS or not _is_default(f, value):
                out[f.name] = _plain(value)
        return out

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild the value from `to_dict`'s output; unknown keys are ignored so that newer files still read."""
        hints = _hints(cls)
        known = {f.name for f in dataclasses.fields(typing.cast("Any", cls)) if f.init}
        return cls(**{k: _rebuild(hints[k], v) for k, v in data.items() if k in known})


def _is_default(f: dataclasses.Field[Any], value: Any) -> bool:
    if f.default is not dataclasses.MISSING:
        return type(value) is type(f.default) and value == f.default
    if f.default_factory is not dataclasses.MISSING:
        return value == f.default_factory()
    return False


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in typing.cast("list[Any]", value)]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in typing.cast("dict[Any, Any]", value).items()}
    return value


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _rebuild(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    origin = get_origin(hint)
    if origin is tuple and isinstance(value, list):
        return tuple(_rebuild(get_args(hint)[0], v) for v in typing.cast("list[Any]", value))
    if origin in (_types.UnionType, typing.Union):
        for option in get_args(hint):
            if isinstance(option, type) and issubclass(option, Record):
                return _rebuild(option, value)
            if get_origin(option) is tuple:
                return _rebuild(option, value)
        return value
    if isinstance(hint, type) and issubclass(hint, Record) and isinstance(value, Mapping):
        return hint.from_dict(typing.cast("Mapping[str, Any]", value))
    return value


def canonical(value: Any) -> str:
    """Return one JSON text for equal values: sorted keys, no white space, Unicode kept."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


def digest(value: Any) -> str:
    """Return the first 16 hex digits of the SHA-256 of `canonical(value)`."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class ToolCall(Record):
    """One call the model wants: our own `id`, the tool's `name`, and its `arguments`."""

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def key(self) -> str:
        """The call without its id: equal for two calls that ask the same of the same tool."""
        return f"{self.name}{canonical(self.arguments)}"


@dataclass(frozen=True)
class Declaration(Record):
    """A tool as a model is told of it: name, description and the JSON Schema of its arguments."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    risk: Risk = "read"

    @classmethod
    def of(cls, tool: Any) -> Declaration:
        """Take a declaration from a tool object, an OpenAI tool dict, or a bare `{name, parameters}` dict."""
        if isinstance(tool, Declaration):
            return tool
        declared = getattr(tool, "declaration", None)
        if isinstance(declared, Declaration):
            return declared
        data: Mapping[str, Any] = tool.get("function", tool)
        return cls(
            name=data["name"],
            description=data.get("description") or "",
            parameters=data.get("parameters") or {"type": "object", "properties": {}},
            risk=data.get("risk", "read"),
        )

    def openai(self) -> dict[str, Any]:
        """The declaration in the form of the chat-completions API."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True)
class Message(Record):
    """One entry of the conversation, before a protocol gives it a server's form.

    `kind` says what a user message is: the `question`, a `correction` of a fault,
    a `summary` of compacted rounds, or retrieved `knowledge`; an assistant message
    without calls is an `answer`, or else a reply that was not understood.
    """

    role: Role
    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    name: str | None = None
    kind: Literal["", "question", "correction", "summary", "knowledge", "answer"] = ""
    thought: str = ""


@dataclass(frozen=True)
class Usage(Record):
    """Tokens of one or more requests. `cached` counts the prompt tokens served from the server's prefix cache."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    requests: int = 0

    @property
    def total(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt + self.completion

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
            self.requests + other.requests,
        )

    def __str__(self) -> str:
        return f"{self.total:,} tokens ({self.cached:,} from cache) in {self.requests} requests"


@dataclass(frozen=True)
class Capabilities(Record):
    """What a model and its server can do. Declared by the backend or probed, never guessed from a name."""

    native_tools: bool = False
    json_schema: bool = False
    stop: bool = True
    embeddings: bool = False
    logprobs: bool = False
    streaming: bool = True
    context: int = 8192


@dataclass(frozen=True)
class Request(Record):
    """What is sent to a model: wire-form messages and the server's constraints.

    `messages` are chat-completions dicts. `schema` is a JSON Schema the reply must
    fit; a backend that cannot hold it leaves it out, and the protocol checks afterwards.
    """

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] = ()
    schema: dict[str, Any] | None = None
    stop: tuple[str, ...] = ()
    temperature: float = 0.1
    max_tokens: int | None = None
    seed: int | None = None
    timeout: float | None = None
    logprobs: int = 0
    purpose: str = "step"

    @property
    def key(self) -> str:
        """Hash of all that decides the reply; equal requests have equal keys."""
        return digest({k: v for k, v in self.to_dict().items() if k not in ("timeout", "purpose")})

    def shared_with(self, before: Request | None) -> int:
        """Count the leading messages shared with an earlier request: the part a server need not read again."""
        if before is None:
            return 0
        pairs = zip(before.messages, self.messages)  # noqa: B905  # the shorter one ends it
        return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(before.messages), len(self.messages)))


@dataclass(frozen=True)
class Reply(Record):
    """What came back from the model, untouched. `tool_calls` are in chat-completions form."""

    text: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    usage: Usage = Usage()
    finish_reason: str | None = None
    reasoning: str = ""
    raw: dict[str, Any] = field(default_factory=dict[str, Any])
    seconds: float = 0.0
    model: str = ""


@dataclass(frozen=True)
class Delta(Record):
    """A piece of a reply while it streams: text, or a fragment of a tool call in chat-completions form."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Repair(Record):
    """Something that was mended: which pass or cast, where, and the value before and after.

    `guessed` marks a repair that had to guess (closing what was cut off, taking the
    nearest name): it may serve a read and never lets a write run.
    """

    name: str
    path: str = ""
    before: Any = None
    after: Any = None
    guessed: bool = False

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        change = f": {self.before!r} → {self.after!r}" if self.before is not None or self.after is not None else ""
        return f"{self.name}{where}{change}"


@dataclass(frozen=True)
class Fault(Record):
    """Why a reply could not be used, and the sentence that tells the model what to change."""

    kind: FaultKind
    message: str


@dataclass(frozen=True)
class Move(Record):
    """How a protocol understood a reply: a thought, and exactly one of `calls`, `answer`, `fault`.

    `said` is the assistant's turn as it enters the history: the part of the reply
    that was understood, without invented observations.
    """

    thought: str = ""
    calls: tuple[ToolCall, ...] = ()
    answer: str | None = None
    fault: Fault | None = None
    repairs: tuple[Repair, ...] = ()
    content: str = ""
    said: str = ""
    reason: str = ""
    doubt: float | None = None

    def __post_init__(self) -> None:
        if bool(self.calls) + (self.answer is not None) + (self.fault is not None) != 1:
            raise ValueError("a Move has exactly one of calls, answer and fault")

    @property
    def guessed(self) -> bool:
        """Whether any repair had to guess; then no write may run."""
        return any(r.guessed for r in self.repairs)


@dataclass(frozen=True)
class Source(Record):
    """Where a value in a call's arguments came from.

    `origin` is `question`, `history`, `observation`, `schema`, `derived`, `translated`
    or `none`; `where` names the message or observation, `span` its characters.
    """

    path: str
    value: Any
    origin: str
    where: str = ""
    span: tuple[int, ...] = ()


@dataclass(frozen=True)
class Observation(Record):
    """What goes back to the model: a status and compact content; the full data stays in the journal.

    `cached` marks an answer from the record, `deferred` a call that was not run because a call beside it had
    to be answered first: the model is not shown its own premature call, since a small one clings to it.
    `ran` is False for a call that was sent back before it reached its tool. `direct` marks a good result of a tool
    whose result is the answer.
    """

    call_id: str
    name: str
    status: Status
    content: str
    data: Any = None
    seconds: float = 0.0
    repairs: tuple[Repair, ...] = ()
    sources: tuple[Source, ...] = ()
    cached: bool = False
    deferred: bool = False
    ran: bool = True
    direct: bool = False
    approved_by: str = ""
    arguments: dict[str, Any] | None = None


@dataclass(frozen=True)
class Verdict(Record):
    """What the verifier says of a candidate answer; `complaints` are told to the model, `reasons` to the user."""

    ok: bool
    reasons: tuple[str, ...] = ()
    complaint: str = ""


@dataclass(frozen=True)
class Step(Record):
    """One turn of the loop: what was sent, what came back, how it was read, and what was observed."""

    number: int
    request: Request
    reply: Reply
    move: Move
    observations: tuple[Observation, ...] = ()
    verdict: Verdict | None = None
    seconds: float = 0.0
    purpose: str = "step"


@dataclass(frozen=True)
class Run(Record):
    """A finished run: question, steps, answer, why it stopped, and what it cost."""

    id: str
    question: str
    answer: str = ""
    stop: Stop = "answered"
    steps: tuple[Step, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
    cost: float | None = None
    model: str = ""
    protocol: str = ""
    answer_checked: bool = True
    reasons: tuple[str, ...] = ()
    detail: str = ""
    pending: tuple[ToolCall, ...] = ()
    sources: tuple[dict[str, Any], ...] = ()
    journal: str = ""
    parent: str = ""
    schema_version: int = SCHEMA_VERSION

    ALWAYS: ClassVar[frozenset[str]] = frozenset({"answer", "stop", "usage", "cost", "answer_checked"})
    VERSIONS: ClassVar[dict[int, str]] = {1: "first release"}

    @property
    def ok(self) -> bool:
        """Whether the run ended with an answer of the model's own that passed its check."""
        return self.stop == "answered" and self.answer_checked

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Every call of the run in order, as the model made them."""
        return tuple(call for step in self.steps for call in step.move.calls)

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Every observation of the run in order."""
        return tuple(o for step in self.steps for o in step.observations)
