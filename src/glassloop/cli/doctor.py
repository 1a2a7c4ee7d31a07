"""`glassloop doctor`: what is here, what was chosen and why, what to do when nothing is."""

from __future__ import annotations

import json

import click

_MARK = {True: ("✓", "green"), False: ("·", "dim")}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(as_json: bool) -> int:
    """Look at models, servers and extras; say what works and what to do."""
    from ..models.discover import survey

    report = survey()
    if as_json:
        click.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
        return 0 if report.chosen else 1
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for finding in report.findings:
        mark, style = _MARK[finding.found]
        console.print(Text.assemble((f"{mark} ", style), (f"{finding.what}: ", "bold"), finding.detail))
        if finding.advice:
            console.print(Text.assemble("    ", (finding.advice, "dim")))
    console.print()
    console.print(f"chosen: {report.chosen or 'nothing'} ({report.why})")
    return 0 if report.chosen else 1
