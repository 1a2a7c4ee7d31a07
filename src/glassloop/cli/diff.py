"""`glassloop diff`: where two runs part, and why."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("diff")
@click.argument("a")
@click.argument("b", default="last")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option("--runs", "directory", type=click.Path(file_okay=False, path_type=Path), help="Where the runs are.")
def command(a: str, b: str, as_json: bool, directory: Path | None) -> int:
    """Show where the runs A and B part, and why. Exits 0 also when they do: it is an answer, not a failure."""
    from ..journal.diff import diff
    from ..journal.rebuild import load
    from ..journal.record import RUNS

    where = directory or RUNS
    found = diff(load(a, where), load(b, where))
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2, default=str))
        return 0
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not found.same and found.what:
        console.print(Text.assemble(("They part in step ", ""), (str(found.step), "bold"), f": {found.what}."))
    console.print(Text(found.why))
    for title, changes in (("conditions", found.beginning), ("there", found.changes)):
        if changes:
            console.print()
            console.print(Text(title, style="dim"))
        for change in changes:
            path, before, after = change.lines()
            console.print(Text(f"  {path}", style="bold"))
            console.print(Text(f"  {before}", style="red"))
            console.print(Text(f"  {after}", style="green"))
    console.print()
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("", found.a, found.b):
        table.add_column(title, overflow="fold")
    for key, (left, right) in (found.ends or {}).items():
        style = "" if left == right else "bold"
        table.add_row(Text(key, style="dim"), Text(_shown(left), style=style), Text(_shown(right), style=style))
    console.print(table)
    return 0


def _shown(value: object) -> str:
    return (
        f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else "" if value is None else str(value)
    )
