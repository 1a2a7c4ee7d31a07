"""`glassloop resume`: go on with a run that was killed, stopped, or waits."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .options import opened_sources, source_options

SEARCH = "search_knowledge"


@click.command("resume")
@click.argument("run", default="last")
@click.option("--model", "-m", help="Another model; else the recorded one.")
@click.option("--tools", "-t", multiple=True, help="The run's tools: a Python file or module; may be repeated.")
@source_options
@click.option("--yes", is_flag=True, help="Allow writes without asking (never destructive tools).")
@click.option("--allow", multiple=True, help="A destructive tool that may run, after a yes.")
@click.option("--json", "as_json", is_flag=True, help="Print the finished run as JSON.")
@click.option("--runs", "directory", type=click.Path(file_okay=False, path_type=Path), help="Where the runs are.")
def command(run: str, as_json: bool, directory: Path | None, **options: Any) -> int:
    """Go on with RUN from where it stands. What is recorded is not asked for again, no write happens twice."""
    from ..errors import JournalError
    from ..journal.fork import masked_calls
    from ..journal.rebuild import PAUSES, fold, load
    from ..journal.record import RUNS, find_run

    path = find_run(run, directory or RUNS)
    events = load(path)
    ended = fold(events).ended
    if ended is not None and ended.stop not in PAUSES:
        raise JournalError(f"The run {path.stem} has ended ({ended.stop}): see it with glassloop show {path.stem}.")
    masked = masked_calls(path)
    if masked:
        raise JournalError(
            f"The call of {masked[0]} that comes next has values that were masked in the journal, so it cannot be run "
            "as it was meant: ask the question again."
        )
    with opened_sources(options.pop("mcp"), options.pop("knowledge")) as (extra, base):
        agent = agent_for(path, specs=options.pop("tools"), extra=extra, knowledge=base, **options)
        return asyncio.run(follow(agent.resume_stream(path.stem, live=not as_json), as_json=as_json))


def agent_for(
    path: Path,
    *,
    model: str | None,
    specs: tuple[str, ...],
    yes: bool,
    allow: tuple[str, ...] = (),
    extra: Sequence[Any] = (),
    knowledge: Any = None,
) -> Any:
    """Make the agent a recorded run was made by, with live tools and a live model.

    Args:
        path: The run's journal.
        model: Another model than the recorded one.
        specs: Files or modules with the run's tools.
        yes: Allow writes without asking.
        allow: Destructive tools that may run.
        extra: Tools that are there already, such as those of an MCP server.
        knowledge: The run's knowledge base.

    Raises:
        JournalError: A tool of the run was not given.
    """
    from ..errors import JournalError
    from ..events import RunStarted
    from ..journal.rebuild import load
    from ..journal.replay import agent_from
    from ..tools.load import load_tools
    from ..tools.permission import AlwaysYes

    events = load(path)
    start = events[0]
    assert isinstance(start, RunStarted)
    given = specs or tuple(filter(None, [os.environ.get("GLASSLOOP_TOOLS")]))
    tools = [tool for spec in given for tool in load_tools(spec)]
    if not given:
        from ..toolbox import DEFAULT_TOOLS

        tools = list(DEFAULT_TOOLS)
    wanted = [str(t["name"]) for t in start.tools if knowledge is None or t["name"] != SEARCH]
    tools += extra
    missing = [name for name in wanted if name not in {getattr(tool, "name", "") for tool in tools}]
    if missing:
        how = "--knowledge PATH" if SEARCH in missing else "--tools FILE or --mcp SERVER"
        raise JournalError(f"The run used {', '.join(missing)}: give what it comes from, {how}.")
    if not given:
        tools = [tool for tool in tools if tool.name in wanted]
    options: dict[str, Any] = {"model": model or start.model, "journal": path.parent, "knowledge": knowledge}
    if yes:
        options["approver"] = AlwaysYes()
    if allow:
        options["allow"] = allow
    return agent_from(events, tools, **options)


async def follow(stream: Any, *, as_json: bool) -> int:
    """Show a live run as it goes on, and its end."""
    from rich.console import Console

    from .trace import Trace, closing_line

    console = Console(highlight=False, soft_wrap=True, stderr=as_json)
    trace = Trace(console)
    async for event in stream:
        if not as_json:
            trace.show(event)
    run = stream.run
    if as_json:
        click.echo(json.dumps(run.to_dict(), ensure_ascii=False, indent=2, default=str))
    else:
        console.print()
        console.print(closing_line(run), style="dim")
    return 0 if run.stop == "answered" else 1
