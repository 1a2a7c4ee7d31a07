"""Reading replies of servers with tool calls of their own, and of those that leave the call in the text.

Structured calls come first; a reply without any is searched for calls in its text, which are
taken only for tools that were offered. JSON that is part of an answer stays an answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..gears import Turn
from ..types import Move, Repair, Reply
from .jsonish import MISSING
from .labels import next_label
from .markup import Found, find_calls
from .moves import IdFactory, Reading, new_id
from .names import resolve
from .shapes import Draft
from .thinking import part_thinking
from .tokens import cut_turn_end, strip_edges


def read_native(reply: Reply, turn: Turn, *, make_id: IdFactory = new_id) -> Move:
    """Understand a chat-completions reply.

    Args:
        reply: The model's reply, untouched.
        turn: What was asked; its tools are the only ones a call can name.
        make_id: Makes the id of each call; the server's own ids are not trusted to be there or to differ.
    """
    reading = Reading(reply, turn, "native", make_id)
    return read_said(reading)


def read_said(reading: Reading) -> Move:
    """Understand the calls or the text of a reply, for a reading that has been begun."""
    reply = reading.reply
    parted = part_thinking(reply.text)
    reading.thought = "\n".join(part for part in (reply.reasoning.strip(), parted.thought) if part)
    said, repairs = cut_turn_end(parted.said)
    structured = _structured(reply.tool_calls)
    if structured:
        found = find_calls(said, reading.tools) if reading.tools else Found(content=said)
        reading.repairs += repairs
        if found.drafts:
            reading.repairs.append(Repair("call repeated in the text", before=found.drafts[0].name))
        return reading.calls(structured, content=found.content, said=found.content)
    return _from_text(reading, said, repairs, parted.draft if parted.open else "")


def _structured(tool_calls: Sequence[Mapping[str, Any]]) -> list[Draft]:
    drafts: list[Draft] = []
    for call in tool_calls:
        inner: Any = call.get("function", call)
        if not isinstance(inner, Mapping):
            inner = call
        function = cast("Mapping[str, Any]", inner)
        name = function.get("name")
        arguments = function.get("arguments", function.get("parameters", function.get("input", MISSING)))
        drafts.append(Draft(str(name) if name is not None else "", arguments, strict=True))
    return drafts


def _from_text(reading: Reading, said: str, repairs: Sequence[Repair], draft: str) -> Move:
    found = find_calls(said, reading.tools) if reading.tools else Found(content=said)
    if found.drafts or found.problem:
        reading.repairs += repairs
        return _rescued(reading, found, said)
    if found.unread:
        return reading.fault("cut" if reading.cut else "format", said=said)
    if draft:
        return _from_open_draft(reading, said, draft)
    labelled = _labelled(reading, said)
    if labelled is not None:
        return labelled
    clean, stripped = strip_edges(said.strip())
    repairs = (*repairs, *stripped)
    if not clean.strip() and reading.reply.reasoning and not reading.cut:
        return reading.fault("thought_only")
    reading.repairs += repairs
    return reading.answer(clean)


def _rescued(reading: Reading, found: Found, said: str) -> Move:
    if found.problem:
        if reading.cut:
            return reading.fault("cut", said=said)
        key = "cut_arguments" if found.problem == "cut" else "bad_json"
        tool = found.tool or next(iter(reading.tools.values()))
        return reading.fault(key, tool, said=said, given=found.given)
    return reading.calls(found.drafts, content=found.content, said=found.content)


def _from_open_draft(reading: Reading, said: str, draft: str) -> Move:
    """A call in a think block that never closed is taken when nothing else was said, as a guess."""
    if said.strip():
        return reading.answer(said)
    found = find_calls(draft, reading.tools) if reading.tools else Found()
    whole = found.drafts and found.marked and not draft[found.end :].strip()
    if whole and all(resolve(d.name, reading.tools) for d in found.drafts):
        reading.thought = draft[: found.start].strip()
        reading.repairs.append(Repair("call in an open think block", before=draft[found.start :][:120], guessed=True))
        return reading.calls(found.drafts)
    return reading.fault("cut_answer" if reading.cut else "empty" if not draft.strip() else "format", said="")


_LABELLED = re.compile(r"^\W{0,12}(?:Action|行动|动作|工具)", re.MULTILINE | re.IGNORECASE)


def _labelled(reading: Reading, said: str) -> Move | None:
    """Read Thought/Action lines that a model wrote although nobody asked for them."""
    if not _LABELLED.search(said) or not reading.tools:
        return None
    parts: set[str] = set()
    at = 0
    while label := next_label(said, at):
        parts.add(label.part)
        at = label.end
        if label.strong and label.part in ("input", "input_after_action") and "action" in parts:
            from .read_text import read_labelled

            move = read_labelled(reading, said)
            return move if move.calls else None
    return None
