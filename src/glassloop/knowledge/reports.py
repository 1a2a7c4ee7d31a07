"""What the gear tells a command line or a notebook while it works and when it is done.

Owes: `Progress` for callbacks, and reports that print as plain lines or turn into JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long work is."""

    stage: Literal["files", "vectors", "questions"]
    done: int
    total: int
    name: str = ""
    """The file just read, or the model at work."""


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What filling in vectors did."""

    vectors: int
    computed: int
    """Those not found in the cache."""
    pending: int
    seconds: float
    embedder: str
    """Empty where there is none and keywords alone serve."""

    def lines(self) -> list[str]:
        """For people."""
        if not self.embedder:
            return ["No embedding model: keywords alone serve; pip install 'glassloop[knowledge]' adds meaning."]
        if not self.vectors:
            return []
        cached = self.vectors - self.computed
        from_cache = f", {cached:,} of them from the cache" if cached else ""
        return [f"{self.vectors:,} vectors by {self.embedder} in {self.seconds:.1f} s{from_cache}."]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


@dataclass(slots=True)
class IndexReport:
    """What indexing did, file by file."""

    added: list[str] = field(default_factory=list[str])
    updated: list[str] = field(default_factory=list[str])
    unchanged: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    """Path and reason, one sentence each; a failed file never stops the others."""
    notes: dict[str, str] = field(default_factory=dict[str, str])
    """Files that were read, but not wholly as one would wish."""
    passages: int = 0
    pages: int = 0
    characters: int = 0
    seconds: float = 0.0
    embedding: EmbedReport | None = None

    @property
    def changed(self) -> bool:
        """Whether the base is another one now."""
        return bool(self.added or self.updated or self.removed)

    def lines(self) -> list[str]:
        """For people: a summary, then one line for each file that failed or needs a word."""
        summary = (
            f"{len(self.added)} added, {len(self.updated)} updated, {len(self.unchanged)} unchanged, "
            f"{len(self.removed)} removed, {len(self.failed)} failed: {self.passages:,} passages"
        )
        if self.pages:
            summary += f" from {self.pages:,} pages"
        lines = [f"{summary} in {self.seconds:.1f} s."]
        lines.extend(f"failed: {path}: {reason}" for path, reason in self.failed.items())
        lines.extend(f"note: {path}: {note}" for path, note in self.notes.items())
        if self.embedding:
            lines.extend(self.embedding.lines())
        return lines

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Status:
    """A base in numbers."""

    documents: int
    passages: int
    pages: int
    characters: int
    pending: int
    embedder: str
    recall: float | None = None
    """Measured recall of the approximate index; `None` where the search is exact."""

    def lines(self) -> list[str]:
        """For people."""
        lines = [f"{self.documents:,} documents, {self.passages:,} passages, {self.characters:,} characters"]
        if not self.embedder:
            lines.append("keywords alone (no embedding model installed)")
        elif self.pending:
            lines.append(f"{self.pending:,} passages wait for their vectors ({self.embedder})")
        if self.recall is not None:
            lines.append(f"approximate search, recall {self.recall:.3f}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)
