"""Follows a journal while it grows, and tells a browser which pieces of the page are new."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

from ...events import event_from_dict
from ..html import end_html, head_html, step_html
from ..timeline import Timeline

_LOOK_EVERY = 0.25
_SAY_SOMETHING_EVERY = 15.0


class Follower:
    """Reads what a journal has, and later what has been added; a line counts when it is whole.

    Args:
        path: The run's journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.timeline = Timeline()
        self._place = 0
        self.read()

    def read(self) -> list[int]:
        """Take what is new and return the numbers of the steps that changed; 0 stands for the head."""
        with self.path.open("rb") as file:
            file.seek(self._place)
            fresh = file.read()
        whole = fresh.rfind(b"\n") + 1
        self._place += whole
        changed: dict[int, None] = {}
        for line in fresh[:whole].split(b"\n"):
            if line.strip():
                self.timeline.feed(event_from_dict(json.loads(line)))
                changed[self.timeline.steps[-1].number if self.timeline.steps else 0] = None
        return list(changed)

    def pieces(self, changed: list[int]) -> list[dict[str, str]]:
        """Return the pieces of the page that show these steps, and the end."""
        out: list[dict[str, str]] = []
        if 0 in changed:
            out.append({"id": "head", "html": head_html(self.timeline, links=True)})
        for step in self.timeline.steps:
            if step.number in changed:
                out.append({"id": f"step-{step.number}", "html": step_html(step)})
        out.append({"id": "end", "html": end_html(self.timeline)})
        return out


async def stream_of(path: Path, after: int = 0, every: float = _LOOK_EVERY) -> AsyncIterator[str]:
    """Yield server-sent events until the run has ended: `piece` for each changed part of the page, then `done`.

    Args:
        path: The run's journal.
        after: The last event the page already shows.
        every: Seconds between two looks at the file.
    """
    follower = Follower(path)
    changed = [0, *(s.number for s in follower.timeline.steps if any(row.seq > after for row in s.rows))]
    quiet = 0.0
    yield "retry: 1000\n\n"
    while True:
        if changed:
            for piece in follower.pieces(changed):
                yield f"event: piece\ndata: {json.dumps(piece)}\n\n"
            quiet = 0.0
        if follower.timeline.end is not None:
            yield "event: done\ndata: {}\n\n"
            return
        await asyncio.sleep(every)
        quiet += every
        if quiet >= _SAY_SOMETHING_EVERY:
            yield ": still here\n\n"
            quiet = 0.0
        changed = follower.read()
