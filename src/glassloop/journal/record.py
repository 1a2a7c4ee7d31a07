"""Writes a run down while it happens: JSON Lines, one event a line, each handed to the system at once.

A line is flushed before the loop goes on. Before anything that changes the world
(`CallStarted` of a write), and at the end, it is also forced onto the disk, so that
after a crash the journal knows at least every write that may have begun.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from ..errors import JournalError
from ..events import CallStarted, Event, RunEnded, event_from_dict
from .redact import Redactor

RUNS = Path(".glassloop") / "runs"
"""Where runs are kept, below the working directory, unless told otherwise."""

Redact = Callable[[dict[str, Any]], dict[str, Any]]
KEYS_HIDDEN = Redactor()

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class JournalRecorder:
    """Appends the events of one run to a file.

    Args:
        path: The run's file; its directory is made when the first event arrives.
        redact: Called with every event's plain data before it is written; hides the known shapes of keys unless told
            otherwise, None hides nothing. If it has a `suspects(line)`, it is only called where that says yes.

    Raises:
        OSError: From `record`, when the file cannot be written (read-only folder, full disk).
    """

    def __init__(self, path: Path, *, redact: Redact | None = KEYS_HIDDEN) -> None:
        self.path = path
        self.redact = redact
        self._suspects: Callable[[str], bool] = getattr(redact, "suspects", lambda line: True)
        self._file: IO[bytes] | None = None

    def record(self, event: Event) -> None:
        """Write one event; on disk for certain if it announces a write or ends the run."""
        if event.live_only:
            return
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            mend_tail(self.path)
            self._file = self.path.open("ab", buffering=0)
        data = event.to_dict()
        line = as_line(data)
        if self.redact is not None and self._suspects(line):
            line = as_line(self.redact(data))
        self._file.write(line.encode("utf-8", "replace") + b"\n")
        if isinstance(event, RunEnded) or (isinstance(event, CallStarted) and event.risk != "read"):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; a further event opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None


def as_line(data: dict[str, Any]) -> str:
    """Return an event's data as its line in a journal, without the newline."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)


def mend_tail(path: Path) -> int:
    """Cut a half-written last line off a journal (the process was killed in the middle of it).

    Returns:
        The number of bytes cut off.
    """
    if not path.exists():
        return 0
    with path.open("rb+") as file:
        data_end = file.seek(0, os.SEEK_END)
        position, block = data_end, b""
        while position > 0:
            start = max(0, position - 65536)
            file.seek(start)
            block = file.read(position - start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                keep = start + newline + 1
                file.truncate(keep)
                return data_end - keep
            position = start
        file.truncate(0)
        return data_end


def read_events(path: Path) -> Iterator[Event]:
    """Yield the events of a journal in order; a half-written last line is dropped.

    Raises:
        JournalError: The file does not exist, or a line in its middle is not an event.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise JournalError(f"The journal {path} cannot be read: {error.strerror or error}.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield event_from_dict(json.loads(line))
        except (ValueError, TypeError, KeyError) as error:
            if number == len(lines):  # no newline after it: it was never finished
                return
            raise JournalError(
                f"Line {number} of {path} is not an event ({error}): restore the file or delete the run."
            ) from error


def new_run_id(now: float | None = None) -> str:
    """Return a new run id that sorts by time: `20250131-142501-3f9a`."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    return f"{stamp}-{os.urandom(2).hex()}"


def find_run(run: str, directory: Path = RUNS) -> Path:
    """Return the journal of a run given by id, by a unique beginning or end of it, by `last`, or by path.

    Raises:
        JournalError: No run or more than one fits.
    """
    if run.endswith(".jsonl") and Path(run).exists():
        return Path(run)
    files = sorted(directory.glob("*.jsonl"))
    if run == "last" and files:
        return max(files, key=lambda f: f.stat().st_mtime)
    fitting = [f for f in files if f.stem == run] or [
        f for f in files if _ID.fullmatch(run) and (f.stem.startswith(run) or f.stem.endswith(run))
    ]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(f.stem for f in fitting[:5])
        raise JournalError(f"More than one run fits {run!r} ({names}): give more of its id.")
    raise JournalError(f"There is no run {run!r} in {directory}: see the list with glassloop runs.")
