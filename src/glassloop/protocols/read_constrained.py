"""Reading replies that are one JSON step: a thought, then a list of calls or an answer.

A server that holds the schema sends exactly that. One that does not sends something near it:
other key names, a bare call, a list of calls, or text; the last is read as `read_native` would.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from ..gears import Turn
from ..types import Move, Repair, Reply
from .examples import is_example
from .jsonish import MISSING, OPENERS, Scanner
from .labels import is_listed
from .moves import IdFactory, Reading, new_id
from .read_native import read_said
from .rescue import mend, shown
from .shapes import ANSWER_KEYS, THOUGHT_KEYS, Draft, drafts_in
from .thinking import part_thinking
from .tokens import cut_turn_end

_CALL_LISTS = ("calls", "tool_calls", "actions", "call", "tool_call", "function_calls", "action", "tool")
_KNOWN = frozenset((*_CALL_LISTS, *ANSWER_KEYS, *THOUGHT_KEYS))


def read_constrained(reply: Reply, turn: Turn, *, make_id: IdFactory = new_id) -> Move:
    """Understand one JSON step.

    Args:
        reply: The model's reply, untouched.
        turn: What was asked; its tools are the only ones a call can name.
        make_id: Makes the id of each call.
    """
    reading = Reading(reply, turn, "constrained", make_id)
    if reply.tool_calls:
        return read_said(reading)
    parted = part_thinking(reply.text)
    text, tokens = cut_turn_end(parted.said)
    text = text.strip()
    bare = text.removeprefix("```json").removeprefix("```").lstrip()
    if not bare or bare[0] not in OPENERS:
        return _said(reading, text)
    mended = mend(text)
    if not mended.ok:
        if mended.problem == "cut" and _is_step(bare):
            return reading.fault("cut", said=text)
        return _said(reading, text)
    reading.thought = "\n".join(part for part in (reply.reasoning.strip(), parted.thought) if part)
    reading.repairs += [*tokens, *mended.repairs]
    move = _step(reading, mended.value, text)
    if move is None:
        reading.repairs.clear()
        return read_said(reading)
    return move


_STEP_START = re.compile(
    rf'^\s*(?={{\s*"(?:{"|".join((*THOUGHT_KEYS, *ANSWER_KEYS, "calls"))})"\s*:)', re.MULTILINE | re.IGNORECASE
)


def _said(reading: Reading, text: str) -> Move:
    """Read a reply that is no step as a whole; a whole step with words around it is still the step, not the answer."""
    move = read_said(reading)
    if move.answer is None:
        return move
    found = _STEP_START.search(text)
    value, end = Scanner(text).value(found.end()) if found else (MISSING, 0)
    if found is None or not isinstance(value, dict) or is_example(text[: found.end()]):
        return move
    step = cast("dict[str, Any]", value)
    thinks = any(isinstance(step.get(k), str) for k in THOUGHT_KEYS)
    if not set(step) <= _KNOWN or (text[: found.end()].strip("`json \n") and not (thinks and len(step) > 1)):
        return move
    around = text[: found.end()] + text[end:]
    reading.repairs.append(Repair("text around the step", before=shown(around.strip())))
    return _object(reading, step, text[found.end() : end]) or move


def _is_step(text: str) -> bool:
    return any(f'"{key}"' in text[:200] for key in ("thought", "calls", "answer", "思考", "答案"))


def read_step(reading: Reading, value: Any, text: str) -> Move | None:
    """Return the move that a step object stands for, None if it is no step. Also used by the text reader."""
    return _step(reading, value, text)


def _step(reading: Reading, value: Any, text: str) -> Move | None:
    if isinstance(value, dict):
        return _object(reading, cast("dict[str, Any]", value), text)
    drafts = drafts_in(value, reading.tools)
    return reading.calls(drafts, said=text) if drafts else None


def _object(reading: Reading, step: dict[str, Any], text: str) -> Move | None:
    thought = next((step[k] for k in THOUGHT_KEYS if isinstance(step.get(k), str)), "")
    answer = next((step[k] for k in ANSWER_KEYS if step.get(k) not in (None, "")), None)
    listed = next((step[k] for k in _CALL_LISTS if isinstance(step.get(k), (list, dict)) and step[k]), None)
    drafts = drafts_in(listed, reading.tools) if listed is not None else drafts_in(step, reading.tools)
    if not drafts and listed is None and not set(step) <= _KNOWN:
        return None
    if thought and (drafts or set(step) & _KNOWN):
        reading.thought = "\n".join(part for part in (reading.thought, thought.strip()) if part)
    if listed is not None and not drafts:
        return reading.fault("format", said=text)
    if drafts:
        return _calls(reading, drafts, answer, text)
    if answer is not None:
        return reading.answer(_as_text(answer), said=text)
    return reading.fault("cut" if reading.cut else "thought_only", said=text)


def _calls(reading: Reading, drafts: list[Draft], answer: Any, text: str) -> Move:
    ending = drafts[0] if len(drafts) == 1 and drafts[0].name not in reading.tools else None
    if ending and is_listed("finish", ending.name):
        return reading.answer(_as_text(sole_value(ending.arguments)), said=text)
    if ending and is_listed("none", ending.name):
        return (
            reading.answer(_as_text(answer), said=text) if answer is not None else reading.fault("no_action", said=text)
        )
    if answer is not None:
        reading.repairs.append(Repair("answer before the result", before=shown(answer)))
    return reading.calls(drafts, said=text)


def sole_value(arguments: Any) -> Any:
    """Return the only value of an object, the value itself if it is no object."""
    if isinstance(arguments, dict):
        held = cast("dict[str, Any]", arguments)
        values = list(held.values())
        return values[0] if len(values) == 1 else held if values else ""
    return "" if arguments is MISSING or arguments is None else arguments


def _as_text(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
