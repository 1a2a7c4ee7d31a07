"""A list of many runs without reading them whole.

Of every journal only the first and the last line are read, once; what they say is kept in a
small index file beside the runs, by name, size and time of change. Asking for the newest runs
reads no more journals than are shown. Which tools a run called is found out, and kept, when a
filter asks for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..types import Record
from .record import RUNS

INDEX = "index.json"
_VERSION = 1
_BLOCK = 1 << 16
_KEPT_CHARS = 400
_FRESH = 120.0
"""Seconds after its last event in which a run without an end counts as in progress."""
_CALLED = re.compile(rb'^\{"type":"call_finished"[^{]*"observation":\{"call_id":"[^"]*","name":"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class RunEntry(Record):
    """What a list shows of a run. `stop` is `running` or `interrupted` for a run without an end."""

    id: str
    at: float = 0.0
    question: str = ""
    answer: str = ""
    model: str = ""
    protocol: str = ""
    tools: tuple[str, ...] = ()
    stop: str = ""
    checked: bool = True
    steps: int = 0
    tokens: int = 0
    cached: int = 0
    seconds: float = 0.0
    cost: float | None = None
    parent: str = ""
    size: int = 0
    changed: float = 0.0
    called: tuple[str, ...] | None = None
    problem: str = ""


@dataclass(frozen=True)
class Filter:
    """Which runs to list; what is left empty lets all through.

    Attributes:
        model: Part of the model's name.
        tool: A tool the run called.
        stop: Why it ended.
        text: Words of question or answer, in any case.
        everywhere: Look for the text in the whole journal.
        since: Unix time of the earliest run.
        before: Unix time that all runs must have begun before.
    """

    model: str = ""
    tool: str = ""
    stop: str = ""
    text: str = ""
    everywhere: bool = False
    since: float = 0.0
    before: float = 0.0

    def fits(self, entry: RunEntry) -> bool:
        """Whether an entry alone does not speak against the run."""
        return (
            self.model.casefold() in entry.model.casefold()
            and (not self.stop or self.stop == entry.stop)
            and (not self.tool or self.tool in (entry.called if entry.called is not None else entry.tools))
            and entry.at >= self.since
            and (not self.before or entry.at < self.before)
            and (self.everywhere or self._said(entry))
        )

    def _said(self, entry: RunEntry) -> bool:
        said = f"{entry.id}\n{entry.question}\n{entry.answer}".casefold()
        return all(word in said for word in self.text.casefold().split())


@dataclass
class Listing:
    """The runs of a directory, newest first.

    Args:
        directory: Where the runs are.
        now: Unix time; replaced in tests.
        progress: Told how many of how many journals have been read, when there are many to read.
    """

    directory: Path = RUNS
    now: Callable[[], float] = time.time
    progress: Callable[[int, int], None] | None = None
    _entries: dict[str, RunEntry] = field(default_factory=dict[str, RunEntry])
    _read: bool = False
    _fresh: int = 0

    def entries(self, wanted: Filter | None = None, limit: int = 0, offset: int = 0) -> list[RunEntry]:
        """Return the runs that a filter lets through, newest first.

        Args:
            wanted: The filter; None lets all through.
            limit: Return at most this many; 0 means all.
            offset: Leave out this many of the newest.
        """
        wanted = wanted or Filter()
        out: list[RunEntry] = []
        skipped = 0
        for entry in self._matching(wanted):
            if skipped < offset:
                skipped += 1
                continue
            out.append(entry)
            if limit and len(out) >= limit:
                break
        self._save()
        return sorted(out, key=lambda e: (e.id[:15], e.at), reverse=True)  # within a second, ids say nothing of order

    def count(self) -> int:
        """Return how many runs there are."""
        return len(self._files())

    def _matching(self, wanted: Filter) -> Iterator[RunEntry]:
        files = self._files()
        everything = wanted != Filter()
        for number, file in enumerate(files):
            if everything and self.progress is not None and number % 100 == 0:
                self.progress(number, len(files))
            entry = self._entry(file)
            if entry is None or not wanted.fits(entry):
                continue
            if wanted.tool and entry.called is None:
                entry = self._with_calls(file, entry)
                if wanted.tool not in (entry.called or ()):
                    continue
            if wanted.everywhere and wanted.text and not _holds(Path(file.path), wanted.text):
                continue
            yield entry

    def _files(self) -> list[os.DirEntry[str]]:
        """Return the journals by name, newest first; a run's id begins with its time."""
        try:
            with os.scandir(self.directory) as found:
                files = [f for f in found if f.name.endswith(".jsonl")]
        except OSError:
            return []
        return sorted(files, key=lambda f: f.name, reverse=True)

    def _entry(self, file: os.DirEntry[str]) -> RunEntry | None:
        if not self._read:
            self._entries, self._read = _load(self.directory / INDEX), True
        try:
            stat = file.stat()
        except OSError:
            return None  # deleted meanwhile
        known = self._entries.get(file.name)
        if known is None or known.size != stat.st_size or known.changed != stat.st_mtime:
            known = replace(read_entry(Path(file.path)), size=stat.st_size, changed=stat.st_mtime)
            self._entries[file.name] = known
            self._fresh += 1
        if not known.stop:
            alive = self.now() - known.changed < _FRESH
            known = replace(known, stop="running" if alive else "interrupted", seconds=known.changed - known.at)
        return known

    def _with_calls(self, file: os.DirEntry[str], entry: RunEntry) -> RunEntry:
        called = called_tools(Path(file.path))
        kept = self._entries[file.name]
        self._entries[file.name] = replace(kept, called=called)
        self._fresh += 1
        return replace(entry, called=called)

    def _save(self) -> None:
        """Keep what was learned; a directory that cannot be written to only costs time."""
        if not self._fresh:
            return
        here = {file.name for file in self._files()}
        runs = {name: entry.to_dict() for name, entry in self._entries.items() if name in here}
        path = self.directory / INDEX
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        with contextlib.suppress(OSError):
            temporary.write_text(json.dumps({"version": _VERSION, "runs": runs}, ensure_ascii=False), "utf-8")
            temporary.replace(path)
        self._fresh = 0


def _load(path: Path) -> dict[str, RunEntry]:
    """Read the index; anything wrong with it means that there is none."""
    try:
        data = json.loads(path.read_bytes())
        if data.get("version") != _VERSION:
            return {}
        return {str(name): _from_index(entry) for name, entry in data["runs"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _from_index(entry: dict[str, Any]) -> RunEntry:
    for key in ("tools", "called"):
        if entry.get(key) is not None:
            entry[key] = tuple(entry[key])
    return RunEntry(**entry)  # the index is our own: no need for the slower `from_dict`


def read_entry(path: Path) -> RunEntry:
    """Read a run's first and last line; a journal that cannot be read says so in `problem`."""
    try:
        with path.open("rb") as file:
            first = json.loads(file.readline())
            last = _last_line(file)
        end: dict[str, Any] = json.loads(last) if last else {}
        return _entry_of(path.stem, first, end)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        return RunEntry(path.stem, problem=str(error) or type(error).__name__)


def _entry_of(run: str, first: dict[str, Any], last: dict[str, Any]) -> RunEntry:
    if first.get("type") != "run_started":
        return RunEntry(run, problem="it does not begin with the start of a run")
    end = last if last.get("type") == "run_ended" else {}
    usage = end.get("usage", {})
    return RunEntry(
        id=run,
        at=first.get("at", 0.0),
        question=str(first.get("question", ""))[:_KEPT_CHARS],
        answer=str(end.get("answer", ""))[:_KEPT_CHARS],
        model=str(first.get("model", "")),
        protocol=str(first.get("protocol", "")),
        tools=tuple(str(t.get("name", "")) for t in first.get("tools", ())),
        stop=str(end.get("stop", "answered")) if end else "",
        checked=bool(end.get("answer_checked", True)),
        steps=int(last.get("step", 0)),
        tokens=int(usage.get("prompt", 0)) + int(usage.get("completion", 0)),
        cached=int(usage.get("cached", 0)),
        seconds=float(end.get("seconds", 0.0)),
        cost=end.get("cost"),
        parent=str(first.get("parent", "")),
    )


def _last_line(file: Any) -> bytes:
    """Return the last whole line, read from the end; what a crash left half-written is passed over."""
    position = file.seek(0, os.SEEK_END)
    tail = b""
    while position > 0:
        start = max(0, position - _BLOCK)
        file.seek(start)
        tail = file.read(position - start) + tail
        whole = tail.rfind(b"\n")
        before = tail.rfind(b"\n", 0, whole) if whole > 0 else -1
        if before >= 0:
            return bytes(tail[before + 1 : whole])
        position = start
    return bytes(tail[: tail.rfind(b"\n")]) if b"\n" in tail else b""


def called_tools(path: Path) -> tuple[str, ...]:
    """Return the names of the tools a run called, each once, in order; only the beginning of each line is looked at."""
    names: dict[str, None] = {}
    with path.open("rb") as file:
        for line in file:
            match = _CALLED.match(line)
            if match:
                names[json.loads(b'"' + match.group(1) + b'"')] = None
    return tuple(names)


def _holds(path: Path, text: str) -> bool:
    try:
        content = path.read_text("utf-8", "replace").casefold()
    except OSError:
        return False
    return all(json.dumps(word, ensure_ascii=False)[1:-1] in content for word in text.casefold().split())
