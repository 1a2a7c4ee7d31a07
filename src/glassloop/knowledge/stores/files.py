"""A base as plain files: arrays that open memory-mapped, passages as JSON Lines.

Owes: `write_generation` and `open_generation`. Every change writes a whole new folder beside the old one and then
points `CURRENT` at it in one rename: readers in other processes see the old state or the new one, never a mixture,
and a crash at any moment leaves the old state as it was.

    base/CURRENT                  {"format": 1, "generation": "000007-5f2c…"}
    base/generations/000007-…/    manifest.json  documents.jsonl  passages.jsonl  *.npy
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import shutil
import uuid
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from ...errors import KnowledgeError
from ..terms import Array
from .base import DocumentRecord

FORMAT = 1
"""1: first release."""
_CURRENT = "CURRENT"
_GENERATIONS = "generations"


def current_mark(root: Path) -> str:
    """What changes when another generation becomes current; empty where there is no base yet."""
    try:
        status = (root / _CURRENT).stat()
    except FileNotFoundError:
        return ""
    return f"{status.st_mtime_ns}-{status.st_ino}-{status.st_size}"


def write_generation(
    root: Path,
    *,
    settings: Mapping[str, Any],
    documents: list[DocumentRecord],
    lines: Any,
    arrays: Mapping[str, Array],
    notes: Mapping[str, Any],
) -> Path:
    """Write a state into a new folder and make it the current one; returns the folder."""
    parent = root / _GENERATIONS
    parent.mkdir(parents=True, exist_ok=True)
    before = _generation_name(root)
    serial = int(before.split("-")[0]) + 1 if before else 1
    folder = parent / f"{serial:06d}-{uuid.uuid4().hex[:8]}"
    folder.mkdir()
    _write(folder / "passages.jsonl", lines)
    records = "".join(json.dumps(record.to_dict(), ensure_ascii=False) + "\n" for record in documents)
    _write(folder / "documents.jsonl", records.encode("utf-8", "surrogatepass"))
    for name, array in arrays.items():
        with (folder / f"{name}.npy").open("wb") as file:
            np.save(file, np.asarray(array))
            file.flush()
            os.fsync(file.fileno())
    manifest = {
        "format": FORMAT,
        "settings": dict(settings),
        "notes": dict(notes),
        "arrays": list(arrays),
        "sizes": {path.name: path.stat().st_size for path in folder.iterdir()},
    }
    _write(folder / "manifest.json", json.dumps(manifest, ensure_ascii=False, indent=1).encode())
    pointer = root / f"{_CURRENT}.{uuid.uuid4().hex[:8]}"
    _write(pointer, json.dumps({"format": FORMAT, "generation": folder.name}).encode())
    pointer.replace(root / _CURRENT)
    _remove_old(parent, keep={folder.name, before})
    return folder


class Generation:
    """An opened state."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self.settings: dict[str, Any] = manifest["settings"]
        self.notes: dict[str, Any] = manifest["notes"]
        self.arrays: dict[str, Array] = {name: _mapped(folder / f"{name}.npy") for name in manifest["arrays"]}
        self.documents = [
            DocumentRecord.from_dict(json.loads(line))
            for line in (folder / "documents.jsonl").read_bytes().splitlines()
            if line
        ]
        self.lines: Any = b""
        if (folder / "passages.jsonl").stat().st_size:
            with (folder / "passages.jsonl").open("rb") as file:
                self.lines = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def open_generation(root: Path) -> Generation | None:
    """The current state; `None` where nothing has been indexed yet.

    Raises:
        KnowledgeError: It is from a newer version, or files are missing or cut short.
    """
    for attempt in range(3):
        name = _generation_name(root)
        if not name:
            return None
        folder = root / _GENERATIONS / name
        try:
            manifest = json.loads((folder / "manifest.json").read_bytes())
            for file_name, size in manifest["sizes"].items():
                if (folder / file_name).stat().st_size != size:
                    raise KnowledgeError(
                        f"The base {root} is damaged: {file_name} is cut short; restore it or index into a new folder."
                    )
            return Generation(folder, manifest)
        except (OSError, ValueError, KeyError) as error:
            # A writer may have moved on and cleared this generation away between two of our reads.
            if attempt == 2 or name == _generation_name(root):
                raise KnowledgeError(
                    f"The base {root} is damaged ({error}); restore it or index into a new folder."
                ) from error
    return None


def _generation_name(root: Path) -> str:
    try:
        pointer = json.loads((root / _CURRENT).read_bytes())
        version, name = pointer["format"], str(pointer["generation"])
    except FileNotFoundError:
        return ""
    except (ValueError, KeyError, TypeError) as error:
        raise KnowledgeError(
            f"The base {root} is damaged: its file CURRENT cannot be read; restore it or index into a new folder."
        ) from error
    if not isinstance(version, int) or version > FORMAT:
        raise KnowledgeError(
            f"The base {root} was written by a newer glassloop (format {version}, this one reads up to {FORMAT}); "
            "update glassloop or index into another folder."
        )
    return name


def _mapped(path: Path) -> Array:
    # An empty array cannot be mapped.
    array = np.load(path, mmap_mode="r" if path.stat().st_size > 256 else None, allow_pickle=False)
    return np.asarray(array)


def _write(path: Path, content: Any) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _remove_old(parent: Path, keep: set[str]) -> None:
    for folder in parent.iterdir():
        if folder.name not in keep:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def writer_lock(root: Path, patience: float = 60.0) -> Generator[None, None, None]:
    """Let one process write at a time; the lock falls away by itself when its holder dies."""
    root.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(root / "lock", timeout=patience):
            yield
    except Timeout as error:
        raise KnowledgeError(f"Another process is writing to the base {root}; wait until it has finished.") from error
