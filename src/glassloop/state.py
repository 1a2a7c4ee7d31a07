"""What a run knows so far: a fold over its events, and nothing else.

The loop reads a `State`, the events write it. Because every change goes through
`apply`, a state rebuilt from a journal is the state the run had, which is what
makes resume, replay and fork one and the same thing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatchmethod
from typing import Any

from .events import (
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
    MoveRead,
    PlanMade,
    RunEnded,
    RunStarted,
)
from .prompts import text
from .types import Message, Move, Observation, Reply, Request, Run, Step, ToolCall, Usage, canonical

STEP_PURPOSES = ("step",)
"""Requests that count as a turn of the loop; wrap-ups, summaries and decisions are counted in usage only."""


class State:
    """The run so far.

    Attributes:
        messages: The full conversation in neutral form, never edited.
        steps: Finished and current steps, oldest first.
        pending: Calls of the current move that have no observation yet, in order.
        started: Ids of pending calls whose `CallStarted` is recorded: intents without an outcome.
        approvals: The decision on each call, by call id.
        done: The first good observation of every call key, and how often it was repeated.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.started_event = RunStarted()
        self.seq = 0
        self.begun_at = 0.0
        self.last_at = 0.0
        self.messages: list[Message] = []
        self.steps: list[Step] = []
        self.request: Request | None = None
        self.asked_purpose = "step"
        self.reply: Reply | None = None
        self.unread = False
        self.candidate: str | None = None
        self.accepted = False
        self.pending: list[ToolCall] = []
        self.started: dict[str, CallStarted] = {}
        self.asked: dict[str, ApprovalAsked] = {}
        self.approvals: dict[str, ApprovalGiven] = {}
        self.observed: list[tuple[ToolCall, Observation]] = []
        self.done: dict[str, Observation] = {}
        self.usage = Usage()
        self.faults_in_row = 0
        self.faults = 0
        self.corrections = 0
        self.checked: AnswerChecked | None = None
        self.plans: list[PlanMade] = []
        self.reworded = False
        self.ending: LimitReached | None = None
        self.ended: RunEnded | None = None
        self.compacted: HistoryCompacted | None = None
        self.squeezed = False
        self.wrap_up_failed = False
        self.journal_lost = ""
        self.last_prompt_tokens = 0
        self.last_prompt_messages = 0
        for event in events:
            self.apply(event)

    # -- what the gears ask ------------------------------------------------------------

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.started_event.run_id

    @property
    def question(self) -> str:
        """The user's question of this run."""
        return self.started_event.question

    @property
    def question_line(self) -> str:
        """The question in one line of at most 300 characters, to say it again where an answer is asked for."""
        line = " ".join(self.question.split())
        return line if len(line) <= 300 else f"{line[:300]}…"

    @property
    def language(self) -> str:
        """Language of prompts and corrections, `en` or `zh`."""
        return self.started_event.language

    @property
    def answer_in(self) -> str:
        """Language of the answer where it differs from that of the prompts, else empty."""
        wanted = str(self.started_event.settings.get("answer_in", ""))
        return wanted if wanted != self.language else ""

    @property
    def number(self) -> int:
        """Number of the current step, 1 for the first; 0 before it."""
        return len(self.steps)

    @property
    def turns(self) -> int:
        """Steps that count against the limit: all but wrap-ups."""
        return sum(step.purpose in STEP_PURPOSES for step in self.steps)

    @property
    def seconds(self) -> float:
        """Wall time from the start to the last event, without what was spent waiting for a person."""
        return max(0.0, self.last_at - self.begun_at)

    @property
    def move(self) -> Move | None:
        """The current step's move, if it has been read."""
        return self.steps[-1].move if self.steps else None

    def outcomes(self) -> list[tuple[ToolCall, Observation]]:
        """Every call with its observation, in order."""
        return list(self.observed)

    def known(self) -> str:
        """Every good observation in a line, for an answer when the model can give none."""
        lines = (f"- {call.name}: {o.content}" for call, o in self.observed if o.status == "ok" and not o.cached)
        return "\n".join(dict.fromkeys(lines))

    def to_run(self) -> Run:
        """Freeze the state as the `Run` a user gets."""
        end = self.ended
        start = self.started_event
        return Run(
            id=start.run_id,
            question=start.question,
            answer=end.answer if end else "",
            stop=end.stop if end else "cancelled",
            steps=tuple(self.steps),
            usage=self.usage,
            seconds=self.seconds,
            cost=end.cost if end else None,
            model=start.model,
            protocol=start.protocol,
            answer_checked=end.answer_checked if end else False,
            reasons=end.reasons if end else (),
            detail=end.detail if end else "The run was interrupted.",
            pending=tuple(self.pending),
            sources=end.sources if end else (),
            parent=start.parent,
        )

    # -- how events change it -----------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Take one event into account. Events this state does not care about change nothing but the clock."""
        self.seq = max(self.seq, event.seq)
        if event.at:
            self.begun_at = self.begun_at or event.at
            self.last_at = event.at
        self._apply(event)

    @singledispatchmethod
    def _apply(self, event: Event) -> None:
        pass

    @_apply.register
    def _(self, event: RunStarted) -> None:
        self.started_event = event
        if event.system:
            self.messages.append(Message("system", event.system))
        self.messages.extend(event.history)
        if event.knowledge:
            self.messages.append(Message("user", passages_text(event.knowledge, event.language), kind="knowledge"))
        self.messages.append(Message("user", event.question, kind="question"))

    @_apply.register
    def _(self, event: ModelAsked) -> None:
        before = self.request.messages[: event.kept] if self.request else ()
        self.request = replace(event.request, messages=before + event.request.messages)
        self.asked_purpose = event.purpose

    @_apply.register
    def _(self, event: ModelReplied) -> None:
        self.reply = event.reply
        self.unread = True
        self.squeezed = False
        self.usage = self.usage + event.reply.usage
        if self.asked_purpose in STEP_PURPOSES:
            self.last_prompt_tokens = event.reply.usage.prompt + event.reply.usage.completion
            self.last_prompt_messages = len(self.messages)

    @_apply.register
    def _(self, event: MoveRead) -> None:
        if self.request is None or self.reply is None:
            return
        self.unread = False
        move = event.move
        self.candidate = move.answer
        step = Step(len(self.steps) + 1, self.request, self.reply, move, purpose=self.asked_purpose)
        self.steps.append(step)
        if self.ending is not None and move.answer is None:
            self.wrap_up_failed = True
        elif move.fault:
            self.faults += 1
            self.faults_in_row += 1
            if move.said:
                self.messages.append(Message("assistant", move.said))
            self.messages.append(Message("user", move.fault.message, kind="correction"))
        elif move.calls:
            self.faults_in_row = 0
            self.pending = list(move.calls)
            self.messages.append(Message("assistant", move.said, calls=move.calls, thought=move.thought))

    @_apply.register
    def _(self, event: ApprovalAsked) -> None:
        self._left_out(self.asked.get(event.call.id), event)  # asked once more: the run was paused in between
        self.asked[event.call.id] = event

    @_apply.register
    def _(self, event: ApprovalGiven) -> None:
        self._left_out(self.asked.get(event.call_id), event)
        self.approvals[event.call_id] = event

    def _left_out(self, asked: ApprovalAsked | None, now: Event) -> None:
        """Leave the time that a person took to decide out of the run's: limits and `seconds` count work alone."""
        if asked is not None and asked.at and now.at:
            self.begun_at += max(0.0, now.at - asked.at)

    @_apply.register
    def _(self, event: CallStarted) -> None:
        self.started[event.call.id] = event

    @_apply.register
    def _(self, event: CallFinished) -> None:
        seen = event.observation
        call = next((c for c in self.pending if c.id == seen.call_id), None)
        if call is None:
            return
        self.pending.remove(call)
        self.started.pop(call.id, None)
        self.observed.append((call, seen))
        final = ToolCall(call.id, seen.name, seen.arguments if seen.arguments is not None else call.arguments)
        for key in {call.key, final.key}:
            if seen.status == "ok":
                self.done[key] = seen
        if seen.deferred:
            self._withdraw(call)
            self.messages.append(Message("user", reason_of(seen.content), kind="correction"))
        else:
            # results stand together right after their calls, before a correction that a deferred call left
            at = len(self.messages)
            while at and self.messages[at - 1].kind == "correction":
                at -= 1
            self.messages.insert(at, Message("tool", seen.content, call_id=call.id, name=seen.name))
        if seen.direct and not self.pending:
            self.candidate = seen.data if isinstance(seen.data, str) else canonical(seen.data)
        last = self.steps[-1]
        self.steps[-1] = replace(last, observations=(*last.observations, seen))

    def _withdraw(self, call: ToolCall) -> None:
        """Take a deferred call out of the conversation; the step keeps it."""
        at = max(i for i, m in enumerate(self.messages) if call in m.calls)
        rest = tuple(c for c in self.messages[at].calls if c != call)
        self.messages[at : at + 1] = [replace(self.messages[at], content="", calls=rest)] if rest else []

    @_apply.register
    def _(self, event: AnswerChecked) -> None:
        self.checked = event
        self.candidate = None
        self.accepted = not event.corrected
        if self.steps:
            self.steps[-1] = replace(self.steps[-1], verdict=event.verdict)
        if event.corrected:
            self.corrections += 1
            self.messages.append(Message("assistant", event.answer, kind="answer"))
            self.messages.append(Message("user", event.verdict.complaint, kind="correction"))

    @_apply.register
    def _(self, event: PlanMade) -> None:
        self.unread = False
        self.plans.append(event)
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(event.steps, 1))
        made = text("strategies", self.language, "made" if steps else "made_empty", steps=steps)
        self.messages.append(Message("user", made, kind="correction"))

    @_apply.register
    def _(self, event: AnswerReworded) -> None:
        self.unread = False
        self.reworded = True
        if event.kept:
            self.checked = AnswerChecked(event.step, answer=event.answer, verdict=event.verdict)

    @_apply.register
    def _(self, event: HistoryCompacted) -> None:
        self.compacted = event
        self.squeezed = self.squeezed or event.how.startswith("harder")

    @_apply.register
    def _(self, event: LimitReached) -> None:
        self.ending = event

    @_apply.register
    def _(self, event: RunEnded) -> None:
        self.ended = event
        self.usage = event.usage if event.usage.requests else self.usage


def reason_of(content: str) -> str:
    """The reason in an error observation's content."""
    try:
        return str(json.loads(content).get("reason", content))
    except ValueError:
        return content


def passages_text(passages: Iterable[dict[str, Any]], language: str) -> str:
    """Write retrieved passages as the model is shown them before the question, numbered for citing."""
    lines = [text("knowledge", language, "head")]
    for record in passages:
        page = text("knowledge", language, "page", page=record["page"]) if record.get("page") else ""
        parts = (str(record.get("source", "")), page, str(record.get("headings", "")))
        place = ", ".join(part for part in parts if part)
        lines.append(f"[{record['n']}] ({place}) {record.get('text', '')}")
    return "\n".join(lines)
