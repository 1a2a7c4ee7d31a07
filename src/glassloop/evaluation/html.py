"""The report as one HTML page: no network, no script, plots as inline SVG, dark and light, readable on a phone.

Everything that comes from a case or a run goes through `esc`.
"""

from __future__ import annotations

import time
from urllib.parse import quote

from ..journal.html import esc
from ..journal.html import page as whole_page
from .summary import CaseRow, Column, Report

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --dim: #667; --line: #d5d9e0; --paper: #fff; --good: #1a7f4b;
  --bad: #c2362f; --bar: #3b73c4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --dim: #9aa3b2; --line: #363c47; --paper: #14171c;
  --good: #4cc38a; --bad: #ff7b72; --bar: #7aa7ee; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; } th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: top; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
.dim { color: var(--dim); } .bad { color: var(--bad); } .good { color: var(--good); }
details { border-bottom: 1px solid var(--line); padding: .3rem 0; } summary { cursor: pointer; }
a { color: var(--bar); } ul { margin: .3rem 0; }
"""


def page(report: Report, *, base: str = "") -> str:
    """Return the page.

    Args:
        report: The report.
        base: Where the evaluation's folder is, seen from the page; empty leaves out the links to runs.
    """
    from .report import columns_table

    heads, rows = columns_table(report)
    stamp = time.strftime("%Y-%m-%d %H:%M", time.localtime(report.at))
    cases = list(dict.fromkeys(r.case for r in report.cases))
    body = [
        "<main>",
        "<h1>Evaluation</h1>",
        f'<p class="dim">{len(cases)} cases · {sum(c.total for c in report.columns)} runs · {esc(stamp)} · '
        f"glassloop {esc(report.version)} · intervals of 95 %</p>",
        "<h2>Passed</h2>",
        rates(report.columns),
        "<h2>Measures</h2>",
        _table(heads, rows),
        "<h2>Tokens and passing</h2>",
        scatter(report.columns),
        "<h2>Every case</h2>",
        strip(report, cases),
    ]
    for column in report.columns:
        if column.confusion:
            body += [f"<h2>Tools expected and called: {esc(column.name)}</h2>", confusion(column)]
        if column.tags:
            body += [f"<h2>By tag: {esc(column.name)}</h2>"]
            body += [_table(["tag", "passed"], [[tag, f"{p} of {n}"] for tag, (p, n) in column.tags.items()])]
    body += ["<h2>Runs</h2>", *(_case(row, base) for row in report.cases), "</main>"]
    return whole_page("Evaluation · glassloop", "\n".join(body), head=f"<style>{_STYLE}</style>")


def _table(heads: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th scope="col"{_right(i)}>{esc(h)}</th>' for i, h in enumerate(heads))
    lines = ["".join(f"<td{_right(i)}>{esc(c)}</td>" for i, c in enumerate(row)) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _right(column: int) -> str:
    return ' class="n"' if column else ""


def _svg(width: int, height: int, title: str, parts: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{esc(title)}">'
        f"<title>{esc(title)}</title>{''.join(parts)}</svg>"
    )


def rates(columns: tuple[Column, ...]) -> str:
    """Bars of the share passed, with their intervals."""
    left, width, row = 250, 720, 34
    span = width - left - 70
    parts: list[str] = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = left + span * share
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{row * len(columns)}" stroke="var(--line)"/>')
        parts.append(f'<text x="{x:.1f}" y="{row * len(columns) + 18}" text-anchor="middle">{share:.0%}</text>')
    for i, column in enumerate(columns):
        y = i * row + row / 2
        low, high = left + span * column.low, left + span * column.high
        name = column.name if len(column.name) <= 34 else f"…{column.name[-33:]}"
        parts += [
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{esc(name)}</text>',
            f'<rect x="{left}" y="{y - 9:.1f}" width="{span * column.pass_at_1:.1f}" height="18" fill="var(--bar)" '
            f'opacity=".75"><title>{esc(column.name)}: {column.passed} of {column.total}</title></rect>',
            f'<path d="M{low:.1f} {y - 5:.1f}v10M{low:.1f} {y:.1f}H{high:.1f}M{high:.1f} {y - 5:.1f}v10" '
            f'stroke="var(--ink)" fill="none" stroke-width="1.5"/>',
            f'<text x="{width - 60}" y="{y + 4:.1f}">{column.pass_at_1:.1%}</text>',
        ]
    return _svg(width, row * len(columns) + 26, "Share of runs passed, with 95 % intervals", parts)


def scatter(columns: tuple[Column, ...]) -> str:
    """Mean tokens of a run against the share passed: up and left is better."""
    width, height, left, below = 720, 240, 60, 40
    costs = [float(c.measures.get("tokens", {}).get("mean", 0)) for c in columns]
    most = max([*costs, 1.0]) * 1.15
    parts = [
        f'<path d="M{left} 10V{height - below}H{width - 10}" stroke="var(--line)" fill="none"/>',
        f'<text x="{left - 6}" y="18" text-anchor="end">100%</text>',
        f'<text x="{left - 6}" y="{height - below}" text-anchor="end">0%</text>',
        f'<text x="{width - 10}" y="{height - 12}" text-anchor="end">{most:,.0f} tokens a run</text>',
    ]
    for column, cost in zip(columns, costs, strict=True):
        x = left + (width - left - 30) * cost / most
        y = height - below - (height - below - 14) * column.pass_at_1
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="var(--bar)"><title>{esc(column.name)}</title></circle>'
        )
        side, shift = ("end", -10) if x > width * 0.7 else ("start", 10)
        parts.append(f'<text x="{x + shift:.1f}" y="{y + 4:.1f}" text-anchor="{side}">{esc(column.name[-40:])}</text>')
    return _svg(width, height, "Tokens of a run and share passed", parts)


def strip(report: Report, cases: list[str]) -> str:
    """Every repeat of every case as a square: a column of squares a case, a band a model and strategy."""
    side, left = 14, 250
    across = max(1, min(len(cases), 60))
    by_key = {(r.model, r.strategy, r.case): r for r in report.cases}
    parts: list[str] = []
    y = 4
    for column in report.columns:
        name = column.name if len(column.name) <= 34 else f"…{column.name[-33:]}"
        parts.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{esc(name)}</text>')
        for start in range(0, len(cases), across):
            deep = 1
            for i, case in enumerate(cases[start : start + across]):
                row = by_key.get((column.model, column.strategy, case))
                for j, good in enumerate(row.outcomes if row else ()):
                    deep = max(deep, j + 1)
                    colour, opacity = ("var(--good)", ".55") if good else ("var(--bad)", "1")
                    word = "passed" if good else "failed"
                    parts.append(
                        f'<rect x="{left + i * side}" y="{y + j * side}" width="{side - 2}" height="{side - 2}" '
                        f'fill="{colour}" opacity="{opacity}"><title>{esc(case)}: run {j + 1} {word}</title></rect>'
                    )
            y += deep * side + 6
    return (
        f'<div class="wide">{_svg(left + across * side + 4, y + 4, "Every run: green passed, red failed", parts)}</div>'
    )


def confusion(column: Column) -> str:
    """The confusion table: rows are the tools expected, columns the tools called."""
    rows = list(dict.fromkeys(a for a, _, _ in column.confusion))
    heads = list(dict.fromkeys(b for _, b, _ in column.confusion))
    count = {(a, b): n for a, b, n in column.confusion}
    total = {a: sum(count.get((a, b), 0) for b in heads) for a in rows}
    head = "".join(f'<th scope="col" class="n">{esc(h)}</th>' for h in heads)
    lines: list[str] = []
    for a in rows:
        cells: list[str] = []
        for b in heads:
            n = count.get((a, b), 0)
            colour = "var(--good)" if a == b else "var(--bad)"
            shade = round(n / total[a] * 45)
            fill = f' style="background:color-mix(in srgb,{colour} {shade}%,transparent)"' if n else ""
            cells.append(f'<td class="n"{fill}>{n or ""}</td>')
        lines.append(f'<tr><th scope="row">{esc(a)}</th>{"".join(cells)}</tr>')
    return (
        f'<div class="wide"><table><thead><tr><th scope="col">expected \\ called</th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _case(row: CaseRow, base: str) -> str:
    mark = "good" if row.passed == row.total else "bad"
    links = [
        f'<a href="{esc(quote(f"{base}/{run}"))}">run {i}</a>' for i, run in enumerate(row.runs, 1) if run and base
    ]
    names = [f"<code>glassloop show {esc(run)}</code>" for run in row.runs if run][:1]
    problems = "".join(f"<li>{esc(p)}</li>" for p in row.problems)
    return (
        f'<details><summary><span class="{mark}">{row.passed} of {row.total}</span> {esc(row.case)} '
        f'<span class="dim">{esc(row.model)} · {esc(row.strategy)} · {row.seconds:.1f} s · {row.tokens:,.0f} tokens'
        f"</span></summary><ul>{problems}</ul><p>{esc(row.answer)}</p>"
        f'<p class="dim">{" · ".join([*links, *names])}</p></details>'
    )
