"""Vectors remembered on disk, by the content they belong to and the model that made them.

Owes: `VectorCache`, one SQLite file that several processes may use at once and that survives a crash at any moment.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

_AT_ONCE = 500


class VectorCache:
    """Vectors by model name and text.

    Args:
        path: The file; `None` keeps the vectors in memory only.
    """

    def __init__(self, path: Path | None = None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._file = sqlite3.connect(str(path) if path else ":memory:", timeout=30, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = NORMAL")
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        self._file.commit()

    def get(self, model: str, texts: Sequence[str]) -> dict[str, Any]:
        """The vectors of those texts that have one."""
        keys = {_key(model, text): text for text in texts}
        found: dict[str, Any] = {}
        wanted = list(keys)
        with self._lock:
            for start in range(0, len(wanted), _AT_ONCE):
                part = wanted[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = self._file.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
                for key, vector in rows:
                    found[keys[key]] = np.frombuffer(vector, np.float32)
        return found

    def put(self, model: str, vectors: Mapping[str, Any]) -> None:
        """Remember vectors."""
        rows = [(_key(model, text), np.asarray(vector, np.float32).tobytes()) for text, vector in vectors.items()]
        with self._lock, self._file:
            self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def __len__(self) -> int:
        with self._lock:
            return int(self._file.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()


def _key(model: str, text: str) -> bytes:
    return blake2b(f"{model}\0{text}".encode("utf-8", "replace"), digest_size=16).digest()
