"""`glassloop runs`: the recorded runs, newest first."""

from __future__ import annotations

import datetime as dt
import json
import re
import time
from pathlib import Path
from typing import Any

import click

_AGO = re.compile(r"(\d+)([smhdw])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class When(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]: generic since click 8.4 only
    """A date, a date with a time, or a while ago: `2026-11-30`, `2026-11-30T14:00`, `3d`, `today`."""

    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return Unix time."""
        if isinstance(value, float):
            return value
        ago = _AGO.fullmatch(value)
        if ago:
            return time.time() - int(ago.group(1)) * _UNITS[ago.group(2)]
        midnight = dt.datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        if value in ("today", "yesterday"):
            return midnight.timestamp() - 86400 * (value == "yesterday")
        try:
            return dt.datetime.fromisoformat(value).astimezone().timestamp()
        except ValueError:
            self.fail(f"{value!r} is no date: write 2026-11-30, 2026-11-30T14:00, 3d, 2h or today.", param, ctx)


@click.command("runs")
@click.argument("words", nargs=-1)
@click.option("--model", "-m", default="", help="Only runs of a model whose name has this in it.")
@click.option("--tool", "-t", default="", help="Only runs that called this tool.")
@click.option("--stop", default="", help="Only runs that ended so: answered, max_steps, running, interrupted…")
@click.option("--since", type=When(), default=0.0, help="Only runs since then: 2026-11-30, 3d, today.")
@click.option("--before", type=When(), default=0.0, help="Only runs from before then.")
@click.option("--everywhere", is_flag=True, help="Look for WORDS in the whole journal, not only question and answer.")
@click.option("--limit", "-n", type=click.IntRange(0), default=20, show_default=True, help="0 means all.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.option("--runs", "directory", type=click.Path(file_okay=False, path_type=Path), help="Where the runs are.")
def command(words: tuple[str, ...], limit: int, as_json: bool, directory: Path | None, **wanted: Any) -> int:
    """List recorded runs, newest first; with WORDS only those whose question or answer has them."""
    from ..journal.listing import Filter, Listing
    from ..journal.record import RUNS
    from .progress import Steps

    with Steps("reading runs") as say:
        listing = Listing(directory or RUNS, progress=lambda done, total: say("reading runs", done, total))
        entries = listing.entries(Filter(text=" ".join(words), **wanted), limit)
    if as_json:
        click.echo(json.dumps([e.to_dict() for e in entries], ensure_ascii=False, indent=2))
        return 0
    if not entries:
        any_at_all = listing.count()
        hint = f"none of the {any_at_all} runs fits" if any_at_all else "nothing has been recorded here yet"
        click.echo(f"glassloop: {hint} (in {directory or RUNS}).", err=True)
        return 0
    _table(entries)
    return 0


def _table(entries: list[Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    room = console.width if console.is_terminal else 10_000
    rows = [[e.id, *_columns(e)] for e in entries]
    titles = ["run", "stop", "model", "steps", "tokens", "seconds", "cost"]
    used = [i for i, title in enumerate(titles) if any(row[i] for row in rows) and (title != "model" or room >= 100)]
    widths = {i: max(len(titles[i]), *(len(row[i]) for row in rows)) for i in used}
    rest = max(20, room - sum(widths.values()) - 2 * len(used))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for i in used:
        table.add_column(titles[i], justify="right" if i >= 3 else "left", no_wrap=True, min_width=widths[i])
    table.add_column("question", no_wrap=True)
    for entry, row in zip(entries, rows, strict=True):
        cells: list[Any] = [Text(row[i], style=_style(titles[i], entry)) for i in used]
        said = Text(" ".join((entry.problem or entry.question).split()))
        said.truncate(rest, overflow="ellipsis")
        table.add_row(*cells, said)
    console.width = room
    console.print(table)


def _columns(entry: Any) -> list[str]:
    from ..journal.timeline import money

    stop = "unreadable" if entry.problem else entry.stop
    if entry.stop == "answered" and not entry.checked:
        stop = "not supported"
    cost = "" if entry.cost is None else money(entry.cost)
    return [stop, entry.model[:24], str(entry.steps), f"{entry.tokens:,}", f"{entry.seconds:.1f}", cost]


def _style(title: str, entry: Any) -> str:
    if title != "stop":
        return "dim" if title in ("run", "model") else ""
    good = entry.stop == "answered" and entry.checked
    return "green" if good else "cyan" if entry.stop == "running" else "yellow"
