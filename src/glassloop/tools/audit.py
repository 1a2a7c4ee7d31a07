"""The audit file: who allowed what, when, with which arguments. Append-only JSON Lines, apart from the runs."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..events import ApprovalAsked
from .decision import Decision

AUDIT = Path(".glassloop") / "audit.jsonl"


class AuditLog:
    """Appends one line for each decision; each line is on the disk before the call may run.

    Lines are only ever added, whole and in one write, so that several processes can share the file; only the
    owner may read it.

    Args:
        path: The file; it and its directory are made at the first decision.
        redact: Called with every entry before it is written, as the journal does with its events; None hides nothing.
            The hash stays that of the real arguments.
    """

    def __init__(
        self, path: str | Path = AUDIT, *, redact: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    ) -> None:
        self.path = Path(path)
        self.redact = redact
        self._lock = threading.Lock()

    def record(self, asked: ApprovalAsked, decision: Decision, run: str = "") -> None:
        """Write down one decision.

        Raises:
            OSError: The line could not be written; then the call must not run.
        """
        decided = {True: "allowed", False: "denied", None: "pending"}[decision.allowed]
        entry: dict[str, Any] = {
            "at": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            "decision": decided,
            "by": decision.by,
            "reason": decision.reason,
            "run": run,
            "call": asked.call.id,
            "tool": asked.call.name,
            "risk": asked.risk,
            "arguments": asked.call.arguments,
            "hash": asked.hash,
        }
        if asked.unknown:
            entry["unknown"] = True
        if self.redact is not None:
            entry = {**self.redact(entry), "hash": asked.hash}
        line = (json.dumps(entry, ensure_ascii=False, default=str) + "\n").encode("utf-8", "backslashreplace")
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                # a line that a crash cut short is closed first, so that it spoils no other
                if not _ends_whole(self.path):
                    line = b"\n" + line
                os.write(handle, line)
                os.fsync(handle)
            finally:
                os.close(handle)

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield every entry, oldest first; lines that a crash cut short are left out."""
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if isinstance(entry, dict):
                    yield entry  # pyright: ignore[reportUnknownVariableType]


def _ends_whole(path: Path) -> bool:
    size = path.stat().st_size
    if not size:
        return True
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read(1) == b"\n"
