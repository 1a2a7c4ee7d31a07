"""What a document and a passage are: plain, frozen records that know their place.

Owes: `Document` (what a loader hands over), `Passage` (what a chunker cuts and a search returns), both numpy-free
and serialisable, with ranges counted in characters of the document's own text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Format = Literal["markdown", "text", "code", "table"]
"""How a text is read by the chunker; loaders turn every other file type into one of these."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one document, with its place: `document.text[start:end] == text`."""

    text: str
    source: str = ""
    """The document it comes from: a path or any other name that is unique in the base."""
    start: int = 0
    end: int = 0
    page: int | None = None
    """The page the passage begins on, counted from 1; `None` where the format has no pages."""
    headings: tuple[str, ...] = ()
    """The path of headings above the passage, outermost first."""
    score: float = 0.0
    """How well it answers the query, 0 to 1; 0 for a passage that was not searched for."""
    section: int = 0
    """The number of the section inside its document: a hit never grows out of it."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def place(self) -> str:
        """Where it stands, for people: source, page and heading path in one line."""
        parts = [self.source or "text"]
        if self.page is not None:
            parts.append(f"p. {self.page}")
        if self.headings:
            parts.append(" > ".join(self.headings))
        return ", ".join(parts)

    @property
    def only_heading(self) -> bool:
        """Whether it is a heading without words below it: it answers nothing, the sections below it do."""
        return bool(self.headings) and self.text.strip().strip("#=- \r\n") == self.headings[-1]

    @property
    def indexed_text(self) -> str:
        """What is embedded and searched: the heading path above the words, where it is not in them already."""
        body = self.text.strip()
        above = [heading for heading in self.headings if heading not in body[: len(heading) + 8]]
        return " > ".join(above) + "\n" + body if above else body

    def scored(self, score: float) -> Passage:
        """The same passage with another score."""
        return replace(self, score=score)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready mapping; fields at their defaults are left out."""
        record: dict[str, Any] = {"text": self.text, "source": self.source, "start": self.start, "end": self.end}
        if self.page is not None:
            record["page"] = self.page
        if self.headings:
            record["headings"] = list(self.headings)
        if self.section:
            record["section"] = self.section
        if self.score:
            record["score"] = self.score
        if self.metadata:
            record["metadata"] = dict(self.metadata)
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Passage:
        """The inverse of `to_dict`."""
        return cls(
            text=record["text"],
            source=record.get("source", ""),
            start=record.get("start", 0),
            end=record.get("end", 0),
            page=record.get("page"),
            headings=tuple(record.get("headings", ())),
            score=record.get("score", 0.0),
            section=record.get("section", 0),
            metadata=record.get("metadata") or {},
        )


@dataclass(frozen=True, slots=True)
class Document:
    """One loaded file: its text, how to cut it, and where its pages begin."""

    source: str
    text: str
    format: Format = "markdown"
    title: str = ""
    """Stands above the headings where the text itself does not begin with a title."""
    pages: tuple[int, ...] = ()
    """The character offset at which each page begins; empty where there are no pages."""
    headings: tuple[tuple[int, int, str], ...] = ()
    """Headings known from outside the text (an outline, font sizes): offset, level from 1, title."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
