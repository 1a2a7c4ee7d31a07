"""A knowledge base in the hands of an agent: its tool, the passages before a question, and one numbering for both.

Owes: `Shelf`. The numbers of a run begin at [1] and are never given twice in it, also when the run is gone on with
in another process; two runs at once share the numbering rather than confuse it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from .cite import Citations, numbered
from .passage import Passage
from .tool import knowledge_tool

FIRST = 3
"""Passages put before a question: enough to answer most, few enough for a small context."""


class Shelf:
    """What an agent has of a base.

    Args:
        base: A `KnowledgeBase`, or any object with its `search`.
        first: Whether passages are put before each question as well.
        k: How many passages the tool gives.
    """

    def __init__(self, base: Any, *, first: bool = False, k: int = 5) -> None:
        self.base = base
        self.first = first
        self.function: Any = knowledge_tool(base, k=k)
        self._citations: Citations = self.function.citations
        self._running = 0
        self._lock = threading.Lock()

    def enter(self) -> None:
        """A run has begun."""
        with self._lock:
            self._running += 1

    def leave(self) -> None:
        """A run has ended."""
        with self._lock:
            self._running -= 1

    def before(self, question: str, *, keep: bool = False) -> tuple[dict[str, Any], ...]:
        """Return the passages to put before a question, numbered; none if that is not wanted or nothing fits.

        Args:
            question: The question.
            keep: Go on with the numbers there are: an earlier turn of the conversation has used them.
        """
        with self._lock:
            if not self._running and not keep:
                self._citations.clear()
        return tuple(numbered(self.base.search(question, FIRST), self._citations)) if self.first else ()

    def recall(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Give the passages of a recorded run the numbers they have there.

        Args:
            records: What a journal has of them, in the order of their numbers.
        """
        for record in records:
            start, end = record.get("range") or (0, 0)
            passage = Passage(str(record.get("text", "")), str(record.get("source", "")), int(start), int(end))
            self._citations.number(passage)
