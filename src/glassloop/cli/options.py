"""Options that several commands share, and the agent they describe."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..agent import Agent

F = TypeVar("F", bound=Callable[..., Any])


def agent_options(command: F) -> F:
    """Add the options that describe an agent: model, tools, protocol, limits, approval."""
    options = [
        click.option("--model", "-m", help="For example ollama:qwen3:4b, openai:NAME, a GGUF path; else what is found."),
        click.option("--tools", "-t", multiple=True, help="A Python file or module with tools; may be repeated."),
        click.option("--system", "-s", default="", help="Instructions of your own."),
        click.option(
            "--protocol",
            type=click.Choice(["auto", "constrained", "native", "text"]),
            default="auto",
            show_default=True,
            help="How steps are asked for and read.",
        ),
        click.option("--max-steps", type=click.IntRange(0), default=8, show_default=True, help="0 means no limit."),
        click.option("--seconds", type=click.FloatRange(0), default=0.0, help="Wall time for the whole run; 0: none."),
        click.option("--temperature", type=click.FloatRange(0, 2), default=0.1, show_default=True),
        click.option("--seed", type=int, help="Sampling seed handed to the server."),
        click.option("--yes", is_flag=True, help="Allow writes without asking (never destructive tools)."),
        click.option("--allow", multiple=True, help="A destructive tool that may run, after a yes."),
        click.option("--no-check", is_flag=True, help="Give answers without checking them against the observations."),
        click.option("--no-journal", is_flag=True, help="Do not record the run."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def build_agent(options: dict[str, Any], **more: Any) -> Agent:
    """Make the agent that the shared options describe."""
    from ..agent import Agent
    from ..limits import Limits
    from ..tools.declare import load_tools
    from ..tools.permission import AlwaysYes

    specs = options["tools"] or tuple(filter(None, [os.environ.get("GLASSLOOP_TOOLS")]))
    tools = [tool for spec in specs for tool in load_tools(spec)]
    return Agent(
        options["model"],
        tools or _default_tools(),
        system=options["system"],
        protocol=options["protocol"],
        limits=Limits(steps=options["max_steps"], seconds=options["seconds"]),
        temperature=options["temperature"],
        seed=options["seed"],
        approver=AlwaysYes() if options["yes"] else None,
        allow=options["allow"],
        verifier=not options["no_check"],
        journal=not options["no_journal"],
        **more,
    )


def _default_tools() -> list[Any]:
    """Without `--tools`: the time, a calculator and the weather."""
    from ..toolbox import DEFAULT_TOOLS

    return list(DEFAULT_TOOLS)
