"""`glassloop replay`: a recorded run again with today's code, or, with `--from`, a fork that goes on live."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import click


@click.command("replay")
@click.argument("run", required=False)
@click.option("--all", "every", is_flag=True, help="Replay every recorded run.")
@click.option("--from", "step", type=click.IntRange(1), help="Fork: live from this step on, as a new run.")
@click.option("--model", "-m", help="Fork: another model; else the recorded one.")
@click.option(
    "--edit", multiple=True, help="Fork: WHERE=TEXT, where WHERE is question, system, reply, observation:STEP."
)
@click.option("--tools", "-t", multiple=True, help="Today's tools: a Python file or module; a fork needs them to run.")
@click.option("--yes", is_flag=True, help="Fork: allow writes without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.option("--runs", "directory", type=click.Path(file_okay=False, path_type=Path), help="Where the runs are.")
def command(run: str | None, every: bool, step: int | None, as_json: bool, directory: Path | None, **fork: Any) -> int:
    """Run RUN again with the replies and results of its journal: no model, no tools, no network.

    Stops at the first difference and exits 1. A RUN may be a directory: all runs in it.
    """
    from ..journal.record import RUNS

    where = directory or RUNS
    if run is not None and Path(run).is_dir():
        where, every = Path(run), True
    if every and step is not None:
        raise click.UsageError("--all replays, --from forks: give one of them.")
    if not every and run is None:
        raise click.UsageError("Which run? Give its id, `last`, or --all.")
    if step is None and (fork["model"] or fork["edit"] or fork["yes"]):
        raise click.UsageError("--model, --edit and --yes are for a fork: say from which step with --from N.")
    if every:
        return _every(where, as_json, fork["tools"])
    assert run is not None
    if step is not None:
        return asyncio.run(_fork(run, step, where, as_json, fork))
    return _one(run, where, as_json, fork["tools"])


def _load(specs: tuple[str, ...]) -> list[Any] | None:
    from ..tools.load import load_tools

    return [tool for spec in specs for tool in load_tools(spec)] if specs else None


def _one(run: str, where: Path, as_json: bool, specs: tuple[str, ...]) -> int:
    from ..journal.replay import replay

    found = replay(run, tools=_load(specs), directory=where)
    if as_json:
        click.echo(json.dumps({"ok": found.ok, **found.to_dict()}, ensure_ascii=False, indent=2, default=str))
        return 0 if found.ok else 1
    if found.ok:
        note = f", interrupted {found.resumed} times" if found.resumed else ""
        click.echo(f"the same: {found.events} events in {found.seconds * 1000:.0f} ms{note}")
        return 0
    _difference(found)
    return 1


def _difference(found: Any) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text(f"{found.run_id}: {found.matched} of {found.events} events came again, then:", style="dim"))
    for line in found.difference.text().split("\n"):
        mark = line.strip()[:2]
        console.print(Text(line, style={"- ": "red", "+ ": "green"}.get(mark, "")))


def _every(where: Path, as_json: bool, specs: tuple[str, ...]) -> int:
    from ..errors import JournalError
    from ..journal.replay import replay
    from .progress import Steps

    tools = _load(specs)
    files = sorted(where.glob("*.jsonl"))
    if not files:
        raise JournalError(f"There are no runs in {where}: record one with glassloop ask.")
    out: list[dict[str, Any]] = []
    found: list[Any] = []
    with Steps("replaying") as say:
        for number, path in enumerate(files, 1):
            say("replaying", number, len(files))
            try:
                one = replay(path, tools=tools)
            except JournalError as error:
                out.append({"run": path.stem, "ok": False, "problem": str(error)})
                continue
            found.append(one)
            out.append({"run": path.stem, "ok": one.ok, **one.to_dict()})
    good = sum(o["ok"] for o in out)
    if as_json:
        click.echo(json.dumps(out, ensure_ascii=False, indent=2, default=str))
    else:
        for one in found:
            if not one.ok:
                _difference(one)
        for problem in (o for o in out if "problem" in o):
            click.echo(f"{problem['run']}: {problem['problem']}", err=True)
        click.echo(f"{good} of {len(out)} runs came out the same")
    return 0 if good == len(out) else 1


async def _fork(run: str, step: int, where: Path, as_json: bool, options: dict[str, Any]) -> int:
    from ..journal.fork import fork
    from ..journal.record import find_run
    from .resume import agent_for, follow

    path = find_run(run, where)
    agent = agent_for(path, model=options["model"], specs=options["tools"], yes=options["yes"])
    stream = fork(path, step, agent, edits=options["edit"], live=not as_json)
    return await follow(stream, as_json=as_json)
