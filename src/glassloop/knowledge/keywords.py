"""BM25 over passages in plain numpy, small enough to read and to update.

Owes: `KeywordIndex`: built from texts, extended and thinned without reading the old texts again, saved as arrays that
open memory-mapped, searched in a fraction of a millisecond at ten thousand passages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from .terms import Array, counted, query_terms, terms_of

K1 = 1.2
B = 0.75
_DENSE_SHARE = 16
"""A term in more than one passage of this many is kept as a whole row: adding a row is faster than scattering."""
_ROW_BYTES = 16 << 20


class KeywordIndex:
    """An inverted index: for each term the passages that have it, with their BM25 weights.

    Passages are numbered 0 … n-1 in the order they were added.
    """

    FIELDS = ("terms", "starts", "passages", "counts", "lengths")

    def __init__(self, terms: Array, starts: Array, passages: Array, counts: Array, lengths: Array) -> None:
        self._terms = terms
        """Distinct terms in rising order."""
        self._starts = starts
        self._passages = passages
        self._counts = counts
        self._lengths = lengths
        self._weights: Array = None
        self._rows: dict[int, Array] = {}

    @classmethod
    def empty(cls) -> KeywordIndex:
        """An index of no passages."""
        none = np.zeros(0, np.int32)
        return cls(np.zeros(0, np.uint64), np.zeros(1, np.int64), none, np.zeros(0, np.uint8), none)

    def __len__(self) -> int:
        return len(self._lengths)

    def arrays(self) -> dict[str, Array]:
        """What has to be saved, by name."""
        values = (self._terms, self._starts, self._passages, self._counts, self._lengths)
        return dict(zip(self.FIELDS, values, strict=True))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> KeywordIndex:
        """The inverse of `arrays`."""
        return cls(*(arrays[name] for name in cls.FIELDS))

    def updated(self, keep: Array, texts: Sequence[str]) -> KeywordIndex:
        """A new index of the passages numbered `keep`, in that order, followed by `texts`."""
        places = np.full(len(self), -1, np.int64)
        places[keep] = np.arange(len(keep))
        term_of = np.repeat(self._terms, np.diff(self._starts))
        place_of = places[self._passages]
        stays = place_of >= 0
        all_terms, all_places, all_counts = [term_of[stays]], [place_of[stays]], [self._counts[stays]]
        lengths = [np.asarray(self._lengths)[keep]]
        fresh = np.zeros(len(texts), np.int32)
        for number, text in enumerate(texts):
            terms, counts = counted(terms_of(text))
            all_terms.append(terms)
            all_places.append(np.full(len(terms), len(keep) + number, np.int64))
            all_counts.append(np.minimum(counts, 255).astype(np.uint8))
            fresh[number] = counts.sum()
        terms = np.concatenate(all_terms)
        places = np.concatenate(all_places).astype(np.int32)
        counts = np.concatenate(all_counts)
        order = np.argsort(terms, kind="stable")
        terms = terms[order]
        begins = np.flatnonzero(np.concatenate([[True], terms[1:] != terms[:-1]])) if len(terms) else terms
        starts = np.concatenate([begins, [len(terms)]]).astype(np.int64)
        distinct = terms[begins] if len(terms) else terms
        return KeywordIndex(distinct, starts, places[order], counts[order], np.concatenate([*lengths, fresh]))

    def scores(self, query: str) -> Array:
        """The BM25 score of every passage; 0 where it has no term of the query."""
        scores = np.zeros(len(self), np.float32)
        terms = query_terms(query)
        if not len(terms) or not len(self._terms):
            return scores
        terms, times = counted(terms)
        at = cast(Array, np.searchsorted(self._terms, terms))
        at[at == len(self._terms)] = 0
        known = self._terms[at] == terms
        if self._weights is None:
            self._weights = self._weighed()
        weights_of: Array = self._weights
        total = len(self)
        for row, often in zip(at[known].tolist(), times[known].tolist(), strict=True):
            start, end = self._starts[row], self._starts[row + 1]
            factor = min(often, 3)
            if (end - start) * _DENSE_SHARE > total:
                dense = self._row(row, start, end)
                scores += dense if factor == 1 else dense * factor
            else:
                weights = weights_of[start:end]
                scores[self._passages[start:end]] += weights if factor == 1 else weights * factor
        return scores

    def search(self, query: str, k: int = 5) -> list[tuple[int, float]]:
        """The best k passages with their scores; only those that have a term of the query."""
        scores = self.scores(query)
        return [(i, float(scores[i])) for i in top(scores, k) if scores[i] > 0]

    def _idf(self, passages_with: Any) -> Any:
        total = len(self._lengths)
        return np.log1p((total - passages_with + 0.5) / (passages_with + 0.5))

    def _weighed(self) -> Array:
        lengths = np.asarray(self._lengths, np.float32)
        norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        counts = np.asarray(self._counts, np.float32)
        frequencies = np.diff(self._starts)
        idf = self._idf(frequencies).astype(np.float32)
        return np.repeat(idf, frequencies) * counts * (K1 + 1) / (counts + norm[self._passages])

    def _row(self, term: int, start: int, end: int) -> Array:
        row = self._rows.get(term)
        if row is None:
            row = np.zeros(len(self), np.float32)
            row[self._passages[start:end]] = self._weights[start:end]
            if len(self._rows) * row.nbytes > _ROW_BYTES:
                self._rows.clear()
            self._rows[term] = row
        return row


def top(scores: Array, k: int) -> list[int]:
    """The numbers of the k highest scores, best first; equal scores in their own order."""
    if k >= len(scores):
        return np.argsort(-scores, kind="stable").tolist()
    found = np.argpartition(scores, -k)[-k:]
    found.sort()
    return found[np.argsort(-scores[found], kind="stable")].tolist()
