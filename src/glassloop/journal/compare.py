"""When are two recorded events the same, and where do they differ?

Times differ in every run and ids of calls are made anew; neither counts. What is left is
compared value by value, and a difference names the place, what was there and what is there now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..events import Event
from ..types import Record

TIMES = frozenset(("at", "seq", "seconds"))
_SNIPPET = 60
_MOST = 12


@dataclass(frozen=True)
class Change(Record):
    """One value that differs: where it is, before and after."""

    path: str
    before: Any = None
    after: Any = None

    def lines(self) -> list[str]:
        """Say it in two or three lines, long texts cut to the surroundings of their first difference."""
        if isinstance(self.before, str) and isinstance(self.after, str):
            before, after = around(self.before, self.after)
        else:
            before, after = _shown(self.before), _shown(self.after)
        return [self.path, f"  - {before}", f"  + {after}"]


class CallNames:
    """Gives calls names by the order in which they appear, in place of their ids."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def learn(self, data: Mapping[str, Any]) -> None:
        """Take the ids of a move's calls in order."""
        for call in data.get("move", {}).get("calls", ()):
            self._names.setdefault(call["id"], f"call {len(self._names) + 1}")

    def apply(self, value: Any) -> Any:
        """Return a value with every known id replaced by its name."""
        if isinstance(value, str):
            return self._names.get(value, value)
        if isinstance(value, dict):
            return {k: self.apply(v) for k, v in cast("dict[str, Any]", value).items()}
        if isinstance(value, (list, tuple)):
            return [self.apply(v) for v in cast("list[Any]", value)]
        return value


def timeless(data: Any, top: bool = True) -> Any:
    """Return an event's data without its times and its place in the journal.

    Only fields of our own records count as times: what a tool or a model said stays as it is.
    """
    out: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", data).items():
        if key in TIMES or key == "redacted":
            continue
        nested = top and key in ("observation", "reply") and isinstance(value, dict)
        out[key] = timeless(value, top=False) if nested else value
    return out


def event_data(event: Event | Mapping[str, Any]) -> dict[str, Any]:
    """Return an event as comparable plain data."""
    return cast("dict[str, Any]", timeless(event.to_dict() if isinstance(event, Event) else dict(event)))


def changes(before: Any, after: Any, path: str = "") -> list[Change]:
    """Return where two JSON values differ, first things first, at most a dozen places."""
    out: list[Change] = []
    _walk(before, after, path, out)
    return out[:_MOST]


def _walk(before: Any, after: Any, path: str, out: list[Change]) -> None:
    if len(out) >= _MOST or (before == after and type(before) is type(after)):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        for key in dict.fromkeys((*old, *new)):
            _walk(old.get(key), new.get(key), f"{path}.{key}" if path else str(key), out)
    elif isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)):
        olds, news = cast("list[Any]", before), cast("list[Any]", after)
        for i in range(max(len(olds), len(news))):
            _walk(olds[i] if i < len(olds) else None, news[i] if i < len(news) else None, f"{path}[{i + 1}]", out)
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        out.append(Change(path, before, after))


def around(before: str, after: str, width: int = _SNIPPET) -> tuple[str, str]:
    """Cut two texts to the surroundings of the place where they part."""
    shared = next((i for i, (a, b) in enumerate(_pairs(before, after)) if a != b), min(len(before), len(after)))
    start = max(0, shared - width // 3)
    lead = "…" if start else ""

    def cut(text: str) -> str:
        return lead + text[start : start + 2 * width] + ("…" if len(text) > start + 2 * width else "")

    return repr(cut(before)), repr(cut(after))


def _pairs(a: Iterable[str], b: Iterable[str]) -> Iterable[tuple[str, str]]:
    return zip(a, b, strict=False)


def _shown(value: Any) -> str:
    if value is None:
        return "(nothing)"
    text = repr(value)
    return text if len(text) <= 4 * _SNIPPET else f"{text[: 4 * _SNIPPET]}…"


WHAT = {
    "run_started": "the beginning",
    "model_asked": "the prompt",
    "model_retried": "a retry",
    "model_replied": "the model's reply",
    "move_read": "the reading of the reply",
    "approval_asked": "the question for permission",
    "approval_given": "the decision",
    "call_started": "the call and its arguments",
    "call_finished": "the observation",
    "answer_checked": "the verdict on the answer",
    "history_compacted": "the compaction of the history",
    "limit_reached": "the limit",
    "noted": "a note",
    "run_ended": "the end",
}
"""What each event is, for a sentence about it."""


def what_differs(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    """Name in a few words what two events differ in."""
    if before is None or after is None:
        there = before or after or {}
        return f"{'the record' if before is None else 'the other'} ends before {WHAT.get(there.get('type', ''), '?')}"
    if before.get("type") != after.get("type"):
        old, new = (WHAT.get(x.get("type", ""), "?") for x in (before, after))
        return f"{new} comes where {old} was"
    return WHAT.get(str(before["type"]), "an event")
