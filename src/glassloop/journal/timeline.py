"""A run as rows to show, in the order in which things happened; every view of a run draws these and nothing else.

The rows of a step: what the model was sent, as a difference to the request before; its raw
reply with the understood parts marked; what was mended, and how; each call with the source of
every value, its permission, and its observation before and after cleaning; the verdict.
Fed event by event, so that a run in progress is drawn as it goes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ..events import (
    AnswerChecked,
    AnswerReworded,
    ApprovalAsked,
    ApprovalGiven,
    CallFinished,
    CallStarted,
    Event,
    HistoryCompacted,
    LimitReached,
    ModelAsked,
    ModelReplied,
    ModelRetried,
    MoveRead,
    Noted,
    PlanMade,
    RunEnded,
    RunStarted,
)
from ..types import Record, Repair, Request, Source, Usage
from .marks import Part, call_text, mark_reply
from .prompt_change import Sent, prompt_change


@dataclass(frozen=True)
class Row(Record):
    """One thing that happened.

    Attributes:
        kind: What it is: `start`, `sent`, `retry`, `reply`, `thought`, `answer`, `fault`, `repair`, `call`, `asked`,
            `decision`, `observation`, `check`, `compacted`, `limit`, `note` or `end`.
        step: The step it belongs to; 0 before the first.
        seq: Its place in the journal.
        at: When, in Unix time.
        title: A word or two: the tool, the repair, the stop.
        text: What it says.
        level: `good`, `bad`, `warn` or nothing.
        before: The value before, for what was changed.
        after: The value after.
        parts: A text in pieces, the understood ones with their name.
        sent: The messages of a request that were not in the one before.
        facts: Whatever else there is to know, by name.
    """

    kind: str
    step: int = 0
    seq: int = 0
    at: float = 0.0
    title: str = ""
    text: str = ""
    level: str = ""
    before: Any = None
    after: Any = None
    parts: tuple[Part, ...] = ()
    sent: tuple[Sent, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class StepView:
    """The rows of one step, and what it cost."""

    number: int
    purpose: str = "step"
    rows: list[Row] = field(default_factory=list[Row])
    usage: Usage = field(default_factory=Usage)
    begun: float = 0.0
    ended: float = 0.0

    @property
    def seconds(self) -> float:
        """Wall time of the step so far."""
        return max(0.0, self.ended - self.begun)


class Timeline:
    """The rows of a run, made from its events.

    Args:
        events: Events to begin with; feed more as they come.

    Attributes:
        start: The run's beginning.
        opening: Rows before the first step.
        steps: The steps in order.
        end: The run's end, while nothing follows it.
        usage: Tokens so far.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.start: RunStarted | None = None
        self.opening: list[Row] = []
        self.steps: list[StepView] = []
        self.end: RunEnded | None = None
        self.usage = Usage()
        self.last_at = 0.0
        self.seq = 0
        self._request: Request | None = None
        self._traced: set[str] = set()
        self._makers: dict[type[Event], Callable[[Any], list[Row]]] = {
            RunStarted: self._started,
            ModelAsked: self._asked,
            ModelRetried: self._retried,
            ModelReplied: self._replied,
            MoveRead: self._read,
            ApprovalAsked: self._approval_asked,
            ApprovalGiven: self._approval_given,
            CallStarted: self._call,
            CallFinished: self._finished,
            AnswerChecked: self._checked,
            AnswerReworded: self._reworded,
            PlanMade: self._planned,
            HistoryCompacted: self._compacted,
            LimitReached: self._limit,
            Noted: self._noted,
            RunEnded: self._ended,
        }
        for event in events:
            self.feed(event)

    @property
    def rows(self) -> list[Row]:
        """All rows in the order in which things happened."""
        return [*self.opening, *(row for step in self.steps for row in step.rows)]

    @property
    def seconds(self) -> float:
        """Wall time from the first event to the last."""
        return max(0.0, self.last_at - self.start.at) if self.start else 0.0

    def feed(self, event: Event) -> list[Row]:
        """Take one event and return its rows; an event that is not shown has none."""
        maker = self._makers.get(type(event))
        if maker is None:
            return []
        self.last_at = event.at or self.last_at
        self.seq = max(self.seq, event.seq)
        self.end = event if isinstance(event, RunEnded) else None
        rows = [replace(row, step=event.step, seq=event.seq, at=event.at) for row in maker(event)]
        if isinstance(event, ModelAsked) and (not self.steps or self.steps[-1].number != event.step):
            self.steps.append(StepView(event.step, event.purpose, begun=event.at))
        if self.steps:
            self.steps[-1].rows.extend(rows)
            self.steps[-1].ended = event.at
            if isinstance(event, ModelReplied):
                self.steps[-1].usage = self.steps[-1].usage + event.reply.usage
        else:
            self.opening.extend(rows)
        return rows

    # -- one event each ------------------------------------------------------------------

    def _started(self, e: RunStarted) -> list[Row]:
        self.start = e
        facts = {
            "model": e.model,
            "protocol": e.protocol,
            "strategy": e.strategy,
            "language": e.language,
            "tools": [str(t.get("name", "")) for t in e.tools],
            "limits": e.limits,
            "settings": {k: v for k, v in e.settings.items() if v not in (None, [], "")},
            "system": e.system,
            "parent": e.parent,
            "version": e.version,
            "history": len(e.history),
        }
        return [Row("start", title=e.run_id, text=e.question, facts={k: v for k, v in facts.items() if v})]

    def _asked(self, e: ModelAsked) -> list[Row]:
        before = self._request
        kept = before.messages[: e.kept] if before else ()
        request = replace(e.request, messages=kept + e.request.messages)
        sent, facts = prompt_change(before, request, e.kept)
        self._request = request
        if e.purpose != "step":
            facts["purpose"] = e.purpose
        return [Row("sent", title="sent", sent=sent, facts=facts)]

    def _retried(self, e: ModelRetried) -> list[Row]:
        return [Row("retry", text=e.reason, level="warn", facts={"delay": e.delay})]

    def _replied(self, e: ModelReplied) -> list[Row]:
        reply = e.reply
        self.usage = self.usage + reply.usage
        facts: dict[str, Any] = {
            "prompt": reply.usage.prompt,
            "completion": reply.usage.completion,
            "cached": reply.usage.cached,
            "seconds": reply.seconds,
            "finish": reply.finish_reason,
            "model": reply.model,
            "tool_calls": list(reply.tool_calls),
            "reasoning": reply.reasoning,
            "raw": reply.raw,
        }
        kept = {k: v for k, v in facts.items() if v}
        return [Row("reply", text=reply.text, parts=(Part(reply.text),) if reply.text else (), facts=kept)]

    def _read(self, e: MoveRead) -> list[Row]:
        move = e.move
        self._mark(move)
        rows = [_repair(r, "mended") for r in move.repairs]
        if move.thought:
            rows.append(Row("thought", text=move.thought))
        if move.fault is not None:
            rows.append(Row("fault", title=move.fault.kind, text=move.fault.message, level="bad"))
        if move.answer is not None:
            rows.append(Row("answer", text=move.answer))
        for call in move.calls:
            rows.append(
                Row("wanted", title=call.name, text=call_text(call), after=call.arguments, facts={"id": call.id})
            )
        return rows

    def _mark(self, move: Any) -> None:
        """Mark the understood parts in the reply this move was read from."""
        rows = self.steps[-1].rows if self.steps else []
        for i in range(len(rows) - 1, -1, -1):
            if rows[i].kind == "reply":
                rows[i] = replace(rows[i], parts=mark_reply(rows[i].text, move))
                return

    def _approval_asked(self, e: ApprovalAsked) -> list[Row]:
        self._traced.add(e.call.id)
        facts: dict[str, Any] = {
            "id": e.call.id,
            "risk": e.risk,
            "preview": e.preview,
            "unknown": e.unknown,
            "hash": e.hash,
            "sources": [s.to_dict() for s in e.sources],
        }
        facts = {k: v for k, v in facts.items() if v}
        text = call_text(e.call)
        return [Row("asked", title=e.call.name, text=text, level="warn", after=e.call.arguments, facts=facts)]

    def _approval_given(self, e: ApprovalGiven) -> list[Row]:
        level = "good" if e.allowed else "bad"
        title = "allowed" if e.allowed else "not allowed"
        return [Row("decision", title=title, text=e.reason, level=level, facts={"by": e.by, "id": e.call_id})]

    def _call(self, e: CallStarted) -> list[Row]:
        sources = [] if e.call.id in self._traced else [s.to_dict() for s in e.sources]
        self._traced.add(e.call.id)
        facts: dict[str, Any] = {"id": e.call.id, "risk": e.risk, "sources": sources}
        facts = {k: v for k, v in facts.items() if v}
        return [Row("call", title=e.call.name, text=call_text(e.call), after=e.call.arguments, facts=facts)]

    def _finished(self, e: CallFinished) -> list[Row]:
        seen = e.observation
        rows = [_repair(r, "cast") for r in seen.repairs]
        level = {"ok": "good", "error": "bad"}.get(seen.status, "warn")
        facts: dict[str, Any] = {"id": seen.call_id, "status": seen.status, "seconds": seen.seconds}
        if seen.call_id not in self._traced:
            facts["sources"] = [s.to_dict() for s in seen.sources]
            facts["arguments"] = seen.arguments
        facts.update(cached=seen.cached, by=seen.approved_by)
        full = seen.data if isinstance(seen.data, str) else json.dumps(seen.data, ensure_ascii=False, default=str)
        if seen.data is not None:
            facts["characters"] = len(full)
        facts = {k: v for k, v in facts.items() if v}
        rows.append(Row("observation", title=seen.name, text=seen.content, level=level, before=seen.data, facts=facts))
        return rows

    def _checked(self, e: AnswerChecked) -> list[Row]:
        verdict = e.verdict
        facts: dict[str, Any] = {"reasons": list(verdict.reasons), "complaint": verdict.complaint, "again": e.corrected}
        facts = {k: v for k, v in facts.items() if v}
        title = "supported" if verdict.ok else "sent back once" if e.corrected else "given as it is, marked"
        return [Row("check", title=title, text=e.answer, level="good" if verdict.ok else "bad", facts=facts)]

    def _reworded(self, e: AnswerReworded) -> list[Row]:
        title = "in new words" if e.kept else "new words not used"
        facts: dict[str, Any] = {"reasons": list(e.verdict.reasons)} if e.verdict.reasons else {}
        return [Row("check", title=title, text=e.answer, level="good" if e.kept else "warn", facts=facts)]

    def _planned(self, e: PlanMade) -> list[Row]:
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(e.steps, 1))
        return [Row("note", title="plan", text=steps or "no tool is needed")]

    def _compacted(self, e: HistoryCompacted) -> list[Row]:
        facts = {"messages": len(e.messages), "covers": e.covers}
        text = "\n\n".join(f"{m.role}: {m.content}" for m in e.messages)
        return [Row("compacted", title=e.how, text=text, before=e.before, after=e.after, level="warn", facts=facts)]

    def _limit(self, e: LimitReached) -> list[Row]:
        return [Row("limit", title=e.stop, text=e.detail, level="warn")]

    def _noted(self, e: Noted) -> list[Row]:
        return [Row("note", text=e.text, level="warn")]

    def _ended(self, e: RunEnded) -> list[Row]:
        good = e.stop == "answered" and e.answer_checked
        facts: dict[str, Any] = {
            "detail": e.detail,
            "checked": e.answer_checked,
            "reasons": list(e.reasons),
            "tokens": e.usage.total or self.usage.total,
            "cached": e.usage.cached,
            "requests": e.usage.requests,
            "cost": e.cost,
            "seconds": e.seconds or self.seconds,
            "sources": list(e.sources),
        }
        facts = {k: v for k, v in facts.items() if v not in (None, "", [], 0)}
        return [Row("end", title=e.stop, text=e.answer, level="good" if good else "warn", facts=facts)]


def _repair(repair: Repair, kind: str) -> Row:
    facts = {k: v for k, v in {"how": kind, "path": repair.path, "guessed": repair.guessed}.items() if v}
    level = "warn" if repair.guessed else ""
    return Row("repair", title=repair.name, before=repair.before, after=repair.after, level=level, facts=facts)


def source_text(source: dict[str, Any]) -> str:
    """Say in a few words where a value came from: `city ← question, characters 12 to 17`."""
    known = Source.from_dict(source)
    origin = {"none": "nowhere", "schema": "the declaration"}.get(known.origin, known.origin)
    place = known.where if known.where.startswith(known.origin) else f"{origin} {known.where}".rstrip()
    span = f", characters {known.span[0] + 1} to {known.span[1]}" if len(known.span) == 2 else ""
    return f"{known.path} ← {place}{span}"


def change_text(row: Row) -> tuple[str, str]:
    """Return a row's values before and after as texts; as JSON where the difference may be one of type."""
    if isinstance(row.before, str) and isinstance(row.after, str):
        return row.before, row.after
    return _json(row.before), _json(row.after)


def listed(value: Any) -> str:
    """Return a fact as a text; several names with commas between."""
    return ", ".join(map(str, cast("list[Any]", value))) if isinstance(value, list) else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def money(cost: float | None) -> str:
    """Write a cost for people: `$0.0123`, `$0` where nothing was paid, `cost unknown` where nobody knows."""
    if cost is None:
        return "cost unknown"
    return f"${cost:.4f}" if cost else "$0"
