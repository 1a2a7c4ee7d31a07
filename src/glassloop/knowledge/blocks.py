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


def read_blocks(text: str, format: Format = "markdown") -> list[Block]:
    """Blocks that tile `text`; joining their ranges gives it back."""
    if format == "table":
        return _rows(text)
    blocks = _scan(text, format)
    return _join_questions(text, blocks) if format in ("markdown", "text") else blocks


def plain_title(raw: str) -> str:
    """A heading without its markup, on one line."""
    return " ".join(_INLINE.sub(lambda m: m.group(1) or m.group(2) or "", raw).split())


def _rows(text: str) -> list[Block]:
    return [Block("table", 0, len(text))] if text else []


def _scan(text: str, format: Format) -> list[Block]:
    blocks: list[Block] = []
    current: Block | None = None
    blank_before = True
    fence = ""
    markdown = format == "markdown"
    position = 0
    if markdown and (front := _FRONT_MATTER.match(text)):
        blocks.append(Block("code", 0, front.end()))
        position = front.end()
    for line_match in _LINE.finditer(text, position):
        start, end = line_match.span()
        if start == end:
            break
        line = line_match.group()
        if fence:
            assert current is not None
            current.end = end
            if line.lstrip(" ").startswith(fence) and not line.strip().strip(fence[0]):
                fence, current, blank_before = "", None, True
            continue
        stripped = line.strip()
        if not stripped:
            if current is not None:
                current.end = end
            elif blocks:
                blocks[-1].end = end
            else:
                current = Block("paragraph", start, end)
                blocks.append(current)
            blank_before = True
            continue
        kind: Kind = "paragraph"
        if format == "code":
            kind = "code"
        elif markdown:
            first = stripped[0]
            if first == "#" and (atx := _ATX.match(line)):
                blocks.append(Block("heading", start, end, len(atx.group(1)), plain_title(atx.group(2) or "")))
                current, blank_before = None, True
                continue
            if first in "`~" and (opened := _FENCE.match(line)):
                fence = opened.group(1)
                current = Block("code", start, end)
                blocks.append(current)
                continue
            if (
                first in "=-"
                and current is not None
                and current.kind == "paragraph"
                and not blank_before
                and _SETEXT.match(line)
                and text.count("\n", current.start, start) == 1
            ):
                current.kind, current.level, current.end = "heading", 1 if first == "=" else 2, end
                current.title = plain_title(text[current.start : start])
                current, blank_before = None, True
                continue
            if first == "|":
                kind = "table"
        elif (level := _chapter_level(line, stripped)) and blank_before:
            blocks.append(Block("heading", start, end, level, " ".join(stripped.split())))
            current, blank_before = None, True
            continue
        if kind == "paragraph" and _ITEM.match(line):
            kind = "list"
        if current is not None and _continues(current, kind, line, blank_before):
            current.end = end
        else:
            current = Block(kind, start, end)
            blocks.append(current)
        blank_before = False
    return blocks


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
