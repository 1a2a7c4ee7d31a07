"""The session store's SQLite file: opened safely by several processes, refused in one sentence when it cannot be used.

A connection lives for one operation, so that threads, forks and killed processes leave nothing behind.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ..errors import SessionError

VERSION = 1
"""Version of the tables, kept in `user_version`. 1: first release."""

_APPLICATION = 0x676C6C70
"""Marks the file as ours (`gllp`), so that somebody else's database is never written into."""

_WAIT_SECONDS = 10.0
_ATTEMPTS = 5
_TABLES = """
CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    question TEXT NOT NULL,
    answer TEXT NOT NULL DEFAULT '',
    run_id TEXT NOT NULL DEFAULT '',
    stop TEXT,
    messages TEXT NOT NULL DEFAULT '[]',
    created REAL NOT NULL,
    finished REAL
);
CREATE INDEX turns_by_session ON turns (session, id);
CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user TEXT NOT NULL,
    text TEXT NOT NULL,
    created REAL NOT NULL,
    UNIQUE (user, text)
);
"""


class Database:
    """One SQLite file in WAL mode.

    Args:
        path: The file; it and its folder are made when they are missing.

    Raises:
        SessionError: The file cannot be opened, is damaged, newer than this version, or not a session store.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SessionError(f"The folder of the session store {path} cannot be made: {error.strerror}.") from error
        with self.writing() as db:
            self._make_tables(db)
        with self._named_errors():
            self._use_wal()

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection, None, None]:
        """Give a connection for reading."""
        with self._named_errors():
            db = self._connect()
            try:
                yield db
            finally:
                db.close()

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection, None, None]:
        """Give a connection inside one write transaction: all of it happens, or nothing."""
        with self._named_errors():
            db = self._connect()
            try:
                _patiently(db, "BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            finally:
                db.close()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=_WAIT_SECONDS, isolation_level=None)
        try:
            db.row_factory = sqlite3.Row
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise SessionError(
                    f"The session store {self.path} was written by a newer glassloop (format {version}, this one "
                    f"reads {VERSION}): upgrade glassloop, or name another file."
                )
        except BaseException:
            db.close()
            raise
        return db

    def _use_wal(self) -> None:
        """Let readers go on while somebody writes. The file remembers it, so this does something only once."""
        db = self._connect()
        try:
            if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                _patiently(db, "PRAGMA journal_mode = WAL")
        finally:
            db.close()

    def _make_tables(self, db: sqlite3.Connection) -> None:
        if db.execute("PRAGMA user_version").fetchone()[0]:
            if db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
                raise self._foreign()
            return
        if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise self._foreign()
        for statement in _TABLES.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {_APPLICATION}")
        db.execute(f"PRAGMA user_version = {VERSION}")

    def _foreign(self) -> SessionError:
        return SessionError(f"{self.path} is a database of another program, not a session store: name another file.")

    @contextmanager
    def _named_errors(self) -> Generator[None, None, None]:
        try:
            yield
        except sqlite3.Error as error:
            raise SessionError(self._sentence(error)) from error

    def _sentence(self, error: sqlite3.Error) -> str:
        said = str(error).lower()
        if "readonly" in said:
            return f"The session store {self.path} may not be written: give its file and folder write permission."
        if "unable to open" in said:
            return f"The session store {self.path} cannot be opened: check that its folder exists and may be written."
        if "locked" in said or "busy" in said:
            return f"The session store {self.path} is held by another process: wait for it or close it, then try again."
        if "full" in said:
            return f"The session store {self.path} cannot grow because the disk is full: free some space and try again."
        if "not a database" in said or "malformed" in said or "corrupt" in said or isinstance(error, sqlite3.DataError):
            return f"The session store {self.path} is damaged: move it away to begin a new one, or restore a copy."
        return f"The session store {self.path} cannot be used ({error}): move it away to begin a new one."


def _patiently(db: sqlite3.Connection, statement: str) -> None:
    """Run a statement that needs a lock. SQLite waits by itself, but not in every case; then try again."""
    for attempt in range(_ATTEMPTS):
        try:
            db.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if not ("locked" in str(error) or "busy" in str(error)) or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.05 * 2**attempt)
