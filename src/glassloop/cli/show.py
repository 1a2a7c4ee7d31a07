"""`glassloop show`: a recorded run, the whole loop in time order."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("show")
@click.argument("run", default="last")
@click.option("--step", "-s", type=click.IntRange(1), help="Only this step.")
@click.option("--raw", is_flag=True, help="Everything whole: prompts, raw replies, results before cleaning.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON; with --raw the events as recorded.")
@click.option("--export", type=click.Choice(["html"]), help="Write one self-contained file.")
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Where to export to; - prints it."
)
@click.option("--runs", "directory", type=click.Path(file_okay=False, path_type=Path), help="Where the runs are.")
def command(
    run: str,
    step: int | None,
    raw: bool,
    as_json: bool,
    export: str | None,
    output: Path | None,
    directory: Path | None,
) -> int:
    """Show RUN (an id, a unique part of one, a journal, or `last`): what was sent, said, mended, run and observed."""
    from ..errors import JournalError
    from ..journal.rebuild import load
    from ..journal.record import RUNS, find_run
    from ..journal.timeline import Timeline

    path = find_run(run, directory or RUNS)
    events = load(path)
    if as_json and raw:
        shown = [e for e in events if step is None or e.step == step]
        click.echo(json.dumps([e.to_dict() for e in shown], ensure_ascii=False, indent=2, default=str))
        return 0
    timeline = Timeline(events)
    if step is not None:
        kept = [s for s in timeline.steps if s.number == step]
        if not kept:
            raise JournalError(f"The run has no step {step}: it has {len(timeline.steps)}.")
        timeline.steps = kept
    if export:
        return _export(timeline, path, output)
    if as_json:
        click.echo(json.dumps(_as_data(timeline, step), ensure_ascii=False, indent=2, default=str))
        return 0
    from rich.console import Console

    from .rows import RowPrinter

    printer = RowPrinter(Console(highlight=False), raw=raw)
    if step is not None:
        printer.step(timeline.steps[0])
    else:
        printer.run(timeline)
    return 0


def _export(timeline: object, path: Path, output: Path | None) -> int:
    from ..journal.html import export

    page = export(timeline)  # type: ignore[arg-type]
    if output is not None and str(output) == "-":
        click.echo(page)
        return 0
    target = output or Path(f"{path.stem}.html")
    target.write_text(page, encoding="utf-8", errors="replace")
    click.echo(f"written to {target}")
    return 0


def _as_data(timeline: object, step: int | None) -> dict[str, object]:
    from ..journal.timeline import Timeline

    assert isinstance(timeline, Timeline)
    rows = timeline.rows if step is None else timeline.steps[0].rows
    start, end = timeline.start, timeline.end
    return {
        "run": start.run_id if start else "",
        "question": start.question if start else "",
        "stop": end.stop if end else None,
        "answer": end.answer if end else None,
        "usage": timeline.usage.to_dict(),
        "seconds": end.seconds if end else timeline.seconds,
        "cost": end.cost if end else None,
        "rows": [row.to_dict() for row in rows],
    }
