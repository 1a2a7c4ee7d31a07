"""The folder of model files on this machine, and which of them can be trusted.

It owes that a path it returns has been hashed and found right, and that a
gigabyte is not hashed at each start: beside a verified file lies a note of its
hash, size and time of change, believed for as long as the last two stay the same.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from glassloop.models.catalogue import CATALOGUE, ModelEntry, find_entry
from glassloop.models.partfile import chunks


@dataclass(frozen=True)
class InstalledModel:
    """A model of the catalogue whose verified file is on this machine."""

    entry: ModelEntry
    path: Path


def models_directory() -> Path:
    """Return where model files are kept: `GLASSLOOP_MODELS`, else the user's cache folder. Creates nothing."""
    named = os.environ.get("GLASSLOOP_MODELS")
    if named:
        return Path(named).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "glassloop" / "models"


def locate(name_or_entry: str | ModelEntry, *, directory: Path | None = None) -> Path | None:
    """Return the model's file in the cache if it is there and its hash is right, else None.

    The file is hashed once; after that it is trusted for as long as its size and
    time of change stay the same.

    Args:
        name_or_entry: Name in the catalogue, or an entry of your own.
        directory: Cache to look in; `models_directory()` if None.

    Raises:
        WeightsError: No model has this name.
    """
    entry = as_entry(name_or_entry)
    path = (directory or models_directory()) / entry.file_name
    if not path.is_file() or path.stat().st_size != entry.size:
        return None
    if remembered_hash(path) != entry.sha256:
        if hash_file(path) != entry.sha256:
            return None
        remember_hash(path, entry.sha256)
    return path


def installed(*, directory: Path | None = None) -> list[InstalledModel]:
    """List the models of the catalogue that are in the cache, verified, in the catalogue's order."""
    found = ((entry, locate(entry, directory=directory)) for entry in CATALOGUE.values())
    return [InstalledModel(entry, path) for entry, path in found if path is not None]


def as_entry(name_or_entry: str | ModelEntry) -> ModelEntry:
    """Return the entry of a name, or the entry itself."""
    return find_entry(name_or_entry) if isinstance(name_or_entry, str) else name_or_entry


def hash_file(path: Path, report: Callable[[int], None] | None = None) -> str:
    """Return the sha256 of a file in hexadecimal, telling `report` the bytes read so far."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for piece in chunks(file):
            digest.update(piece)
            if report is not None:
                report(file.tell())
    return digest.hexdigest()


def _memo(path: Path) -> Path:
    return path.with_name(path.name + ".verified.json")


def remember_hash(path: Path, sha256: str) -> None:
    """Note that the file, as it is now, has this hash."""
    status = path.stat()
    text = json.dumps({"sha256": sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns})
    with suppress(OSError):  # a cache on a read-only disk is hashed at each start
        _memo(path).write_text(text, encoding="utf-8")


def remembered_hash(path: Path) -> str | None:
    """Return the hash noted for the file, None if there is none or the file has changed since."""
    status = path.stat()
    try:
        note = cast("dict[str, Any]", json.loads(_memo(path).read_text("utf-8")))
        if note["size"] == status.st_size and note["mtime_ns"] == status.st_mtime_ns:
            return str(note["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None
