"""Parting reasoning from what is said: think blocks in every spelling, closed or not, in any place.

What stands inside a think block is a draft: never a call, never an answer.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

_NAMES = r"think(?:ing)?|reasoning|reflection|scratchpad|seed:think|antml:thinking"
_OPEN = re.compile(
    rf"<(?:{_NAMES})>|\[THINK\]|◁think▷|<\|(?:START_THINKING|begin_of_thought)\|>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>analysis(?:\s*<\|[\w ]+\|>)?<\|message\|>",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|(?:END_THINKING|end_of_thought)\|>"
    r"|<\|end\|>(?=\s*(?:<\|start\|>|\Z))|(?=<\|channel\|>(?:final|commentary))",
    re.IGNORECASE,
)
_HINTS = ("think", "reasoning>", "reflection>", "scratchpad>", "<|channel|>", "_of_thought")
_SIGNS = ("<", "[", "◁")
_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_WINDOW = 2000
"""How far back on its line a quote is looked for."""


@dataclass(frozen=True)
class Parted:
    """A reply in two: what was thought and what was said. `open` says that the last block never closed."""

    thought: str
    said: str
    open: bool = False
    draft: str = ""
    """The text of the block that never closed."""


def part_thinking(text: str) -> Parted:
    """Part a reply into thinking and saying."""
    if not any(sign in text for sign in _SIGNS):
        return Parted("", text)
    plain = text.lower()
    if not any(hint in plain for hint in _HINTS):
        return Parted("", text)
    blocks = _Blocks(text)
    thoughts: list[str] = []
    said: list[str] = []
    at = 0
    while True:
        opened = blocks.next(_OPEN, at)
        closed = blocks.next(_CLOSE, at)
        if closed and closed.group() and (opened is None or closed.start() < opened.start()):
            before = text[at : closed.start()]
            # The template opened the block itself: all before the first close was thinking.
            (said if thoughts else thoughts).append(before)
        elif opened is None:
            said.append(text[at:])
            return Parted(_joined(thoughts), "".join(said))
        else:
            said.append(text[at : opened.start()])
            closed = _CLOSE.search(text, opened.end())
            if closed is None and _is_word(text, opened):
                said[-1] += text[opened.start() :]
                return Parted(_joined(thoughts), "".join(said))
            if closed is None:
                draft = text[opened.end() :]
                return Parted(_joined([*thoughts, draft]), "".join(said), True, draft)
            thoughts.append(text[opened.end() : closed.start()])
        at = closed.end()


def _is_word(text: str, tag: re.Match[str]) -> bool:
    """Whether a tag that never closes stands in a sentence like a word: text talks about it."""
    line = text[text.rfind("\n", 0, tag.start()) + 1 : tag.start()]
    return bool(line.strip()) and line[-1:].isspace() and text[tag.end() : tag.end() + 1] in (" ", ",", ".", ")")


def _joined(thoughts: list[str]) -> str:
    return "\n".join(t.strip() for t in thoughts if t.strip())


class _Blocks:
    """Finds the tags of a text that are not quoted data: in a string, in inline code, or in a fence."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._fences = [found.start() for found in _FENCE.finditer(text)]
        self._known: dict[re.Pattern[str], tuple[int, re.Match[str] | None]] = {}

    def next(self, tag: re.Pattern[str], at: int) -> re.Match[str] | None:
        """Return the next such tag from `at` on; a tag found before is not looked for again."""
        known = self._known.get(tag)
        if known and known[0] <= at and (known[1] is None or known[1].start() >= at):
            return known[1]
        found = next((m for m in tag.finditer(self.text, at) if not self._quoted(at, m.start())), None)
        self._known[tag] = (at, found)
        return found

    def _quoted(self, start: int, place: int) -> bool:
        line = max(start, self.text.rfind("\n", max(start, place - _WINDOW), place) + 1, place - _WINDOW)
        before = self.text[line:place]
        if before.count("`") % 2 or (before.count('"') - before.count('\\"')) % 2:
            return True
        return (bisect_left(self._fences, place) - bisect_left(self._fences, start)) % 2 == 1
