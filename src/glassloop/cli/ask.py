"""`glassloop ask`: one question, answered with the loop shown live."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import click

from .options import agent_options, opened_agent


@click.command("ask")
@click.argument("question", required=False)
@agent_options
@click.option("--json", "as_json", is_flag=True, help="Print the finished run as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the answer.")
def command(question: str | None, as_json: bool, quiet: bool, **options: Any) -> int:
    """Answer QUESTION (or standard input) and show the loop while it happens."""
    if question is None:
        if sys.stdin.isatty():
            raise click.UsageError("There is no question: write it after the command, or pipe it in.")
        question = sys.stdin.read()
    asked = question or ""
    with opened_agent(options) as agent:
        return asyncio.run(_ask(agent, asked, as_json=as_json, quiet=quiet))


async def _ask(agent: Any, question: str, *, as_json: bool, quiet: bool) -> int:
    from rich.console import Console

    from .trace import Trace, closing_line, source_line

    console = Console(highlight=False, soft_wrap=True, stderr=as_json or quiet)
    trace = Trace(console) if not (as_json or quiet) else None
    stream = agent.stream(question, live=trace is not None)
    try:
        async for event in stream:
            if trace is not None:
                trace.show(event)
    except asyncio.CancelledError:
        click.echo(f"\nglassloop: stopped; the run is saved, go on with: glassloop resume {stream.run.id}", err=True)
        return 130
    run = stream.run
    if as_json:
        click.echo(json.dumps(run.to_dict(), ensure_ascii=False, indent=2, default=str))
    elif quiet:
        click.echo(run.answer)
    else:
        for source in run.sources:
            console.print(source_line(source), style="dim")
        console.print()
        console.print(closing_line(run), style="dim")
    if run.stop == "approval_needed":
        click.echo(f"glassloop: decide with: glassloop approve {run.id}   (or --deny)", err=True)
    if run.stop == "model_failed" and (as_json or quiet):
        click.echo(f"glassloop: {run.detail}", err=True)
    return 0 if run.stop == "answered" else 1
