"""Where two runs part, and why.

Both are read event by event; times and ids of calls do not count. The first event that differs
is where they part. Why, is answered from what lies before it: if everything the model saw was
equal and it said something else, it was the model; if the prompt differed, it was whatever made
the prompt differ, which is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..events import Event, Noted, RunEnded, RunStarted
from ..types import Record
from .compare import CallNames, Change, changes, event_data, what_differs
from .rebuild import fold

_BEGINNING = (
    "question",
    "system",
    "model",
    "protocol",
    "strategy",
    "language",
    "tools",
    "limits",
    "settings",
    "history",
)


@dataclass(frozen=True)
class RunDiff(Record):
    """Two runs compared.

    Attributes:
        a: The first run's id.
        b: The second run's id.
        same: Whether they are the same but for times and ids.
        step: The step in which they part.
        shared: How many events they have in common.
        what: The first thing that differs.
        why: A sentence about the reason.
        beginning: What differs in the conditions of the two runs.
        changes: Where the first differing events differ.
        ends: Stop, steps, tokens, seconds, cost and answer of both.
    """

    a: str
    b: str
    same: bool
    step: int = 0
    shared: int = 0
    what: str = ""
    why: str = ""
    beginning: tuple[Change, ...] = ()
    changes: tuple[Change, ...] = ()
    ends: dict[str, list[Any]] | None = None


def diff(a: Sequence[Event], b: Sequence[Event]) -> RunDiff:
    """Compare two runs.

    Args:
        a: The events of one run.
        b: The events of the other.
    """
    first, second = _beginning(a), _beginning(b)
    begin = tuple(changes(first, second))
    left, right = _comparable(a), _comparable(b)
    shared = next((i for i, (x, y) in enumerate(_zip(left, right)) if x[1] != y[1]), min(len(left), len(right)))
    facts_a, facts_b = _facts(a), _facts(b)
    ends = {key: [value, facts_b[key]] for key, value in facts_a.items()}
    start_a, start_b = a[0], b[0]
    assert isinstance(start_a, RunStarted)
    assert isinstance(start_b, RunStarted)
    ids = (start_a.run_id, start_b.run_id)
    if shared == len(left) == len(right):
        why = "They are the same, but for times." if not begin else "They went the same way under different conditions."
        return RunDiff(*ids, same=not begin, shared=shared, why=why, beginning=begin, ends=ends)
    old = left[shared] if shared < len(left) else None
    new = right[shared] if shared < len(right) else None
    there = old or new
    assert there is not None
    old_data, new_data = old and old[1], new and new[1]
    same_kind = bool(old and new and old[1]["type"] == new[1]["type"])
    return RunDiff(
        *ids,
        same=False,
        step=there[0].step,
        shared=shared,
        what=_ending(old_data, new_data) or what_differs(old_data, new_data),
        why=_why(old_data, new_data, begin),
        beginning=begin,
        changes=tuple(changes(old_data, new_data)) if same_kind else (),
        ends=ends,
    )


def _ending(old: dict[str, Any] | None, new: dict[str, Any] | None) -> str:
    return "one run ends before the other" if old is None or new is None else ""


def _beginning(events: Sequence[Event]) -> dict[str, Any]:
    data = event_data(events[0])
    return {key: data[key] for key in _BEGINNING if key in data}


def _comparable(events: Sequence[Event]) -> list[tuple[Event, dict[str, Any]]]:
    """Return the events after the beginning as plain data, calls named by their order."""
    names = CallNames()
    out: list[tuple[Event, dict[str, Any]]] = []
    for event in events[1:]:
        if isinstance(event, Noted):
            continue
        data = event_data(event)
        names.learn(data)
        data = names.apply(data)
        if isinstance(event, RunEnded):
            data.pop("cost", None)
        reply = data.get("reply")
        if reply is not None:  # what was said counts, not how the server wrapped it
            data = {**data, "reply": {k: v for k, v in reply.items() if k not in ("raw", "usage", "model")}}
        if data["type"] in ("run_ended", "approval_asked"):
            data.pop("usage", None)
            data.pop("hash", None)
        out.append((event, data))
    return out


_REASONS = {
    "model_replied": "Everything the model was sent was equal; it answered differently.",
    "move_read": "The reply was equal; it was read differently, so the code or the tools changed in between.",
    "approval_asked": "The same call was prepared differently: other arguments, sources or tools.",
    "approval_given": "The call was the same; a person or a policy decided differently.",
    "call_started": "The move was equal; the call was cast or checked differently, so a tool or the code changed.",
    "call_finished": "The call was equal; the tool gave something else.",
    "answer_checked": "The answer was equal; the verifier judged it differently.",
    "limit_reached": "A limit was reached in one run and not, or not in the same way, in the other.",
    "history_compacted": "What the model sees was shortened differently.",
    "model_retried": "The model's server failed in one run and not, or not in the same way, in the other.",
    "run_ended": "Both went the same way and ended differently.",
}


def _why(old: dict[str, Any] | None, new: dict[str, Any] | None, begin: Sequence[Change]) -> str:
    if old is None or new is None:
        return "One of the two was cut off or is still going on; up to there they are equal."
    conditions = ", ".join(dict.fromkeys(c.path.partition(".")[0].partition("[")[0] for c in begin))
    if old["type"] != new["type"]:
        later = f" The conditions differ in: {conditions}." if conditions else ""
        return f"From here on they do different things.{later}"
    if old["type"] == "model_asked":
        if conditions:
            return f"The prompts differ, and so do the conditions of the runs: {conditions}."
        return "The prompts differ although the conditions are equal: the code or the words of the prompts changed."
    if old["type"] == "model_replied" and "model" in conditions.split(", "):
        return "Everything the model was sent was equal; it is another model, and it answered differently."
    return _REASONS.get(old["type"], "The code changed in between.")


def _facts(events: Sequence[Event]) -> dict[str, Any]:
    run = fold(events).to_run()
    return {
        "stop": run.stop,
        "checked": run.answer_checked,
        "steps": len(run.steps),
        "tokens": run.usage.total,
        "seconds": round(run.seconds, 3),
        "cost": run.cost,
        "answer": run.answer,
    }


def _zip(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return zip(a, b, strict=False)
