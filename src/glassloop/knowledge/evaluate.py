"""How good a base is at finding, on questions of one's own.

Owes: `load_questions` and `evaluate`: hit@k, MRR, nDCG, whole answers, characters and milliseconds, for one recipe or
for many side by side, so that a user tunes on their own documents instead of on somebody's benchmark.

A question is one JSON object a line: `question`, and where its answer stands: `doc` (the source) with `spans`
(character ranges), or `answer` (its words), alone or with `doc`. A hit is a passage that contains the whole answer at
its place.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from ..errors import KnowledgeError
from .passage import Document, Passage
from .reports import OnProgress, Progress

if TYPE_CHECKING:
    from .base import KnowledgeBase
    from .embed import Embedder
    from .rerank import Reranker
    from .search import Mode

DEPTH = 10
SHORT = 1_500
"""Long passages win nothing by being long: what is found within so many returned characters counts by itself."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and where its answer stands."""

    question: str
    source: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    answer: str = ""

    def answered_by(self, passage: Passage) -> bool:
        """Whether a passage contains a whole answer at its place."""
        if self.source and not _same_source(passage.source, self.source):
            return False
        if self.spans:
            return any(passage.start <= start and end <= passage.end for start, end in self.spans)
        return _flat(self.answer) in _flat(passage.text)


def load_questions(path: str | Path) -> list[Question]:
    """The questions of a JSON Lines file.

    Raises:
        KnowledgeError: The file cannot be read, or a line is not as it should be.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise KnowledgeError(f"The questions {path} cannot be read ({error}); give a JSON Lines file.") from error
    questions: list[Question] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            question = Question(
                question=str(record["question"]),
                source=str(record.get("doc") or record.get("source") or ""),
                spans=tuple((int(start), int(end)) for start, end in record.get("spans") or ()),
                answer=str(record.get("answer") or ""),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise KnowledgeError(
                f'Line {number} of {path} is no question: write {{"question": "…", "answer": "…"}}.'
            ) from error
        if not question.answer and not (question.source and question.spans):
            raise KnowledgeError(f'Line {number} of {path} names no answer: add "answer", or "doc" and "spans".')
        questions.append(question)
    if not questions:
        raise KnowledgeError(f"{path} has no questions.")
    return questions


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to cut and to search."""

    name: str
    size: int = 256
    overlap: int = 0
    embedder: str | Embedder | None = "auto"
    mode: Mode = "hybrid"
    fusion: Any = "minmax"
    budget: int | None = None
    rerank: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """What a recipe reached."""

    recipe: str
    questions: int
    hit: dict[int, float]
    """hit@1, @3, @5 and @10."""
    mrr: float
    ndcg: float
    whole: float
    """Share of answers that no passage border cuts; 1.0 where answers are given as words."""
    short: float
    """Share found within 1,500 returned characters."""
    characters: float
    """Mean of what five hits return together."""
    milliseconds: float
    """Median of a search, its query vector included."""
    passages: int
    misses: tuple[str, ...] = field(default=())
    """Questions without a hit among the first five."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def evaluate(base: KnowledgeBase, questions: Sequence[Question], *, recipe: Recipe | None = None) -> Score:
    """How well a base answers, as it stands."""
    recipe = recipe or Recipe("as it stands", size=base.size)
    ranks: list[int | None] = []
    characters: list[int] = []
    seconds: list[float] = []
    short = 0
    for question in questions:
        options: dict[str, Any] = {"mode": recipe.mode, "fusion": recipe.fusion, "rerank": recipe.rerank}
        started = time.perf_counter()
        five = base.search(question.question, 5, budget=recipe.budget, **options)
        seconds.append(time.perf_counter() - started)
        characters.append(sum(len(hit.text) for hit in five))
        rank = _rank(question, five)
        short += rank is not None and sum(len(hit.text) for hit in five[:rank]) <= SHORT
        if rank is None:
            rank = _later_rank(base, question, five, recipe, options)
        ranks.append(rank)
    count = max(1, len(questions))
    return Score(
        recipe=recipe.name,
        questions=len(questions),
        hit={k: sum(1 for rank in ranks if rank is not None and rank <= k) / count for k in (1, 3, 5, 10)},
        mrr=sum(1 / rank for rank in ranks if rank) / count,
        ndcg=sum(1 / math.log2(rank + 1) for rank in ranks if rank) / count,
        whole=_whole(base, questions),
        short=short / count,
        characters=sum(characters) / count,
        milliseconds=1000 * median(seconds) if seconds else 0.0,
        passages=base.status().passages,
        misses=tuple(q.question for q, rank in zip(questions, ranks, strict=True) if rank is None or rank > 5),
    )


def compare(
    documents: Iterable[Document],
    questions: Sequence[Question],
    recipes: Sequence[Recipe] | None = None,
    *,
    reranker: Reranker | None = None,
    vector_cache: Path | None = None,
    progress: OnProgress | None = None,
) -> list[Score]:
    """The same questions by several recipes; each cuts the documents anew, vectors are shared by content."""
    from .base import KnowledgeBase

    documents = list(documents)
    chosen = list(recipes) if recipes is not None else usual_recipes(rerank=reranker is not None)
    bases: dict[tuple[Any, ...], KnowledgeBase] = {}
    scores: list[Score] = []
    for number, recipe in enumerate(chosen, 1):
        embedder = None if recipe.mode == "keywords" else recipe.embedder
        key = (recipe.size, recipe.overlap, embedder if isinstance(embedder, (str, type(None))) else embedder.name)
        if key not in bases:
            bases[key] = KnowledgeBase(
                embedder=embedder,
                size=recipe.size,
                overlap=recipe.overlap,
                reranker=reranker,
                vector_cache=vector_cache,
            )
            bases[key].add(documents, progress=progress)
        scores.append(evaluate(bases[key], questions, recipe=recipe))
        if progress:
            progress(Progress("questions", number, len(chosen), recipe.name))
    return scores


def usual_recipes(*, embedder: str | Embedder | None = "auto", rerank: bool = False) -> list[Recipe]:
    """The recipes worth comparing on new documents."""
    recipes = [
        Recipe("keywords", mode="keywords", embedder=None),
        Recipe("dense, as cut", mode="dense", embedder=embedder, budget=0),
        Recipe("hybrid, as cut", embedder=embedder, budget=0),
        Recipe("hybrid, reciprocal ranks", embedder=embedder, fusion="rrf"),
        Recipe("hybrid", embedder=embedder),
        Recipe("hybrid, 1,400 characters", embedder=embedder, budget=1400),
        Recipe("hybrid, passages of 400", size=400, embedder=embedder),
        Recipe("hybrid, overlap 64", overlap=64, embedder=embedder),
    ]
    return [*recipes, Recipe("hybrid, reranked", embedder=embedder, rerank=True)] if rerank else recipes


def table(scores: Sequence[Score]) -> str:
    """The scores as a Markdown table."""
    lines = [
        "| recipe | hit@1 | hit@3 | hit@5 | MRR | nDCG | whole | in 1,500 | characters | ms | passages |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for score in scores:
        cells = [*(score.hit[k] for k in (1, 3, 5)), score.mrr, score.ndcg, score.whole, score.short]
        lines.append(
            f"| {score.recipe} | "
            + " | ".join(f"{cell:.3f}" for cell in cells)
            + f" | {score.characters:,.0f} | {score.milliseconds:.1f} | {score.passages:,} |"
        )
    return "\n".join(lines)


def _rank(question: Question, hits: Sequence[Passage]) -> int | None:
    return next((rank for rank, hit in enumerate(hits, 1) if question.answered_by(hit)), None)


def _later_rank(
    base: KnowledgeBase, question: Question, five: Sequence[Passage], recipe: Recipe, options: Mapping[str, Any]
) -> int | None:
    """The rank among ten hits of one that five did not have."""
    budget = None if recipe.budget is None else recipe.budget * DEPTH // 5
    rank = _rank(question, base.search(question.question, DEPTH, budget=budget, **options))
    return None if rank is None else max(rank, len(five) + 1)


def _whole(base: KnowledgeBase, questions: Sequence[Question]) -> float:
    """Which share of the answers stands whole inside a passage as cut."""
    placed = [question for question in questions if question.spans]
    if not placed:
        return 1.0
    passages: dict[str, list[Passage]] = {}
    for record in base.documents():
        passages[record.source] = base.passages(record.source)
    whole = 0
    for question in placed:
        candidates = [p for source, found in passages.items() if _same_source(source, question.source) for p in found]
        whole += any(question.answered_by(passage) for passage in candidates)
    return whole / len(placed)


def _same_source(source: str, wanted: str) -> bool:
    """Equal, or a path whose last part is the wanted name, with or without its suffix."""
    if source == wanted or source.endswith("/" + wanted):
        return True
    return Path(source).stem == wanted


def _flat(text: str) -> str:
    return "".join(text.lower().split())
