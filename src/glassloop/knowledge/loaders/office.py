"""Word and Excel files.

Owes: `load_docx` (headings by their styles, lists, tables as rows) and `load_xlsx` (each sheet a section, each row a
line that names its columns). Archives are checked for bombs before a library reads them.
"""

from __future__ import annotations

import io
import re
from typing import Any

from ...errors import KnowledgeError, MissingExtra
from ..load import Loaded, tidy
from .archive import check_members, open_archive
from .data import table_lines

_HEADING = re.compile(r"(?:heading|标题|標題|überschrift|titre)\s*(\d)", re.IGNORECASE)
_MOST_ROWS = 500_000


def load_docx(data: bytes, name: str) -> Loaded:
    """A Word file as Markdown."""
    check_members(open_archive(data))
    try:
        import docx
        from docx.table import Table
    except ImportError as error:
        raise MissingExtra("python-docx", "documents", "read DOCX files") from error
    try:
        document: Any = docx.Document(io.BytesIO(data))
        blocks = list(document.iter_inner_content())
    except Exception as error:  # the library lets errors of zip, XML and its own through
        raise KnowledgeError(f"is no DOCX file, or a broken one ({_short(error)})") from error
    parts: list[str] = []
    for block in blocks:
        parts.append(_table(block) if isinstance(block, Table) else _paragraph(block))
    title = str(document.core_properties.title or "").strip()
    return Loaded(tidy("".join(parts)), "markdown", title=title)


def _paragraph(paragraph: Any) -> str:
    text = paragraph.text.replace("\t", " ").strip()
    if not text:
        return ""
    style = str(paragraph.style.name or "") if paragraph.style is not None else ""
    if found := _HEADING.match(style):
        return f"\n{'#' * min(6, int(found.group(1)))} {' '.join(text.split())}\n\n"
    if style.lower() in ("title", "标题", "標題"):
        return f"# {' '.join(text.split())}\n\n"
    properties = paragraph._p.pPr  # the library has no public name for numbering
    if "list" in style.lower() or (properties is not None and properties.numPr is not None):
        return f"- {text}\n"
    return f"{text}\n\n"


def _table(table: Any) -> str:
    lines: list[str] = []
    for row in table.rows:
        cells: list[str] = []
        before: Any = None
        for cell in row.cells:
            # A merged cell comes once for each column it covers.
            if cell._tc is not before:
                cells.append(" ".join(cell.text.split()).replace("|", "\\|"))
            before = cell._tc
        if any(cells):
            lines.append("| " + " | ".join(cells) + " |\n")
    return "\n" + "".join(lines) + "\n"


def load_xlsx(data: bytes, name: str) -> Loaded:
    """An Excel file: values, not formulas."""
    check_members(open_archive(data))
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtra("openpyxl", "documents", "read XLSX files") from error
    parts: list[str] = []
    note = ""
    try:
        book: Any = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        for sheet in book.worksheets:
            # Files by other programs may give a wrong size, which hides rows.
            sheet.reset_dimensions()
            lines: list[str] = []
            for line in table_lines(sheet.iter_rows(values_only=True)):
                lines.append(line + "\n")
                if len(lines) >= _MOST_ROWS:
                    note = f"only the first {_MOST_ROWS:,} rows of a sheet were read"
                    break
            if lines:
                parts.append(f"## {sheet.title}\n\n" + "".join(lines) + "\n")
    except KnowledgeError:
        raise
    except Exception as error:  # the library lets errors of zip, XML and its own through
        raise KnowledgeError(f"is no XLSX file, or a broken one ({_short(error)})") from error
    return Loaded("".join(parts), "markdown", title=name.rsplit(".", 1)[0], note=note)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
