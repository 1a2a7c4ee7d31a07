"""Numbers for passages, and passages for numbers.

Owes: `Citations`, which numbers the passages a run has been shown, so that an answer can cite [1] and a reader, or the
verifier, can look up what stands there. The same passage keeps its number through a run.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

from .passage import Passage

_CITED = re.compile(r"[\[【]\s*(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\s*[\]】](?!\()")


class Citations:
    """The passages shown so far, numbered from 1."""

    def __init__(self) -> None:
        self._passages: list[Passage] = []
        self._numbers: dict[tuple[str, int, int], int] = {}
        self._lock = threading.Lock()

    def number(self, passage: Passage) -> int:
        """The passage's number; a new one if it has not been shown yet."""
        key = (passage.source, passage.start, passage.end)
        with self._lock:
            if key not in self._numbers:
                self._passages.append(passage)
                self._numbers[key] = len(self._passages)
            return self._numbers[key]

    def passage(self, number: int) -> Passage | None:
        """What stands behind [number]; `None` for a citation that points to nothing."""
        return self._passages[number - 1] if 1 <= number <= len(self._passages) else None

    def sources(self) -> list[dict[str, Any]]:
        """All passages shown, as plain data for a run's record."""
        return [source_record(number, passage) for number, passage in enumerate(self._passages, 1)]

    def dangling(self, answer: str) -> list[int]:
        """The numbers an answer cites that point to nothing."""
        return [number for number in cited(answer) if self.passage(number) is None]

    def clear(self) -> None:
        """Begin again at [1]."""
        with self._lock:
            self._passages.clear()
            self._numbers.clear()

    def __len__(self) -> int:
        return len(self._passages)


def cited(answer: str) -> list[int]:
    """The numbers an answer cites as [1], [2, 3] or 【1】, each once, in order."""
    numbers = [int(number) for group in _CITED.findall(answer) for number in re.findall(r"\d+", group)]
    return list(dict.fromkeys(numbers))


def source_record(number: int, passage: Passage) -> dict[str, Any]:
    """One numbered passage as plain data."""
    record: dict[str, Any] = {"n": number, "source": passage.source}
    if passage.page is not None:
        record["page"] = passage.page
    if passage.headings:
        record["headings"] = " > ".join(passage.headings)
    return record | {
        "range": [passage.start, passage.end],
        "score": round(passage.score, 3),
        "text": passage.text.strip(),
    }


def numbered(passages: Sequence[Passage], citations: Citations) -> list[dict[str, Any]]:
    """Passages as a tool hands them to a model."""
    return [source_record(citations.number(passage), passage) for passage in passages]
