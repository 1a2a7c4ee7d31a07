"""`glassloop chat`: a conversation that is remembered, at a prompt or line by line through a pipe."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import agent_options, opened_agent

if TYPE_CHECKING:
    from ..chat import Session, SessionStream
    from ..memory.sessions import SessionStore
    from ..types import Run

HELP = """/help      this list
/list      all sessions            /show      this session so far
/continue  go on with a turn that was interrupted
/export F  write this session to the file F (.md to read, else JSON)
/delete    forget this session     /exit      leave (also Ctrl-D)"""


@click.command("chat")
@click.option("--session", "name", default="default", show_default=True, help="The conversation's name.")
@agent_options
@click.option("--notes", is_flag=True, help="Give the tools remember and recall: notes about you, kept for later.")
@click.option("--list", "list_all", is_flag=True, help="List the sessions.")
@click.option("--show", is_flag=True, help="Show the session so far.")
@click.option("--delete", is_flag=True, help="Forget the session.")
@click.option("--export", type=click.Choice(["json", "md"]), help="Print the whole session.")
@click.option("--store", type=click.Path(dir_okay=False, path_type=Path), help="The file of the sessions.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line for each answer; questions come line by line.")
def command(
    name: str,
    notes: bool,
    list_all: bool,
    show: bool,
    delete: bool,
    export: str | None,
    store: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Talk with an agent that knows the turns before; the session goes on whenever it is named again."""
    from ..chat import STORE
    from ..journal.record import RUNS
    from ..memory.sessions import SessionStore

    kept = SessionStore(store or RUNS.parent / STORE)
    if list_all:
        return _list(kept, as_json=as_json)
    if show or delete or export:
        return _one(kept, name, show=show, delete=delete, export=export, as_json=as_json)
    with opened_agent(options, extra=_notes(kept) if notes else ()) as agent:
        session = agent.session(name, kept)
        return _Talk(session, as_json=as_json).go()


def _notes(store: SessionStore) -> list[Any]:
    from ..memory.notes import notes_tools
    from ..tools.declare import tool

    remember, recall = notes_tools(store, os.environ.get("GLASSLOOP_USER") or getpass.getuser())
    return [tool(risk="write")(remember), tool(recall)]


def _list(store: SessionStore, *, as_json: bool) -> int:
    from datetime import datetime

    sessions = store.list()
    if as_json:
        click.echo(json.dumps([{**s.to_dict(), "state": s.state} for s in sessions], ensure_ascii=False, indent=2))
        return 0
    if not sessions:
        click.echo("there are no sessions yet")
    width = max((len(s.name) for s in sessions), default=0)
    for s in sessions:
        when = datetime.fromtimestamp(s.updated).astimezone().strftime("%Y-%m-%d %H:%M")
        state = "" if s.state == "finished" else f"  ({s.state})"
        click.echo(f"{s.name:<{width}}  {s.turns:>3} turns  {when}  {' '.join(s.last_question.split())[:60]}{state}")
    return 0


def _one(store: SessionStore, name: str, *, show: bool, delete: bool, export: str | None, as_json: bool) -> int:
    from ..errors import SessionError

    if not store.show(name):
        raise SessionError(f"There is no session named {name!r}: `glassloop chat --list` shows the ones there are.")
    if export or show:
        click.echo(store.export(name, export or ("json" if as_json else "md")).rstrip("\n"))
    if delete:
        gone = store.delete(name)
        click.echo(json.dumps({"deleted": name, "turns": gone}) if as_json else f"{name} is forgotten ({gone} turns)")
    return 0


class _Talk:
    """The conversation at the prompt."""

    def __init__(self, session: Session, *, as_json: bool) -> None:
        from rich.console import Console

        self.session = session
        self.as_json = as_json
        self.human = not as_json and sys.stdin.isatty()
        self.console = Console(highlight=False, soft_wrap=True, stderr=as_json)
        self.code = 0

    def go(self) -> int:
        """Take lines until there are no more."""
        if not self.as_json:
            self._greet()
        for line in self._lines():
            if line.startswith("/") and not self.as_json:
                if line.split()[0] in ("/exit", "/quit"):
                    break
                self._command(line)
            else:
                self._ask(line)
        return self.code

    def _lines(self) -> Iterator[str]:
        if self.human:
            # Importing it is all it takes to give the prompt line editing and history; Windows has none.
            with contextlib.suppress(ImportError):
                importlib.import_module("readline")
        while True:
            try:
                line = input("> ") if self.human else sys.stdin.readline()
            except EOFError:
                self.console.print()
                return
            except KeyboardInterrupt:
                self.console.print("\n/exit leaves", style="dim")
                continue
            if not line and not self.human:
                return
            if line.strip():
                yield line.strip()

    def _greet(self) -> None:
        turns = len(self.session.turns)
        known = f", {turns} turns so far" if turns else ""
        if self.human:
            model = self.session.agent.model.name
            self.console.print(f"{self.session.name}{known} · {model} · /help", style="dim", markup=False)
        cut = self.session.interrupted
        if cut is not None:
            asked = " ".join(cut.question.split())[:80]
            self.console.print(
                f"the last turn was interrupted: “{asked}”; /continue goes on with it", style="yellow", markup=False
            )

    def _ask(self, line: str) -> None:
        question = line
        if self.as_json and line.startswith("{"):
            try:
                question = str(json.loads(line)["question"])
            except (ValueError, KeyError, TypeError):
                self._fail('The line is not a question: write text, or {"question": "…"}.')
                return
        self._follow(lambda: self.session.stream(question, live=not self.as_json))

    def _follow(self, begin: Any) -> None:
        from ..errors import GlassloopError

        try:
            stream = begin()
            run = asyncio.run(self._shown(stream))
        except KeyboardInterrupt:
            self.console.print("\nstopped; /continue goes on with it", style="dim")
            return
        except GlassloopError as error:
            self._fail(str(error))
            return
        if self.as_json:
            click.echo(json.dumps(self._as_data(run, stream.turn), ensure_ascii=False, default=str))
        self.code = 0 if run.stop == "answered" else 1

    def _fail(self, message: str) -> None:
        self.code = 1
        click.echo(
            json.dumps({"error": message}, ensure_ascii=False) if self.as_json else f"glassloop: {message}",
            err=not self.as_json,
        )

    async def _shown(self, stream: SessionStream) -> Run:
        from .trace import Trace, closing_line, source_line

        trace = Trace(self.console)
        async for event in stream:
            if not self.as_json:
                trace.show(event)
        run = stream.run
        if not self.as_json:
            for source in run.sources:
                self.console.print(source_line(source), style="dim", markup=False)
            self.console.print(closing_line(run), style="dim", markup=False)
            if run.stop == "approval_needed":
                self.console.print(
                    f"decide with: glassloop approve {run.id}   then /continue", style="yellow", markup=False
                )
            self.console.print()
        return run

    def _as_data(self, run: Run, turn: int) -> dict[str, Any]:
        return {
            "session": self.session.name,
            "turn": turn,
            "question": run.question,
            "answer": run.answer,
            "stop": run.stop,
            "checked": run.answer_checked,
            "run": run.id,
            "usage": run.usage.to_dict(),
            "sources": list(run.sources),
            **({"detail": run.detail} if run.detail else {}),
        }

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if name == "/help":
            click.echo(HELP)
        elif name == "/list":
            _list(self.session.store, as_json=False)
        elif name == "/show":
            click.echo(self.session.export("md").rstrip("\n") if self.session.turns else "nothing has been said yet")
        elif name == "/continue":
            self._follow(lambda: self.session.resume_stream())
        elif name == "/delete":
            click.echo(f"forgotten ({self.session.delete()} turns)")
        elif name == "/export":
            self._export(rest.strip())
        else:
            click.echo(f"glassloop: there is no {name}: /help lists what there is.", err=True)

    def _export(self, file: str) -> None:
        from ..errors import SessionError

        try:
            text = self.session.export("md" if not file or file.endswith(".md") else "json")
            if file:
                Path(file).expanduser().write_text(text, encoding="utf-8")
        except (SessionError, OSError) as error:
            click.echo(f"glassloop: {error}", err=True)
            return
        click.echo(f"written to {file}" if file else text.rstrip("\n"))
