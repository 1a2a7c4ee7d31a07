"""`glassloop habits`: what a model gets wrong over all runs, and the line that would help."""

from __future__ import annotations

import json
from pathlib import Path

import click

_KIND = {"cast": ("~", "magenta"), "problem": ("✗", "red"), "fault": ("✗", "red")}


@click.command("habits")
@click.option("--model", "-m", default="", help="Only models whose name holds this.")
@click.option("--tool", "-t", default="", help="Only this tool.")
@click.option("--limit", "-n", type=click.IntRange(0), default=20, show_default=True, help="0 shows all.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--runs", "directory", type=click.Path(file_okay=False, path_type=Path), help="Where the runs are.")
def command(model: str, tool: str, limit: int, as_json: bool, directory: Path | None) -> int:
    """Add up every cast, problem and fault of all runs: which argument, how, how often, and what would help."""
    from ..journal.habits import habits
    from ..journal.record import RUNS
    from ..tools.schema import cast
    from .progress import Steps

    with Steps("reading runs") as say:
        found = habits(
            cast,
            directory or RUNS,
            model=model,
            tool=tool,
            progress=lambda done, total: say("reading runs", done, total),
        )
    if as_json:
        click.echo(json.dumps([habit.to_dict() for habit in found], ensure_ascii=False, indent=2))
        return 0
    if not found:
        click.echo("no cast, problem or fault in the recorded runs")
        return 0
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for habit in found[: limit or None]:
        mark, style = _KIND[habit.kind]
        where = ".".join(part for part in (habit.tool, habit.argument) if part) or "the reply"
        saved = f", saved {habit.saved}" if habit.kind == "cast" else ""
        often = f"{habit.times}× in {habit.runs} run{'s' if habit.runs != 1 else ''}{saved}"
        console.print(
            Text.assemble((f"{mark} ", style), (where, "bold"), f"  {habit.what}  ", (f"{often}  {habit.model}", "dim"))
        )
        if habit.before or habit.after:
            console.print(Text(f"    {habit.before} → {habit.after}", "dim"))
        if habit.line:
            console.print(Text.assemble(("    add  ", "dim"), habit.line))
    if limit and len(found) > limit:
        console.print(Text(f"and {len(found) - limit} more: --limit 0 shows all", "dim"))
    return 0
