"""What a store of passages owes, whatever it is made of.

Owes: the protocol `Store` and the records it speaks in. A store keeps documents, passages, their terms and vectors;
it finds by vector and by terms; each change is whole or not at all. How results are put together is not its business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from ..passage import Passage

Where = Mapping[str, Any]
"""A filter: each key must have the value given, or one of a list of values. `source` and `title` name the document;
any other key names its metadata."""


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What a base knows of an indexed document besides its passages."""

    source: str
    content_hash: str
    number: int = 0
    """Set by the store: ids of passages begin with it."""
    path: str = ""
    """The absolute path it was read from; empty for a text that was added directly."""
    title: str = ""
    characters: int = 0
    pages: int = 0
    passages: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready mapping."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> DocumentRecord:
        """The inverse of `to_dict`."""
        return cls(**record)

    def matches(self, where: Where) -> bool:
        """Whether the document passes a filter."""
        for key, wanted in where.items():
            if key == "source":
                value: Any = self.source
            elif key == "title":
                value = self.title
            else:
                value = self.metadata.get(key)
            if isinstance(wanted, (list, tuple, set, frozenset)):
                if value not in wanted:
                    return False
            elif value != wanted:
                return False
        return True


@dataclass(frozen=True, slots=True)
class Addition:
    """A document to be stored, with its passages."""

    record: DocumentRecord
    passages: Sequence[Passage]


Scores = dict[int, float]
"""Passage ids and how well they fit, best first."""


class Store(Protocol):
    """Keeps documents and passages, and finds them. Implementations pass `tests/knowledge/store_conformance.py`."""

    def settings(self) -> dict[str, Any]:
        """What the base was built with (embedding model, sizes); empty for a new store."""
        ...

    def put_settings(self, settings: Mapping[str, Any]) -> None:
        """Replace the settings."""
        ...

    def documents(self) -> dict[str, DocumentRecord]:
        """All documents by source."""
        ...

    def apply(self, remove: Iterable[str], add: Sequence[Addition]) -> None:
        """Remove documents and add others, all or nothing; durable when it returns.

        A source that is added replaces the document of that name.
        """
        ...

    def count(self) -> int:
        """How many passages there are."""
        ...

    def pending(self) -> list[int]:
        """Ids of passages without a vector."""
        ...

    def set_vectors(self, ids: Sequence[int], vectors: Any) -> None:
        """Store the normalised vectors of some passages; durable when it returns."""
        ...

    def drop_vectors(self) -> None:
        """Forget all vectors: another embedding model is going to make them anew."""
        ...

    def nearest(self, vector: Any, k: int, where: Where | None = None) -> Scores:
        """The passages whose vectors are nearest, with their cosines."""
        ...

    def matching(self, query: str, k: int, where: Where | None = None) -> Scores:
        """The passages with the best BM25 scores; only those that have a term of the query."""
        ...

    def cosines(self, vector: Any, ids: Sequence[int]) -> Scores:
        """The cosines of certain passages, as far as they have vectors."""
        ...

    def fetch(self, ids: Sequence[int]) -> dict[int, Passage]:
        """The passages with these ids; ids that nobody has are left out."""
        ...

    def between(self, first: int, end: int) -> list[Passage]:
        """The passages with ids from `first` up to, not including, `end`, in their order."""
        ...

    def version(self) -> str:
        """Changes whenever anything else does, also by another process: caches live as long as it stays."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
