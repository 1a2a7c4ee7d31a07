"""OpenTelemetry spans from the events of a run: agent, model call, tool, retrieval.

Owes: spans come from events alone, so a recorded run gives the same ones as a live run; what people
and models said is in them only when `content=True`; names are those of the table in `semconv.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import MissingExtra
from ..events import (
    ApprovalGiven,
    CallFinished,
    CallStarted,
    Event,
    LimitReached,
    ModelAsked,
    ModelReplied,
    ModelRetried,
    MoveRead,
    RunEnded,
    RunStarted,
)
from ..journal.record import RUNS, JournalRecorder
from .semconv import NAMES, OPERATIONS, SCHEMA_URL

RETRIEVERS = ("search_knowledge",)
"""Tools that look things up in a knowledge base: their calls are retrievals."""


class SpanWriter:
    """Turns one event after the other into spans.

    Args:
        tracer: The tracer, for example of your own provider; None takes the global one.
        content: Whether messages, arguments and results are written into the spans.
        retrievers: Names of tools whose calls are retrievals.
        agent: What the agent is called.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """

    def __init__(
        self,
        tracer: Any = None,
        *,
        content: bool = False,
        retrievers: Iterable[str] = RETRIEVERS,
        agent: str = "glassloop",
    ) -> None:
        try:
            from opentelemetry import trace
        except ImportError:
            raise MissingExtra("opentelemetry", "otel", "write spans") from None
        self._trace = trace
        self.tracer = tracer or trace.get_tracer("glassloop", schema_url=SCHEMA_URL)
        self.content = content
        self.retrievers = frozenset(retrievers)
        self.agent = agent
        self._run: Any = None
        self._asked: Any = None
        self._calls: dict[str, Any] = {}
        self._model = ""
        self._at = 0
        self._messages: list[dict[str, Any]] = []

    def write(self, event: Event) -> None:
        """Take one event into account."""
        self._at = max(self._at, int(event.at * 1e9))
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def close(self) -> None:
        """End what is still open: the run was cut off."""
        self._end_all("interrupted")

    # -- the spans -----------------------------------------------------------------------------

    def _begin(self, kind: str, about: str, attributes: dict[str, Any], *, client: bool = False) -> Any:
        context = self._trace.set_span_in_context(self._run) if self._run is not None else None
        kinds = self._trace.SpanKind
        return self.tracer.start_span(
            f"{OPERATIONS[kind]} {about}".strip(),
            context=context,
            kind=kinds.CLIENT if client else kinds.INTERNAL,
            start_time=self._at,
            attributes=_named({"operation": OPERATIONS[kind], **attributes}),
        )

    def _end(self, span: Any, attributes: dict[str, Any], error: str = "", detail: str = "") -> None:
        for key, value in _named({**attributes, **({"error": error} if error else {})}).items():
            span.set_attribute(key, value)
        if error:
            span.set_status(self._trace.StatusCode.ERROR, detail or error)
        span.end(end_time=self._at)

    def _started(self, event: RunStarted) -> None:
        self._end_all("interrupted")
        self._model = event.model
        said = (
            {"input": _text([*event.history, event.question]), "system": _text([event.system])} if self.content else {}
        )
        self._messages = []
        self._run = self._begin(
            "agent",
            self.agent,
            {
                "agent": self.agent,
                "provider": _provider(event.model),
                "conversation": event.run_id,
                "request_model": event.model,
                "strategy": event.strategy,
                **said,
            },
        )

    def _model_asked(self, event: ModelAsked) -> None:
        request = event.request
        self._messages = [*self._messages[: event.kept], *request.messages]
        self._asked = self._begin(
            "model",
            self._model,
            {
                "provider": _provider(self._model),
                "request_model": self._model,
                "temperature": request.temperature,
                "max_tokens": request.max_tokens,
                "seed": request.seed,
                "step": event.step,
                **({"input": _json(self._messages)} if self.content else {}),
            },
            client=True,
        )

    def _model_replied(self, event: ModelReplied) -> None:
        if self._asked is None:
            return
        reply, usage = event.reply, event.reply.usage
        attributes = {
            "response_model": reply.model or None,
            "finish": [reply.finish_reason] if reply.finish_reason else None,
            "input_tokens": usage.prompt,
            "output_tokens": usage.completion,
            "cached_tokens": usage.cached,
        }
        if self.content:
            attributes["output"] = _json([{"role": "assistant", "content": reply.text, "tool_calls": reply.tool_calls}])
        self._end(self._asked, attributes)
        self._asked = None

    def _retried(self, event: ModelRetried) -> None:
        span = self._asked or self._run
        if span is not None:
            span.add_event("glassloop.retry", _named({"error": event.reason}), timestamp=self._at)

    def _move_read(self, event: MoveRead) -> None:
        if event.move.fault is not None and self._run is not None:
            self._run.add_event("glassloop.fault", _named({"fault": event.move.fault.kind}), timestamp=self._at)

    def _call_started(self, event: CallStarted) -> None:
        call = event.call
        searching = call.name in self.retrievers
        about: dict[str, Any] = {"step": event.step, "tool": call.name, "call_id": call.id, "risk": event.risk}
        if searching:
            about["source"] = call.name
        else:
            about["tool_type"] = "function"
        if self.content:
            about["query" if searching else "arguments"] = _json(call.arguments)
        self._calls[call.id] = self._begin("retrieval" if searching else "tool", call.name, about)

    def _call_finished(self, event: CallFinished) -> None:
        seen = event.observation
        span = self._calls.pop(seen.call_id, None)
        if span is None:
            if self._run is not None:  # it never reached its tool: sent back, refused, or answered from the record
                named = _named({"tool": seen.name, "status": seen.status, "cached": seen.cached})
                self._run.add_event("glassloop.call_not_run", named, timestamp=self._at)
            return
        attributes: dict[str, Any] = {"status": seen.status, "approved_by": seen.approved_by or None}
        if self.content:
            attributes["documents" if seen.name in self.retrievers else "result"] = seen.content
        bad = seen.status != "ok"
        self._end(span, attributes, "tool_error" if bad else "", seen.content if bad and self.content else "")

    def _approved(self, event: ApprovalGiven) -> None:
        if self._run is not None:
            named = {"glassloop.allowed": event.allowed, **_named({"call_id": event.call_id, "approved_by": event.by})}
            self._run.add_event("glassloop.approval", named, timestamp=self._at)

    def _limit(self, event: LimitReached) -> None:
        if self._run is not None:
            self._run.add_event("glassloop.limit", _named({"stop": event.stop}), timestamp=self._at)

    def _ended(self, event: RunEnded) -> None:
        if self._run is None:
            return
        bad = event.stop in ("model_failed", "cancelled")
        self._end_open(event.stop if bad else "")
        usage = event.usage
        attributes = {
            "stop": event.stop,
            "checked": event.answer_checked,
            "input_tokens": usage.prompt,
            "output_tokens": usage.completion,
            "cached_tokens": usage.cached,
            **({"output": _text([event.answer])} if self.content else {}),
        }
        self._end(self._run, attributes, event.stop if bad else "", event.detail if bad and self.content else "")
        self._run = None

    def _end_open(self, why: str) -> None:
        for span in filter(None, [self._asked, *self._calls.values()]):
            self._end(span, {}, why)
        self._asked, self._calls = None, {}

    def _end_all(self, why: str) -> None:
        self._end_open(why)
        if self._run is not None:
            self._end(self._run, {}, why)
            self._run = None


_HANDLERS: dict[type[Event], Any] = {
    RunStarted: SpanWriter._started,  # pyright: ignore[reportPrivateUsage]
    ModelAsked: SpanWriter._model_asked,  # pyright: ignore[reportPrivateUsage]
    ModelReplied: SpanWriter._model_replied,  # pyright: ignore[reportPrivateUsage]
    ModelRetried: SpanWriter._retried,  # pyright: ignore[reportPrivateUsage]
    MoveRead: SpanWriter._move_read,  # pyright: ignore[reportPrivateUsage]
    CallStarted: SpanWriter._call_started,  # pyright: ignore[reportPrivateUsage]
    CallFinished: SpanWriter._call_finished,  # pyright: ignore[reportPrivateUsage]
    ApprovalGiven: SpanWriter._approved,  # pyright: ignore[reportPrivateUsage]
    LimitReached: SpanWriter._limit,  # pyright: ignore[reportPrivateUsage]
    RunEnded: SpanWriter._ended,  # pyright: ignore[reportPrivateUsage]
}


class SpanRecorder:
    """A `Recorder` that writes spans as the run goes, beside the journal: `Agent(journal=SpanRecorder())`.

    One recorder is for one run at a time. A span that cannot be written never stops a run.

    Args:
        writer: How spans are written.
        runs: The directory of run journals, or None for none.
    """

    def __init__(self, writer: SpanWriter | None = None, *, runs: str | Path | None = RUNS) -> None:
        self.writer = writer or SpanWriter()
        self.runs = Path(runs) if runs is not None else None
        self._journal: JournalRecorder | None = None

    @property
    def path(self) -> Path | None:
        """The journal of the present run."""
        return self._journal.path if self._journal is not None else None

    def record(self, event: Event) -> None:
        """Journal the event, then write what it means for the spans."""
        if isinstance(event, RunStarted):
            self._journal = JournalRecorder(self.runs / f"{event.run_id}.jsonl") if self.runs is not None else None
        if self._journal is not None:
            self._journal.record(event)
        if not event.live_only:
            self.writer.write(event)

    def close(self) -> None:
        """Close the journal, and the spans of a run that was cut off."""
        if self._journal is not None:
            self._journal.close()
        self.writer.close()


def write_spans(events: Iterable[Event], writer: SpanWriter | None = None) -> None:
    """Write the spans of a run that is over, from its events (see `glassloop.journal.record.read_events`)."""
    writer = writer or SpanWriter()
    for event in events:
        writer.write(replace(event))
    writer.close()


def _named(values: dict[str, Any]) -> dict[str, Any]:
    return {NAMES[key]: value for key, value in values.items() if value is not None and value != ""}


def _provider(model: str) -> str:
    """The provider a model's name tells: `ollama:…`, `openai:…`; our own backends are named as they are."""
    head, colon, _ = model.partition(":")
    return head if colon and head.isidentifier() else "glassloop"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _text(parts: list[Any]) -> str:
    said = [p.to_dict() if hasattr(p, "to_dict") else {"role": "user", "content": p} for p in parts if p]
    return _json(said) if said else ""
