"""Nearest vectors: exactly, in memory; or, for large bases, approximately with usearch.

Owes: `VectorIndex`, one matrix of normalised rows searched with one product; `ApproximateIndex`, the same question
answered through an HNSW graph, with its recall measured against the exact answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..errors import KnowledgeError, MissingExtra
from .keywords import top
from .terms import Array

Precision = Literal["float32", "int8"]
APPROXIMATE_ABOVE = 50_000
"""Below this many passages the exact search is fast enough that nothing else is worth its loss."""
_BLOCK = 4096
_SCALE = 127.0


def normalised(vectors: Array) -> Array:
    """Rows of length one as contiguous float32; a row of zeros stays zero."""
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(matrix, axis=-1, keepdims=True)
    return matrix / np.where(lengths > 0, lengths, 1.0)


def packed(vectors: Array, precision: Precision) -> Array:
    """Normalised rows as they are stored: float32, or a quarter of that as int8."""
    rows = normalised(vectors)
    return np.rint(rows * _SCALE).astype(np.int8) if precision == "int8" else rows


class VectorIndex:
    """Exact search by one matrix product.

    Args:
        matrix: Normalised rows, float32 or int8 (see `packed`); may be memory-mapped.
    """

    def __init__(self, matrix: Array) -> None:
        # A plain view: numpy's memmap class costs microseconds at every slice.
        self.matrix: Array = np.asarray(matrix)
        self._quantised = self.matrix.dtype == np.int8

    def __len__(self) -> int:
        return len(self.matrix)

    def scores(self, vector: Array) -> Array:
        """The cosine of every row with a normalised vector."""
        if not self._quantised:
            return self.matrix @ vector
        # Blocks keep the widened copy inside the processor's cache.
        scores = np.empty(len(self.matrix), np.float32)
        scaled = vector / np.float32(_SCALE)
        for start in range(0, len(scores), _BLOCK):
            block = self.matrix[start : start + _BLOCK].astype(np.float32)
            np.dot(block, scaled, out=scores[start : start + _BLOCK])
        return scores

    def search(self, vector: Array, k: int = 5) -> tuple[Array, Array]:
        """The numbers of the k nearest rows, nearest first, and their cosines."""
        scores = self.scores(vector)
        best = np.array(top(scores, k), dtype=np.int64)
        return best, scores[best]

    def rows(self, numbers: Array) -> Array:
        """Some rows as float32."""
        rows = self.matrix[numbers]
        return rows.astype(np.float32) / _SCALE if self._quantised else rows


class ApproximateIndex:
    """An HNSW graph over the same rows: a tenth of the exact time at 100,000, for a percent of recall."""

    def __init__(self, graph: Any, exact: VectorIndex, recall: float) -> None:
        self._graph = graph
        self._exact = exact
        self.recall = recall
        """Share of the exact ten nearest that the graph finds, measured when it was built."""

    @classmethod
    def build(cls, exact: VectorIndex, *, samples: int = 200, connectivity: int = 16) -> ApproximateIndex:
        """Build the graph and measure its recall on rows of its own, slightly moved."""
        index_class = _usearch()
        count = len(exact)
        graph = index_class(
            ndim=exact.matrix.shape[1],
            metric="ip",
            dtype="f32",
            connectivity=connectivity,
            expansion_add=128,
            expansion_search=64,
        )
        for start in range(0, count, _BLOCK):
            numbers = np.arange(start, min(count, start + _BLOCK))
            graph.add(numbers.astype(np.uint64), exact.rows(numbers))
        built = cls(graph, exact, 0.0)
        built.recall = built.measure(samples)
        return built

    def measure(self, samples: int = 200) -> float:
        """Recall of the ten nearest over queries near randomly chosen rows."""
        random = np.random.default_rng(7)
        numbers = random.choice(len(self._exact), size=min(samples, len(self._exact)), replace=False)
        rows = self._exact.rows(numbers)
        queries = normalised(rows + random.normal(0, 0.5 / np.sqrt(rows.shape[1]), rows.shape).astype(np.float32))
        found = 0
        wanted = min(10, len(self._exact))
        for query in queries:
            exact = set(self._exact.search(query, wanted)[0].tolist())
            found += len(exact & set(self.search(query, wanted)[0].tolist()))
        return found / (wanted * len(queries))

    def search(self, vector: Array, k: int = 5) -> tuple[Array, Array]:
        """Like `VectorIndex.search`; the cosines are exact, the choice of rows nearly so."""
        keys = np.asarray(self._graph.search(vector, k).keys, dtype=np.int64)
        cosines = self._exact.rows(keys) @ vector
        order = np.argsort(-cosines, kind="stable")
        return keys[order], cosines[order]

    def save(self, path: Path) -> None:
        """Write the graph to a file."""
        self._graph.save(str(path))

    @classmethod
    def load(cls, path: Path, exact: VectorIndex, recall: float) -> ApproximateIndex:
        """Open a saved graph without reading it whole."""
        graph = _usearch().restore(str(path), view=True)
        if graph is None or len(graph) != len(exact):
            raise KnowledgeError(f"The graph {path.name} does not belong to these vectors; index again to rebuild it.")
        return cls(graph, exact, recall)


def _usearch() -> Any:
    try:
        from usearch.index import Index
    except ImportError as error:
        raise MissingExtra("usearch", "ann", "search large bases approximately") from error
    return Index
