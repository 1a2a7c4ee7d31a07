"""From a journal back to the run: the state it had, at its end or after any step.

A run is a fold of its events, so there is nothing to it but which events count: pauses
that were gone on from do not, and a run wanted "until step N" leaves out everything
that belongs to asking for the step after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import JournalError
from ..events import Event, HistoryCompacted, LimitReached, ModelAsked, RunEnded, RunStarted
from ..state import State
from ..types import Run
from .record import RUNS, find_run, read_events

Source = str | Path | Iterable[Event]
"""A run: its id (or a unique part of it, or `last`), its journal, or its events."""

PAUSES = ("cancelled", "approval_needed", "model_failed")
"""Ends that a run may be gone on from."""


def load(source: Source, directory: Path = RUNS) -> list[Event]:
    """Return the events of a run.

    Raises:
        JournalError: There is no such run, or it does not begin with its beginning.
    """
    if isinstance(source, (str, Path)):
        path = source if isinstance(source, Path) else find_run(source, directory)
        events = list(read_events(path))
        what = path.name
    else:
        events = list(source)
        what = "this list of events"
    if not events or not isinstance(events[0], RunStarted):
        raise JournalError(f"{what} does not begin with the start of a run: choose another file (see glassloop runs).")
    return events


def until(events: Sequence[Event], step: int) -> list[Event]:
    """Return the events up to and with a step; all of them when the run has no later one."""
    cut = next((i for i, e in enumerate(events) if isinstance(e, ModelAsked) and e.step > step), len(events))
    while cut < len(events) and isinstance(events[cut - 1], (LimitReached, HistoryCompacted)):
        cut -= 1
    return list(events[:cut])


def fold(events: Iterable[Event]) -> State:
    """Return the state after these events; a pause counts only if nothing follows it."""
    state = State()
    paused: RunEnded | None = None
    for event in events:
        paused = None
        if isinstance(event, RunEnded) and event.stop in PAUSES:
            paused = event
            continue
        state.apply(event)
    if paused is not None:
        state.apply(paused)
    return state


def rebuild(source: Source, step: int | None = None, directory: Path = RUNS) -> State:
    """Return the state a run had at its end, or after a step.

    Args:
        source: The run.
        step: The last step to take in; None takes the whole run.
        directory: Where runs are looked for by id.

    Raises:
        JournalError: There is no such run.
    """
    events = load(source, directory)
    return fold(events if step is None else until(events, step))


def rebuild_run(source: Source, step: int | None = None, directory: Path = RUNS) -> Run:
    """Return a recorded run as `Agent.run` gave it.

    Raises:
        JournalError: There is no such run.
    """
    return rebuild(source, step, directory).to_run()
