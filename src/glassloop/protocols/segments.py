"""Cutting a labelled reply into its parts, and cutting off what was invented.

Fences and JSON values are stepped over, so that a label inside an argument or an example is
text. The reply ends at the first observation label; an answer ends where the model begins to
play the next question.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..types import Declaration, Repair
from .jsonish import OPENERS, Scanner
from .labels import Label, inline_labels, inline_observation, next_label
from .names import resolve
from .rescue import shown

MOST_LABELS = 400
"""More labels than this are a model in a loop; the first ones decide."""


@dataclass(frozen=True)
class Segment:
    """One labelled part: `value` without markdown, and its place in the text."""

    part: str
    value: str
    start: int
    end: int


@dataclass
class Segments:
    """The parts of a reply, the text they stand in (cut before what was invented), and the repairs that led there."""

    text: str
    parts: list[Segment] = field(default_factory=list[Segment])
    repairs: list[Repair] = field(default_factory=list[Repair])
    cut_observation: bool = False


_WHOLE_FENCE = re.compile(r"\A\s*(?:```|~~~)[\w+-]*[ \t]*\n(.*?)\n?[ \t]*(?:```|~~~)\s*\Z", re.DOTALL)
_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_INLINE_TAGS = re.compile(
    r"(?<=\S)\s*<(action_input|action|final_answer|answer|thought|observation|tool_input)>", re.IGNORECASE
)
_CLOSING_TAG = re.compile(
    r"\s*</(?:thoughts?|action|action_?input|answer|final_?answer|observation|tool|tool_?input|input)>\s*\Z",
    re.IGNORECASE,
)


def find_segments(text: str, tools: Mapping[str, Declaration]) -> Segments:
    """Cut a reply into its labelled parts.

    Args:
        text: What was said, without think blocks.
        tools: The offered tools by name.
    """
    repairs: list[Repair] = []
    whole = _WHOLE_FENCE.match(text)
    if whole and "\n```" not in whole.group(1) and _labelled(whole.group(1)):
        text = whole.group(1)
        repairs.append(Repair("code fence"))
    if "</" in text:
        text = _INLINE_TAGS.sub(lambda m: f"\n<{m.group(1)}>", text)
    cutter = _Cutter(text, tools)
    segments = cutter.run()
    if not any(s.part in ("action", "answer") for s in segments.parts):
        inline = _inline(text, tools)
        segments = inline or segments
    segments.repairs[:0] = repairs
    return segments


def _labelled(text: str) -> bool:
    label = next_label(text, 0)
    return label is not None and not text[: label.start].strip()


class _Cutter:
    """One pass over the labels of a text."""

    def __init__(self, text: str, tools: Mapping[str, Declaration]) -> None:
        self.text = text
        self.tools = tools
        self.scanner = Scanner(text)
        self.labels: list[Label] = []
        fenced = "```" in text or "~~~" in text
        self.fences = [found.start() for found in _FENCE_LINE.finditer(text)] if fenced else []
        self.repairs: list[Repair] = []
        self.cut: int | None = None

    def run(self) -> Segments:
        at = 0
        while (label := next_label(self.text, at)) and len(self.labels) < MOST_LABELS:
            fence_end = self._fence_end(label.start)
            if fence_end is not None and not self._opens_part(label.start):
                at = max(fence_end, label.end)
                continue
            kind = self._kind(label)
            if kind is None:
                at = label.end
                continue
            if kind in ("observation", "question"):
                if self._ends_here(kind):
                    self.cut = label.start
                    break
                at = label.end
                continue
            if kind == "end":
                self.cut = label.start
                break
            self.labels.append(
                Label(kind, label.start, label.end, label.strong, label.own_line, label.final, label.decoration)
            )
            at = self._value_end(label) if kind in ("action", "input") else label.end
        return self._segments()

    # -- what a label is here ------------------------------------------------------------

    def _kind(self, label: Label) -> str | None:
        previous = self.labels[-1].part if self.labels else None
        if label.part in ("input_after_action", "observation_after_action"):
            wanted = label.part.removesuffix("_after_action")
            fits = ("action",) if wanted == "input" else ("action", "input")
            return wanted if previous in fits and label.strong else None
        if previous == "answer":
            return self._inside_answer(label)
        if label.part == "action" and not label.strong:
            return "action" if self._names_tool(label.end) else None
        if label.part == "question" and previous is None:
            return None
        weak = not label.strong and not label.decoration
        if weak and label.part in ("thought", "answer", "observation"):
            # A word alone on its line is a label only where a reply begins or goes on after an action.
            begins = not self.text[: label.start].strip()
            return label.part if begins or previous in ("thought", "action", "input") else None
        return label.part

    def _inside_answer(self, label: Label) -> str | None:
        """What may end an answer: the next question, an observation, a further round, a real action."""
        if not self.text[self.labels[-1].end : label.start].strip() and label.part in ("answer", "action"):
            return label.part
        if label.part == "question":
            return "question" if label.strong else None
        if label.part == "observation":
            return "observation" if label.strong else None
        if label.part == "thought" and label.strong:
            return "end"
        if label.part == "answer" and label.final and label.strong:
            return "end"
        if label.part == "action" and label.strong and self._names_tool(label.end):
            return "end"
        return None

    def _names_tool(self, at: int) -> bool:
        line = self.text[at : at + 300].strip().split("\n", 1)[0].strip()
        if not line:
            return False
        return resolve(re.split(r"[(\[{（]", line, maxsplit=1)[0], self.tools, near=False) is not None

    def _ends_here(self, kind: str) -> bool:
        return kind == "observation" or bool(self.labels)

    # -- fences and values ---------------------------------------------------------------

    def _fence_end(self, place: int) -> int | None:
        """Return where the fence around a place ends, None if there is no fence around it."""
        before = bisect_right(self.fences, place)
        if before % 2 == 0:
            return None
        if before >= len(self.fences):
            return len(self.text)
        close = self.fences[before]
        line_end = self.text.find("\n", close)
        return line_end if line_end > 0 else len(self.text)

    def _opens_part(self, place: int) -> bool:
        """Whether the fence around a label holds the step itself: it follows a thought and ends the reply."""
        before = bisect_right(self.fences, place)
        closed = self._fence_end(place) or len(self.text)
        known = [label.part for label in self.labels]
        return bool(known) and "answer" not in known and not self.text[closed:].strip() and before >= 1

    def _value_end(self, label: Label) -> int:
        """Step over a value that begins with a bracket or a fence, so that no label inside it counts."""
        at = label.end
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        if at < len(self.text) and self.text[at] in OPENERS:
            return self.scanner.end(at) or label.end
        if self.text.startswith(("```", "~~~"), at):
            inner = self.text.find("\n", at)
            return (self._fence_end(inner) or label.end) if inner > 0 else label.end
        return label.end

    def _segments(self) -> Segments:
        text = self.text if self.cut is None else self.text[: self.cut]
        if self.cut is not None:
            self.repairs.append(Repair("invented continuation", before=shown(self.text[self.cut :])))
        parts: list[Segment] = []
        for index, label in enumerate(self.labels):
            end = self.labels[index + 1].start if index + 1 < len(self.labels) else len(text)
            value = text[label.end : end]
            if label.part in ("action", "input"):
                value, end = self._cut_inline_observation(value, label.end, end)
            parts.append(Segment(label.part, _bare(value, label), label.start, end))
        return Segments(text.rstrip(), parts, self.repairs, self.cut is not None)

    def _cut_inline_observation(self, value: str, start: int, end: int) -> tuple[str, int]:
        found = inline_observation().search(value)
        if found is None:
            return value, end
        lead = len(value) - len(value.lstrip())
        closed = self.scanner.end(start + lead) if value[lead : lead + 1] in OPENERS and value.strip() else None
        if closed is not None and closed > start + found.start():
            return value, end
        self.repairs.append(Repair("invented observation", before=shown(value[found.start() :])))
        return value[: found.start()], start + found.start()


def _bare(value: str, label: Label) -> str:
    value = _CLOSING_TAG.sub("", value.strip()).strip()
    for mark in ("**", "__", "*"):
        if mark in label.decoration and value.endswith(mark) and value.count(mark) == 1:
            value = value[: -len(mark)].rstrip()
    return value


def _inline(text: str, tools: Mapping[str, Declaration]) -> Segments | None:
    """Read `Thought: … Action: name Action Input: …` on one line, if the name is a tool and all stands in order."""
    labels = inline_labels(text)
    action = next((i for i, label in enumerate(labels) if label.part == "action"), None)
    if action is None or action + 1 >= len(labels) or labels[action + 1].part != "input":
        return None
    between = text[labels[action].end : labels[action + 1].start]
    if "\n" in between or resolve(between, tools, near=False) is None:
        return None
    stop = next((label.start for label in labels[action + 2 :]), len(text))
    parts: list[Segment] = []
    if action and labels[action - 1].part == "thought":
        thought = labels[action - 1]
        parts.append(
            Segment("thought", text[thought.end : labels[action].start].strip(), thought.start, labels[action].start)
        )
    for label, end in ((labels[action], labels[action + 1].start), (labels[action + 1], stop)):
        parts.append(Segment(label.part, text[label.end : end].strip(), label.start, end))
    return Segments(text[:stop].rstrip(), parts, [Repair("labels on one line")], stop < len(text))
