"""Letting hits grow inside their own section.

Owes: `grown`, which turns ranked passage ids into hits: each may take in its neighbours, the better fitting first, up
to its share of the budget; hits that meet are merged; near-duplicates are dropped. Worth 5 to 8 points of hit@1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .fuse import near_duplicate, shares
from .passage import Passage

Fetch = Callable[[Sequence[int]], dict[int, Passage]]


@dataclass(slots=True)
class Hit:
    """A run of neighbouring passages."""

    first: int
    last: int
    start: int
    end: int
    score: float

    @property
    def length(self) -> int:
        """How many characters it has."""
        return self.end - self.start


class _Shelf:
    """Passages already fetched; ids that nobody has are remembered as well."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._passages: dict[int, Passage | None] = {}

    def ahead(self, ids: Iterable[int]) -> None:
        wanted = [i for i in ids if i not in self._passages]
        if wanted:
            found = self._fetch(wanted)
            for passage_id in wanted:
                self._passages[passage_id] = found.get(passage_id)

    def seen(self, passage_id: int) -> Passage | None:
        """A passage if it has been fetched already."""
        return self._passages.get(passage_id)

    def length(self, passage_id: int) -> int:
        passage = self[passage_id]
        return passage.end - passage.start if passage else 0

    def __getitem__(self, passage_id: int) -> Passage | None:
        self.ahead([passage_id])
        return self._passages[passage_id]


def grown(
    order: Sequence[int],
    scores: Mapping[int, float],
    fetch: Fetch,
    *,
    k: int,
    budget: int | None,
) -> list[Passage]:
    """The k best hits as passages.

    Args:
        order: Passage ids, best first.
        scores: Their scores; also decides into which direction a hit grows.
        fetch: Gives passages by id.
        k: How many hits at most.
        budget: Characters that all hits may have together; `None` lets no hit grow.
    """
    shelf = _Shelf(fetch)
    shelf.ahead(order[: 2 * k])
    answering = [i for i in order if (passage := shelf.seen(i)) is None or not passage.only_heading]
    order = answering or order
    if budget is not None:
        shelf.ahead([near for passage_id in order[:k] for near in range(passage_id - 2, passage_id + 3)])
    allowed = shares(budget or 0, k)
    usual = max((shelf.length(passage_id) for passage_id in order[:k]), default=0)
    hits: list[Hit] = []
    texts: list[str] = []
    covered: set[int] = set()
    used = 0
    for rank, passage_id in enumerate(order):
        if len(hits) == k:
            break
        passage = shelf[passage_id]
        if passage is None or passage_id in covered or (passage.only_heading and answering):
            continue
        own = passage.end - passage.start
        if budget is not None and hits and used + own > budget:
            break
        if near_duplicate(passage.text, texts):
            continue
        hit = Hit(passage_id, passage_id, passage.start, passage.end, scores[passage_id])
        if budget is not None:
            later = [other for other in order[rank + 1 : rank + 2 * k] if other not in covered][: k - len(hits) - 1]
            room = budget - used - sum(shelf.length(other) for other in later)
            # What earlier hits left over because their sections are short is there for the later ones.
            _grow(hit, shelf, scores, covered, min(sum(allowed[: len(hits) + 1]) - used, room))
        covered.update(range(hit.first, hit.last + 1))
        texts.append(passage.text)
        neighbour = next((h for h in hits if h.first == hit.last + 1 or h.last == hit.first - 1), None)
        used += hit.length
        if neighbour is not None and budget is not None and used + (k - len(hits)) * usual <= budget:
            neighbour.first, neighbour.last = min(neighbour.first, hit.first), max(neighbour.last, hit.last)
            neighbour.start, neighbour.end = min(neighbour.start, hit.start), max(neighbour.end, hit.end)
        else:
            hits.append(hit)
    if budget is not None:
        _spend_rest(hits, shelf, scores, covered, budget - used)
    return [_joined(hit, shelf) for hit in hits]


def _spend_rest(hits: Sequence[Hit], shelf: _Shelf, scores: Mapping[int, float], covered: set[int], rest: int) -> None:
    """Let hits grow once more with what is left of the budget, the first ones first."""
    for hit in hits:
        before = hit.length
        _grow(hit, shelf, scores, covered, before + min(rest, before))
        covered.update(range(hit.first, hit.last + 1))
        rest -= hit.length - before


def _grow(hit: Hit, shelf: _Shelf, scores: Mapping[int, float], covered: set[int], size: int) -> None:
    while True:
        choices: list[tuple[float, int, Passage]] = []
        for near in (hit.first - 1, hit.last + 1):
            if near in covered:
                continue
            passage = shelf[near]
            if passage is not None and max(hit.end, passage.end) - min(hit.start, passage.start) <= size:
                choices.append((scores.get(near, 0.0), near, passage))
        if not choices:
            return
        _, near, passage = max(choices, key=lambda choice: choice[:2])
        hit.first, hit.last = min(hit.first, near), max(hit.last, near)
        hit.start, hit.end = min(hit.start, passage.start), max(hit.end, passage.end)


def _joined(hit: Hit, shelf: _Shelf) -> Passage:
    """One passage out of neighbours, which may overlap."""
    first = shelf[hit.first]
    assert first is not None
    if hit.first == hit.last:
        return first.scored(hit.score)
    text, end = first.text, first.end
    for passage_id in range(hit.first + 1, hit.last + 1):
        passage = shelf[passage_id]
        assert passage is not None
        text += passage.text[end - passage.start :]
        end = passage.end
    return replace(first, text=text, end=end, score=hit.score)
