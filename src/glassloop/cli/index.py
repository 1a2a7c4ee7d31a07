"""`glassloop index`: documents into a knowledge base."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("index")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--base", "-b", help="The base: a folder, postgresql://… or qdrant://…; else .glassloop/knowledge.")
@click.option("--store", help="The same as --base, for servers.")
@click.option("--ignore", "-i", multiple=True, help="Patterns of names to leave out, as in .gitignore.")
@click.option("--no-vectors", is_flag=True, help="Keywords alone for now; index again later for vectors.")
@click.option("--status", is_flag=True, help="Only say what is in the base.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    paths: tuple[Path, ...],
    base: str | None,
    store: str | None,
    ignore: tuple[str, ...],
    no_vectors: bool,
    status: bool,
    as_json: bool,
) -> int:
    """Read PATHS (files and folders): new and changed documents are taken in, deleted ones leave, the rest stays."""
    from ..errors import KnowledgeError
    from ..knowledge.base import DEFAULT_FOLDER, KnowledgeBase
    from .bases import existing_base, shown

    if status:
        with existing_base(store or base) as opened:
            state = opened.status()
        click.echo(json.dumps(state.to_dict(), indent=2) if as_json else "\n".join(state.lines()))
        return 0
    if not paths:
        raise click.UsageError("There is nothing to index: name files or folders.")
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise KnowledgeError(f"There is no {', '.join(missing)}: check the path.")
    with KnowledgeBase.open(store or base or DEFAULT_FOLDER) as opened, shown("reading") as progress:
        report = opened.index(paths, ignore=ignore, embed=not no_vectors, progress=progress)
    if as_json:
        click.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        for line in report.lines():
            click.echo(line)
    read = report.added or report.updated or report.unchanged or report.removed
    return 0 if read or not report.failed else 1
