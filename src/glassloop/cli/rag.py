"""`glassloop rag`: how good a knowledge base is at finding, on questions of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..knowledge.passage import Document


@click.group("rag", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """How good retrieval is: measured on your own documents and questions."""


@command.command("eval")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--base", "-b", "--store", help="The base to measure; else .glassloop/knowledge.")
@click.option("--documents", "-d", multiple=True, type=click.Path(path_type=Path), help="Compare recipes on these.")
@click.option("--min-hit", type=click.FloatRange(0, 1), help="A gate: exit 1 when hit@3 is below.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
def evaluate_base(
    file: Path, base: str | None, documents: tuple[Path, ...], min_hit: float | None, as_json: bool
) -> int:
    """Ask the questions of FILE (JSON Lines: question, and answer or doc with spans) and say how often they are met.

    Without --documents the base is measured as it stands. With them, chunk sizes, keywords, vectors and hybrids are
    compared in one table.
    """
    from ..errors import KnowledgeError
    from ..knowledge.evaluate import compare, evaluate, load_questions, table
    from .bases import existing_base, shown

    questions = load_questions(file)
    if documents:
        missing = [str(path) for path in documents if not path.exists()]
        if missing:
            raise KnowledgeError(f"There is no {', '.join(missing)}: check the path.")
        with shown("reading") as progress:
            scores = compare(_loaded(documents), questions, progress=progress)
    else:
        with existing_base(base) as opened:
            scores = [evaluate(opened, questions)]
    if as_json:
        click.echo(json.dumps([score.to_dict() for score in scores], ensure_ascii=False, indent=2))
    else:
        click.echo(table(scores))
        for question in scores[0].misses[:10] if len(scores) == 1 else ():
            click.echo(f"missed: {question}")
    best = max(score.hit[3] for score in scores)
    return 1 if min_hit is not None and best < min_hit else 0


def _loaded(paths: tuple[Path, ...]) -> list[Document]:
    """The documents below some paths; one that cannot be read is a line and no more."""
    from ..errors import KnowledgeError
    from ..knowledge.load import load, readable

    out: list[Document] = []
    for path in paths:
        files = sorted(f for f in path.rglob("*") if f.is_file() and readable(f)) if path.is_dir() else [path]
        for file in files:
            try:
                out.append(load(file, source=str(file.relative_to(path.parent))))
            except KnowledgeError as error:
                click.echo(f"glassloop: {file} {error}", err=True)
    if not out:
        raise KnowledgeError("No document could be read: name text, Markdown, HTML, PDF or Office files.")
    return out
