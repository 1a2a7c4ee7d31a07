"""The blocks of a text: headings, paragraphs, lists, tables, code, questions with their answers.

Owes: `read_blocks(text, format)`, blocks that tile the text in its own order, each with its kind. A line that looks
like a heading inside a code fence is code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .passage import Format

Kind = Literal["heading", "paragraph", "list", "table", "code", "answer"]
WHOLE_KINDS = frozenset({"list", "table", "code", "answer"})
"""Kinds that stay in one passage as long as they fit."""


@dataclass(slots=True)
class Block:
    """`text[start:end]`, blank lines after it included."""

    kind: Kind
    start: int
    end: int
    level: int = 0
    """The depth of a heading, from 1; 0 for anything else."""
    title: str = ""


_LINE = re.compile(r"[^\n]*(?:\n|$)")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?\n?$")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*\r?\n?$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(
    r"[ \t]*(?:[-*+•·‣▪●○]|\d{1,3}[.)、．]|[（(][\d一二三四五六七八九十a-z]{1,3}[）)]|[a-z]\))[ \t\u3000]*\S"
)
_QUESTION = re.compile(r"[ \t>#*_-]*(?:Q(?:uestion)?\s*\d*|问题?\s*\d*|問題?\s*\d*)\s*[*_]*\s*[:：.、]", re.IGNORECASE)
_ANSWER = re.compile(r"[ \t>#*_-]*(?:A(?:nswer)?\s*\d*|答案?\s*\d*|回答)\s*[*_]*\s*[:：.、]", re.IGNORECASE)
_CHAPTER = re.compile(
    r"[ \t]*(?:第[\d一二三四五六七八九十百零〇]{1,6}(?P<unit>[章节節篇部回卷编編])"
    r"|(?:Chapter|Part|Section|Appendix|CHAPTER|PART|SECTION|APPENDIX)[ \t]+[\dA-ZIVX]+\b"
    r"|(?P<number>\d{1,2}(?:\.\d{1,2}){1,4})\.?)(?:[ \t:：.、\u3000]|$)"
)
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:.*\n){0,60}?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)")
_SENTENCE_MARKS = tuple("。！？；.!?;，,：:")
_INLINE = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[*_`]{1,3}([^*_`]+)[*_`]{1,3}|<[^>]+>|\{#[^}]*\}")


_LONGEST_TITLE = 300


def read_blocks(text: str, format: Format = "markdown") -> list[Block]:
    """Blocks that tile `text`; joining their ranges gives it back."""
    if format == "table":
        return _rows(text)
    blocks = _scan(text, format)
    return _join_questions(text, blocks) if format in ("markdown", "text") else blocks


def plain_title(raw: str) -> str:
    """A heading without its markup, on one line."""
    return " ".join(_INLINE.sub(lambda m: m.group(1) or m.group(2) or "", raw[:_LONGEST_TITLE]).split())


def _rows(text: str) -> list[Block]:
    return [Block("table", 0, len(text))] if text else []


def _scan(text: str, format: Format) -> list[Block]:
    scanner = _Scanner(text, format)
    position = 0
    if format == "markdown" and (front := _FRONT_MATTER.match(text)):
        scanner.blocks.append(Block("code", 0, front.end()))
        position = front.end()
    for line in _LINE.finditer(text, position):
        if line.end() > line.start():
            scanner.feed(line.start(), line.end(), line.group())
    return scanner.blocks


class _Scanner:
    """Reads line after line and remembers what it is in."""

    def __init__(self, text: str, format: Format) -> None:
        self.blocks: list[Block] = []
        self._text = text
        self._format = format
        self._current: Block | None = None
        self._blank_before = True
        self._fence = ""

    def feed(self, start: int, end: int, line: str) -> None:
        """Take in the next line, `text[start:end]`."""
        stripped = line.strip()
        if self._fence:
            self._inside_fence(end, line, stripped)
        elif not stripped:
            self._blank(start, end)
        elif self._format == "code":
            self._add("code", start, end, line)
        elif self._format == "markdown":
            self._markdown(start, end, line, stripped)
        elif self._blank_before and (level := _chapter_level(line, stripped)):
            self._heading(start, end, level, stripped)
        else:
            self._add("list" if _ITEM.match(line) else "paragraph", start, end, line)

    def _markdown(self, start: int, end: int, line: str, stripped: str) -> None:
        first = stripped[0]
        if first == "#" and (atx := _ATX.match(line)):
            self._heading(start, end, len(atx.group(1)), atx.group(2) or "")
        elif first in "`~" and (opened := _FENCE.match(line)):
            self._fence = opened.group(1)
            self._current = Block("code", start, end)
            self.blocks.append(self._current)
        elif first in "=-" and _SETEXT.match(line) and self._underlines(start):
            assert self._current is not None
            title = self._text[self._current.start : start]
            block = self.blocks.pop()
            self._heading(block.start, end, 1 if first == "=" else 2, title)
        elif first == "|":
            self._add("table", start, end, line)
        else:
            self._add("list" if _ITEM.match(line) else "paragraph", start, end, line)

    def _underlines(self, start: int) -> bool:
        """Whether the line before is a paragraph of one line, which an underline makes a heading."""
        current = self._current
        if current is None or current.kind != "paragraph" or self._blank_before:
            return False
        return self._text.count("\n", current.start, start) == 1

    def _heading(self, start: int, end: int, level: int, raw: str) -> None:
        self.blocks.append(Block("heading", start, end, level, plain_title(raw)))
        self._current, self._blank_before = None, True

    def _inside_fence(self, end: int, line: str, stripped: str) -> None:
        assert self._current is not None
        self._current.end = end
        if line.lstrip(" ").startswith(self._fence) and not stripped.strip(self._fence[0]):
            self._fence, self._current, self._blank_before = "", None, True

    def _blank(self, start: int, end: int) -> None:
        if self._current is not None:
            self._current.end = end
        elif self.blocks:
            self.blocks[-1].end = end
        else:
            self._current = Block("paragraph", start, end)
            self.blocks.append(self._current)
        self._blank_before = True

    def _add(self, kind: Kind, start: int, end: int, line: str) -> None:
        if self._current is not None and _continues(self._current, kind, line, self._blank_before):
            self._current.end = end
        else:
            self._current = Block(kind, start, end)
            self.blocks.append(self._current)
        self._blank_before = False


def _chapter_level(line: str, stripped: str) -> int:
    """The level of a plain-text heading such as `第三章 …`, `Chapter 3 …` or `3.2 …`; 0 for any other line."""
    found = _CHAPTER.match(line)
    if not found or len(stripped) > 80 or stripped.endswith(_SENTENCE_MARKS):
        return 0
    if number := found.group("number"):
        return number.count(".") + 1 if len(stripped) > len(number) + 1 else 0
    return 2 if found.group("unit") in ("节", "節") else 1


def _continues(current: Block, kind: Kind, line: str, blank_before: bool) -> bool:
    if current.kind == "code":
        # Blank lines inside a source file part blocks only before a line that starts at the margin.
        return kind == "code" and not (blank_before and not line[0].isspace())
    if current.kind == "list":
        indented = line[0] in " \t"
        return kind == "list" or indented or (kind == "paragraph" and not blank_before)
    return kind == current.kind and not blank_before


def _join_questions(text: str, blocks: Sequence[Block]) -> list[Block]:
    """Put a question and its answer into one block."""
    joined: list[Block] = []
    for block in blocks:
        before = joined[-1] if joined else None
        if (
            before is not None
            and before.kind in ("paragraph", "list")
            and block.kind in ("paragraph", "list")
            and _ANSWER.match(text, block.start)
            and _QUESTION.match(text, before.start)
        ):
            before.kind, before.end = "answer", block.end
        elif block.kind == "paragraph" and _QUESTION.match(text, block.start):
            parts = _split_questions(text, block)
            joined.extend(parts)
        else:
            joined.append(block)
    return joined


def _split_questions(text: str, block: Block) -> list[Block]:
    """A paragraph of `Q: …` and `A: …` lines, one block for each pair."""
    starts = [block.start]
    answered = False
    position = block.start
    for line in text[block.start : block.end].splitlines(keepends=True):
        if _ANSWER.match(line):
            answered = True
        elif answered and position > starts[-1] and _QUESTION.match(line):
            starts.append(position)
            answered = False
        position += len(line)
    if len(starts) == 1 and not answered:
        return [block]
    ends = [*starts[1:], block.end]
    return [Block("answer", start, end) for start, end in zip(starts, ends, strict=True)]
