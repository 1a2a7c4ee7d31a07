"""The lines of a PDF page, with their place and size.

Owes: `page_lines`, what pdfium reads from a page as lines that know their position, font size and table cells. Only
the first and last character of a line, and the gaps in lines that have some, are measured: text comes at the library's
own speed.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, field
from typing import Any

_LINE = re.compile(r"[^\r\n\ufffe]+\ufffe?|\ufffe")
_CELL_GAP = 1.3
"""Two words further apart than this many font sizes stand in different columns."""


@dataclass(slots=True)
class Line:
    """One line of a page; lengths in points, y from the bottom of the page."""

    text: str
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    top: float = 0.0
    size: float = 0.0
    bold: bool = False
    cells: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """The columns of a line that has several: left edge and text."""
    level: int = 0
    """Of a heading; 0 for other lines."""

    @property
    def hyphenated(self) -> bool:
        """Whether its last word goes on in the next line."""
        return self.text.endswith("\ufffe")


def page_lines(text_page: Any, raw: Any) -> list[Line]:
    """The lines of a pypdfium2 text page, in reading order as the file has it."""
    text = text_page.get_text_range()
    handle = text_page.raw
    # Indices of characters are those of UTF-16, and generated or dropped ones may shift them.
    astral = any(character > "\uffff" for character in text)
    lines: list[Line] = []
    box = _Boxes(handle, raw)
    for match in _LINE.finditer(text):
        words = match.group()
        if not words.strip(" \u00a0\t"):
            continue
        first = match.start() + len(words) - len(words.lstrip())
        last = match.start() + len(words.rstrip(" \u00a0\t\ufffe")) - 1
        if astral:
            first = len(text[:first].encode("utf-16-le")) // 2
            last = len(text[: last + 1].encode("utf-16-le")) // 2 - 1
        first, last = box.index(first), box.index(max(first, last))
        line = Line(words.strip(" \u00a0\t"))
        start, end = box.of(first), box.of(last)
        line.left, line.right = start[0], max(start[2], end[2])
        line.bottom, line.top = min(start[1], end[1]), max(start[3], end[3])
        line.size = _usual_size(box, first, last)
        line.bold = box.bold(first)
        if not astral and raw.FPDFText_CountRects(handle, first, last - first + 1) > 1:
            line.cells = _cells(text, match.start(), match.start() + len(words), box, line.size)
        lines.append(line)
    return lines


def _usual_size(box: _Boxes, first: int, last: int) -> float:
    """The size of most of a line: bullets and footnote marks are smaller, spaces may have none."""
    sizes = sorted(box.size(first + (last - first) * part // 6) for part in range(7))
    real = [size for size in sizes if size > 2.0] or sizes
    return real[len(real) // 2]


def _cells(text: str, start: int, end: int, box: _Boxes, size: float) -> list[tuple[float, str]]:
    """The columns of a line, if there is more than one."""
    cuts: list[int] = [start]
    for at in range(start + 1, end - 1):
        if text[at] == " " and text[at - 1] != " " and text[at + 1] != " ":
            before, after = box.of(box.index(at - 1)), box.of(box.index(at + 1))
            if after[0] - before[2] > _CELL_GAP * max(size, 1.0):
                cuts.append(at + 1)
    if len(cuts) < 2:
        return []
    parts = zip(cuts, [*cuts[1:], end], strict=True)
    return [(box.of(box.index(a))[0], text[a:b].strip(" \u00a0\t\ufffe")) for a, b in parts]


class _Boxes:
    """Measures single characters without making objects for each."""

    def __init__(self, handle: Any, raw: Any) -> None:
        self._handle = handle
        self._raw = raw
        self._values = [ctypes.c_double() for _ in range(4)]
        self._matrix = raw.FS_MATRIX()
        self._name = ctypes.create_string_buffer(96)
        self._flags = ctypes.c_int()

    def index(self, text_index: int) -> int:
        """The character at a place in the text."""
        found = self._raw.FPDFText_GetCharIndexFromTextIndex(self._handle, text_index)
        return found if found >= 0 else text_index

    def of(self, character: int) -> tuple[float, float, float, float]:
        """Left, bottom, right, top."""
        left, right, bottom, top = self._values
        self._raw.FPDFText_GetCharBox(self._handle, character, left, right, bottom, top)
        return left.value, bottom.value, right.value, top.value

    def size(self, character: int) -> float:
        """The size in which a character is seen: the font's, times that of the text's matrix."""
        size = self._raw.FPDFText_GetFontSize(self._handle, character)
        if self._raw.FPDFText_GetMatrix(self._handle, character, self._matrix):
            scale = (self._matrix.c**2 + self._matrix.d**2) ** 0.5
            if size <= 2.0 < scale * size:
                size *= scale
        return round(size * 2) / 2

    def bold(self, character: int) -> bool:
        """Whether the font's name or weight says so."""
        self._raw.FPDFText_GetFontInfo(self._handle, character, self._name, 96, self._flags)
        name = self._name.value.lower()
        return b"bold" in name or b"heavy" in name or b"black" in name or b"semibold" in name
