"""Tables and records as lines that can be understood one by one.

Owes: loaders for CSV, TSV, JSON and JSON Lines. A row becomes one line that names its columns, so that a passage in
the middle of a table still says what its numbers are; a record becomes a block of such lines.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from ...errors import KnowledgeError
from ..load import Loaded
from .encoding import decode

_MOST_DEPTH = 40
_TITLES = ("title", "name", "question", "heading", "subject", "标题", "名称", "问题", "id", "key")


def load_csv(data: bytes, name: str) -> Loaded:
    """A CSV file; the delimiter is found out."""
    text = decode(data)
    try:
        dialect: Any = csv.Sniffer().sniff(text[:20_000], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    return Loaded(_table(text, dialect), "table")


def load_tsv(data: bytes, name: str) -> Loaded:
    """A table with tabs."""
    return Loaded(_table(decode(data), csv.excel_tab), "table")


def _table(text: str, dialect: Any) -> str:
    csv.field_size_limit(10_000_000)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), dialect))
    except csv.Error as error:
        raise KnowledgeError(f"is no table ({error})") from error
    return "".join(line + "\n" for line in table_lines(rows))


def table_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """One line a row, `column: value; column: value` where the first row names the columns."""
    header: list[str] | None = None
    first = True
    for row in rows:
        cells = [" ".join(str(cell).split()) if cell is not None else "" for cell in row]
        if not any(cells):
            continue
        if first:
            first = False
            if _is_header(cells):
                header = cells
                yield "; ".join(cell for cell in cells if cell)
                continue
        if header:
            named = zip([*header, *[""] * (len(cells) - len(header))], cells, strict=False)
            yield "; ".join(f"{column}: {cell}" if column else cell for column, cell in named if cell)
        else:
            yield "| " + " | ".join(cells) + " |"


def _is_header(cells: list[str]) -> bool:
    named = [cell for cell in cells if cell]
    numbers = [cell for cell in named if cell.replace(".", "", 1).replace(",", "").replace("-", "", 1).isdigit()]
    return len(named) > 1 and len(set(named)) == len(named) and not numbers and len(named) * 2 > len(cells)


def load_json(data: bytes, name: str) -> Loaded:
    """A JSON file, its records one block each."""
    try:
        value = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise KnowledgeError(f"is no JSON ({error})") from error
    records = cast("list[Any]", value) if isinstance(value, list) else [value]
    return Loaded("\n".join(_record(record) for record in records), "markdown", title=name)


def load_jsonl(data: bytes, name: str) -> Loaded:
    """JSON Lines; lines that are no JSON are left out and counted."""
    records: list[str] = []
    bad = 0
    for line in decode(data).splitlines():
        if line.strip():
            try:
                records.append(_record(json.loads(line)))
            except (ValueError, RecursionError):
                bad += 1
    if not records:
        raise KnowledgeError("has no line that is JSON")
    note = f"{bad} lines are no JSON and were left out" if bad else ""
    return Loaded("\n".join(records), "markdown", title=name, note=note)


def _record(value: Any) -> str:
    """A record as lines; its title, if it has one, as a heading."""
    if not isinstance(value, dict):
        return "".join(line + "\n" for line in _lines(value, ""))
    record = cast("dict[str, Any]", value)
    lowered = {key.lower(): key for key in record}
    key = next((lowered[title] for title in _TITLES if title in lowered), None)
    head = ""
    if key is not None and isinstance(record[key], (str, int, float)) and str(record[key]).strip():
        head = f"## {' '.join(str(record[key]).split())}\n\n"
    rest = {name: item for name, item in record.items() if not head or name != key}
    return head + "".join(line + "\n" for line in _lines(rest, ""))


def _lines(value: Any, path: str) -> Iterator[str]:
    """Leaves with their paths, depth first, without recursion deeper than a sane document has."""
    stack: list[tuple[str, Any]] = [(path, value)]
    while stack:
        where, item = stack.pop()
        deep = where.count(".") >= _MOST_DEPTH
        if isinstance(item, dict) and not deep:
            entries = cast("dict[str, Any]", item).items()
            stack.extend(reversed([(f"{where}.{key}" if where else key, child) for key, child in entries]))
        elif isinstance(item, list) and not deep:
            children = cast("list[Any]", item)
            if any(isinstance(child, (dict, list)) for child in children):
                stack.extend((where, child) for child in reversed(children))
            else:
                yield _leaf(where, ", ".join(map(_word, children)))
        else:
            yield _leaf(where, json.dumps(item)[:2000] if isinstance(item, (dict, list)) else _word(item))


def _leaf(where: str, text: str) -> str:
    return f"{where}: {text}" if where else text


def _word(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
