"""Passages as JSON Lines, read one at a time.

Owes: `PassageTable`, lines in one buffer (memory-mapped or in memory) with their offsets: a base of ten thousand
passages opens without reading one, and holds only those it has shown lately.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..passage import Passage
from ..terms import Array

_REMEMBERED = 4096


class PassageTable:
    """Passages by row number."""

    def __init__(self, lines: Any, offsets: Array) -> None:
        self.lines = lines
        """A buffer of bytes: `bytes` or a memory map."""
        self.offsets = offsets
        """Where each line begins, and where the last one ends."""
        self._read: dict[int, Passage] = {}

    @classmethod
    def empty(cls) -> PassageTable:
        """A table without rows."""
        return cls(b"", np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Passage:
        passage = self._read.get(row)
        if passage is None:
            line = self.lines[int(self.offsets[row]) : int(self.offsets[row + 1])]
            passage = Passage.from_dict(json.loads(bytes(line)))
            if len(self._read) >= _REMEMBERED:
                self._read.clear()
            self._read[row] = passage
        return passage

    def updated(self, keep: Sequence[int], added: Iterable[Passage]) -> PassageTable:
        """A table of the rows `keep` followed by other passages."""
        parts = [bytes(self.lines[int(self.offsets[row]) : int(self.offsets[row + 1])]) for row in keep]
        parts.extend(_line(passage) for passage in added)
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return PassageTable(b"".join(parts), offsets)


def _line(passage: Passage) -> bytes:
    record = passage.to_dict()
    # The document's record has it; writing it beside every passage would double the file.
    record.pop("metadata", None)
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
