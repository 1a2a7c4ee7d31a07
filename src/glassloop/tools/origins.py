"""The texts that an argument may come from, each with its place: question, conversation, observations.

What the model wrote itself in this run and the corrections it was sent are no origins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..values import Fact, facts_in, facts_in_data, narrow

_MAX_TEXT = 40_000
_LATIN_EDGE = re.compile(r"[A-Za-z0-9]")


@dataclass(frozen=True)
class Origin:
    """One text: what kind of origin it is, how it is named, and its characters."""

    kind: str
    where: str
    text: str
    data: Any = None

    @property
    def facts(self) -> Sequence[Fact]:
        """The values in the text; of an observation also those of its full data."""
        return facts_in(self.text) if self.data is None else (*facts_in(self.text), *facts_in_data(self.data))

    def find(self, needle: str) -> tuple[int, int] | None:
        """Find words as a whole, whatever their case and width."""
        folded = folded_text(self.text)
        at = -1
        for _ in range(50):
            at = folded.find(needle, at + 1)
            if at < 0 or not needle:
                return None
            if _whole(folded, at, at + len(needle)):
                return at, at + len(needle)
        return None


def _whole(text: str, start: int, end: int) -> bool:
    before = start > 0 and _LATIN_EDGE.match(text[start - 1]) and _LATIN_EDGE.match(text[start])
    after = end < len(text) and _LATIN_EDGE.match(text[end]) and _LATIN_EDGE.match(text[end - 1])
    return not before and not after


@lru_cache(maxsize=512)
def folded_text(text: str) -> str:
    """Fold case and width, one character for one, so that places stay true."""
    flat = narrow(text)
    low = flat.lower()
    return low if len(low) == len(flat) else "".join(c.lower() if len(c.lower()) == 1 else c for c in flat)


def origins_of(state: Any) -> list[Origin]:
    """List the texts of a run that a value may come from: the user's first, then observations."""
    return list(_said(state)) + list(_seen(state))


def _said(state: Any) -> Iterator[Origin]:
    yield Origin("question", "question", str(getattr(state, "question", "") or "")[:_MAX_TEXT])
    start = getattr(state, "started_event", None)
    if start is not None:
        history: Iterable[Any] = start.history
        if start.system:
            yield Origin("history", "system", start.system[:_MAX_TEXT])
    else:
        history = []
        for message in getattr(state, "messages", ()):
            if message.kind == "question":
                break
            history = [*history, message]
    for number, message in enumerate(history, 1):
        # what a tool said in an earlier turn is no more the user's word than what one says now
        kind = "observation" if message.role == "tool" else "history"
        yield Origin(kind, f"message {number} ({message.role})", message.content[:_MAX_TEXT])


def _seen(state: Any) -> Iterator[Origin]:
    start = getattr(state, "started_event", None)
    for number, passage in enumerate(getattr(start, "knowledge", ()), 1):
        yield Origin(
            "observation", f"passage {number}", json.dumps(passage, ensure_ascii=False, default=str)[:_MAX_TEXT]
        )
    for message in getattr(state, "messages", ()):
        if message.kind == "knowledge":
            yield Origin("observation", "knowledge", message.content[:_MAX_TEXT])
    observed: Iterable[tuple[Any, Any]] = getattr(state, "observed", ())
    for number, (_, seen) in enumerate(observed, 1):
        where = f"observation {number} ({seen.name})"
        yield Origin("observation", where, seen.content[:_MAX_TEXT], data=seen.data)
        if seen.data is not None and "…" in seen.content:  # it was shortened; the value may be in what was left out
            text = seen.data if isinstance(seen.data, str) else json.dumps(seen.data, ensure_ascii=False, default=str)
            yield Origin("observation", where, text[:_MAX_TEXT])
