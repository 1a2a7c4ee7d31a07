"""Cut a conversation to size by whole units: the latest stay, and what must never go stays too."""

from __future__ import annotations

import json
from typing import Any, cast

from ..prompts import LANGUAGES, language_of, text
from .pairing import Unit, is_result_text
from .shrink import shrink
from .summary import Entry, call_entry, is_summary, said_entry, write
from .wire import Wire, strict_json, text_of

_SMALLEST_RESULT = 60
"""Characters a result of the last unit is never shrunk below."""


def trim(
    units: list[Unit], *, keep: int | None, chars: int | None, summarise: bool = False, spare: int = 0
) -> tuple[list[Unit], bool]:
    """Return the units to send and whether any was left out.

    System messages, an earlier summary and the last question always stay. The last unit stays too,
    its results shrunk if they must be, unless even then it does not fit.

    Args:
        units: The conversation, oldest first, already in the form that is sent.
        keep: About how many of the latest messages to keep.
        chars: Size of all messages together, as JSON.
        summarise: Whether a summary takes the place of what is left out.
        spare: Characters to leave free for what is added afterwards.
    """
    if not units or _fits(units, keep, chars):
        return units, False
    fixed = {at for at, unit in enumerate(units) if unit[0]["role"] == "system" or is_summary(unit[0]["content"])}
    question = _last_question(units)
    last = len(units) - 1
    room = None if chars is None else chars - spare
    summary_room = 0 if not summarise else (2000 if room is None else max(120, room // 4))
    pinned = fixed if question is None else fixed | {question}
    left = None if room is None else room - sum(_size(units[at]) for at in pinned) - summary_room
    if last not in pinned and left is not None and _size(units[last]) > left:
        units = [*units[:last], _smaller(units[last], left)]
    chosen = set(pinned)
    count = 0
    for at in range(last, -1, -1):
        if at in fixed:
            continue
        count += len(units[at])
        if at not in pinned and left is not None:
            left -= _size(units[at])
        if (left is not None and left < 0 and at not in pinned) or (keep is not None and count > keep and at != last):
            break
        chosen.add(at)
    hidden = len(chosen) < len(units)
    if hidden and summarise:
        return _with_summary(units, chosen, summary_room), True
    first = min(chosen - fixed, default=last)
    if hidden and first != last and units[first][0]["role"] == "assistant" and len(units[first]) == 1:
        chosen.discard(first)  # an answer whose question is gone says nothing, and strict templates refuse it
    return [unit for at, unit in enumerate(units) if at in chosen], hidden


def _fits(units: list[Unit], keep: int | None, chars: int | None) -> bool:
    counted = sum(len(u) for u in units if u[0]["role"] != "system" and not is_summary(u[0]["content"]))
    return (keep is None or counted <= keep) and (chars is None or sum(map(_size, units)) <= chars)


def _size(unit: Unit) -> int:
    return sum(len(json.dumps(message, ensure_ascii=False)) + 2 for message in unit)


def _last_question(units: list[Unit]) -> int | None:
    """The last thing the user said; results written as text are not the user's words."""
    users = (at for at, unit in enumerate(units) if unit[0]["role"] == "user" and not is_summary(unit[0]["content"]))
    return max((at for at in users if not is_result_text(units[at][0])), default=None)


def _smaller(unit: Unit, room: int) -> Unit:
    """Shrink the results of a unit until it fits, as far as that is possible."""
    if len(unit) == 1:
        return unit
    limit = max(_SMALLEST_RESULT, room)
    smaller = unit
    while _size(smaller) > room and limit > _SMALLEST_RESULT:
        limit = max(_SMALLEST_RESULT, limit * 2 // 3)
        smaller = [unit[0], *(_shrunk(m, limit) for m in unit[1:])]
    return smaller


def _shrunk(message: Wire, limit: int) -> Wire:
    content = text_of(message["content"])
    if len(content) <= limit or message.get("tool_calls"):
        return message
    return {**message, "content": shrink(content, limit, language_of(content))}


def _with_summary(units: list[Unit], chosen: set[int], room: int) -> list[Unit]:
    old = [at for at in sorted(chosen) if is_summary(units[at][0]["content"])]
    first = old[0] if old else next((at for at in sorted(chosen) if units[at][0]["role"] != "system"), len(units))
    gone = [unit for at, unit in enumerate(units) if at not in chosen]
    language = language_of("".join(text_of(m["content"]) for unit in gone for m in unit))
    heads = tuple(text("memory", tongue, "summary_head") for tongue in LANGUAGES)
    earlier = [
        Entry("call", line, text("memory", language, "some_tool"))
        for at in old
        for line in text_of(units[at][0]["content"]).splitlines()
        if line not in heads
    ]
    new = [entry for unit in gone for entry in _entries(unit, language)]
    message: Wire = {"role": "user", "content": write([*earlier, *new], language, room, len)}
    out: list[Unit] = []
    for at, unit in enumerate(units):
        if at == first:
            out.append([message])
        if at in chosen and at not in old:
            out.append(unit)
    return out if first < len(units) else [*out, [message]]


def _entries(unit: Unit, language: str) -> list[Entry]:
    first = unit[0]
    calls = [call["function"] for m in unit for call in m.get("tool_calls") or ()]
    results = [text_of(m["content"]) for m in unit if m["role"] == "tool"]
    if not calls:
        kind = "assistant" if first["role"] == "assistant" else "user"
        return [said_entry(kind, text_of(m["content"]), language) for m in unit[:1]]
    return [
        call_entry(c["name"], _arguments(c["arguments"]), result, "", language)
        for c, result in zip(calls, results, strict=False)
    ]


def _arguments(given: Any) -> dict[str, Any]:
    data = strict_json(given) if isinstance(given, str) else given
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}
