"""`glassloop approve`: decide on the call that a paused run waits for, and go on with the run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import opened_sources, source_options

if TYPE_CHECKING:
    from ..events import ApprovalAsked
    from ..tools.decision import Decision


class OneCall:
    """Decides on exactly one call, by its id and the hash of its arguments; every other one goes on waiting.

    Args:
        asked: The call as it was recorded.
        allowed: The decision.
    """

    def __init__(self, asked: ApprovalAsked, *, allowed: bool) -> None:
        self.asked = asked
        self.allowed = allowed
        self.changed = False

    def __call__(self, asked: ApprovalAsked) -> Decision:
        """Give the decision to the call it belongs to."""
        from ..tools.decision import Decision

        if asked.call.id != self.asked.call.id:
            return Decision(None, "glassloop approve", "It waits for an approval of its own.")
        if asked.hash != self.asked.hash:
            self.changed = True
            return Decision(None, "glassloop approve", "Its arguments are not those that were shown.")
        return Decision(self.allowed, "glassloop approve", "" if self.allowed else "The user said no.")


@click.command("approve")
@click.argument("run", default="last")
@click.option("--call", "call_id", help="The id of the call; else the one the run waits for.")
@click.option("--deny", is_flag=True, help="Say no; the model is told, and the run goes on.")
@click.option("--model", "-m", help="Another model; else the recorded one.")
@click.option("--tools", "-t", multiple=True, help="The run's tools: a Python file or module; may be repeated.")
@source_options
@click.option("--json", "as_json", is_flag=True, help="Print the run as JSON.")
@click.option("--runs", "directory", type=click.Path(file_okay=False, path_type=Path), help="Where the runs are.")
def command(
    run: str,
    call_id: str | None,
    deny: bool,
    model: str | None,
    tools: tuple[str, ...],
    mcp: tuple[str, ...],
    knowledge: str | None,
    as_json: bool,
    directory: Path | None,
) -> int:
    """Allow (or --deny) the call that RUN waits for, exactly as it was shown, and go on with the run.

    On a terminal the call is shown and asked about first. A later call that needs a yes stops the run again.
    """
    from ..errors import JournalError
    from ..journal.fork import masked_calls
    from ..journal.record import RUNS, find_run
    from ..tools.permission import question_text
    from .resume import agent_for, follow

    path = find_run(run, directory or RUNS)
    waiting = _waiting(path, call_id)
    if masked := masked_calls(path):
        raise JournalError(
            f"The call of {masked[0]} has values that were masked in the journal, so it cannot be run as it was meant: "
            "ask the question again."
        )
    if not as_json:
        click.echo(question_text(waiting))
    if not deny and not call_id and not as_json and sys.stdin.isatty() and not click.confirm("Allow this?"):
        click.echo("nothing was decided; say no for good with --deny")
        return 1
    approver = OneCall(waiting, allowed=not deny)
    with opened_sources(mcp, knowledge) as (extra, base):
        agent = agent_for(path, model=model, specs=tools, yes=False, extra=extra, knowledge=base)
        agent.permission.approver = approver
        if waiting.risk == "destructive" and not deny:
            agent.permission.allow |= {waiting.call.name}
        code = asyncio.run(follow(agent.resume_stream(path.stem, live=not as_json), as_json=as_json))
    if approver.changed:
        raise JournalError(
            f"The arguments of {waiting.call.name} came out differently than when they were shown, so it did not run: "
            "look at it with glassloop show and decide again."
        )
    return code


def _waiting(path: Path, call_id: str | None) -> Any:
    """The call that the run waits for.

    Raises:
        JournalError: The run waits for nothing, or not for that call.
    """
    from ..errors import JournalError
    from ..journal.rebuild import fold, load

    state = fold(load(path))
    asked = [state.asked[call.id] for call in state.pending if call.id in state.asked]
    open_calls = [a for a in asked if a.call.id not in state.approvals]
    if not open_calls:
        how = f"it has ended ({state.ended.stop})" if state.ended else "no call of it waits for a yes"
        raise JournalError(f"The run {path.stem} needs no approval, {how}: see it with glassloop show {path.stem}.")
    if call_id is None or call_id == open_calls[0].call.id:
        return open_calls[0]
    names = ", ".join(f"{a.call.id} ({a.call.name})" for a in open_calls)
    raise JournalError(f"The run does not wait for a call {call_id!r}: it waits for {names}.")
