"""Draws a run in the terminal while it happens: thought dim, action, observation, answer, one closing line.

It reads events and nothing else, so it can draw a live run and a recorded one alike.
"""

from __future__ import annotations

import json
from typing import Any, cast

from rich.console import Console
from rich.text import Text

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
    ModelRetried,
    MoveRead,
    Noted,
    PlanMade,
    RunEnded,
    TextStreamed,
)
from ..journal.timeline import money
from ..types import Observation, Run, ToolCall

_WIDEST = 400
_MARK = {"ok": ("←", "green"), "error": ("✗", "red"), "denied": ("⊘", "yellow"), "unknown": ("?", "yellow")}


class Trace:
    """Shows events one after the other on a console.

    Args:
        console: Where to draw.
        answers: Whether answer text is drawn too, as it streams.
    """

    def __init__(self, console: Console, *, answers: bool = True) -> None:
        self.console = console
        self.answers = answers
        self._open: tuple[int, str] | None = None
        self._streamed: set[tuple[int, str]] = set()

    def show(self, event: Event) -> None:
        """Draw one event; most draw a line, some nothing."""
        if isinstance(event, TextStreamed):
            self._stream(event)
            return
        self._close()
        if isinstance(event, MoveRead):
            self._move(event)
        elif isinstance(event, CallStarted):
            self._line("→", _call(event.call), "cyan")
        elif isinstance(event, CallFinished):
            self._observation(event.observation)
        elif isinstance(event, ApprovalAsked):
            self._line("?", f"{_call(event.call)} ({event.risk}) needs a yes", "yellow")
        elif isinstance(event, ApprovalGiven):
            word = "allowed" if event.allowed else "not allowed"
            self._line("⊘" if not event.allowed else "✓", f"{word} by {event.by}", "yellow")
        elif isinstance(event, AnswerChecked):
            if not event.verdict.ok:
                after = "sent back once" if event.corrected else "given as it is, marked"
                self._line("✗", f"answer not supported ({'; '.join(event.verdict.reasons)}): {after}", "yellow")
        else:
            self._say(event)

    def _say(self, event: Event) -> None:
        """Draw what is said about the run rather than done in it."""
        if isinstance(event, LimitReached):
            self._line("■", event.detail, "yellow")
        elif isinstance(event, HistoryCompacted):
            self._line("≡", f"history compacted: about {event.before:,} → {event.after:,} tokens", "dim")
        elif isinstance(event, ModelRetried):
            self._line("↻", f"{event.reason}; trying again in {event.delay:.1f} s", "yellow")
        elif isinstance(event, Noted):
            self._line("!", event.text, "yellow")
        elif isinstance(event, PlanMade):
            for number, step in enumerate(event.steps, 1):
                self._line("▤", f"{number}. {step}", "cyan")
        elif isinstance(event, AnswerReworded):
            if event.kept and self.answers:
                self.console.print()
                self.console.print(Text(event.answer))
        elif isinstance(event, RunEnded):
            self._end(event)

    def _stream(self, event: TextStreamed) -> None:
        key = (event.step, event.part)
        if event.part == "call" or (event.part == "answer" and not self.answers):
            return  # a call is drawn with its final arguments when it starts
        if self._open != key:
            self._close()
            self._open = key
            self._streamed.add(key)
            if event.part == "answer":
                self.console.print()
            else:
                self.console.print(Text(f"{event.step} ", style="bold dim"), end="")
        self.console.print(Text(event.text, style="" if event.part == "answer" else "dim italic"), end="")

    def _close(self) -> None:
        if self._open is not None:
            self.console.print()
            self._open = None

    def _move(self, event: MoveRead) -> None:
        move = event.move
        if move.thought and (event.step, "thought") not in self._streamed:
            self.console.print(Text.assemble((f"{event.step} ", "bold dim"), (move.thought, "dim italic")))
        for repair in move.repairs:
            self._line("~", f"mended: {repair.name}", "magenta")
        if move.fault:
            self._line("✗", f"not understood ({move.fault.kind}): {move.fault.message}", "red")
        if move.answer is not None and self.answers and (event.step, "answer") not in self._streamed:
            self.console.print()
            self.console.print(Text(move.answer))

    def _observation(self, seen: Observation) -> None:
        for repair in seen.repairs:
            self._line("~", f"cast: {repair}", "magenta")
        if seen.arguments is None or seen.cached or seen.status != "ok":
            call = ToolCall(seen.call_id, seen.name, seen.arguments or {})
            if seen.status == "error" and seen.seconds == 0:
                self._line("→", f"{_call(call)} was not run", "cyan")
        mark, style = _MARK[seen.status]
        again = "(from the record) " if seen.cached else ""
        self._line(mark, again + _data(seen.content), style)

    def _line(self, mark: str, text: str, style: str) -> None:
        shown = text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"
        self.console.print(Text.assemble("  ", (f"{mark} ", style), (shown, "dim" if style == "dim" else "")))

    def _end(self, event: RunEnded) -> None:
        if event.stop != "answered" and event.answer and not self._answered:
            self.console.print()
            self.console.print(Text(event.answer))
        if event.stop == "model_failed":
            self._line("✗", event.detail, "red")

    @property
    def _answered(self) -> bool:
        return any(part == "answer" for _, part in self._streamed)


def closing_line(run: Run) -> str:
    """Sum a run up in one line: stop, steps, tokens and how many came from the cache, seconds, id."""
    steps = sum(step.purpose == "step" for step in run.steps)
    cached = f" ({run.usage.cached:,} of {run.usage.prompt:,} prompt tokens from cache)" if run.usage.cached else ""
    parts = [
        run.stop if run.answer_checked or run.stop != "answered" else "answered, not supported by the observations",
        f"{steps} step{'s' if steps != 1 else ''}",
        f"{run.usage.total:,} tokens{cached}",
        f"{run.seconds:.1f} s",
    ]
    if run.cost:  # what costs nothing, or was never priced, needs no word in one line
        parts.append(money(run.cost))
    if run.journal:
        parts.append(f"run {run.id}")
    return " · ".join(parts)


def source_line(source: dict[str, Any]) -> str:
    """Say where a cited passage stands: its number, document, page and headings."""
    page = f"p. {source['page']}" if source.get("page") else ""
    parts = [str(source.get("source", "")), page, str(source.get("headings", ""))]
    return f"[{source.get('n')}] {', '.join(part for part in parts if part)}"


def _call(call: ToolCall) -> str:
    arguments = ", ".join(f"{k}={json.dumps(v, ensure_ascii=False, default=str)}" for k, v in call.arguments.items())
    return f"{call.name}({arguments})"


def _data(content: str) -> str:
    """The readable part of an observation: its data, or its reason."""
    try:
        value: Any = json.loads(content)
    except ValueError:
        return content
    if not isinstance(value, dict):
        return content
    held = cast("dict[str, Any]", value)
    if "data" in held:
        data = held["data"]
        return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return str(held.get("reason", content))
