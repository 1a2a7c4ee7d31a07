"""Reading Thought/Action/Observation replies in English and Chinese.

The rules, in order: think blocks are thought; the reply ends at the first observation label;
an action that comes before an answer wins, an answer that comes first stands; `Action: None` is
no action; text without any label is the answer, unless it tries or announces a call.
"""

from __future__ import annotations

import re
from typing import Any, cast

from ..gears import Turn
from ..types import Move, Repair, Reply
from .actions import Written, read_action
from .labels import is_listed, listed, words
from .markup import find_calls
from .moves import IdFactory, Reading, new_id
from .names import resolve
from .read_constrained import read_step, sole_value
from .rescue import mend, shown
from .segments import Segment, Segments, find_segments
from .shapes import ANSWER_KEYS, THOUGHT_KEYS
from .thinking import part_thinking
from .tokens import cut_turn_end, strip_edges


def read_text(reply: Reply, turn: Turn, *, make_id: IdFactory = new_id) -> Move:
    """Understand one Thought/Action reply.

    Args:
        reply: The model's reply, untouched.
        turn: What was asked; its tools are the only ones an action can name.
        make_id: Makes the id of each call.
    """
    reading = Reading(reply, turn, "text", make_id)
    parted = part_thinking(reply.text)
    reading.thought = "\n".join(part for part in (reply.reasoning.strip(), parted.thought) if part)
    said, repairs = cut_turn_end(parted.said)
    reading.repairs += repairs
    if not said.strip():
        if not reply.tool_calls:
            return reading.fault("cut" if reading.cut else "thought_only" if reading.thought else "empty")
    if reply.tool_calls:
        from .read_native import read_said

        reading.repairs.clear()
        return read_said(reading)
    return read_labelled(reading, said)


def read_labelled(reading: Reading, said: str) -> Move:
    """Understand text with labels, for a reading that has been begun."""
    segments = find_segments(said, reading.tools)
    reading.repairs += segments.repairs
    thoughts = [s.value for s in segments.parts if s.part == "thought" and s.value]
    reading.thought = "\n".join(part for part in (reading.thought, *thoughts[:1]) if part)
    action = next((i for i, s in enumerate(segments.parts) if s.part == "action"), None)
    answer = next((i for i, s in enumerate(segments.parts) if s.part == "answer"), None)
    if answer is not None and (action is None or answer < action):
        if segments.parts[answer].value or action is None:
            return _answered(reading, segments, segments.parts[answer])
    if action is not None:
        return _acted(reading, segments, segments.parts[action:])
    return _unlabelled(reading, segments)


def _answered(reading: Reading, segments: Segments, answer: Segment) -> Move:
    if is_listed("echo", answer.value):
        return reading.fault("echo", said=segments.text[: answer.end])
    return reading.answer(answer.value, said=segments.text[: answer.end])


# -- actions --------------------------------------------------------------------------------


def _acted(reading: Reading, segments: Segments, parts: list[Segment]) -> Move:
    """Read the actions from the first on, up to an answer, or a thought that stands between two of them."""
    end = parts[0].end
    calls: list[Written] = []
    index = 0
    while index < len(parts) and parts[index].part == "action":
        action = parts[index]
        given = parts[index + 1] if index + 1 < len(parts) and parts[index + 1].part == "input" else None
        if is_listed("none", action.value) and action.value not in reading.tools:
            if calls:
                break
            return _no_action(reading, segments, parts[index + 1 :], action)
        written = read_action(action.value, given.value if given else None, reading.tools)
        if written.fault and calls:
            reading.repairs.append(Repair("later action dropped", before=shown(action.value)))
            break
        calls.append(written)
        end = (given or action).end
        index += 2 if given else 1
        while index < len(parts) and parts[index].part == "input":
            index += 1
    said = segments.text[:end].strip()
    if any(s.part == "answer" for s in parts):
        reading.repairs.append(Repair("answer before the result", before=shown(_first(parts, "answer"))))
    return _called(reading, calls, said)


def _first(parts: list[Segment], part: str) -> str:
    return next((s.value for s in parts if s.part == part), "")


def _called(reading: Reading, calls: list[Written], said: str) -> Move:
    first = calls[0]
    if first.finish is not None:
        return reading.answer(first.finish, said=said) if first.finish else reading.fault("no_action", said=said)
    if first.fault:
        if reading.cut:
            return reading.fault("cut", said=said)
        if first.fault == "unknown_tool":
            return reading.unknown(first.given, said=said)
        if first.decoded is not None and first.tool is not None:
            return reading.broken(first.decoded, first.tool, said)
        return reading.fault(first.fault, first.tool, said=said, given=first.given)
    drafts = [d for written in calls if written.finish is None and not written.fault for d in written.drafts]
    unique = list({(d.name, repr(d.arguments)): d for d in drafts}.values())
    if len(unique) < len(drafts):
        reading.repairs.append(Repair("repeated action", before=len(drafts), after=len(unique)))
    return reading.calls(unique, said=said)


def _no_action(reading: Reading, segments: Segments, rest: list[Segment], action: Segment) -> Move:
    answer = next((s for s in rest if s.part == "answer"), None)
    later = next((s for s in rest if s.part == "action"), None)
    if answer is not None and answer.value and (later is None or answer.start < later.start):
        reading.repairs.append(Repair("no action", before=action.value))
        return _answered(reading, segments, answer)
    return reading.fault("cut" if reading.cut else "no_action", said=segments.text[: action.end])


# -- no label that decides ------------------------------------------------------------------


def _unlabelled(reading: Reading, segments: Segments) -> Move:
    text = segments.text.strip()
    said = text
    step = _json_step(reading, segments)
    if step is not None:
        return step
    if reading.tools:
        found = find_calls(text, reading.tools)
        if found.problem:
            tool = found.tool or next(iter(reading.tools.values()))
            key = "cut" if reading.cut else "cut_arguments" if found.problem == "cut" else "bad_json"
            return reading.fault(key, tool, said=said, given=found.given)
        if found.drafts:
            return _from_drafts(reading, found.drafts, text[: found.end])
    if segments.parts or segments.cut_observation:
        has_input = any(s.part == "input" for s in segments.parts)
        return reading.fault("cut" if reading.cut else "no_name" if has_input else "thought_only", said=said)
    if reading.cut:
        return reading.fault("cut_answer", said=said)
    if reading.offered and tries_a_call(text, reading):
        return reading.fault("format", said=said)
    if reading.offered and announces_a_call(text):
        return reading.fault("announced", said=said)
    clean, tokens = strip_edges(text)
    reading.repairs += tokens
    return reading.answer(clean)


def _from_drafts(reading: Reading, drafts: list[Any], said: str) -> Move:
    first = drafts[0]
    if first.name not in reading.tools and is_listed("finish", first.name):
        value = sole_value(first.arguments)
        return reading.answer(value if isinstance(value, str) else shown(value), said=said)
    return reading.calls(drafts, said=said)


def _json_step(reading: Reading, segments: Segments) -> Move | None:
    """Read a reply (or what follows its thought) that is one JSON action object or step."""
    thought = next((s for s in segments.parts if s.part == "thought"), None)
    text = segments.text.strip()
    if thought is not None:
        at = thought.value.find("{")
        text = thought.value[at:] if at >= 0 else ""
    if text[:1] not in ("{", "[", "`", "｛") or len(text) > 100_000:
        return None
    mended = mend(text)
    value: Any = mended.value if mended.ok else None
    if not isinstance(value, dict):
        return None
    step = cast("dict[str, Any]", value)
    name = next((step[k] for k in ("action", "tool", "name") if isinstance(step.get(k), str)), None)
    labelled = any(k in step for k in THOUGHT_KEYS) or "final_answer" in step or thought is not None
    final = labelled and any(k in step for k in ANSWER_KEYS)
    ends = name is not None and name not in reading.tools and is_listed("finish", name)
    acts = name is not None and resolve(name, reading.tools) is not None
    if not (final or ends or (labelled and name is not None) or acts):
        return None
    reading.repairs += mended.repairs
    if thought is not None:
        reading.thought = reading.thought.replace(thought.value, thought.value[: thought.value.find("{")]).strip()
    return read_step(reading, step, segments.text.strip())


_CALL_START = re.compile(r"([^\W\d][\w.-]{1,60})\s?[(\[{]")


def tries_a_call(text: str, reading: Reading) -> bool:
    """Whether a text that could not be read as a call was meant as one.

    An offered tool's name right before a bracket at the start of a line, outside code.
    """
    for line in text.splitlines()[:200]:
        found = _CALL_START.match(line.strip())
        if found and found.group(1) in reading.offered and not line.startswith("    "):
            return True
    return False


def announces_a_call(text: str) -> bool:
    """Whether a short text only says that something will be looked up, without doing it."""
    plain = text.strip().lower()
    if len(plain) > 200 or "\n" in plain or plain.endswith(("?", "？")):
        return False
    if not plain.startswith(tuple(words("intent"))) or plain.startswith("let me know"):
        return False
    return any(deed in plain for deed in words("deed")) and not re.search(r"\d", plain)


__all__ = ["announces_a_call", "listed", "read_labelled", "read_text", "tries_a_call"]
