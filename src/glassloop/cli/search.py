"""`glassloop search`: passages of a knowledge base that answer a query."""

from __future__ import annotations

import json

import click


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--base", "-b", "--store", help="The base: a folder or an address; else .glassloop/knowledge.")
@click.option("-k", "count", type=click.IntRange(1, 100), default=5, show_default=True, help="At most so many hits.")
@click.option("--mode", type=click.Choice(["hybrid", "dense", "keywords"]), default="hybrid", show_default=True)
@click.option("--source", multiple=True, help="Only in this document; may be repeated.")
@click.option("--min-score", type=click.FloatRange(0, 1), help="A passage below it is no hit.")
@click.option("--json", "as_json", is_flag=True, help="Print the hits as JSON.")
def command(
    query: tuple[str, ...],
    base: str | None,
    count: int,
    mode: str,
    source: tuple[str, ...],
    min_score: float | None,
    as_json: bool,
) -> int:
    """Find the passages that answer QUERY, best first, each with its place and score."""
    from .bases import existing_base

    with existing_base(base) as opened:
        where = {"source": list(source)} if source else None
        hits = opened.search(" ".join(query), count, where=where, min_score=min_score, mode=mode)  # type: ignore[arg-type]
    if as_json:
        click.echo(json.dumps([{"place": hit.place, **hit.to_dict()} for hit in hits], ensure_ascii=False, indent=2))
        return 0 if hits else 1
    if not hits:
        click.echo(
            "glassloop: nothing found: try other words, or glassloop index --status says what is there.", err=True
        )
        return 1
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for number, hit in enumerate(hits, 1):
        if number > 1:
            console.print()
        console.print(Text.assemble((f"[{number}] ", "bold"), (hit.place, "cyan"), (f"  {hit.score:.2f}", "dim")))
        console.print(Text(hit.text.strip()))
    return 0
