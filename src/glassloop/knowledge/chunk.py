"""Cutting a document into passages: heading, then paragraph, then sentence, in the document's own order.

Owes: `chunk(text)`. A passage never crosses a heading, never exceeds the size, and knows its heading path, its exact
range and its page; without overlap the passages joined give the text back, character for character.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .blocks import WHOLE_KINDS, Block, read_blocks
from .passage import Document, Format, Passage
from .sentences import CJK, clause_ends, hard_ends, sentence_ends

SIZE = 256
WIDE_WEIGHT = 1.5
"""How many characters of English one Chinese character counts for. It says two or three times as much; measured on
`zh_drcd`, passages of 170 Chinese characters find 3 points more at the top than those of 256, in the same space."""

_WIDE = re.compile(f"[{CJK}]+")
_LINE_ENDS = re.compile(r"\n[ \t]*(?:\r?\n[ \t]*)*|$")
_SOFT_LIMIT = 0.6
"""A block that does not fit starts a new passage unless the current one is emptier than this."""


def density(text: str) -> float:
    """How much a character of this text says, against one of English: 1 to 1.5."""
    if text.isascii() or not text:
        return 1.0
    wide = sum(map(len, _WIDE.findall(text)))
    return 1.0 + (WIDE_WEIGHT - 1.0) * wide / len(text)


@dataclass(slots=True)
class _Section:
    start: int
    end: int
    path: tuple[str, ...]
    blocks: list[Block]


def chunk(
    text: str,
    *,
    size: int = SIZE,
    overlap: int = 0,
    source: str = "",
    format: Format = "markdown",
    title: str = "",
    pages: Sequence[int] = (),
    headings: Sequence[tuple[int, int, str]] = (),
    metadata: Mapping[str, Any] | None = None,
) -> list[Passage]:
    """Cut a text into passages that know their place.

    Args:
        text: The document; every offset counts its characters.
        size: The most characters a passage may have; where they are Chinese, two thirds of it, since they say more.
        overlap: How many characters of the passage before may be repeated at the head of the next one, whole
            sentences only and never across a heading; 0 lets the passages tile the text.
        source: The document's name, copied into each passage.
        format: `markdown`, `text`, `code` or `table` (one row a line).
        title: Stands above the heading path where the text does not begin with a heading.
        pages: The offset at which each page begins.
        headings: Headings known from outside the text: offset, level, title.
        metadata: Copied into each passage.

    Raises:
        ValueError: The size is below 16, or the overlap is not smaller than half the size.
    """
    if size < 16:
        raise ValueError(f"size is {size}; a passage needs at least 16 characters")
    if not 0 <= overlap <= size // 2:
        raise ValueError(f"overlap is {overlap}; it must lie between 0 and half the size ({size // 2})")
    passages: list[Passage] = []
    shared = dict(metadata or {})
    for number, section in enumerate(_sections(text, format, title, headings)):
        floor = section.start
        scale = density(text[section.start : section.end])
        limit = int((size - overlap) / scale)
        for start, end in _pack(text, section, limit):
            begin = _back_up(text, floor, start, int(overlap / scale)) if overlap and start > floor else start
            page = bisect_right(pages, begin) or None if pages else None
            passages.append(Passage(text[begin:end], source, begin, end, page, section.path, 0.0, number, shared))
    return passages


def chunk_document(document: Document, *, size: int = SIZE, overlap: int = 0) -> list[Passage]:
    """`chunk` for a loaded document."""
    return chunk(
        document.text,
        size=size,
        overlap=overlap,
        source=document.source,
        format=document.format,
        title=document.title,
        pages=document.pages,
        headings=document.headings,
        metadata=document.metadata,
    )


def _sections(text: str, format: Format, title: str, known: Sequence[tuple[int, int, str]]) -> Iterator[_Section]:
    """The stretches between headings, each with the path above it."""
    blocks = read_blocks(text, format)
    if known:
        blocks = _with_known_headings(blocks, known)
    path: list[tuple[int, str]] = []
    root = (title,) if title and not (blocks and blocks[0].kind == "heading" and blocks[0].level == 1) else ()
    section: _Section | None = None
    for block in blocks:
        if block.kind == "heading" or section is None:
            if section is not None:
                yield section
            if block.kind == "heading":
                while path and path[-1][0] >= block.level:
                    path.pop()
                path.append((block.level, block.title))
            names = root + tuple(name for _, name in path if name)
            section = _Section(block.start, block.end, names, [block])
        else:
            section.blocks.append(block)
            section.end = block.end
    if section is not None:
        yield section


def _with_known_headings(blocks: list[Block], known: Sequence[tuple[int, int, str]]) -> list[Block]:
    """Cut the blocks where an outline or a font size says that a heading begins."""
    result: list[Block] = []
    marks = sorted(known)
    index = 0
    for block in blocks:
        start = block.start
        while index < len(marks) and marks[index][0] < block.end:
            offset, level, name = marks[index]
            index += 1
            if offset > start:
                result.append(Block(block.kind, start, offset))
                start = offset
            elif offset < start:
                continue
            result.append(Block("heading", offset, min(block.end, offset + len(name)), level, name))
            start = result[-1].end
        if start < block.end:
            result.append(Block(block.kind if start == block.start else "paragraph", start, block.end))
            if start == block.start:
                result[-1].level, result[-1].title = block.level, block.title
    return result


def _pack(text: str, section: _Section, limit: int) -> Iterator[tuple[int, int]]:
    """Ranges of at most `limit` characters that tile the section: whole blocks where they fit, else sentences."""
    start = end = section.start
    for block in section.blocks:
        if block.end - start <= limit:
            end = block.end
            continue
        # The heading alone stays with what follows it.
        alone = end > start and section.blocks[0].kind == "heading" and end == section.blocks[0].end
        fits = block.end - block.start <= limit
        if end > start and not alone and (fits or end - start >= limit * _SOFT_LIMIT):
            yield start, end
            start = end
            if fits:
                end = block.end
                continue
        for cut in _split(text, block, start, limit):
            if cut < block.end:
                yield start, cut
                start = cut
            end = cut
    if end > start:
        yield start, end


def _split(text: str, block: Block, start: int, limit: int) -> Iterator[int]:
    """Offsets that cut `text[start:block.end]` into pieces of about equal size, each at most `limit`."""
    pieces = -(-(block.end - start) // limit)
    target = (block.end - start) / pieces
    begin = last = start
    for end in _units(text, block, limit):
        if end - begin > limit or (last - begin) + (end - last) / 2 > target:
            if last > begin:
                yield last
                begin = last
        if end - begin > limit:  # what stood before (a heading) does not fit beside the first unit
            for cut in hard_ends(text, begin, end, limit):
                if cut < end:
                    yield cut
                    begin = cut
        last = end
    yield block.end


def _units(text: str, block: Block, limit: int) -> Iterator[int]:
    """Ends of the smallest stretches that should stay whole, finer only where one is longer than the limit."""
    finer: list[Callable[[int, int], Iterable[int]]] = []
    if block.kind in WHOLE_KINDS:
        finer.append(lambda start, end: _line_ends(text, start, end))
    finer.append(lambda start, end: sentence_ends(text, start, end))
    finer.append(lambda start, end: clause_ends(text, start, end))
    finer.append(lambda start, end: hard_ends(text, start, end, limit))
    return _refine(block.start, block.end, limit, finer, 0)


def _refine(
    start: int, end: int, limit: int, finer: Sequence[Callable[[int, int], Iterable[int]]], depth: int
) -> Iterator[int]:
    for cut in finer[depth](start, end):
        if cut - start > limit and depth + 1 < len(finer):
            yield from _refine(start, cut, limit, finer, depth + 1)
        else:
            yield cut
        start = cut


def _line_ends(text: str, start: int, end: int) -> Iterator[int]:
    for line in _LINE_ENDS.finditer(text, start, end):
        if start < line.end() < end:
            yield line.end()
    if end > start:
        yield end


def _back_up(text: str, floor: int, start: int, overlap: int) -> int:
    """Where the overlap begins: the earliest sentence start within `overlap` characters before `start`."""
    window = max(floor, start - overlap)
    if window == floor:
        return floor
    for end in sentence_ends(text, window, start):
        if window < end < start:
            return end
    return start
