"""PDF files.

Owes: `load_pdf`: Markdown with the offset of each page. Headings come from the outline, else from font sizes; tables
are rows; running headers and footers are left out; words and Chinese sentences are whole again across line ends.
Read by pypdfium2 (Apache-2.0 / BSD-3-Clause), some twenty times faster than pypdf.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from ...errors import KnowledgeError, MissingExtra
from ..load import Loaded
from ..sentences import CJK
from .pdf_lines import Line, page_lines

_DIGITS = re.compile(r"\d+")
_NUMBERED = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|第[\d一二三四五六七八九十百]+[章节節]|附录\s*[A-Z]|Appendix\s+[A-Z])\s+\S"
)
_ITEM = re.compile(r"(?:[-*•·▪●○‣■◆]|\d{1,3}[.)、]|[（(]\d{1,2}[）)])\s*\S")
_ENDS = re.compile(r"[.!?。！？;；:：]['\"”’」』）)]*$")
_STRAY = re.compile(
    f"(?<![章节節篇部回])(?<=[{CJK}，。、；：？！「」『』（）《》“”]) +(?=[{CJK}，。、；：？！「」『』（）《》“”])"
)
_WIDE_EDGE = re.compile(f"[{CJK}，。、；：？！「」『』（）《》“”]")
_MOST_HEADING = 120
_MARGIN_LINES = 3
_MARGIN = 0.12
"""Running lines stand in this outer part of a page's height."""


def load_pdf(data: bytes, name: str) -> Loaded:
    """A PDF as Markdown with pages."""
    try:
        import pypdfium2
        import pypdfium2.raw as raw
    except ImportError as error:
        raise MissingExtra("pypdfium2", "documents", "read PDF files") from error
    pdfium: Any = pypdfium2
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise KnowledgeError("is encrypted; save it without a password") from error
        raise KnowledgeError("is no PDF file, or a broken one") from error
    with contextlib.closing(document):
        pages, heights, unreadable = _read_pages(document, raw, pdfium.PdfiumError)
        if not any(pages):
            raise KnowledgeError(
                f"has {len(pages)} pages but no text: it is scanned; make its text readable first (OCR)"
            )
        _drop_running_lines(pages, heights)
        _mark_headings(pages, _outline(document, pdfium.PdfiumError))
        title = _title(document)
    text, offsets = _assembled(pages)
    scanned = sum(1 for page in pages if not page)
    notes = [f"{unreadable} pages are broken"] if unreadable else []
    if scanned - unreadable > max(1, len(pages) // 10):
        notes.append(f"{scanned - unreadable} of {len(pages)} pages have no text (pictures or scans)")
    return Loaded(text, "markdown", title=title, pages=tuple(offsets), note="; ".join(notes))


def _read_pages(document: Any, raw: Any, failure: type[Exception]) -> tuple[list[list[Line]], list[float], int]:
    """The lines of each page, each page's height, and how many pages are broken."""
    pages: list[list[Line]] = []
    heights: list[float] = []
    unreadable = 0
    for number in range(len(document)):
        try:
            page = document[number]
            text_page = page.get_textpage()
            pages.append(page_lines(text_page, raw))
            heights.append(page.get_height())
            text_page.close()
            page.close()
        except failure:
            pages.append([])
            heights.append(0.0)
            unreadable += 1
    return pages, heights, unreadable


def _title(document: Any) -> str:
    title = " ".join(str(document.get_metadata_dict().get("Title", "")).split())
    # Word processors write the file's name there.
    return "" if re.search(r"\.(docx?|indd|tex|pptx?|p65|fm)$|^(untitled|microsoft word)", title.lower()) else title


def _drop_running_lines(pages: list[list[Line]], heights: Sequence[float]) -> None:
    """Leave out what stands at the top or bottom of many pages, and page numbers that count up."""
    body = _body_size(pages)
    edges: list[tuple[list[Line], list[Line]]] = []
    seen: Counter[str] = Counter()
    for page, height in zip(pages, heights, strict=True):
        by_height = sorted(page, key=lambda line: -line.top)
        top = [line for line in by_height[:_MARGIN_LINES] if line.bottom > height * (1 - _MARGIN)]
        bottom = [line for line in by_height[::-1][:_MARGIN_LINES] if line.top < height * _MARGIN]
        edges.append((top, bottom))
        seen.update({_shape(line, body) for line in (*top, *bottom)})
    often = max(3, sum(1 for page in pages if page) // 4)
    outermost = [{_shape(edge[0], body): edge[0].text for edge in ends if edge} for ends in edges]
    for number, (page, ends) in enumerate(zip(pages, edges, strict=True)):
        gone: set[int] = set()
        for edge in ends:
            for place, line in enumerate(edge):
                shape = _shape(line, body)
                if seen[shape] < often and not (place == 0 and _counts_up(outermost, number, shape)):
                    break  # what stands further inside is text, even where it repeats
                gone.add(id(line))
        if len(gone) < len(page):
            page[:] = [line for line in page if id(line) not in gone]


def _counts_up(outermost: Sequence[Mapping[str, str]], number: int, shape: str) -> bool:
    """Whether a page nearby has the same outermost line with another number: a chapter's name beside a page number."""
    if "#" not in shape:
        return False
    near = [outermost[other] for other in range(max(0, number - 2), min(len(outermost), number + 3)) if other != number]
    return any(page.get(shape, outermost[number][shape]) != outermost[number][shape] for page in near)


def _body_size(pages: Sequence[Sequence[Line]]) -> float:
    """The font size in which most of the text is set."""
    weights: Counter[float] = Counter()
    for page in pages:
        for line in page:
            weights[line.size] += len(line.text)
    return weights.most_common(1)[0][0] if weights else 0.0


def _shape(line: Line, body: float) -> str:
    """A line as it looks on every page: its height counts roughly, its numbers only where it may be a heading."""
    text = line.text.strip()
    text = text if line.size > body * 1.1 else _DIGITS.sub("#", text)
    return f"{text}@{round(line.bottom / 12)}"


def _outline(document: Any, failure: type[Exception]) -> list[tuple[int, int, str]]:
    """Page, level and title of the bookmarks."""
    entries: list[tuple[int, int, str]] = []
    try:
        for item in document.get_toc(max_depth=6):
            target = item.get_dest()
            page = target.get_index() if target else None
            title = " ".join(item.get_title().split())
            if page is not None and title:
                entries.append((page, item.level + 1, title))
    except (failure, AttributeError, ValueError):
        pass
    return entries


def _mark_headings(pages: list[list[Line]], outline: Sequence[tuple[int, int, str]]) -> None:
    found = 0
    for number, level, title in outline:
        if 0 <= number < len(pages) and (line := _line_with(pages[number], title)) is not None:
            line.level = min(6, level)
            found += 1
    if found >= 3 and found * 10 >= len(outline) * 6:
        return
    lines = [line for page in pages for line in page]
    body = _body_size(pages)
    large = sorted(
        {line.size for line in lines if line.size >= body * 1.12 + 0.4 and _may_be_heading(line)}, reverse=True
    )
    level_of = {size: min(5, rank) for rank, size in enumerate(large, 1)}
    for line in lines:
        if line.level:
            continue
        if line.size in level_of and _may_be_heading(line):
            line.level = level_of[line.size]
        elif line.bold and line.size >= body and _NUMBERED.match(line.text) and _may_be_heading(line):
            dots = line.text.split()[0].strip(".").count(".")
            line.level = min(6, len(large) + 1 + dots)


def _may_be_heading(line: Line) -> bool:
    text = line.text
    if line.cells or not 1 < len(text) <= _MOST_HEADING or _ENDS.search(text) and not text.endswith(("?", "？")):
        return False
    return sum(character.isalpha() for character in text) >= 2


def _line_with(page: Sequence[Line], title: str) -> Line | None:
    wanted = _letters(title)
    for line in page:
        letters = _letters(line.text)
        if letters and (
            letters == wanted or (len(wanted) > 3 and letters.endswith(wanted) and len(letters) < len(wanted) + 8)
        ):
            return line
    # A long title may be broken over two lines.
    return next((line for line in page if len(line.text) > 8 and wanted.startswith(_letters(line.text))), None)


def _letters(text: str) -> str:
    return "".join(text.lower().split())


def _assembled(pages: Sequence[Sequence[Line]]) -> tuple[str, list[int]]:
    """All pages as one text, and where each begins. A paragraph that runs over a page's end stays one."""
    kept_hyphens = _hyphenated_words(pages)
    out = _Assembler(kept_hyphens)
    offsets: list[int] = []
    for page in pages:
        offsets.append(out.page())
        gaps = [above.bottom - below.bottom for above, below in zip(page, page[1:], strict=False)]
        usual = median([gap for gap in gaps if gap > 2] or [12.0])
        edge = max((line.right for line in page), default=0.0)
        for above, line in zip([None, *page[:-1]], page, strict=True):
            out.line(above, line, usual, edge)
    return out.finish(), offsets


def _hyphenated_words(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Words that have their hyphen also in the middle of a line."""
    words: set[str] = set()
    for page in pages:
        for line in page:
            if "-" in line.text:
                words.update(word.lower() for word in re.findall(r"[A-Za-z]+-[A-Za-z]+", line.text))
    return frozenset(words)


class _Assembler:
    """Joins lines to paragraphs, rows to tables, heading lines to headings."""

    def __init__(self, kept_hyphens: frozenset[str]) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._kept = kept_hyphens
        self._before: Line | None = None
        self._kind = ""

    def page(self) -> int:
        """A page begins; returns its offset, which is that of its first line."""
        return self._length

    def line(self, above: Line | None, line: Line, usual: float, edge: float) -> None:
        """Take in a line."""
        before = self._before
        text = _STRAY.sub("", line.text)
        if line.level:
            if self._kind == "heading" and before is not None and before.level == line.level and _close(above, line):
                self._join(text)
            else:
                self._break(2)
                self._write("#" * line.level + " " + text)
            self._kind = "heading"
        elif len(line.cells) > 1:
            self._break(1 if self._kind == "table" else 2)
            self._write("| " + " | ".join(_STRAY.sub("", cell) for _, cell in line.cells) + " |")
            self._kind = "table"
        elif _ITEM.match(text):
            self._break(1 if self._kind in ("item", "text") else 2)
            self._write(text)
            self._kind = "item"
        elif self._kind in ("text", "item") and before is not None and _goes_on(before, above, line, usual, edge):
            self._join(text)
        else:
            self._break(1 if self._kind == "item" and above is not None else 2)
            self._write("\\" + text if text.startswith("#") else text)
            self._kind = "text"
        self._before = line

    def finish(self) -> str:
        """The whole text."""
        self._settle()
        return "".join(self._parts) + "\n"

    def _join(self, text: str) -> None:
        """Go on with the last word, the last Chinese sentence, or after a space."""
        tail = self._parts[-1]
        if tail.endswith("\ufffe"):
            stem = re.search(r"[A-Za-z]+$", tail[:-1])
            rest = re.match(r"[A-Za-z]+", text)
            whole = f"{stem.group()}-{rest.group()}".lower() if stem and rest else ""
            self._replace_last(tail[:-1] + ("-" if whole in self._kept else ""))
            self._write(text)
        elif tail.endswith("-") and tail[-2:-1].isalpha() and text[:1].islower():
            self._write(text)
        elif _WIDE_EDGE.match(tail[-1:]) and _WIDE_EDGE.match(text[:1]):
            self._write(text)
        else:
            self._write(" " + text)

    def _break(self, lines: int) -> None:
        self._settle()
        if self._parts:
            self._write("\n" * lines)

    def _settle(self) -> None:
        if self._parts and self._parts[-1].endswith("\ufffe"):
            self._replace_last(self._parts[-1][:-1] + "-")

    def _replace_last(self, text: str) -> None:
        self._length += len(text) - len(self._parts[-1])
        self._parts[-1] = text

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def _close(above: Line | None, line: Line) -> bool:
    return above is not None and 0 < above.bottom - line.bottom < 1.8 * max(line.size, 1.0)


def _goes_on(before: Line, above: Line | None, line: Line, usual: float, edge: float) -> bool:
    """Whether a line belongs to the paragraph of the one before it."""
    if before.hyphenated:
        return True
    if before.cells or abs(before.size - line.size) > 1.5:
        return False
    ended = bool(_ENDS.search(before.text))
    if above is None:  # over the page's end
        return not ended
    gap = above.bottom - line.bottom
    if gap < -2:  # a new column
        return not ended
    if gap > usual * 1.45:
        return False
    short = before.right < edge - 6 * max(line.size, 1.0)
    if ended and short:
        return False
    return not (line.left > before.left + 0.8 * line.size and ended)
