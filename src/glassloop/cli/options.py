"""Options that several commands share, and the agent they describe."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..agent import Agent

F = TypeVar("F", bound=Callable[..., Any])

DEFAULTS: dict[str, Any] = {
    "model": None,
    "tools": (),
    "mcp": (),
    "knowledge": None,
    "knowledge_first": False,
    "system": "",
    "protocol": "auto",
    "strategy": "react",
    "max_steps": 8,
    "seconds": 0.0,
    "max_cost": 0.0,
    "prices": None,
    "temperature": 0.1,
    "final_temperature": None,
    "seed": None,
    "yes": False,
    "approver": "ask",
    "allow": (),
    "allow_pattern": (),
    "no_check": False,
    "no_journal": False,
}
"""What each option is when a command does not have it."""


def agent_options(command: F) -> F:
    """Add the options that describe an agent: model, tools, knowledge, protocol, limits, approval."""
    options = [
        click.option("--model", "-m", help="ollama:qwen3:4b, openai:NAME, a GGUF path; else what is found."),
        click.option("--tools", "-t", multiple=True, help="A Python file or module with tools; may be repeated."),
        click.option("--knowledge-first", is_flag=True, help="Put passages before the question as well."),
        click.option("--system", "-s", default="", help="Instructions of your own."),
        click.option(
            "--protocol",
            type=click.Choice(["auto", "constrained", "native", "text"]),
            default="auto",
            show_default=True,
            help="How steps are asked for and read.",
        ),
        click.option(
            "--strategy",
            type=click.Choice(["react", "plan", "direct"]),
            default="react",
            show_default=True,
            help="Act step by step, plan first, or answer without tools.",
        ),
        click.option("--max-steps", type=click.IntRange(0), default=8, show_default=True, help="0 means no limit."),
        click.option("--seconds", type=click.FloatRange(0), default=0.0, help="Wall time for the whole run; 0: none."),
        click.option("--max-cost", type=click.FloatRange(0), default=0.0, help="Money for the whole run; 0: no limit."),
        click.option("--prices", help="A price table of your own (JSON), or auto for genai-prices."),
        click.option("--temperature", type=click.FloatRange(0, 2), default=0.1, show_default=True),
        click.option("--final-temperature", type=click.FloatRange(0, 2), help="Word the answer once more at this."),
        click.option("--seed", type=int, help="Sampling seed handed to the server."),
        click.option("--yes", is_flag=True, help="Allow writes without asking (never destructive tools)."),
        click.option(
            "--approver",
            type=click.Choice(["ask", "pause", "no"]),
            default="ask",
            show_default=True,
            help="Who decides on writes: ask here, stop until glassloop approve, or refuse.",
        ),
        click.option("--allow", multiple=True, help="A destructive tool that may run, after a yes."),
        click.option(
            "--allow-pattern", multiple=True, help="Writes that need no asking: 'send_message(to=*@example.com)'."
        ),
        click.option("--no-check", is_flag=True, help="Give answers without checking them against the observations."),
        click.option("--no-journal", is_flag=True, help="Do not record the run."),
    ]
    for option in reversed(options[2:]):
        command = option(command)
    command = source_options(command)
    for option in reversed(options[:2]):
        command = option(command)
    return command


def source_options(command: F) -> F:
    """Add the options that open something beside the agent: MCP servers and a knowledge base."""
    command = click.option("--knowledge", "-k", help="A knowledge base, or files to search: adds search_knowledge.")(
        command
    )
    return click.option("--mcp", multiple=True, help="An MCP server: its command line, or its URL; may be repeated.")(
        command
    )


@contextmanager
def opened_sources(mcp: Sequence[str], knowledge: str | None) -> Generator[tuple[list[Any], Any], None, None]:
    """Give the tools of MCP servers and the knowledge base, open while they are used."""
    with ExitStack() as open_things:
        tools: list[Any] = []
        for target in mcp:
            from ..tools.mcp import McpServer

            tools += open_things.enter_context(McpServer(target)).tools
        base = None
        if knowledge:
            from .bases import base_at

            base = open_things.enter_context(base_at(knowledge))
        yield tools, base


@contextmanager
def opened_agent(options: dict[str, Any], extra: Sequence[Any] = (), **more: Any) -> Generator[Agent, None, None]:
    """Give the agent that the options describe, with its MCP servers and knowledge open while it is used."""
    given = {**DEFAULTS, **options}
    with opened_sources(given["mcp"], given["knowledge"]) as (tools, base):
        if base is not None:
            more |= {"knowledge": base, "knowledge_first": given["knowledge_first"]}
        yield build_agent(given, extra=[*extra, *tools], **more)


def build_agent(options: dict[str, Any], *, extra: Sequence[Any] = (), **more: Any) -> Agent:
    """Make the agent that the shared options describe; `extra` tools join those that were named."""
    from ..agent import Agent
    from ..errors import ConfigurationError
    from ..limits import Limits
    from ..tools.declare import load_tools

    given = {**DEFAULTS, **options}
    specs = given["tools"] or tuple(filter(None, [os.environ.get("GLASSLOOP_TOOLS")]))
    tools = [tool for spec in specs for tool in load_tools(spec)]
    if given["knowledge_first"] and not given["knowledge"]:
        raise ConfigurationError("--knowledge-first needs documents: name them with --knowledge PATH.")
    agent = Agent(
        given["model"],
        [*(tools or ([] if extra or given["knowledge"] else _default_tools())), *extra],
        system=given["system"],
        protocol=given["protocol"],
        strategy=given["strategy"],
        limits=Limits(steps=given["max_steps"], seconds=given["seconds"], cost=given["max_cost"]),
        temperature=given["temperature"],
        final_temperature=given["final_temperature"],
        seed=given["seed"],
        approver=approver_from(given),
        allow=given["allow"],
        verifier=not given["no_check"],
        journal=not given["no_journal"],
        **more,
    )
    if given["prices"] or given["max_cost"]:
        from ..prices import price_for

        agent.price = price_for(agent.model.name, given["prices"] or "auto")
    return agent


def approver_from(options: dict[str, Any]) -> Any:
    """Return who decides on writes; None leaves it to the terminal, or to a no where there is none."""
    from ..tools.permission import AlwaysNo, AlwaysYes, PatternPolicy, Pause, default_approver

    last: Any = None
    if options["yes"]:
        last = AlwaysYes()
    elif options["approver"] == "pause":
        last = Pause()
    elif options["approver"] == "no":
        last = AlwaysNo("Writes are refused (--approver no).")
    if options["allow_pattern"]:
        return PatternPolicy(options["allow_pattern"], then=last or default_approver())
    return last


def _default_tools() -> list[Any]:
    """Without `--tools`: the time, a calculator and the weather."""
    from ..toolbox import DEFAULT_TOOLS

    return list(DEFAULT_TOOLS)
