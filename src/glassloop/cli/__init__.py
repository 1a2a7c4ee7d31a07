"""The command line: one module a command, loaded when it is called.

Every command exits 0 only on success, prints an error as one plain sentence that
says what to do, and has `--json`.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

COMMANDS = {
    "ask": "one question, the loop shown live",
    "chat": "a conversation that is remembered",
    "search": "passages of the knowledge base that answer a query",
    "index": "documents into the knowledge base",
    "runs": "recorded runs, newest first",
    "show": "one run, the whole loop in time order",
    "resume": "go on with a run that was stopped",
    "approve": "decide on the call that a paused run waits for",
    "replay": "a run again with today's code, or a fork from a step",
    "diff": "where two runs part, and why",
    "view": "the runs in a browser, live",
    "eval": "golden cases, metrics, a gate",
    "habits": "what the model gets wrong, and the line that would help",
    "lint": "tool declarations read as a model reads them",
    "rag": "how good retrieval is, on your own questions",
    "model": "known models: list, fetch, probe",
    "doctor": "what is here, what works, what to do",
}
"""Every command and what it is for; its module has the same name."""


class LazyGroup(click.Group):
    """Imports a command's module only when that command runs, so that `--help` stays instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands in the order of the table above."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command, by its module of the same name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{cmd_name.replace('-', '_')}", __name__)
        return module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help from the table, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Suggest the nearest command when there is none of that name."""
        name = args[0] if args else ""
        if name and name not in COMMANDS:
            import difflib

            near = difflib.get_close_matches(name, COMMANDS, n=1)
            ctx.fail(f"There is no command {name!r}: {f'did you mean {near[0]}?' if near else 'see glassloop --help.'}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="glassloop")
def cli() -> None:
    """A ReAct agent you can see through: thought, action, observation, answer."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    from ..errors import GlassloopError

    try:
        code = cli.main(arguments, prog_name="glassloop", standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = 130
    except GlassloopError as error:
        click.echo(f"glassloop: {error}", err=True)
        code = 1
    except BrokenPipeError:
        sys.stderr.close()
        code = 141
    sys.exit(code if isinstance(code, int) else 0)
