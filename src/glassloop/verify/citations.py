"""Does every citation [n] of an answer point to a passage that the model was shown?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ..state import State

_NUMBER_KEYS = {"n", "no", "number", "ref", "cite", "citation", "passage", "index", "rank"}
_BRACKET = re.compile(r"\[(\d{1,3})\]")
_CODE = re.compile(r"```[\s\S]*?(?:```|$)|`[^`\n]*`")
_CITED = re.compile(
    r"(?<![A-Za-z0-9_\])])\s?\[(\d{1,3})\](?!\()|(?<=[A-Za-z0-9%])\[(\d{1,3})\](?=[\s.,;:!?。，；、\[]|$)"
)
_CITED_ANY = re.compile(r"[\[【]\s*(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\s*[\]】](?!\()")


def passages(state: State) -> set[int]:
    """Return the numbers of all passages that the model was shown."""
    numbers: set[int] = set()
    for message in state.messages:
        if message.kind == "knowledge":
            numbers |= {int(n) for n in _BRACKET.findall(message.content)}
    numbers |= set(range(1, len(state.started_event.knowledge) + 1))
    for _, seen in state.observed:
        numbers |= {int(n) for n in _BRACKET.findall(seen.content)}
        numbers |= _numbered(seen.data)
    return numbers


def _numbered(data: Any, depth: int = 0) -> set[int]:
    if depth > 4:
        return set()
    if isinstance(data, Mapping):
        found = cast("Mapping[Any, Any]", data)
        own = {v for k, v in found.items() if str(k).lower() in _NUMBER_KEYS and type(v) is int and 0 < v < 1000}
        return own.union(*(_numbered(v, depth + 1) for v in found.values()))
    if isinstance(data, (list, tuple)):
        items = list(cast("Iterable[Any]", data))[:500]
        numbers = set[int]().union(*(_numbered(v, depth + 1) for v in items))
        return numbers or (set(range(1, len(items) + 1)) if items and isinstance(items[0], Mapping) else set())
    return set()


def lost_citations(answer: str, state: State) -> tuple[list[int], set[int]]:
    """Return the cited numbers that belong to no passage, and the numbers that could be cited.

    Without any observation a bracketed number may be anything, and is left alone.
    """
    valid = passages(state)
    if not valid and not state.observed:
        return [], set()
    written = set(_BRACKET.findall(state.question))  # one-element lists the user wrote, such as [5], are data
    cited = [int(a or b) for a, b in _CITED.findall(_CODE.sub(" ", answer))]
    return [n for n in dict.fromkeys(cited) if n not in valid and str(n) not in written], valid


def numbered_passages(state: State) -> list[dict[str, Any]]:
    """Return every passage the model was shown, by its number: those before the question and those of its searches."""
    known: dict[int, dict[str, Any]] = {int(p["n"]): dict(p) for p in state.started_event.knowledge if "n" in p}
    for _, seen in state.observed:
        _collect(seen.data, known)
    return [known[number] for number in sorted(known)]


def cited_sources(answer: str, state: State) -> tuple[dict[str, Any], ...]:
    """Return the passages that an answer cites, in the order in which it does: number, source, place and text."""
    known = {record["n"]: record for record in numbered_passages(state)}
    numbers = [int(n) for group in _CITED_ANY.findall(answer) for n in re.findall(r"\d+", group)]
    return tuple(known[n] for n in dict.fromkeys(numbers) if n in known)


def _collect(data: Any, known: dict[int, dict[str, Any]], depth: int = 0) -> None:
    """Take in every numbered passage of a result: an object with a number and a source."""
    if depth > 4:
        return
    if isinstance(data, Mapping):
        record = cast("dict[str, Any]", dict(cast("Mapping[Any, Any]", data)))
        if type(record.get("n")) is int and "source" in record:
            known.setdefault(record["n"], record)
            return
        data = list(record.values())
    if isinstance(data, (list, tuple)):
        for item in list(cast("Iterable[Any]", data))[:500]:
            _collect(item, known, depth + 1)
