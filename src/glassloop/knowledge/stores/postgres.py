"""A base in PostgreSQL with pgvector.

Owes: `PostgresStore`, a `Store` for bases that several machines share or that outgrow one machine's memory. Vectors
are searched exactly by pgvector, words by BM25 in one SQL statement over the same terms as the store in memory, so
both find the same. A change is one transaction.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import struct
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ...errors import KnowledgeError, MissingExtra
from ..ids import number_passages
from ..keywords import K1, B
from ..passage import Passage
from .address import connection_options
from .base import Addition, DocumentRecord, Scores, Where

_SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS {name}_meta (key text PRIMARY KEY, value jsonb NOT NULL);
CREATE TABLE IF NOT EXISTS {name}_documents (number bigint PRIMARY KEY, source text UNIQUE NOT NULL, record jsonb);
CREATE TABLE IF NOT EXISTS {name}_passages (
    id bigint PRIMARY KEY,
    document bigint NOT NULL REFERENCES {name}_documents ON DELETE CASCADE,
    length integer NOT NULL,
    record jsonb NOT NULL,
    embedding vector
);
CREATE INDEX IF NOT EXISTS {name}_passages_document ON {name}_passages (document);
CREATE TABLE IF NOT EXISTS {name}_terms (
    term bigint NOT NULL,
    passage bigint NOT NULL REFERENCES {name}_passages ON DELETE CASCADE,
    count smallint NOT NULL,
    PRIMARY KEY (term, passage)
);
CREATE INDEX IF NOT EXISTS {name}_terms_passage ON {name}_terms (passage);
"""
_BM25 = """
WITH asked AS (SELECT * FROM unnest(:terms::bigint[], :often::int[]) AS asked (term, often)),
     size AS (SELECT count(*)::float8 AS total, greatest(avg(length), 1)::float8 AS usual FROM {name}_passages),
     rare AS (
         SELECT term, count(*)::float8 AS having FROM {name}_terms WHERE term = ANY(:terms::bigint[]) GROUP BY term
     )
SELECT t.passage, sum(
    least(asked.often, 3) * ln(1 + (size.total - rare.having + 0.5) / (rare.having + 0.5))
    * t.count * {k1_plus} / (t.count + {k1} * ({one_minus_b} + {b} * p.length / size.usual))
) AS score
FROM {name}_terms t JOIN asked USING (term) JOIN rare USING (term) JOIN {name}_passages p ON p.id = t.passage, size
WHERE :documents::bigint[] IS NULL OR p.document = ANY(:documents::bigint[])
GROUP BY t.passage ORDER BY score DESC, t.passage LIMIT :k
"""
_NEAREST = """
SELECT id, -(embedding <#> :vector::vector) AS cosine FROM {name}_passages
WHERE embedding IS NOT NULL AND (:documents::bigint[] IS NULL OR document = ANY(:documents::bigint[]))
ORDER BY embedding <#> :vector::vector, id LIMIT :k
"""
_SET_VECTORS = """
UPDATE {name}_passages SET embedding = given.vector::vector
FROM unnest(:ids::bigint[], :vectors::text[]) AS given (id, vector) WHERE {name}_passages.id = given.id
"""
_AT_ONCE = 1_000


class PostgresStore:
    """A `Store` in PostgreSQL.

    Args:
        url: `postgresql://user:password@host/database`.
        name: Tables begin with it, so that several bases fit into one database.
    """

    def __init__(self, url: str, *, name: str = "glassloop") -> None:
        try:
            from pg8000 import exceptions, native
        except ImportError as error:
            raise MissingExtra("pg8000", "pgvector", "keep a base in PostgreSQL") from error
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,40}", name):
            raise KnowledgeError(f"{name!r} is no name for a base in PostgreSQL: use small letters, digits and _.")
        self._name = name
        # A connection that breaks shows itself as an error of the socket or of the half message that was read.
        self._errors: tuple[type[Exception], ...] = (exceptions.Error, OSError, struct.error)
        self._lock = threading.RLock()
        options = connection_options(url)
        try:
            self._connection: Any = native.Connection(**options)
        except self._errors as error:
            raise KnowledgeError(f"PostgreSQL cannot be reached ({_short(error)}); check the address.") from error
        with self._transaction():
            self._run("SELECT pg_advisory_xact_lock(710276)")
            self._run(_SCHEMA)

    def settings(self) -> dict[str, Any]:
        """What the base was built with."""
        rows = self._run("SELECT value FROM {name}_meta WHERE key = 'settings'")
        return dict(rows[0][0]) if rows else {}

    def put_settings(self, settings: Mapping[str, Any]) -> None:
        """Replace the settings."""
        with self._changing():
            self._put("settings", dict(settings))

    def documents(self) -> dict[str, DocumentRecord]:
        """All documents by source."""
        rows = self._run("SELECT record FROM {name}_documents ORDER BY number")
        return {record["source"]: DocumentRecord.from_dict(record) for (record,) in rows}

    def apply(self, remove: Iterable[str], add: Sequence[Addition]) -> None:
        """Remove documents and add others in one transaction."""
        gone = list({*remove, *(addition.record.source for addition in add)})
        with self._changing():
            self._run("DELETE FROM {name}_documents WHERE source = ANY(:gone::text[])", {"gone": gone})
            counter = int(self._meta("next_document", 1))
            for addition in add:
                self._insert(counter, addition)
                counter += 1
            self._put("next_document", counter)

    def count(self) -> int:
        """How many passages there are."""
        return int(self._run("SELECT count(*) FROM {name}_passages")[0][0])

    def pending(self) -> list[int]:
        """Ids of passages without a vector."""
        return [row[0] for row in self._run("SELECT id FROM {name}_passages WHERE embedding IS NULL ORDER BY id")]

    def set_vectors(self, ids: Sequence[int], vectors: Any) -> None:
        """Store the vectors of some passages."""
        given = len(vectors[0])
        with self._changing():
            kept = self._run("SELECT vector_dims(embedding) FROM {name}_passages WHERE embedding IS NOT NULL LIMIT 1")
            if kept and kept[0][0] != given:
                raise _other_dimensions(kept[0][0], given)
            for start in range(0, len(ids), _AT_ONCE):
                values = {
                    "ids": _array(ids[start : start + _AT_ONCE]),
                    "vectors": [_literal(vector) for vector in vectors[start : start + _AT_ONCE]],
                }
                self._run(_SET_VECTORS, values)

    def drop_vectors(self) -> None:
        """Forget all vectors."""
        with self._changing():
            self._run("UPDATE {name}_passages SET embedding = NULL")

    def nearest(self, vector: Any, k: int, where: Where | None = None) -> Scores:
        """The passages whose vectors are nearest, with their cosines."""
        try:
            rows = self._run(_NEAREST, {"vector": _literal(vector), "k": k, "documents": self._allowed(where)})
        except KnowledgeError as error:
            if "different vector dimensions" in str(error):
                raise _other_dimensions("another number of", len(vector)) from error
            raise
        return {passage: float(cosine) for passage, cosine in rows}

    def matching(self, query: str, k: int, where: Where | None = None) -> Scores:
        """The passages with the best BM25 scores."""
        from ..terms import counted, query_terms

        terms, often = counted(query_terms(query))
        if not len(terms):
            return {}
        values = {
            "terms": _array(_signed(term) for term in terms.tolist()),
            "often": _array(often.tolist()),
            "k": k,
            "documents": self._allowed(where),
        }
        return {passage: float(score) for passage, score in self._run(_BM25, values)}

    def cosines(self, vector: Any, ids: Sequence[int]) -> Scores:
        """The cosines of certain passages."""
        rows = self._run(
            "SELECT id, -(embedding <#> :vector::vector) FROM {name}_passages "
            "WHERE id = ANY(:ids::bigint[]) AND embedding IS NOT NULL",
            {"vector": _literal(vector), "ids": _array(ids)},
        )
        return {passage: float(cosine) for passage, cosine in rows}

    def fetch(self, ids: Sequence[int]) -> dict[int, Passage]:
        """The passages with these ids."""
        rows = self._run(
            "SELECT p.id, p.record, d.record->'metadata' FROM {name}_passages p "
            "JOIN {name}_documents d ON d.number = p.document WHERE p.id = ANY(:ids::bigint[])",
            {"ids": _array(ids)},
        )
        found = {
            passage: replace(Passage.from_dict(record), metadata=metadata or {}) for passage, record, metadata in rows
        }
        return {passage: found[passage] for passage in ids if passage in found}

    def between(self, first: int, end: int) -> list[Passage]:
        """The passages with ids in a range, in their order."""
        rows = self._run(
            "SELECT id FROM {name}_passages WHERE id >= :first AND id < :end ORDER BY id",
            {"first": first, "end": end},
        )
        return list(self.fetch([row[0] for row in rows]).values())

    def version(self) -> str:
        """Changes whenever anything else does."""
        return str(self._meta("version", 0))

    def close(self) -> None:
        """Close the connection; closing twice does no harm."""
        with contextlib.suppress(*self._errors):
            self._connection.close()

    # -- inside -------------------------------------------------------------

    def _insert(self, number: int, addition: Addition) -> None:
        from ..terms import counted, terms_of

        record = replace(addition.record, number=number, passages=len(addition.passages))
        self._run(
            "INSERT INTO {name}_documents VALUES (:number, :source, :record::jsonb)",
            {"number": number, "source": record.source, "record": _json(record.to_dict())},
        )
        passages: list[str] = []
        words: list[str] = []
        ids = number_passages(number, addition.passages)
        for passage_id, passage in zip(ids, addition.passages, strict=True):
            terms, counts = counted(terms_of(passage.indexed_text))
            plain = passage.to_dict()
            plain.pop("metadata", None)
            passages.append(f"{passage_id}\t{number}\t{int(counts.sum())}\t{_escaped(_json(plain))}\n")
            for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
                words.append(f"{_signed(term)}\t{passage_id}\t{min(count, 255)}\n")
        self._copy("COPY {name}_passages (id, document, length, record) FROM STDIN", passages)
        self._copy("COPY {name}_terms (term, passage, count) FROM STDIN", words)

    def _allowed(self, where: Where | None) -> str | None:
        if not where:
            return None
        return _array(record.number for record in self.documents().values() if record.matches(where))

    def _meta(self, key: str, default: Any) -> Any:
        rows = self._run("SELECT value FROM {name}_meta WHERE key = :key", {"key": key})
        return rows[0][0] if rows else default

    def _put(self, key: str, value: Any) -> None:
        self._run(
            "INSERT INTO {name}_meta VALUES (:key, :value::jsonb) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            {"key": key, "value": _json(value)},
        )

    @contextlib.contextmanager
    def _transaction(self) -> Generator[None, None, None]:
        with self._lock:
            self._run("BEGIN")
            try:
                yield
                self._run("COMMIT")
            except BaseException:
                # The first error is the one to tell; a connection that is gone has rolled back by itself.
                with contextlib.suppress(KnowledgeError):
                    self._run("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _changing(self) -> Generator[None, None, None]:
        """A transaction of the one writer, which makes a new version."""
        with self._transaction():
            self._run("LOCK TABLE {name}_meta IN EXCLUSIVE MODE")
            yield
            self._put("version", int(self._meta("version", 0)) + 1)

    def _run(self, statement: str, values: Mapping[str, Any] | None = None) -> list[Any]:
        return self._ask(self._filled(statement), **(values or {}))

    def _copy(self, statement: str, lines: list[str]) -> None:
        self._ask(self._filled(statement), stream=io.BytesIO("".join(lines).encode()))

    def _filled(self, statement: str) -> str:
        return statement.format(name=self._name, k1=K1, k1_plus=K1 + 1, b=B, one_minus_b=1 - B)

    def _ask(self, statement: str, **values: Any) -> list[Any]:
        with self._lock:
            try:
                return self._connection.run(statement, **values) or []
            except self._errors as error:
                raise KnowledgeError(f"PostgreSQL could not answer ({_short(error)}).") from error


def _json(value: Any) -> str:
    # PostgreSQL's jsonb cannot hold the character 0, nor half of a surrogate pair.
    text = json.dumps(value, ensure_ascii=False).replace("\\u0000", "\ufffd")
    return text.encode("utf-8", "replace").decode("utf-8")


def _escaped(text: str) -> str:
    """A value as COPY wants it: JSON has neither tabs nor line ends of its own."""
    return text.replace("\\", "\\\\")


def _array(numbers: Iterable[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def _literal(vector: Any) -> str:
    return "[" + ",".join(f"{float(value):.8g}" for value in vector) + "]"


def _signed(term: int) -> int:
    return term - (1 << 64) if term >> 63 else term


def _short(error: BaseException) -> str:
    # The driver hands over the server's reply as fields; M is its message.
    first: Any = error.args[0] if error.args else ""
    said = cast("dict[str, str]", first).get("M", "") if isinstance(first, dict) else str(error)
    return " ".join(said.split())[:200]


def _other_dimensions(kept: object, given: int) -> KnowledgeError:
    return KnowledgeError(
        f"The base holds vectors of {kept} numbers and the embedding model gives {given}: open it with the model it "
        "was built with, or embed it anew."
    )
