"""Every call gets exactly one result, right behind it, under an id of its own.

A conversation is taken apart into units: a call message with all its results is one unit
and is kept, moved or dropped as one. Results are matched by id, and by position where ids
are missing or the same for everything. What is decided about a message depends only on
what stands before it (and on its own batch), so that a growing history keeps its prefix.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from ..prompts import LANGUAGES, language_of, text
from ..types import canonical
from .wire import Wire, joined, text_of

Unit = list[Wire]
"""Messages that belong together: one plain message, or a call message followed by its results."""

_NINE = re.compile(r"[A-Za-z0-9]{9}")
_LONGEST_ID = 40


def paired(messages: list[Wire], *, short_ids: bool = False) -> list[Unit]:
    """Return the conversation as units, with every call answered once and all ids unique."""
    owners, orphans = _match(messages)
    units: list[Unit] = []
    ids = _Ids(short_ids)
    language = "en"
    for at, message in enumerate(messages):
        if message["role"] == "user":
            language = language_of(text_of(message["content"]))
        if message["role"] == "tool":
            if at in orphans:
                units.append([_as_text(message, language)])
        elif message.get("tool_calls"):
            units.append(_batch(message, owners.get(at, {}), ids, language))
        elif is_result_text(message) and units and units[-1][0]["role"] == "assistant" and len(units[-1]) == 1:
            units[-1] = [*units[-1], message]
        else:
            units.append([message])
    return units


def result_text(name: str, content: str, language: str) -> str:
    """Write a result as text, for templates without a tool role."""
    start = text("memory", language, "result_start", name=name)
    return "\n".join((start, content, text("memory", language, "result_end")))


def is_result_text(message: Wire) -> bool:
    """Whether a user message is nothing but results written by `result_text`, and so nothing the user said."""
    content = message.get("content")
    if message["role"] != "user" or not isinstance(content, str):
        return False
    for language in LANGUAGES:
        start, end = text("memory", language, "result_start", name="\0").split("\0")
        first = content.split("\n", 1)[0]
        if first.startswith(start) and first.endswith(end) and content.endswith(text("memory", language, "result_end")):
            return True
    return False


def _match(messages: list[Wire]) -> tuple[dict[int, dict[int, Wire]], set[int]]:
    """Find the result of every call: a dict of results by place in its batch, and the results nobody asked for."""
    owners: dict[int, dict[int, Wire]] = {}
    loose: list[tuple[int, int | None]] = []
    current: int | None = None
    for at, message in enumerate(messages):
        if message.get("tool_calls"):
            current = at
            owners[at] = {}
        elif message["role"] == "tool":
            slot = _slot_by_id(messages, owners, current, message["tool_call_id"])
            if slot:
                owners[slot[0]][slot[1]] = message
            elif not _said_already(messages, owners, message):
                loose.append((at, current))
    orphans: set[int] = set()
    for at, batch in loose:
        message = messages[at]
        place = _slot_by_place(messages, owners, batch, message)
        if batch is not None and place is not None:
            owners[batch][place] = message
        elif not _add_to_answered(messages, owners, message):
            orphans.add(at)
    return owners, orphans


def _slot_by_id(
    messages: list[Wire], owners: dict[int, dict[int, Wire]], current: int | None, given: str | None
) -> tuple[int, int] | None:
    """Find the open call with this id: in the latest batch first, then in the oldest that waits."""
    if given is None or current is None:
        return None
    for batch in (current, *owners):
        for place, call in enumerate(messages[batch]["tool_calls"]):
            if call["id"] == given and place not in owners[batch]:
                return batch, place
    return None


def _slot_by_place(
    messages: list[Wire], owners: dict[int, dict[int, Wire]], batch: int | None, message: Wire
) -> int | None:
    if batch is None:
        return None
    calls = messages[batch]["tool_calls"]
    free = [place for place in range(len(calls)) if place not in owners[batch]]
    named = [place for place in free if calls[place]["function"]["name"] == message.get("name")]
    return next(iter(named or free), None)


def _answered(messages: list[Wire], owners: dict[int, dict[int, Wire]], given: str | None) -> tuple[int, int] | None:
    """The latest answered call with this id."""
    if given is None:
        return None
    for batch in reversed(owners):
        for place in owners[batch]:
            if messages[batch]["tool_calls"][place]["id"] == given:
                return batch, place
    return None


def _said_already(messages: list[Wire], owners: dict[int, dict[int, Wire]], message: Wire) -> bool:
    slot = _answered(messages, owners, message["tool_call_id"])
    return slot is not None and owners[slot[0]][slot[1]]["content"] == message["content"]


def _add_to_answered(messages: list[Wire], owners: dict[int, dict[int, Wire]], message: Wire) -> bool:
    """A second, different result of one call: both texts stay, in the one result the call may have."""
    slot = _answered(messages, owners, message["tool_call_id"])
    if slot is None:
        return False
    first = owners[slot[0]][slot[1]]
    owners[slot[0]][slot[1]] = {**first, "content": joined(first["content"], message["content"])}
    return True


def _batch(message: Wire, results: dict[int, Wire], ids: _Ids, language: str) -> Unit:
    calls: list[Wire] = []
    answers: Unit = []
    for place, call in enumerate(message["tool_calls"]):
        call = {**call, "id": ids.take(call["id"])}
        calls.append(call)
        result = results.get(place) or {"role": "tool", "content": no_result(language)}
        answers.append({**result, "tool_call_id": call["id"]})
    return [{**message, "tool_calls": calls}, *answers]


def no_result(language: str) -> str:
    """The result of a call that has none, in the uniform shape: it says so, and what to do."""
    words = {key: text("memory", language, name) for key, name in (("reason", "no_result"), ("hint", "no_result_hint"))}
    return canonical({"status": "unknown", **words})


def _as_text(message: Wire, language: str) -> Wire:
    """A result whose call is gone cannot be sent as a result; what it says is kept as text."""
    name: Any = message.get("name") or text("memory", language, "some_tool")
    label = text("memory", language, "orphan", name=name)
    return {"role": "user", "content": joined(label, message["content"])}


class _Ids:
    """Gives every call an id of its own: the one it has where possible, else one derived from it."""

    def __init__(self, short: bool) -> None:
        self.short = short
        self.taken: set[str] = set()

    def take(self, given: str | None) -> str:
        turn = 1
        wanted = self._form(given or "call", turn if given else len(self.taken) + 1)
        while wanted in self.taken:
            turn += 1
            wanted = self._form(given or "call", turn)
        self.taken.add(wanted)
        return wanted

    def _form(self, given: str, turn: int) -> str:
        wanted = given if turn == 1 and given != "call" else f"{given}_{turn}"
        if self.short and not _NINE.fullmatch(wanted):
            return hashlib.sha256(wanted.encode()).hexdigest()[:9]
        if len(wanted) > _LONGEST_ID:
            return hashlib.sha256(wanted.encode()).hexdigest()[:_LONGEST_ID]
        return wanted
