"""Files and folders into a base, again and again.

Owes: `index_paths`: finds files, skips unchanged ones by the hash of their content, takes in new and changed ones,
lets deleted ones go, and puts every failure into the report instead of stopping. What is done is saved every few
seconds, so an interruption loses at most those.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import GlassloopError, KnowledgeError
from .load import as_document, hash_bytes, load_bytes, read_bytes, readable
from .reports import IndexReport, OnProgress, Progress

if TYPE_CHECKING:
    from .base import KnowledgeBase
    from .stores.base import Addition, DocumentRecord

IGNORED = (".*", "node_modules", "__pycache__", "venv", "site-packages", "*.min.js", "*.min.css", "*.lock", "*.map")
"""Left out of folders unless a path names them itself."""
_IGNORE_FILE = ".glassloopignore"
_SAVE_EVERY = 5.0


def index_paths(
    base: KnowledgeBase,
    paths: Sequence[Path],
    ignore: Sequence[str],
    metadata: dict[str, Any],
    progress: OnProgress | None,
) -> IndexReport:
    """Bring a base up to date with files and folders; see `KnowledgeBase.index`."""
    started = time.perf_counter()
    report = IndexReport()
    found = _Found(report)
    for path in paths:
        found.add(path, ignore)
    worker = _Worker(base, report, metadata)
    total = len(found.files)
    try:
        for number, (file, root) in enumerate(found.files.items(), 1):
            worker.take(file, root)
            if progress:
                progress(Progress("files", number, total, str(file)))
        worker.forget_deleted(found)
    finally:
        worker.save()
        report.seconds = time.perf_counter() - started
    return report


class _Found:
    """Files to read, each once, with the folder they were found from."""

    def __init__(self, report: IndexReport) -> None:
        self.files: dict[Path, Path] = {}
        self.roots: list[Path] = []
        self.unreadable: list[Path] = []
        """Folders that could not be listed: what they held is not taken for deleted."""
        self._report = report

    def add(self, path: Path, ignore: Sequence[str]) -> None:
        """A file, or all documents below a folder."""
        path = path.expanduser()
        absolute = path.resolve()
        if absolute.is_dir():
            self.roots.append(absolute)
            for file in self._walk(absolute, [*IGNORED, *ignore]):
                self.files.setdefault(file, absolute.parent)
        elif absolute.exists():
            self.files.setdefault(absolute, absolute.parent)
        else:
            self.roots.append(absolute)
            self._report.failed[str(path)] = "is not there; check the path"

    def _walk(self, root: Path, patterns: list[str]) -> Iterator[Path]:
        def unreadable(error: OSError) -> None:
            self.unreadable.append(Path(error.filename))
            self._report.failed[str(error.filename)] = f"cannot be opened ({error.strerror}); check its permissions"

        own: dict[Path, list[str]] = {}
        for folder_name, folders, files in os.walk(root, onerror=unreadable):
            folder = Path(folder_name)
            rules = own.get(folder.parent, patterns) + _patterns_in(folder)
            own[folder] = rules
            folders[:] = sorted(name for name in folders if not _ignored(folder / name, root, rules))
            for name in sorted(files):
                file = folder / name
                if readable(file) and not _ignored(file, root, rules) and file.is_file():
                    yield file

    def covers(self, path: Path) -> bool:
        """Whether a document of this path would have been found if it were still there."""
        if any(path.is_relative_to(folder) for folder in self.unreadable):
            return False
        return any(path.is_relative_to(root) for root in self.roots)


def _patterns_in(folder: Path) -> list[str]:
    try:
        lines = (folder / _IGNORE_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _ignored(path: Path, root: Path, patterns: Sequence[str]) -> bool:
    """Whether a pattern names the file or folder, by its name or its path from the root."""
    relative = path.relative_to(root).as_posix()
    for pattern in patterns:
        plain = pattern.strip("/")
        if "/" in plain:
            if fnmatch(relative, plain):
                return True
        elif fnmatch(path.name, plain):
            return True
    return False


class _Worker:
    """Reads files and hands them to the base in batches."""

    def __init__(self, base: KnowledgeBase, report: IndexReport, metadata: dict[str, Any]) -> None:
        self._base = base
        self._report = report
        self._metadata = metadata
        documents = base.store.documents()
        self._by_path: dict[str, DocumentRecord] = {r.path: r for r in documents.values() if r.path}
        self._sources = set(documents)
        self._removed: list[str] = []
        self._added: list[Addition] = []
        self._saved = time.monotonic()

    def take(self, file: Path, root: Path) -> None:
        """Read one file if it is new or changed."""
        known = self._by_path.get(str(file))
        try:
            data = read_bytes(file)
            digest = hash_bytes(data)
            if known is not None and known.content_hash == digest:
                self._report.unchanged.append(known.source)
                return
            loaded = load_bytes(data, file.name)
            source = known.source if known else self._free_name(file, root)
            document = as_document(loaded, source)
            if self._metadata:
                document = _with_metadata(document, self._metadata)
            addition = self._base.prepared(document, path=str(file), content_hash=digest)
        except GlassloopError as error:
            self._fail(file, known, str(error))
        except MemoryError:
            self._fail(file, known, "is too large for the memory; split it")
        except Exception as error:  # a library's own failure on one file must not stop the others
            self._fail(file, known, f"cannot be read ({type(error).__name__}: {' '.join(str(error).split())[:160]})")
        else:
            self._added.append(addition)
            (self._report.updated if known else self._report.added).append(source)
            self._report.passages += len(addition.passages)
            self._report.pages += len(document.pages)
            self._report.characters += len(document.text)
            if loaded.note:
                self._report.notes[str(file)] = loaded.note
        if time.monotonic() - self._saved > _SAVE_EVERY:
            self.save()

    def _fail(self, file: Path, known: DocumentRecord | None, reason: str) -> None:
        self._report.failed[str(file)] = reason + ("; its earlier version stays in the base" if known else "")

    def forget_deleted(self, found: _Found) -> None:
        """Let go of documents below the given folders whose files are no longer there, or are ignored now."""
        for path, record in self._by_path.items():
            file = Path(path)
            if file not in found.files and found.covers(file):
                self._removed.append(record.source)
                self._report.removed.append(record.source)

    def save(self) -> None:
        """Put what has been read into the base."""
        if self._removed or self._added:
            self._base.apply(self._removed, self._added)
            self._removed, self._added = [], []
        self._saved = time.monotonic()

    def _free_name(self, file: Path, root: Path) -> str:
        """The path from the folder that was named; longer where another document has that name already."""
        absolute = file.as_posix()
        name = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name
        while name in self._sources and len(name) < len(absolute):
            start = absolute[: len(absolute) - len(name)].rstrip("/").rfind("/") + 1
            name = absolute[start:] if start > 0 else absolute
        if name in self._sources:
            raise KnowledgeError(f"has the name of another document in the base: {name}")
        self._sources.add(name)
        return name


def _with_metadata(document: Any, metadata: dict[str, Any]) -> Any:
    from dataclasses import replace

    return replace(document, metadata={**document.metadata, **metadata})
