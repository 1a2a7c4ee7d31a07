"""Putting two rankings together, and letting hits grow inside their sections.

Owes: `fuse` (min-max per query, or reciprocal ranks), `lean_on_neighbours`, `shares` (who may grow how far), and
`near_duplicate`. Everything works on dictionaries of passage ids and knows no store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

Fusion = Literal["minmax", "rrf"]
DENSE_WEIGHT = 0.6
NEIGHBOUR_WEIGHT = 0.2
_RRF_CONSTANT = 60
_FIRST_SHARES = (2.1, 1.33)
_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"\w+")


def fuse(
    dense: Mapping[int, float],
    keywords: Mapping[int, float],
    *,
    weight: float = DENSE_WEIGHT,
    method: Fusion = "minmax",
) -> dict[int, float]:
    """One score per passage from its cosine and its BM25 score, 0 to 1.

    Args:
        dense: Cosines; a passage without a vector is missing here.
        keywords: BM25 scores; a passage without a term of the query is missing here.
        weight: What the cosines count, against `1 - weight` for the keywords.
        method: `minmax` stretches both to 0 … 1 over this query's candidates; `rrf` uses only the ranks.
    """
    if method == "rrf":
        return _reciprocal_ranks(dense, keywords, weight)
    meaning = _stretched(dense, floor=None)
    words = _stretched(keywords, floor=0.0)
    if not words:
        return meaning
    if not meaning:
        return words
    fused: dict[int, float] = {}
    for passage, word in words.items():
        # A passage whose vector is still pending is judged by its words alone.
        fused[passage] = weight * meaning.get(passage, word) + (1 - weight) * word
    for passage, value in meaning.items():
        if passage not in fused:
            fused[passage] = weight * value
    return fused


def _stretched(scores: Mapping[int, float], floor: float | None) -> dict[int, float]:
    if not scores:
        return {}
    low = min(scores.values()) if floor is None else floor
    span = max(scores.values()) - low
    if span <= 0:
        return dict.fromkeys(scores, 1.0)
    return {passage: (score - low) / span for passage, score in scores.items()}


def _reciprocal_ranks(dense: Mapping[int, float], keywords: Mapping[int, float], weight: float) -> dict[int, float]:
    fused: dict[int, float] = {}
    for scores, share in ((dense, weight), (keywords, 1 - weight)):
        ranked = sorted(scores, key=lambda passage: -scores[passage])
        for rank, passage in enumerate(ranked, 1):
            fused[passage] = fused.get(passage, 0.0) + share * (_RRF_CONSTANT + 1) / (_RRF_CONSTANT + rank)
    return fused


def lean_on_neighbours(scores: Mapping[int, float], *, weight: float = NEIGHBOUR_WEIGHT) -> dict[int, float]:
    """Lift a passage whose neighbour in the section also fits: answers sit in paragraphs about the matter.

    Worth 1 to 2 points of hit@1 on both public sets; the result is scaled back to 0 … 1.
    """
    get = scores.get
    scale = 1 / (1 + weight)
    return {
        passage: (score + weight * max(get(passage - 1, 0.0), get(passage + 1, 0.0))) * scale
        for passage, score in scores.items()
    }


def shares(budget: int, k: int) -> list[int]:
    """How many characters each of k hits may have: the first ones more, since they are most likely right.

    The same characters given out by rank instead of evenly are worth 4 points of hit@1 on `en_xquad`.
    """
    weights = [*_FIRST_SHARES, *[1.0] * k][:k]
    unit = budget / sum(weights)
    return [int(unit * weight) for weight in weights]


def near_duplicate(text: str, others: Iterable[str]) -> bool:
    """Whether a text says the same as one of the others, to the last number.

    Manuals repeat sentences with another part number or value: texts whose numbers differ are never duplicates.
    """
    letters = frozenset(text)
    for other in others:
        if text == other:
            return True
        if not 0.8 < (len(text) + 1) / (len(other) + 1) < 1.25 or len(text) < 12:
            continue
        # Texts of nearly the same words have nearly the same characters: a cheap look before the dear one.
        if _overlap(letters, frozenset(other)) < 0.8:
            continue
        pairs, digits = _shape(text)
        other_pairs, other_digits = _shape(other)
        if digits == other_digits and _overlap(pairs, other_pairs) >= 0.85:
            return True
    return False


def _overlap(some: frozenset[str], others: frozenset[str]) -> float:
    common = len(some & others)
    return common / max(1, len(some) + len(others) - common)


@lru_cache(maxsize=256)
def _shape(text: str) -> tuple[frozenset[str], tuple[str, ...]]:
    letters = "".join(_WORDS.findall(text.lower()))
    return frozenset(map("".join, zip(letters, letters[1:], letters[2:], strict=False))), tuple(_DIGITS.findall(text))


def ranked(scores: Mapping[int, float]) -> Sequence[int]:
    """Passages by falling score; equal ones in the documents' order, so that results never depend on chance."""
    return sorted(scores, key=lambda passage: (-scores[passage], passage))
