"""A stand-in for the module `time` in the tools of case rows, where order proves what a clock would only suggest."""

from __future__ import annotations

import threading


class Sleepers:
    """Its `sleep` ends only when `together` callers sleep at once, or when the test calls `release`.

    A row that allows three sleeps of 0.3 s together 0.75 s says that they overlap, and that the event loop goes on
    meanwhile: here none of them ends before all are inside. A row that allows a tool sleeping 5 s only 1.5 s says
    that it is left behind: here it sleeps until the test, having the result, wakes it. What is wrong hangs, however
    fast the machine; what is right passes, however slow.
    """

    def __init__(self, together: int = 0) -> None:
        self._together, self._inside = together, 0
        self._lock, self._awake = threading.Lock(), threading.Event()

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == self._together:
                self._awake.set()
        self._awake.wait()

    def release(self) -> None:
        self._awake.set()
