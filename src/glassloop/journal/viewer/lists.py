"""The page with the list of runs: a search form and a table."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import get_args

from ...types import Stop
from ..html import esc
from ..listing import RunEntry

_COLUMNS = (
    ("pick", "pick"),
    ("question and answer", "question"),
    ("stop", "stop"),
    ("model", "model"),
    ("steps", "num"),
    ("tokens", "num"),
    ("seconds", "num"),
    ("begun", "when"),
)


def list_body(entries: Sequence[RunEntry], asked: Mapping[str, str], total: int) -> str:
    """Return the form with what was asked for, and the runs that were found."""
    rows = "\n".join(_row(entry) for entry in entries)
    empty = "" if entries else f'<p role="status">None of the {total:,} runs fits.</p>'
    if not total:
        empty = '<p role="status">Nothing has been recorded here yet: run glassloop ask "…".</p>'
    columns = "".join(f'<th class="{kind}" scope="col">{name}</th>' for name, kind in _COLUMNS)
    return (
        f'<h1>Runs <small class="quiet">{total:,}</small></h1>\n{_form(asked)}\n<table class="runs">\n'
        f"<thead><tr>{columns}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>{empty}"
    )


def _form(asked: Mapping[str, str]) -> str:
    def value(key: str) -> str:
        return esc(asked.get(key, ""))

    options = "".join(
        f"<option{' selected' if asked.get('stop') == stop else ''}>{stop}</option>"
        for stop in (*get_args(Stop), "running", "interrupted")
    )
    everywhere = " checked" if asked.get("everywhere") == "on" else ""
    return (
        '<form class="search" role="search" action="/" method="get">'
        f'<input type="search" name="q" value="{value("q")}" placeholder="Search (press /)" aria-label="Words to find">'
        f'<input type="text" name="model" value="{value("model")}" placeholder="model" aria-label="Model">'
        f'<input type="text" name="tool" value="{value("tool")}" placeholder="tool" aria-label="Tool that was called">'
        f'<select name="stop" aria-label="Why it ended"><option value="">any end</option>{options}</select>'
        f'<label><input type="checkbox" name="everywhere"{everywhere}> everywhere</label>'
        '<button>Search</button><button type="button" id="compare" disabled>Compare two</button></form>'
    )


def _row(entry: RunEntry) -> str:
    good = entry.stop == "answered" and entry.checked
    stop = entry.stop if entry.checked or entry.stop != "answered" else "not supported"
    level = "good" if good or entry.stop == "running" else "warn"
    question = " ".join(entry.question.split()) or entry.problem or entry.id
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at)) if entry.at else ""
    live = ' class="live"' if entry.stop == "running" else ""
    return (
        f'<tr><td class="pick"><input type="checkbox" name="pick" value="{esc(entry.id)}" '
        f'aria-label="Pick {esc(question[:60])}"></td>'
        f'<td class="question"><a href="/runs/{esc(entry.id)}">{esc(question)}</a>'
        f'<span class="said">{esc(" ".join(entry.answer.split()))}</span></td>'
        f'<td class="stop"><span class="badge {level}"><span{live}></span>{esc(stop)}</span></td>'
        f'<td class="model quiet">{esc(entry.model)}</td><td class="num" data-unit="steps">{entry.steps}</td>'
        f'<td class="num" data-unit="tokens">{entry.tokens:,}</td>'
        f'<td class="num" data-unit="s">{entry.seconds:.1f}</td>'
        f'<td class="when quiet">{when}</td></tr>'
    )
