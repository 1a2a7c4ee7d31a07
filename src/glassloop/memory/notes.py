"""Long-term notes of a user: two plain functions for a model, and a search that reads Chinese and English alike."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ..types import Record

if TYPE_CHECKING:
    from .sessions import SessionStore

_HAN = re.compile("[\u3400-\u9fff]+")
_WORD = re.compile(r"[^\W_\u3400-\u9fff]+")
_COMMON = frozenset(
    "a an and are as at be by do does for from has have how i in is it its me my of on or s that the their they this to"
    " was we what when where which who will with you your 的 了 是 我 在 吗 什么 哪 里 有 和".split()
)
_PART_OF_PAIR = 0.3


@dataclass(frozen=True)
class Note(Record):
    """One remembered sentence."""

    id: int
    text: str
    created: float


def terms(words: str) -> Counter[str]:
    """Return what a text is found by: words for English, pairs of characters for Chinese (single ones weigh less)."""
    plain = unicodedata.normalize("NFKC", words).casefold()
    found = Counter(_stem(word) for word in _WORD.findall(plain) if word not in _COMMON)
    for run in _HAN.findall(plain):
        found.update(run[at : at + 2] for at in range(len(run) - 1))
        found.update(char for char in run if char not in _COMMON)
    return found


def _stem(word: str) -> str:
    """Fold the commonest English endings, so that `meetings` finds `meeting`."""
    for ending in ("ies", "es", "s"):
        if word.isascii() and word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word.removesuffix("e") if word.isascii() and len(word) > 3 else word


def best(notes: Sequence[Note], query: str, limit: int) -> tuple[Note, ...]:
    """Return the notes that share terms with the query, best first; rare terms count more, long notes less."""
    if limit < 1:
        return ()
    wanted = terms(query)
    if not wanted:
        return tuple(notes[:limit]) if not query.strip() else ()
    held = [terms(note.text) for note in notes]
    among = Counter(term for one in held for term in one)
    scored: list[tuple[float, int]] = []
    for at, one in enumerate(held):
        score = sum(
            (_PART_OF_PAIR if len(term) == 1 and _HAN.match(term) else 1.0) * math.log(1 + len(notes) / among[term])
            for term in wanted
            if term in one
        )
        if score > 0:
            scored.append((score / math.sqrt(4 + len(one)), at))
    # At equal scores the later note stands first: it may correct the earlier one. `notes` begins with the latest.
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    return tuple(notes[at] for _, at in scored[:limit])


def notes_tools(
    store: SessionStore, user: str
) -> tuple[Callable[[str], dict[str, Any]], Callable[..., dict[str, Any]]]:
    """Return the functions `remember` (it writes: declare it with risk `write`) and `recall` for one user's notes.

    Args:
        store: Where the notes are kept.
        user: Whose notes they are; nobody else's are ever read or written.
    """

    def remember(text: str) -> dict[str, Any]:
        """Keep a fact about the user for later conversations: what they asked to be remembered, or said of themselves.

        Args:
            text: One complete sentence that can be understood without this conversation.
        """
        note = store.add_note(user, text)
        return {"remembered": note.text, "id": note.id}

    def recall(query: str, limit: int = 5) -> dict[str, Any]:
        """Find what was remembered about the user in earlier conversations.

        Args:
            query: Words to look for, for example "birthday" or "过敏". Empty for the latest notes.
            limit: At most this many notes.
        """
        found = store.find_notes(user, query, min(max(limit, 1), 50))
        return {"notes": [{"text": note.text, "date": _date(note.created)} for note in found], "found": len(found)}

    return remember, recall


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, tz=timezone.utc).date().isoformat()
