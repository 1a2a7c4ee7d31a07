"""Draws a recorded run on the terminal from its timeline: calm, one column for what it is, one for what it says."""

from __future__ import annotations

import json
import time
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from ..journal.compare import around
from ..journal.timeline import Row, StepView, Timeline, change_text, listed, money, source_text

_WIDTH = 9
_MOST = 1200
_LEVEL = {"good": "green", "warn": "yellow", "bad": "red"}
_MARKS = {"thought": "italic", "name": "bold cyan", "argument": "cyan", "answer": "bold"}
_LABELS = {"asked": "asks", "wanted": "wants", "call": "→", "fault": "fault", "decision": "", "compacted": "≡"}
_OBSERVED = {"ok": "←", "error": "✗", "denied": "⊘", "unknown": "?"}


class RowPrinter:
    """Prints rows on a console.

    Args:
        console: Where to.
        raw: Print everything whole: all messages, raw replies, results before cleaning.
    """

    def __init__(self, console: Console, *, raw: bool = False) -> None:
        self.console = console
        self.raw = raw

    def run(self, timeline: Timeline) -> None:
        """Print a whole run."""
        self.head(timeline)
        for row in timeline.opening:
            if row.kind != "start":
                self.row(row)
        for step in timeline.steps:
            self.step(step)
        self.end(timeline)

    def head(self, timeline: Timeline) -> None:
        """Print the question and the conditions of a run."""
        start = timeline.start
        if start is None:
            return
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(start.at))
        self.console.print(Text(start.question, style="bold"))
        tools = ", ".join(str(t.get("name", "")) for t in start.tools) or "no tools"
        parts = [f"run {start.run_id}", when, start.model, start.protocol, tools]
        if start.parent:
            parts.append(f"forked from {start.parent}")
        self.console.print(Text(" · ".join(p for p in parts if p), style="dim"))
        if start.system and self.raw:
            self._line("system", Text(start.system))

    def step(self, step: StepView) -> None:
        """Print one step with its rows."""
        facts = [f"{step.usage.prompt:,} → {step.usage.completion:,} tokens"]
        if step.usage.cached:
            facts.append(f"{step.usage.cached:,} from cache")
        facts.append(f"{step.seconds:.2f} s")
        name = "wrap-up" if step.purpose == "wrap_up" else f"step {step.number}"
        title = Text.assemble((name, "bold"), ("  " + " · ".join(facts), "dim"))
        self.console.print()
        self.console.print(Rule(title, align="left", style="dim"))
        for row in step.rows:
            if row.kind != "end":
                self.row(row)

    def end(self, timeline: Timeline) -> None:
        """Print how the run ended."""
        self.console.print()
        self.console.print(Rule(style="dim"))
        end = timeline.end
        if end is None:
            self.console.print(Text("no end recorded: the run goes on or was interrupted", style="yellow"))
            return
        if end.answer:
            self.console.print(Text(end.answer))
        for reason in end.reasons:
            self.console.print(Text(f"✗ {reason}", style="yellow"))
        good = end.stop == "answered" and end.answer_checked
        parts = [f"{timeline.usage.total:,} tokens"]
        if timeline.usage.cached:
            parts.append(f"{timeline.usage.cached:,} from cache")
        parts.append(f"{end.seconds or timeline.seconds:.1f} s")
        parts.append(money(end.cost))
        if end.detail:
            parts.insert(0, end.detail)
        line = Text.assemble((end.stop, "green" if good else "yellow"), (" · " + " · ".join(parts), "dim"))
        self.console.print(line)

    def row(self, row: Row) -> None:
        """Print one row."""
        draw: Any = getattr(self, f"_{row.kind}", None)
        if draw is not None:
            draw(row)
            return
        label = _LABELS.get(row.kind, row.kind)
        text = f"{row.title}: {row.text}" if row.title and row.text else row.title or row.text
        self._line(label, self._cut(text), _LEVEL.get(row.level, ""))

    # -- rows that need more than a line ---------------------------------------------------

    def _sent(self, row: Row) -> None:
        kept = row.facts.get("kept", 0)
        notes = [f"{kept} message{'s' if kept != 1 else ''} as before"] if kept else []
        for key in ("constraint", "no_longer_offered", "offered_again", "purpose"):
            value = row.facts.get(key)
            if value:
                notes.append(f"{key.replace('_', ' ')}: {listed(value)}")
        if notes:
            self._line("sent", Text(" · ".join(notes), style="dim"))
        for message in row.sent:
            mark = {"gone": "−", "changed": "±"}.get(message.how, "+")
            name = f"{mark} {message.role}" + (" (continued)" if message.how == "continued" else "")
            style = "dim strike" if message.how == "gone" else "dim"
            body = self._cut(message.text, 480)
            body.stylize(style)
            self._line("" if notes else "sent", Text.assemble((f"{name}  ", "dim cyan"), body))
            notes = notes or [""]

    def _reply(self, row: Row) -> None:
        shown, left = Text(), None if self.raw else _MOST
        for part in row.parts:
            text = part.text if left is None else part.text[:left]
            shown.append(text, style=_MARKS.get(part.mark, "dim"))
            left = None if left is None else left - len(text)
        if left == 0:
            shown.append(f" … {len(row.text) - _MOST:,} more characters", style="dim")
        if row.facts.get("reasoning"):
            self._line("reasoning", self._cut(str(row.facts["reasoning"]), 480), "dim")
        if shown:
            self._line("reply", shown)
        for call in row.facts.get("tool_calls", ()):
            function = call.get("function", call)
            self._line("reply", Text(f"{function.get('name')} {function.get('arguments')}", style="cyan"))
        if self.raw and row.facts.get("raw"):
            self._line(
                "body", Text(json.dumps(row.facts["raw"], ensure_ascii=False, indent=1, default=str), style="dim")
            )

    def _thought(self, row: Row) -> None:
        self._line("thought", self._cut(row.text), "italic")

    def _wanted(self, row: Row) -> None:
        self._line("wants", self._cut(row.text), "cyan")

    def _repair(self, row: Row) -> None:
        before, after = change_text(row)
        if not self.raw and len(before) + len(after) > 160:
            before, after = around(before, after)
        text = Text(row.title)
        if row.facts.get("path"):
            text.append(f" at {row.facts['path']}")
        if row.before is not None or row.after is not None:
            text.append(": ")
            text.append(before, style="red")
            text.append(" → ")
            text.append(after, style="green")
        if row.facts.get("guessed"):
            text.append(" (guessed)", style="yellow")
        self._line("cast" if row.facts.get("how") == "cast" else "mended", text, "magenta")

    def _call(self, row: Row) -> None:
        risk = row.facts.get("risk", "read")
        text = self._cut(row.text)
        text.stylize("cyan")
        if risk != "read":
            text.append(f"  {risk}", style="yellow")
        if row.facts.get("unknown"):
            text.append("  outcome unknown", style="yellow")
        self._line("→" if row.kind == "call" else "asks", text)
        if row.facts.get("preview"):
            self._line("", Text(str(row.facts["preview"]), style="dim"))
        self._sources(row)

    _asked = _call

    def _sources(self, row: Row) -> None:
        for source in row.facts.get("sources", ()):
            self._line("", Text(source_text(source), style="dim"))

    def _decision(self, row: Row) -> None:
        text = f"{row.title} by {row.facts.get('by', '')}" + (f": {row.text}" if row.text else "")
        self._line("", Text(text, style=_LEVEL.get(row.level, "")))

    def _observation(self, row: Row) -> None:
        status = str(row.facts.get("status", "ok"))
        facts = [row.title]
        if row.facts.get("seconds"):
            facts.append(f"{row.facts['seconds']:.2f} s")
        if row.facts.get("cached"):
            facts.append("from the record")
        if row.facts.get("characters", 0) > len(row.text):
            facts.append(f"cleaned from {row.facts['characters']:,} characters")
        body = self._cut(row.text)
        self._line(
            _OBSERVED.get(status, "←"), Text.assemble(body, (f"  {' · '.join(facts)}", "dim")), _LEVEL[row.level]
        )
        if self.raw and row.before is not None:
            self._line("before", Text(_plain(row.before), style="dim"))
        self._sources(row)

    def _check(self, row: Row) -> None:
        reasons = "; ".join(row.facts.get("reasons", ()))
        self._line("check", Text(f"{row.title}: {reasons}" if reasons else row.title), _LEVEL[row.level])

    def _compacted(self, row: Row) -> None:
        self._line("≡", Text(f"history compacted: about {row.before:,} → {row.after:,} tokens", style="dim"))
        if self.raw:
            self._line("", Text(row.text, style="dim"))

    def _cut(self, text: str, most: int = _MOST) -> Text:
        if self.raw or len(text) <= most:
            return Text(text)
        return Text.assemble(text[:most], (f" … {len(text) - most:,} more characters", "dim"))

    def _line(self, label: str, text: Text, style: str = "") -> None:
        if style:
            text.stylize(style)
        line = Text.assemble((label.rjust(_WIDTH), style or "dim"), "  ")
        indent = _WIDTH + 2
        first, *rest = text.split("\n") if "\n" in text.plain else [text]
        self.console.print(line + first, soft_wrap=self.console.is_terminal is False)
        for more in rest:
            self.console.print(Padding(more, (0, 0, 0, indent), expand=False))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
