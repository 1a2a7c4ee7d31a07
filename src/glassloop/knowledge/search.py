"""From a query to passages: the one path every search takes.

Owes: `Searcher`, which asks a store by words and by meaning, fuses both, lets neighbours and a reranker speak, turns
ranks into honest scores and lets the hits grow. It holds no data of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .embed import QUERY_CHARACTERS
from .fuse import DENSE_WEIGHT, Fusion, fuse, lean_on_neighbours, ranked
from .growth import grown
from .passage import Passage
from .rerank import Reranker
from .stores.base import Scores, Store, Where

Mode = Literal["hybrid", "dense", "keywords"]
CHARACTERS_A_HIT = 460
"""The budget a hit brings when none is named: 2,300 characters for five."""
_CANDIDATES = 100
_RERANKED = 20


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that decides a search; equal requests have equal results while the base stays as it is."""

    query: str
    k: int = 5
    mode: Mode = "hybrid"
    where: tuple[tuple[str, Any], ...] = ()
    min_score: float = 0.0
    min_confidence: float = 0.0
    budget: int | None = None
    """Characters all hits may have together; 0 lets no hit grow; `None` stands for 460 a hit."""
    fusion: Fusion = "minmax"
    dense_weight: float = DENSE_WEIGHT
    reranked: bool = False


class Searcher:
    """Searches a store.

    Args:
        store: Where the passages are.
        vector: Gives the vector of a query; `None` where keywords alone serve.
        calibration: The range of the embedder's cosines.
    """

    def __init__(
        self,
        store: Store,
        vector: Callable[[str], Any] | None,
        calibration: tuple[float, float],
        reranker: Reranker | None = None,
    ) -> None:
        self._store = store
        self._vector = vector
        self._calibration = calibration
        self._reranker = reranker

    def search(self, request: Request) -> list[Passage]:
        """The passages that answer a request, best first; none where nothing fits."""
        where: Where | None = dict(request.where) or None
        depth = max(_CANDIDATES, 10 * request.k)
        words: Scores = {}
        meaning: Scores = {}
        if request.mode != "dense":
            words = self._store.matching(request.query, depth, where)
        if request.mode != "keywords" and self._vector is not None:
            vector = self._vector(request.query[:QUERY_CHARACTERS])
            meaning = self._store.nearest(vector, depth, where)
            if meaning:
                meaning |= self._store.cosines(vector, [i for i in words if i not in meaning])
        scores = fuse(meaning, words, weight=request.dense_weight, method=request.fusion)
        if not scores:
            return []
        scores = lean_on_neighbours(scores)
        order = ranked(scores)
        confidence = self._confidence(request.query, order, meaning)
        if confidence < request.min_confidence:
            return []
        if request.reranked and self._reranker is not None:
            scores = self._rerank(request.query, order)
            order = ranked(scores)
        highest = scores[order[0]]
        scale = confidence / highest if highest > 0 else 0.0
        scores = {passage: score * scale for passage, score in scores.items()}
        order = [passage for passage in order if scores[passage] >= request.min_score]
        budget = request.k * CHARACTERS_A_HIT if request.budget is None else request.budget
        return grown(order, scores, self._store.fetch, k=request.k, budget=budget or None)

    def _confidence(self, query: str, order: Sequence[int], meaning: Scores) -> float:
        """How sure it is that the base has anything on this query, 0 to 1.

        Ranks and min-max scores say nothing about that: the best of a bad lot is always first. The cosine of the best
        passage and the share of the query's words it has do, together better than either alone.
        """
        from .terms import Asked

        passages = self._store.fetch(order[:3])
        asked = Asked(query)
        covered = max((asked.coverage(passage.indexed_text) for passage in passages.values()), default=0.0)
        if not meaning:
            return covered
        low, high = self._calibration
        nearest = max(meaning.values())
        if all(asked.foreign_to(passage.text) for passage in passages.values()):
            # Words cannot meet across languages, and cosines are lower there.
            return 0.8 * _share(nearest, low - (high - low) / 3, high)
        return 0.5 * _share(nearest, low, high) + 0.5 * covered

    def _rerank(self, query: str, order: Sequence[int]) -> Scores:
        assert self._reranker is not None
        passages = self._store.fetch(order[:_RERANKED])
        ids = [passage for passage in order[:_RERANKED] if passage in passages]
        judged = self._reranker.scores(query, [passages[i].indexed_text for i in ids])
        low = min(judged)
        span = max(judged) - low or 1.0
        # Scores of rerankers have any range; their order is what counts, confidence stays with the search.
        return {i: 0.1 + 0.9 * (score - low) / span for i, score in zip(ids, judged, strict=True)}


def _share(value: float, low: float, high: float) -> float:
    """Where a value stands between two others, 0 to 1."""
    return min(1.0, max(0.0, (value - low) / (high - low)))
