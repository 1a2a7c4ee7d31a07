"""A base in Qdrant.

Owes: `QdrantStore`, a `Store` over a Qdrant server or Qdrant's local mode. Vectors are dense points; words are sparse
ones, weighed by Qdrant's own inverse frequencies. Qdrant has no transactions: a document's record is switched in one
write after its passages are there, and passages without a record are never shown, so a change that is cut short shows
the old document or the new one.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ...errors import KnowledgeError, MissingExtra
from ..ids import document_of, number_passages
from ..keywords import K1, B
from ..passage import Passage
from .base import Addition, DocumentRecord, Scores, Where

_META = 0
_PART = 256
_USUAL_LENGTH = 150.0
"""Terms of a usual passage: Qdrant keeps the weights, so the true mean cannot be followed."""


class QdrantStore:
    """A `Store` in Qdrant.

    Args:
        client: A `qdrant_client.QdrantClient`.
        name: Collections begin with it.
    """

    def __init__(self, client: Any, *, name: str = "glassloop") -> None:
        if not re.fullmatch(r"[\w-]{1,60}", name):
            raise KnowledgeError(f"{name!r} is no name for a base in Qdrant: use letters, digits, _ and -.")
        from qdrant_client import models

        self._client = client
        self._models: Any = models
        self._records, self._words, self._vectors = f"{name}-records", f"{name}-words", f"{name}-vectors"
        self._lock = threading.RLock()
        self._known: tuple[str, dict[str, DocumentRecord]] | None = None
        self._call(self._create)

    @classmethod
    def at(cls, location: str) -> QdrantStore:
        """The store at `qdrant://host:6333/name`, `qdrants://…` over TLS, or `qdrant:///folder?base=name` (local)."""
        try:
            from qdrant_client import QdrantClient
        except ImportError as error:
            raise MissingExtra("qdrant-client", "qdrant", "keep a base in Qdrant") from error
        parts = urlsplit(location)
        options = {key: values[0] for key, values in parse_qs(parts.query).items()}
        path = parts.path.strip("/")
        try:
            if not parts.hostname:
                client: Any = QdrantClient(path=parts.path) if path else QdrantClient(location=":memory:")
                return cls(client, name=options.get("base", "glassloop"))
            scheme = "https" if parts.scheme == "qdrants" else "http"
            client = QdrantClient(
                url=f"{scheme}://{parts.hostname}:{parts.port or 6333}",
                api_key=options.get("api_key") or parts.password,
                check_compatibility=False,
            )
        except (ValueError, RuntimeError, OSError) as error:
            raise KnowledgeError(f"Qdrant cannot be opened ({_short(error)}); check the address.") from error
        return cls(client, name=path or options.get("base", "glassloop"))

    def settings(self) -> dict[str, Any]:
        """What the base was built with."""
        return dict(self._meta().get("settings", {}))

    def put_settings(self, settings: Mapping[str, Any]) -> None:
        """Replace the settings."""
        with self._lock:
            self._put_meta(settings=dict(settings))

    def documents(self) -> dict[str, DocumentRecord]:
        """All documents by source."""
        version = self.version()
        if self._known is None or self._known[0] != version:
            records = [
                DocumentRecord.from_dict(point.payload["record"])
                for point in self._scroll(self._records)
                if point.id != _META
            ]
            self._known = version, {r.source: r for r in sorted(records, key=lambda record: record.number)}
        return dict(self._known[1])

    def apply(self, remove: Iterable[str], add: Sequence[Addition]) -> None:
        """Add passages, then switch the records, then clear away what has no record any more."""
        models = self._models
        with self._lock:
            before = self.documents()
            counter = int(self._meta().get("next_document", 1))
            self._put_meta(next_document=counter + len(add))
            records: list[DocumentRecord] = []
            for addition in add:
                self._add_passages(counter, addition)
                records.append(replace(addition.record, number=counter, passages=len(addition.passages)))
                counter += 1
            points = [
                models.PointStruct(id=_record_id(record.source), vector={}, payload={"record": record.to_dict()})
                for record in records
            ]
            if points:
                self._call(lambda: self._client.upsert(self._records, points, wait=True))
            added = {record.source for record in records}
            gone = [source for source in remove if source in before and source not in added]
            if gone:
                ids = [_record_id(source) for source in gone]
                self._call(lambda: self._client.delete(self._records, ids, wait=True))
            self._put_meta()
            live = [record.number for record in self.documents().values()]
            dead = models.Filter(must_not=[self._document_in(live)]) if live else models.Filter()
            for collection in (self._words, self._vectors):
                if self._client.collection_exists(collection):
                    self._delete_where(collection, dead)

    def count(self) -> int:
        """How many passages there are."""
        return int(self._call(lambda: self._client.count(self._words, exact=True)).count)

    def pending(self) -> list[int]:
        """Ids of passages without a vector."""
        models = self._models
        without = models.Filter(must=[models.FieldCondition(key="embedded", match=models.MatchValue(value=False))])
        return sorted(int(point.id) for point in self._scroll(self._words, without, payload=False))

    def set_vectors(self, ids: Sequence[int], vectors: Any) -> None:
        """Store the vectors of some passages."""
        models = self._models
        given = len(vectors[0])
        with self._lock:
            if not self._client.collection_exists(self._vectors):
                params = models.VectorParams(size=given, distance=models.Distance.DOT)
                self._call(lambda: self._client.create_collection(self._vectors, vectors_config=params))
                self._index(self._vectors)
            self._check(given)
            alive = {int(p.id) for part in _parts(ids) for p in self._client.retrieve(self._words, part, False)}
            rows = [(i, v) for i, v in zip(ids, vectors, strict=True) if i in alive]
            for part in _parts(rows):
                points = [
                    models.PointStruct(id=i, vector=[float(x) for x in vector], payload={"document": document_of(i)})
                    for i, vector in part
                ]
                numbers = [i for i, _ in part]
                self._upsert(self._vectors, points)
                self._mark_embedded(numbers)
            self._put_meta()

    def drop_vectors(self) -> None:
        """Forget all vectors."""
        with self._lock:
            if self._client.collection_exists(self._vectors):
                self._call(lambda: self._client.delete_collection(self._vectors))
            self._call(
                lambda: self._client.set_payload(
                    self._words, {"embedded": False}, points=self._models.Filter(), wait=True
                )
            )
            self._put_meta()

    def nearest(self, vector: Any, k: int, where: Where | None = None) -> Scores:
        """The passages whose vectors are nearest, with their cosines."""
        if not self._client.collection_exists(self._vectors):
            return {}
        self._check(len(vector))
        return self._query(self._vectors, [float(x) for x in vector], k, where)

    def matching(self, query: str, k: int, where: Where | None = None) -> Scores:
        """The passages with the best BM25 scores."""
        from ..terms import counted, query_terms

        terms, often = counted(query_terms(query))
        if not len(terms):
            return {}
        asked = self._sparse(terms, [float(min(count, 3)) for count in often.tolist()])
        found = self._query(self._words, asked, k, where, using="words")
        return {passage: score for passage, score in found.items() if score > 0}

    def cosines(self, vector: Any, ids: Sequence[int]) -> Scores:
        """The cosines of certain passages."""
        if not ids or not self._client.collection_exists(self._vectors):
            return {}
        import numpy as np

        points = self._call(lambda: self._client.retrieve(self._vectors, list(ids), False, True))
        return {int(point.id): float(np.dot(np.asarray(point.vector, np.float32), vector)) for point in points}

    def fetch(self, ids: Sequence[int]) -> dict[int, Passage]:
        """The passages with these ids."""
        if not ids:
            return {}
        documents = {record.number: record for record in self.documents().values()}
        points = self._call(lambda: self._client.retrieve(self._words, list(ids), True))
        found: dict[int, Passage] = {}
        for point in points:
            record = documents.get(document_of(int(point.id)))
            if record is not None:
                found[int(point.id)] = replace(
                    Passage.from_dict(point.payload["record"]), metadata=dict(record.metadata)
                )
        return {passage: found[passage] for passage in ids if passage in found}

    def between(self, first: int, end: int) -> list[Passage]:
        """The passages with ids in a range, in their order."""
        only = self._models.Filter(must=[self._document_in([document_of(first)])])
        ids = sorted(int(point.id) for point in self._scroll(self._words, only, payload=False))
        found: dict[int, Passage] = {}
        for part in _parts([passage for passage in ids if first <= passage < end]):
            found.update(self.fetch(part))
        return list(found.values())

    def version(self) -> str:
        """Changes whenever anything else does."""
        return str(self._meta().get("version", ""))

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    # -- inside -------------------------------------------------------------

    def _create(self) -> None:
        models = self._models
        if not self._client.collection_exists(self._records):
            self._client.create_collection(self._records, vectors_config={})
        if not self._client.collection_exists(self._words):
            sparse = models.SparseVectorParams(modifier=models.Modifier.IDF)
            self._client.create_collection(self._words, vectors_config={}, sparse_vectors_config={"words": sparse})
            self._index(self._words)
            self._client.create_payload_index(self._words, "embedded", models.PayloadSchemaType.BOOL)

    def _index(self, collection: str) -> None:
        import warnings

        with warnings.catch_warnings():
            # The local mode says that it needs no indexes.
            warnings.simplefilter("ignore")
            self._client.create_payload_index(collection, "document", self._models.PayloadSchemaType.INTEGER)

    def _add_passages(self, number: int, addition: Addition) -> None:
        from ..terms import counted, terms_of

        points: list[Any] = []
        ids = number_passages(number, addition.passages)
        for passage_id, passage in zip(ids, addition.passages, strict=True):
            terms, counts = counted(terms_of(passage.indexed_text))
            norm = K1 * (1 - B + B * float(counts.sum()) / _USUAL_LENGTH)
            weights = [count * (K1 + 1) / (count + norm) for count in counts.tolist()]
            record = passage.to_dict()
            record.pop("metadata", None)
            points.append(
                self._models.PointStruct(
                    id=passage_id,
                    vector={"words": self._sparse(terms, weights)},
                    payload={"record": record, "document": number, "embedded": False},
                )
            )
        for part in _parts(points):
            self._upsert(self._words, part)

    def _upsert(self, collection: str, points: list[Any]) -> None:
        self._call(lambda: self._client.upsert(collection, points, wait=True))

    def _mark_embedded(self, ids: list[int]) -> None:
        self._call(lambda: self._client.set_payload(self._words, {"embedded": True}, points=ids, wait=True))

    def _sparse(self, terms: Any, weights: Sequence[float]) -> Any:
        """Terms as Qdrant takes them: 32 bits; of two that meet there the heavier one counts."""
        folded: dict[int, float] = {}
        for term, weight in zip(terms.tolist(), weights, strict=True):
            short = (term ^ (term >> 32)) & 0xFFFFFFFF
            folded[short] = max(weight, folded.get(short, 0.0))
        return self._models.SparseVector(indices=list(folded), values=list(folded.values()))

    def _query(self, collection: str, query: Any, k: int, where: Where | None, using: str | None = None) -> Scores:
        documents = self.documents()
        live = {record.number for record in documents.values()}
        only = None
        if where:
            allowed = [record.number for record in documents.values() if record.matches(where)]
            if not allowed:
                return {}
            only = self._models.Filter(must=[self._document_in(allowed)])
        points = self._call(
            lambda: self._client.query_points(
                collection, query=query, using=using, query_filter=only, limit=k, with_payload=False
            )
        ).points
        return {int(point.id): float(point.score) for point in points if document_of(int(point.id)) in live}

    def _document_in(self, numbers: Sequence[int]) -> Any:
        return self._models.FieldCondition(key="document", match=self._models.MatchAny(any=list(numbers)))

    def _delete_where(self, collection: str, dead: Any) -> None:
        selector = self._models.FilterSelector(filter=dead)
        self._call(lambda: self._client.delete(collection, selector, wait=True))

    def _scroll(self, collection: str, only: Any = None, payload: bool = True) -> Iterator[Any]:
        points, offset = self._page(collection, only, payload, None)
        yield from points
        while offset is not None:
            points, offset = self._page(collection, only, payload, offset)
            yield from points

    def _page(self, collection: str, only: Any, payload: bool, offset: Any) -> tuple[list[Any], Any]:
        return self._call(
            lambda: self._client.scroll(collection, scroll_filter=only, limit=1000, offset=offset, with_payload=payload)
        )

    def _check(self, given: int) -> None:
        kept = self._call(lambda: self._client.get_collection(self._vectors)).config.params.vectors.size
        if kept != given:
            raise KnowledgeError(
                f"The base holds vectors of {kept} numbers and the embedding model gives {given}: open it with the "
                "model it was built with, or embed it anew."
            )

    def _meta(self) -> dict[str, Any]:
        points = self._call(lambda: self._client.retrieve(self._records, [_META]))
        return dict(points[0].payload) if points else {}

    def _put_meta(self, **changes: Any) -> None:
        payload = {**self._meta(), **changes, "version": uuid.uuid4().hex}
        point = self._models.PointStruct(id=_META, vector={}, payload=payload)
        self._call(lambda: self._client.upsert(self._records, [point], wait=True))

    def _call(self, work: Any) -> Any:
        with self._lock:
            try:
                return work()
            except KnowledgeError:
                raise
            except Exception as error:  # the client lets errors of its transports through
                raise KnowledgeError(f"Qdrant could not answer ({_short(error)}).") from error


def _record_id(source: str) -> str:
    return str(uuid.UUID(bytes=blake2b(source.encode("utf-8", "replace"), digest_size=16).digest()))


def _parts(items: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), _PART):
        yield list(items[start : start + _PART])


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
