"""The default store: everything in memory, kept as plain files.

Owes: `MemoryStore`, a `Store` whose searches are exact. A state is an immutable `Snapshot`; a change makes a new one
and swaps it in, so that a search under way never sees half a change.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...errors import KnowledgeError
from ..ids import DOCUMENT_SHIFT, document_of, number_passages
from ..index import APPROXIMATE_ABOVE, ApproximateIndex, Precision, VectorIndex, packed
from ..keywords import KeywordIndex, top
from ..passage import Passage
from ..terms import Array
from .base import Addition, DocumentRecord, Scores, Where
from .files import Generation, current_mark, open_generation, write_generation, writer_lock
from .table import PassageTable

_GRAPH = "vectors.usearch"


@dataclass(slots=True)
class Snapshot:
    """One state of the base; row i of every array belongs to the same passage."""

    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    documents: dict[int, DocumentRecord] = field(default_factory=dict[int, DocumentRecord])
    ids: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    table: PassageTable = field(default_factory=PassageTable.empty)
    keywords: KeywordIndex = field(default_factory=KeywordIndex.empty)
    vectors: VectorIndex | None = None
    present: Array = field(default_factory=lambda: np.zeros(0, bool))
    """Which rows have their vector."""
    graph: ApproximateIndex | None = None
    masks: dict[str, Array] = field(default_factory=dict[str, Array])

    def __post_init__(self) -> None:
        self.complete = bool(self.present.all())

    complete: bool = field(init=False, default=True)

    def rows(self, ids: Array) -> Array:
        """The rows of some ids; -1 for those nobody has."""
        if not len(self.ids):
            return np.full(len(ids), -1)
        at = cast(Array, np.searchsorted(self.ids, ids))
        at[at == len(self.ids)] = 0
        return np.where(self.ids[at] == ids, at, -1)

    def mask(self, where: Where) -> Array:
        """Which rows pass a filter."""
        key = repr(sorted((name, repr(value)) for name, value in where.items()))
        mask = self.masks.get(key)
        if mask is None:
            numbers = [number for number, record in self.documents.items() if record.matches(where)]
            mask = np.isin(self.ids >> DOCUMENT_SHIFT, np.array(numbers, np.int64))
            if len(self.masks) > 64:
                self.masks.clear()
            self.masks[key] = mask
        return mask


class MemoryStore:
    """A `Store` in memory.

    Args:
        path: The folder that keeps it; `None` for a base that lives as long as the process.
        precision: How vectors are kept: `float32`, or `int8` for a quarter of the memory.
        approximate_above: From how many passages on an HNSW graph is used where `usearch` is installed.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        precision: Precision = "float32",
        approximate_above: int = APPROXIMATE_ABOVE,
    ) -> None:
        self._path = path
        self._precision: Precision = precision
        self._approximate_above = approximate_above
        self._lock = threading.RLock()
        self._mark = ""
        self._changes = 0
        self._snapshot = Snapshot()
        self._current()

    # -- reading ------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """What the base was built with."""
        return dict(self._current().settings)

    def documents(self) -> dict[str, DocumentRecord]:
        """All documents by source."""
        return {record.source: record for record in self._current().documents.values()}

    def count(self) -> int:
        """How many passages there are."""
        return len(self._current().ids)

    def pending(self) -> list[int]:
        """Ids of passages without a vector."""
        snapshot = self._current()
        return snapshot.ids[~snapshot.present].tolist()

    def version(self) -> str:
        """Changes whenever anything else does, also by another process."""
        self._current()
        return f"{self._mark}:{self._changes}"

    @property
    def recall(self) -> float | None:
        """The measured recall of the approximate index; `None` where the search is exact."""
        graph = self._current().graph
        return graph.recall if graph else None

    def nearest(self, vector: Any, k: int, where: Where | None = None) -> Scores:
        """The passages whose vectors are nearest, with their cosines."""
        snapshot = self._current()
        if snapshot.vectors is None or not len(snapshot.ids):
            return {}
        self._check_dimensions(snapshot, vector)
        if snapshot.graph is not None and not where:
            rows, cosines = snapshot.graph.search(vector, k)
            return dict(zip(snapshot.ids[rows].tolist(), cosines.tolist(), strict=True))
        if snapshot.complete and not where:
            rows, cosines = snapshot.vectors.search(vector, k)
            return dict(zip(snapshot.ids[rows].tolist(), cosines.tolist(), strict=True))
        allowed = snapshot.present if not where else snapshot.present & snapshot.mask(where)
        scores = np.where(allowed, snapshot.vectors.scores(vector), -2.0)
        best = [row for row in top(scores, k) if scores[row] > -2.0]
        return {int(snapshot.ids[row]): float(scores[row]) for row in best}

    def matching(self, query: str, k: int, where: Where | None = None) -> Scores:
        """The passages with the best BM25 scores."""
        snapshot = self._current()
        if not len(snapshot.ids):
            return {}
        scores = snapshot.keywords.scores(query)
        if where:
            scores = np.where(snapshot.mask(where), scores, 0.0)
        best = np.array(top(scores, k), np.int64)
        best = best[scores[best] > 0]
        return dict(zip(snapshot.ids[best].tolist(), scores[best].tolist(), strict=True))

    def cosines(self, vector: Any, ids: Sequence[int]) -> Scores:
        """The cosines of certain passages."""
        snapshot = self._current()
        if snapshot.vectors is None or not ids:
            return {}
        wanted = np.array(ids, np.int64)
        rows = snapshot.rows(wanted)
        known = (rows >= 0) & snapshot.present[rows]
        values = snapshot.vectors.rows(rows[known]) @ vector
        return dict(zip(wanted[known].tolist(), values.tolist(), strict=True))

    def fetch(self, ids: Sequence[int]) -> dict[int, Passage]:
        """The passages with these ids."""
        snapshot = self._current()
        found: dict[int, Passage] = {}
        for passage_id, row in zip(ids, snapshot.rows(np.array(ids, np.int64)).tolist(), strict=True):
            if row >= 0:
                passage = snapshot.table[row]
                metadata = snapshot.documents[document_of(passage_id)].metadata
                found[passage_id] = replace(passage, metadata=metadata) if metadata else passage
        return found

    def between(self, first: int, end: int) -> list[Passage]:
        """The passages with ids in a range, in their order."""
        ids = self._current().ids
        start, stop = np.searchsorted(ids, [first, end]).tolist()
        return list(self.fetch(ids[start:stop].tolist()).values())

    # -- writing ------------------------------------------------------------

    def put_settings(self, settings: Mapping[str, Any]) -> None:
        """Replace the settings."""
        with self._writing() as snapshot:
            counter = snapshot.settings.get("next_document", 1)
            self._commit(replace(snapshot, settings={**settings, "next_document": counter}))

    def apply(self, remove: Iterable[str], add: Sequence[Addition]) -> None:
        """Remove documents and add others, all or nothing."""
        with self._writing() as snapshot:
            gone = set(remove) | {addition.record.source for addition in add}
            numbers = {number for number, record in snapshot.documents.items() if record.source in gone}
            keep = np.flatnonzero(~np.isin(snapshot.ids >> DOCUMENT_SHIFT, np.array(sorted(numbers), np.int64)))
            documents = {n: record for n, record in snapshot.documents.items() if n not in numbers}
            counter = int(snapshot.settings.get("next_document", 1))
            ids: list[int] = []
            passages: list[Passage] = []
            for addition in add:
                documents[counter] = replace(addition.record, number=counter, passages=len(addition.passages))
                ids.extend(number_passages(counter, addition.passages))
                passages.extend(addition.passages)
                counter += 1
            self._commit(
                Snapshot(
                    settings={**snapshot.settings, "next_document": counter},
                    documents=documents,
                    ids=np.concatenate([snapshot.ids[keep], np.array(ids, np.int64)]),
                    table=snapshot.table.updated(keep.tolist(), passages),
                    keywords=snapshot.keywords.updated(keep, [passage.indexed_text for passage in passages]),
                    vectors=_extended(snapshot.vectors, keep, len(ids)),
                    present=np.concatenate([snapshot.present[keep], np.zeros(len(ids), bool)]),
                )
            )

    def set_vectors(self, ids: Sequence[int], vectors: Any) -> None:
        """Store the vectors of some passages."""
        with self._writing() as snapshot:
            rows = snapshot.rows(np.array(ids, np.int64))
            known = rows >= 0
            fresh = packed(vectors, self._precision)
            total, dimensions = len(snapshot.ids), fresh.shape[1]
            if snapshot.vectors is None:
                matrix = np.zeros((total, dimensions), fresh.dtype)
            else:
                self._check_dimensions(snapshot, fresh[0])
                matrix = snapshot.vectors.matrix.copy()
                fresh = fresh if matrix.dtype == fresh.dtype else packed(vectors, _precision_of(matrix))
            matrix[rows[known]] = fresh[known]
            present = snapshot.present.copy()
            present[rows[known]] = True
            exact = VectorIndex(matrix)
            graph = self._graph(exact) if present.all() else None
            self._commit(replace(snapshot, vectors=exact, present=present, graph=graph))

    def drop_vectors(self) -> None:
        """Forget all vectors."""
        with self._writing() as snapshot:
            self._commit(replace(snapshot, vectors=None, present=np.zeros(len(snapshot.ids), bool), graph=None))

    def close(self) -> None:
        """Let go of files."""
        with self._lock:
            self._snapshot = Snapshot()
            self._mark = "closed"

    # -- keeping ------------------------------------------------------------

    def _current(self) -> Snapshot:
        """The newest state, also when another process has written it."""
        if self._path is None:
            return self._snapshot
        mark = current_mark(self._path)
        if mark != self._mark:
            with self._lock:
                if mark != self._mark:
                    generation = open_generation(self._path)
                    self._snapshot = self._opened(generation) if generation else Snapshot()
                    self._mark = mark
        return self._snapshot

    @contextlib.contextmanager
    def _writing(self) -> Generator[Snapshot, None, None]:
        with self._lock:
            if self._path is None:
                yield self._snapshot
            else:
                with writer_lock(self._path):
                    yield self._current()

    def _commit(self, snapshot: Snapshot) -> None:
        if self._path is not None:
            arrays: dict[str, Array] = {"ids": snapshot.ids, "offsets": snapshot.table.offsets}
            arrays["present"] = snapshot.present
            arrays.update({f"keywords-{name}": array for name, array in snapshot.keywords.arrays().items()})
            if snapshot.vectors is not None:
                arrays["vectors"] = snapshot.vectors.matrix
            folder = write_generation(
                self._path,
                settings=snapshot.settings,
                documents=list(snapshot.documents.values()),
                lines=snapshot.table.lines,
                arrays=arrays,
                notes={"recall": snapshot.graph.recall} if snapshot.graph else {},
            )
            if snapshot.graph is not None:
                snapshot.graph.save(folder / _GRAPH)
            self._mark = current_mark(self._path)
        self._snapshot = snapshot
        self._changes += 1

    def _opened(self, generation: Generation) -> Snapshot:
        arrays = generation.arrays
        keywords = KeywordIndex.from_arrays({n: arrays[f"keywords-{n}"] for n in KeywordIndex.FIELDS})
        vectors = VectorIndex(arrays["vectors"]) if "vectors" in arrays else None
        graph = None
        if vectors is not None and "recall" in generation.notes and (generation.folder / _GRAPH).exists():
            with contextlib.suppress(ImportError, KnowledgeError):
                graph = ApproximateIndex.load(generation.folder / _GRAPH, vectors, generation.notes["recall"])
        return Snapshot(
            settings=generation.settings,
            documents={record.number: record for record in generation.documents},
            ids=arrays["ids"],
            table=PassageTable(generation.lines, arrays["offsets"]),
            keywords=keywords,
            vectors=vectors,
            present=arrays["present"],
            graph=graph,
        )

    def _graph(self, exact: VectorIndex) -> ApproximateIndex | None:
        from importlib.util import find_spec

        if len(exact) <= self._approximate_above or find_spec("usearch") is None:
            return None
        return ApproximateIndex.build(exact)

    @staticmethod
    def _check_dimensions(snapshot: Snapshot, vector: Any) -> None:
        assert snapshot.vectors is not None
        kept, given = snapshot.vectors.matrix.shape[1], len(vector)
        if kept != given:
            raise KnowledgeError(
                f"The base holds vectors of {kept} numbers and the embedding model gives {given}: open it with the "
                "model it was built with, or embed it anew."
            )


def _extended(vectors: VectorIndex | None, keep: Array, more: int) -> VectorIndex | None:
    if vectors is None:
        return None
    kept = vectors.matrix[keep]
    return VectorIndex(np.concatenate([kept, np.zeros((more, kept.shape[1]), kept.dtype)]))


def _precision_of(matrix: Array) -> Precision:
    return "int8" if matrix.dtype == np.int8 else "float32"
