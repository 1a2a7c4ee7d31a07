"""Finds in a raw reply the parts that were understood, so that what was passed over can be seen too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from ..types import Move, Record, ToolCall

_LONGEST = 200_000
_SHORTEST = 2
"""A value of one character is found everywhere and says nothing."""


@dataclass(frozen=True)
class Part(Record):
    """A piece of a reply. `mark` says how it was understood: `thought`, `name`, `argument`, `answer`, or not at all."""

    text: str
    mark: str = ""


def call_text(call: ToolCall) -> str:
    """Write a call as code: `weather(city="Paris")`."""
    arguments = ", ".join(f"{k}={json.dumps(v, ensure_ascii=False, default=str)}" for k, v in call.arguments.items())
    return f"{call.name}({arguments})"


def mark_reply(text: str, move: Move) -> tuple[Part, ...]:
    """Cut a reply into its understood parts and the rest, in order; joined they are the reply."""
    if not text or len(text) > _LONGEST:
        return (Part(text),) if text else ()
    spans: list[tuple[int, int, str]] = []
    for value, mark in _wanted(move):
        found = _find(text, value, spans)
        if found is not None:
            spans.append((*found, mark))
    parts: list[Part] = []
    at = 0
    for start, end, mark in sorted(spans):
        if start > at:
            parts.append(Part(text[at:start]))
        parts.append(Part(text[start:end], mark))
        at = end
    if at < len(text):
        parts.append(Part(text[at:]))
    return tuple(parts)


def _wanted(move: Move) -> Iterator[tuple[str, str]]:
    """Give the values that were taken from the reply, in the order in which replies are written."""
    if move.thought:
        yield move.thought, "thought"
    for call in move.calls:
        yield call.name, "name"
        for value in _leaves(call.arguments):
            yield value, "argument"
    if move.answer:
        yield move.answer, "answer"


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            yield from _leaves(inner)
    elif isinstance(value, (list, tuple)):
        for inner in cast("list[Any]", value):
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value
    elif value is not None:
        yield json.dumps(value, default=str)


def _find(text: str, value: str, taken: list[tuple[int, int, str]]) -> tuple[int, int] | None:
    """Find a value as it stands, as JSON writes it, or with its white space set differently."""
    if len(value.strip()) < _SHORTEST and not value.strip().isdigit():
        return None
    after = max((end for _, end, _ in taken), default=0)
    quoted = text.find(f'"{value}"', after)  # a name may be a word of the thought as well
    if quoted >= 0 and _free(text, quoted + 1, quoted + 1 + len(value), taken):
        return quoted + 1, quoted + 1 + len(value)
    for form in dict.fromkeys((value, json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1])):
        for begin in (after, 0):
            start = text.find(form, begin)
            while start >= 0 and not _free(text, start, start + len(form), taken):
                start = text.find(form, start + 1)
            if start >= 0:
                return start, start + len(form)
    words = value.split()
    if 1 < len(words) <= 400:
        match = re.search(r"\s+".join(map(re.escape, words)), text)
        if match and _free(text, *match.span(), taken):
            return match.span()
    return None


def _free(text: str, start: int, end: int, taken: list[tuple[int, int, str]]) -> bool:
    """Whether a place is not yet marked and does not cut a number or a word in two."""
    if any(start < e and s < end for s, e, _ in taken):
        return False
    first, last = text[start], text[end - 1]
    cut_left = (
        start > 0 and first.isascii() and first.isalnum() and text[start - 1].isascii() and text[start - 1].isalnum()
    )
    cut_right = end < len(text) and last.isascii() and last.isalnum() and text[end].isascii() and text[end].isalnum()
    return not (cut_left or cut_right)
