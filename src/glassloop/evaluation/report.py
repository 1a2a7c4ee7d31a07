"""A report in every form: lines for the terminal, JSON, Markdown, JUnit XML; the page is in `html.py`.

Owes: the same figures everywhere, and nothing that comes from a run breaks the form it is written in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ..errors import CaseError
from .html import page
from .summary import MEASURES, SHARES, CaseRow, Column, Report

# XML 1.0 has no way to write these at all.
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-�\U00010000-\U0010ffff]")


def percent(value: float) -> str:
    """A share as a person reads it."""
    return f"{value:.0%}" if value in (0, 1) or abs(value * 100 - round(value * 100)) < 0.05 else f"{value:.1%}"


def shown(name: str, measure: dict[str, Any] | None) -> str:
    """A measure with half the width of its interval, or a dash."""
    if measure is None:
        return "–"
    mean, half = float(measure["mean"]), (float(measure["high"]) - float(measure["low"])) / 2
    if name in SHARES:
        return f"{percent(mean)} ±{half * 100:.0f}"
    if name == "tokens":
        return f"{mean:,.0f} ±{half:,.0f}"
    return f"{mean:.4f}" if name == "cost" else f"{mean:.2f} ±{half:.2f}"


def columns_table(report: Report) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of measures: one line a measure, one column a model and strategy."""
    heads = ["", *(c.name for c in report.columns)]
    rows = [["passed", *(f"{c.passed} of {c.total}" for c in report.columns)]]
    rows.append(["pass@1", *(f"{percent(c.pass_at_1)} [{percent(c.low)}, {percent(c.high)}]" for c in report.columns)])
    if any(c.k > 1 for c in report.columns):
        rows.append([f"pass^{max(c.k for c in report.columns)}", *(percent(c.pass_hat_k) for c in report.columns)])
    for name in MEASURES:
        cells = [shown(name, c.measures.get(name)) for c in report.columns]
        if any(cell != "–" for cell in cells):
            rows.append([name, *cells])
    return heads, rows


def failures(report: Report) -> list[CaseRow]:
    """The cases that did not pass every time, worst first."""
    rows = [row for row in report.cases if row.passed < row.total]
    return sorted(rows, key=lambda r: (r.passed / r.total, r.case, r.model, r.strategy))


def confusions(column: Column) -> list[tuple[str, str, int]]:
    """The pairs of the confusion table off its diagonal, most frequent first."""
    return sorted((c for c in column.confusion if c[0] != c[1]), key=lambda c: (-c[2], c[0], c[1]))


def markdown(report: Report) -> str:
    """The report as Markdown."""
    heads, rows = columns_table(report)
    out = ["# Evaluation", "", f"{len({r.case for r in report.cases})} cases, intervals of 95 %.", ""]
    out += _table(heads, rows)
    for column in report.columns:
        if pairs := confusions(column):
            out += ["", f"## Tools confused: {_cell(column.name)}", ""]
            out += _table(["expected", "called", "times"], [[a, b, str(n)] for a, b, n in pairs])
        if column.tags:
            out += ["", f"## By tag: {_cell(column.name)}", ""]
            out += _table(["tag", "passed"], [[tag, f"{p} of {n}"] for tag, (p, n) in column.tags.items()])
    if rows_left := failures(report):
        out += ["", "## Not passed every time", ""]
        cells = [
            [r.case, f"{r.model} · {r.strategy}", f"{r.passed} of {r.total}", " ".join(r.problems[:3])]
            for r in rows_left
        ]
        out += _table(["case", "with", "passed", "why"], cells)
    return "\n".join(out) + "\n"


def _table(heads: list[str], rows: Iterable[list[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines]


def _cell(text: str) -> str:
    flat = " ".join(text.split())
    return re.sub(r"([\\|<>`*_\[\]])", r"\\\1", flat) if flat != "---" else flat


def junit(report: Report) -> str:
    """The report as JUnit XML: a suite for each model and strategy; a case fails when one of its runs does."""
    out = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="glassloop">']
    for column in report.columns:
        rows = [r for r in report.cases if (r.model, r.strategy) == (column.model, column.strategy)]
        bad = sum(r.passed < r.total for r in rows)
        seconds = sum(r.seconds * r.total for r in rows)
        out.append(
            f'  <testsuite name={_attribute(column.name)} tests="{len(rows)}" failures="{bad}" time="{seconds:.3f}">'
        )
        for row in rows:
            head = f"    <testcase name={_attribute(row.case)} classname={_attribute(column.name)} "
            head += f'time="{row.seconds * row.total:.3f}"'
            if row.passed == row.total:
                out.append(head + "/>")
                continue
            said = f"{row.passed} of {row.total} runs passed"
            body = "\n".join([*row.problems, *(f"run: {run}" for run in row.runs if run)])
            out += [head + ">", f"      <failure message={_attribute(said)}>{_xml(body)}</failure>", "    </testcase>"]
        out.append("  </testsuite>")
    return "\n".join([*out, "</testsuites>", ""])


def _xml(text: str) -> str:
    return escape(_NOT_XML.sub("�", text))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("�", text))


def as_json(report: Report) -> str:
    """The report as JSON; `read_report` reads it back, also as a baseline."""
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=1, default=str) + "\n"


def read_report(path: Path) -> Report:
    """Read a report written by `as_json`.

    Raises:
        CaseError: The file is none, or of a newer version.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
        if data.get("schema_version", 1) > 1:
            raise CaseError(f"{path} was written by a newer glassloop: update, or make the baseline again.")
        return Report.from_dict(data)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CaseError(
            f"{path} is no report ({error}): make one with glassloop eval CASES --report FILE.json."
        ) from None


def write(report: Report, path: Path, folder: Path | None = None) -> None:
    """Write a report; its form follows the ending: `.json`, `.md`, `.xml` (JUnit), `.html`.

    Args:
        report: The report.
        path: The file.
        folder: Where the evaluation's runs are, for links to them.

    Raises:
        CaseError: The ending is none of these.
    """
    forms: dict[str, Callable[[Report], str]] = {
        ".json": as_json,
        ".md": markdown,
        ".xml": junit,
        ".html": lambda r: page(r, base=_relative(folder, path)),
    }
    form = forms.get(path.suffix.lower())
    if form is None:
        raise CaseError(f"A report is written as {', '.join(forms)}, not as {path.suffix or path.name!r}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(form(report), encoding="utf-8", errors="replace")


def _relative(folder: Path | None, path: Path) -> str:
    import os

    return Path(os.path.relpath(folder, path.parent)).as_posix() if folder is not None else ""


def print_report(report: Report, console: Any) -> None:
    """Print the report on a terminal (a `rich` console): the measures, then what did not pass, and why."""
    from rich.table import Table
    from rich.text import Text

    heads, rows = columns_table(report)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, head in enumerate(heads):
        table.add_column(Text(head), justify="right" if i else "left")
    for row in rows:
        table.add_row(*(Text(cell, style="bold" if row[0] in ("passed", "pass@1") else "") for cell in row))
    console.print(table)
    for column in report.columns:
        for expected, called, times in confusions(column)[:5]:
            console.print(Text(f"{column.name}: expected {expected}, called {called}, {times}×", style="yellow"))
    for row in failures(report)[:40]:
        named = f" · {row.model} · {row.strategy}" if len(report.columns) > 1 else ""
        console.print(Text.assemble((f"✗ {row.case}", "red"), (f"{named}  {row.passed} of {row.total}", "dim")))
        for problem in row.problems[:3]:
            console.print(Text(f"    {problem}"))
