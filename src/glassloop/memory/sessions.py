"""Chats that are remembered: turns by session name in SQLite, and whether each was finished, runs, or was cut off.

A turn is written when its question is asked and completed when its answer is there. While it runs, its
process holds a lock file that the operating system lets go when the process dies, however it dies; a
turn without an answer and without a holder was interrupted and can be continued.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from filelock import BaseFileLock, FileLock, Timeout

from ..errors import SessionError
from ..prompts import language_of, text
from ..types import Message, Record, canonical
from .database import Database
from .notes import Note, best

T = TypeVar("T")
Redact = Callable[[dict[str, Any]], dict[str, Any]]
TurnState = Literal["finished", "running", "interrupted"]


@dataclass(frozen=True)
class ChatTurn(Record):
    """One question of a session with what came of it; `messages` are the turn's own, the question first."""

    id: int
    session: str
    question: str
    answer: str = ""
    run_id: str = ""
    stop: str = ""
    messages: tuple[Message, ...] = ()
    created: float = 0.0
    finished: float | None = None
    state: TurnState = "finished"


@dataclass(frozen=True)
class SessionInfo(Record):
    """A session in a list: its name, how many turns, when it was begun and last used, and how its last turn stands."""

    name: str
    turns: int
    created: float
    updated: float
    state: TurnState = "finished"
    last_question: str = ""


class SessionStore:
    """Sessions and long-term notes in one SQLite file, safe for several processes at once.

    Args:
        path: The database file; made when it is missing.
        redact: Called with the plain data of every turn and note before it is written, as the journal does with its
            events; None hides nothing. An agent's session brings the rule of the agent's journal.

    Raises:
        SessionError: The file is damaged, newer than this version, not ours, or may not be written.
    """

    def __init__(self, path: str | Path, *, redact: Redact | None = None) -> None:
        self.path = Path(path)
        self.redact = redact
        self._db = Database(self.path)
        self._held: dict[int, BaseFileLock] = {}

    # -- writing turns ----------------------------------------------------------------------

    def begin(self, name: str, question: str, run_id: str = "") -> int:
        """Write down that a question is asked and return the turn's id; the turn counts as running from now on."""
        if not name.strip():
            raise SessionError("A session needs a name: give one, for example 'work'.")
        with self._db.writing() as db:
            done = db.execute(
                "INSERT INTO turns (session, question, run_id, created) VALUES (?, ?, ?, ?)",
                (_clean(name), _clean(self._hidden(question)), run_id, time.time()),
            )
            turn = cast("int", done.lastrowid)
            # Held before anybody can see the turn, so that it never looks interrupted.
            self._hold(turn)
        return turn

    def finish(
        self, turn: int, answer: str, stop: str = "answered", messages: Sequence[Message] = (), run_id: str = ""
    ) -> None:
        """Complete a turn.

        Args:
            turn: The id `begin` gave.
            answer: What the user got.
            stop: Why the run ended.
            messages: The run's messages; what stands before its question (system text, earlier turns) is left out.
            run_id: The run's id, when it was not known at the beginning or a resumed run has another one.

        Raises:
            SessionError: There is no such turn; it may have been deleted meanwhile.
        """
        own = self._hidden([m.to_dict() for m in _own(messages)])
        with self._db.writing() as db:
            done = db.execute(
                "UPDATE turns SET answer = ?, stop = ?, messages = ?, finished = ?, run_id = coalesce(nullif(?, ''), "
                "run_id) WHERE id = ?",
                (
                    _clean(self._hidden(answer)),
                    stop,
                    _clean(json.dumps(own, ensure_ascii=False)),
                    time.time(),
                    run_id,
                    turn,
                ),
            )
        self._release(turn)
        if not done.rowcount:
            raise SessionError(f"Turn {turn} is no longer in the session store: its session was deleted meanwhile.")

    def add(
        self,
        name: str,
        question: str,
        answer: str,
        run_id: str = "",
        stop: str = "answered",
        messages: Sequence[Message] = (),
    ) -> int:
        """Write a turn that is already finished and return its id."""
        turn = self.begin(name, question, run_id)
        self.finish(turn, answer, stop, messages)
        return turn

    def take_over(self, turn: int) -> bool:
        """Continue an interrupted turn in this process; False when another process has it or it is finished."""
        with self._db.reading() as db:
            row = db.execute("SELECT stop FROM turns WHERE id = ?", (turn,)).fetchone()
        if row is None or row["stop"] is not None:
            return False
        try:
            self._hold(turn)
        except Timeout:
            return False
        return True

    def leave(self, turn: int) -> None:
        """Let go of a turn that has no answer: from now on it counts as interrupted, for every process."""
        self._release(turn)

    def delete(self, name: str) -> int:
        """Delete a session and return how many turns it had."""
        with self._db.writing() as db:
            gone = [row["id"] for row in db.execute("SELECT id FROM turns WHERE session = ?", (name,))]
            db.execute("DELETE FROM turns WHERE session = ?", (name,))
        for turn in gone:
            self._release(turn)
        return len(gone)

    # -- reading ----------------------------------------------------------------------------

    def list(self) -> list[SessionInfo]:
        """Return all sessions, the last used first."""
        with self._db.reading() as db:
            rows = db.execute(
                "SELECT session, count(*) AS turns, min(created) AS created, max(coalesce(finished, created)) AS "
                "updated, max(id) AS last FROM turns GROUP BY session ORDER BY updated DESC, last DESC"
            ).fetchall()
            lasts = {
                r["id"]: r
                for r in db.execute("SELECT * FROM turns WHERE id IN (SELECT max(id) FROM turns GROUP BY session)")
            }
        return [
            SessionInfo(
                row["session"],
                row["turns"],
                row["created"],
                row["updated"],
                self._state(row["last"], lasts[row["last"]]["stop"]),
                lasts[row["last"]]["question"],
            )
            for row in rows
            if row["last"] in lasts
        ]

    def show(self, name: str) -> tuple[ChatTurn, ...]:
        """Return a session's turns, oldest first; none when there is no such session."""
        with self._db.reading() as db:
            rows = db.execute("SELECT * FROM turns WHERE session = ? ORDER BY id", (name,)).fetchall()
        return tuple(self._turn(row) for row in rows)

    def interrupted(self, name: str) -> ChatTurn | None:
        """Return the session's last turn if it was interrupted: continue it with `take_over`, or ask anew."""
        turns = self.show(name)
        return turns[-1] if turns and turns[-1].state == "interrupted" else None

    def history(self, name: str, *, before: int | None = None) -> tuple[Message, ...]:
        """Return what the next run of a session should know: every earlier turn with its calls and results.

        Args:
            name: The session.
            before: Leave out this turn and all after it; for continuing an interrupted one.
        """
        known: list[Message] = []
        for turn in self.show(name):
            if (before is not None and turn.id >= before) or turn.state == "running":
                continue
            known.extend(_as_history(turn))
        return tuple(known)

    def export(self, name: str, form: str = "json") -> str:
        """Return a whole session as a text.

        Args:
            name: The session.
            form: `"json"` with everything, or `"md"` to read.

        Raises:
            SessionError: There is no such session, or the form is another one.
        """
        turns = self.show(name)
        if not turns:
            raise SessionError(f"There is no session named {name!r}: `glassloop chat --list` shows the ones there are.")
        if form == "json":
            data = {"session": name, "turns": [{**t.to_dict(), "state": t.state} for t in turns]}
            return json.dumps(data, ensure_ascii=False, indent=2)
        if form != "md":
            raise SessionError(f"A session cannot be exported as {form!r}: use 'json' or 'md'.")
        language = language_of("".join(t.question for t in turns))
        blocks = [text("memory", language, "export_title", name=name)]
        for number, turn in enumerate(turns, 1):
            blocks.extend(_as_markdown(turn, number, language))
        return "\n\n".join(blocks) + "\n"

    # -- notes ------------------------------------------------------------------------------

    def add_note(self, user: str, note: str) -> Note:
        """Keep a note for a user; the same note again changes nothing."""
        words = _clean(self._hidden(" ".join(note.split())))
        if not words:
            raise SessionError("An empty note cannot be kept: give it some words.")
        with self._db.writing() as db:
            db.execute("INSERT OR IGNORE INTO notes (user, text, created) VALUES (?, ?, ?)", (user, words, time.time()))
            row = db.execute("SELECT * FROM notes WHERE user = ? AND text = ?", (user, words)).fetchone()
        return Note(row["id"], row["text"], row["created"])

    def notes(self, user: str) -> tuple[Note, ...]:
        """Return a user's notes, the latest first."""
        with self._db.reading() as db:
            rows = db.execute("SELECT * FROM notes WHERE user = ? ORDER BY id DESC", (user,)).fetchall()
        return tuple(Note(row["id"], row["text"], row["created"]) for row in rows)

    def find_notes(self, user: str, query: str, limit: int = 5) -> tuple[Note, ...]:
        """Return the user's notes that fit a query, best first; the latest ones for an empty query."""
        return best(self.notes(user), query, limit)

    def delete_note(self, user: str, note: int) -> bool:
        """Delete one note of a user; False when the user has no such note."""
        with self._db.writing() as db:
            return bool(db.execute("DELETE FROM notes WHERE user = ? AND id = ?", (user, note)).rowcount)

    def _hidden(self, value: T) -> T:
        """Return a value as it may be written: what the rule finds is masked."""
        return value if self.redact is None else cast("T", self.redact({"value": value})["value"])

    # -- who holds a turn --------------------------------------------------------------------

    def _turn(self, row: sqlite3.Row) -> ChatTurn:
        try:
            messages = tuple(Message.from_dict(m) for m in json.loads(row["messages"]))
        except (ValueError, TypeError, AttributeError) as error:
            raise SessionError(
                f"Turn {row['id']} of session {row['session']!r} in {self.path} is damaged: delete the session, "
                "or restore a copy of the file."
            ) from error
        return ChatTurn(
            row["id"],
            row["session"],
            row["question"],
            row["answer"],
            row["run_id"],
            row["stop"] or "",
            messages,
            row["created"],
            row["finished"],
            self._state(row["id"], row["stop"]),
        )

    def _state(self, turn: int, stop: str | None) -> TurnState:
        if stop is not None:
            return "finished"
        if turn in self._held:
            return "running"
        lock = self._lock(turn)
        if not Path(lock.lock_file).exists():
            return "interrupted"
        try:
            with lock.acquire(timeout=0):
                return "interrupted"
        except Timeout:
            return "running"

    def _lock(self, turn: int) -> BaseFileLock:
        return FileLock(f"{self.path}.turns/{turn}.lock", thread_local=False)

    def _hold(self, turn: int) -> None:
        lock = self._lock(turn)
        Path(lock.lock_file).parent.mkdir(exist_ok=True)
        lock.acquire(timeout=0)
        self._held[turn] = lock

    def _release(self, turn: int) -> None:
        lock = self._held.pop(turn, None)
        if lock is not None:
            lock.release()
        # Ids are never used again, so the file may go even while somebody looks at it.
        Path(self._lock(turn).lock_file).unlink(missing_ok=True)


def _clean(given: str) -> str:
    """SQLite keeps UTF-8 only; a lone surrogate in what a user pasted must not lose the turn."""
    return given.encode("utf-8", "replace").decode("utf-8")


def _own(messages: Sequence[Message]) -> Iterable[Message]:
    question = max((at for at, m in enumerate(messages) if m.kind == "question"), default=0)
    return (m for m in messages[question:] if m.role != "system")


def _as_history(turn: ChatTurn) -> Iterable[Message]:
    yield Message("user", turn.question, kind="question")
    if turn.state == "interrupted":
        yield Message("assistant", text("memory", language_of(turn.question), "interrupted"), kind="answer")
        return
    # Every run counts its calls from one, so a session's ids are told apart by the turn.
    ids = {call.id: f"t{turn.id}_{call.id}" for m in turn.messages for call in m.calls}
    for message in turn.messages:
        if message.kind in ("question", "correction") or (message.role == "assistant" and not message.calls):
            continue
        if message.role == "tool" and message.call_id not in ids:
            continue
        calls = tuple(replace(call, id=ids[call.id]) for call in message.calls)
        yield replace(message, calls=calls, call_id=ids.get(message.call_id or ""))
    yield Message("assistant", turn.answer, kind="answer")


def _as_markdown(turn: ChatTurn, number: int, language: str) -> Iterable[str]:
    yield text("memory", language, "export_turn", number=number, question=" ".join(turn.question.split()))
    calls: list[Any] = [call for m in turn.messages for call in m.calls]
    if calls:
        lines = (text("memory", language, "export_call", name=c.name, arguments=canonical(c.arguments)) for c in calls)
        yield "\n".join(lines)
    if turn.state != "finished":
        yield text("memory", language, f"export_{turn.state}")
        return
    yield turn.answer
    if turn.stop != "answered":
        yield text("memory", language, "export_stop", stop=turn.stop)
