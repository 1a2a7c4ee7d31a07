"""A new run that begins like a recorded one and goes its own way from a step on.

The beginning is copied into a journal of its own, with the parent's id; from there the run is
simply resumed, live. What was changed by hand is in the record as a repair named `edited`,
with the value before and after.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import JournalError
from ..events import CallFinished, Event, ModelAsked, ModelReplied, RunEnded, RunStarted
from ..types import Repair, Reply
from .conditions import tool_record
from .rebuild import fold, load, until
from .record import JournalRecorder, new_run_id
from .redact import MARK, is_masked

if TYPE_CHECKING:
    from ..agent import Agent
    from ..stream import RunStream

EDITS = "question, system, reply, observation:STEP or observation:STEP.NUMBER"


def fork(
    source: Path, step: int, agent: Agent, *, edits: Mapping[str, str] | Iterable[str] = (), live: bool = True
) -> RunStream:
    """Begin a new run with the first steps of a recorded one and go on live.

    Args:
        source: The journal to begin with.
        step: The first step that is live; the ones before it come from the journal.
        agent: Who goes on; its model, tools and limits hold from there on.
        edits: What to change in the beginning, as `{"question": …}` or `"question=…"`: see `EDITS`.
        live: Whether text is streamed from the model.

    Returns:
        The stream of the new run's events from that step on.

    Raises:
        JournalError: The run has no such step, or an edit names nothing in it.
    """
    events = beginning(load(source), step, edits)
    start = events[0]
    assert isinstance(start, RunStarted)
    run_id = new_run_id()
    events[0] = replace(
        start,
        run_id=run_id,
        parent=start.run_id,
        model=agent.model.name,
        protocol=agent.protocol.name,
        tools=tuple(tool_record(tool) for tool in agent.tools),
        limits=agent.limits.to_dict(),
        settings={**start.settings, "temperature": agent.temperature, "seed": agent.seed, "forked_at": step},
    )
    write_beginning(events, agent.runs / f"{run_id}.jsonl")
    return agent.resume_stream(run_id, live=live)


def beginning(events: Sequence[Event], step: int, edits: Mapping[str, str] | Iterable[str] = ()) -> list[Event]:
    """Return the events before a step, edited.

    Raises:
        JournalError: The run has no such step, or an edit names nothing in it.
    """
    steps = max((e.step for e in events if isinstance(e, ModelAsked)), default=0)
    if not 1 <= step <= steps:
        raise JournalError(f"The run has {steps} steps: give a step from 1 to {max(steps, 1)} to fork at.")
    kept = [e for e in until(events, step - 1) if not isinstance(e, RunEnded)]
    wanted = dict(_pairs(edits))
    for where, text in wanted.items():
        if where == "reply":
            kept = _with_reply(kept, events, step, text)
        elif where in ("question", "system") and isinstance(kept[0], RunStarted):
            kept[0] = replace(kept[0], question=text) if where == "question" else replace(kept[0], system=text)
        elif where.startswith("observation:"):
            kept = _with_observation(kept, where, text)
        else:
            raise JournalError(f"There is nothing to edit named {where!r}: use {EDITS}.")
    return kept


def write_beginning(events: Sequence[Event], path: Path, now: float | None = None) -> None:
    """Write events as a journal of their own, moved in time so that the last of them has just happened."""
    moved = (time.time() if now is None else now) - events[-1].at
    recorder = JournalRecorder(path)
    for seq, event in enumerate(events, 1):
        recorder.record(replace(event, seq=seq, at=event.at + moved))
    recorder.close()


def masked_calls(path: Path) -> list[str]:
    """Return the tools of unfinished calls whose arguments were masked when written: they must not run so."""
    masked: set[str] = set()
    for line in path.read_bytes().split(b"\n"):
        if MARK.encode() in line and line.endswith(b"}"):
            data: dict[str, Any] = json.loads(line)
            calls = [*data.get("move", {}).get("calls", ()), data.get("call", {})] if data.get(MARK) else []
            masked.update(call["id"] for call in calls if call and is_masked(call.get("arguments")))
    return [call.name for call in fold(load(path)).pending if call.id in masked]


def _pairs(edits: Mapping[str, str] | Iterable[str]) -> Iterable[tuple[str, str]]:
    if isinstance(edits, Mapping):
        return list(cast("Mapping[str, str]", edits).items())
    out: list[tuple[str, str]] = []
    for edit in edits:
        where, equals, text = edit.partition("=")
        if not equals:
            raise JournalError(f"The edit {edit!r} has no value: write WHERE=TEXT, where WHERE is {EDITS}.")
        out.append((where.strip(), text))
    return out


def _with_reply(kept: list[Event], events: Sequence[Event], step: int, text: str) -> list[Event]:
    """Let the model have said something else in the step that is forked; the loop then reads that."""
    asked = next(e for e in events if isinstance(e, ModelAsked) and e.step == step)
    reply = Reply(text=text, finish_reason="stop", model="edited", raw={"edited": True})
    return [*kept, asked, ModelReplied(step, at=asked.at, reply=reply)]


def _with_observation(kept: list[Event], where: str, text: str) -> list[Event]:
    step, _, number = where.partition(":")[2].partition(".")
    if not step.isdigit() or (number and not number.isdigit()):
        raise JournalError(f"The edit {where!r} names no step: write observation:STEP or observation:STEP.NUMBER.")
    places = [i for i, e in enumerate(kept) if isinstance(e, CallFinished) and e.step == int(step)]
    place = int(number or 1) - 1
    if not 0 <= place < len(places):
        raise JournalError(
            f"There are {len(places)} observations in step {step} before the fork: {where!r} names none of them."
        )
    event = kept[places[place]]
    assert isinstance(event, CallFinished)
    content, data = _observed(text)
    status: Any = "error" if content.startswith('{"status":"error"') else "ok"
    seen = event.observation
    edited = Repair("edited", before=seen.content, after=content)
    seen = replace(seen, status=status, content=content, data=data, repairs=(*seen.repairs, edited))
    return [*kept[: places[place]], replace(event, observation=seen), *kept[places[place] + 1 :]]


def _observed(text: str) -> tuple[str, Any]:
    """Take an edited observation in the uniform shape as it is; anything else is data of a good one."""
    try:
        value: Any = json.loads(text)
    except ValueError:
        value = text
    shape = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if shape.get("status") in ("ok", "error"):
        return json.dumps(shape, ensure_ascii=False, separators=(",", ":")), shape.get("data", shape.get("reason"))
    return json.dumps({"status": "ok", "data": value}, ensure_ascii=False, separators=(",", ":")), cast("Any", value)
