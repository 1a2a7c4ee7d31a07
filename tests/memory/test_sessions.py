"""Sessions and notes: kept over processes and kills, and refused in one sentence when they cannot be read."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from glassloop.errors import SessionError
from glassloop.memory import SessionStore, notes_tools
from glassloop.types import Message, ToolCall

RUN = (
    Message("system", "S"),
    Message("user", "older", kind="question"),
    Message("assistant", "old answer", kind="answer"),
    Message("user", "上海天气？", kind="question"),
    Message("assistant", "", calls=(ToolCall("c1", "weather", {"city": "上海"}),)),
    Message("tool", "5 C", call_id="c1", name="weather"),
)

WRITER = """
import sys
from glassloop.memory import SessionStore
store = SessionStore(sys.argv[1])
for n in range(int(sys.argv[3])):
    store.add("shared", f"{sys.argv[2]}-{n}", "a" * 300)
"""
HOLDER = """
import sys, time
from glassloop.memory import SessionStore
store = SessionStore(sys.argv[1])
store.add("work", "first", "one")
store.begin("work", "second", run_id="r2")
print("begun", flush=True)
time.sleep(60)
"""

UNPRIVILEGED = """
import os, sys
from glassloop.memory import SessionStore
if os.getuid() == 0:
    os.setuid(65534)
SessionStore(sys.argv[1])
"""


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions.db")


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    process = start(HOLDER, tmp_path / "sessions.db")
    assert process.stdout and process.stdout.readline() == "begun\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_turns_are_kept_by_name_and_read_back_by_another_store(store: SessionStore) -> None:
    store.add("work", "上海天气？", "5 度", run_id="r1", messages=RUN)
    store.add("home", "hi", "hello", stop="max_steps")
    again = SessionStore(store.path)
    (turn,) = again.show("work")
    assert (turn.question, turn.answer, turn.run_id, turn.stop, turn.state) == (
        "上海天气？",
        "5 度",
        "r1",
        "answered",
        "finished",
    )
    assert turn.messages == RUN[3:]
    assert [(s.name, s.turns, s.last_question) for s in again.list()] == [("home", 1, "hi"), ("work", 1, "上海天气？")]


def test_the_next_run_knows_earlier_turns_with_whole_pairs_and_ids_of_their_own(store: SessionStore) -> None:
    first = store.add("work", "上海天气？", "5 度", messages=RUN)
    second = store.add("work", "北京呢？", "3 度", messages=RUN)
    history = store.history("work")
    ids = [call.id for m in history for call in m.calls]
    assert ids == [f"t{first}_c1", f"t{second}_c1"]
    assert [m.call_id for m in history if m.role == "tool"] == ids
    assert [m.role for m in history] == ["user", "assistant", "tool", "assistant"] * 2
    assert history[-1].content == "3 度"
    assert store.history("work", before=second) == history[:4]
    assert store.history("nobody") == ()


def test_two_processes_writing_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sessions.db"
    writers = [start(WRITER, path, name, 40) for name in ("a", "b")]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    asked = [turn.question for turn in SessionStore(path).show("shared")]
    assert sorted(asked) == sorted(f"{name}-{n}" for name in ("a", "b") for n in range(40))
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    db.close()


def test_a_turn_runs_while_its_process_lives_and_is_interrupted_when_it_is_killed(
    store: SessionStore, holder: subprocess.Popen[str]
) -> None:
    assert [t.state for t in store.show("work")] == ["finished", "running"]
    running = store.show("work")[-1]
    assert store.interrupted("work") is None and not store.take_over(running.id)
    assert store.history("work")[-1].content == "one"

    holder.send_signal(signal.SIGKILL)
    holder.wait()

    cut = store.interrupted("work")
    assert cut and (cut.question, cut.run_id, cut.state) == ("second", "r2", "interrupted")
    assert store.list()[0].state == "interrupted"
    assert "interrupted" in store.history("work")[-1].content
    assert store.take_over(cut.id) and store.show("work")[-1].state == "running"
    assert not SessionStore(store.path).take_over(cut.id)
    store.finish(cut.id, "two", messages=[Message("user", "second", kind="question")])
    assert [t.answer for t in store.show("work")] == ["one", "two"]
    assert not store.take_over(cut.id)


def test_a_writer_killed_in_the_middle_leaves_whole_turns(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    store = SessionStore(path)
    for _ in range(4):
        writer = start(WRITER, path, "w", 100_000)
        seen = len(store.show("shared"))
        while len(store.show("shared")) < seen + 3:
            assert writer.poll() is None
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    turns = store.show("shared")
    assert all(t.answer == "a" * 300 for t in turns if t.state == "finished")
    assert sum(t.state == "interrupted" for t in turns) <= 4
    assert not any(t.state == "running" for t in turns)
    store.add("shared", "after", "fine")
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    db.close()


def test_a_session_is_deleted_and_a_late_answer_says_so(store: SessionStore) -> None:
    store.add("work", "q", "a")
    late = store.begin("work", "q2")
    assert store.delete("work") == 2 and store.delete("work") == 0 and store.show("work") == ()
    with pytest.raises(SessionError, match="deleted meanwhile"):
        store.finish(late, "too late")


def test_a_session_is_exported_to_read_and_to_load(store: SessionStore) -> None:
    store.add("工作", "上海天气？", "5 度", messages=RUN)
    store.add("工作", "再看\n北京", "", stop="deadline")
    store.begin("工作", "还有吗？")
    data = json.loads(store.export("工作"))
    assert [t["state"] for t in data["turns"]] == ["finished", "finished", "running"]
    shown = store.export("工作", "md")
    assert "# 会话 工作" in shown and '- `weather` {"city":"上海"}' in shown and "## 2. 再看 北京" in shown
    assert "结束原因：deadline" in shown and "正在回答" in shown
    with pytest.raises(SessionError, match="no session named"):
        store.export("none")
    with pytest.raises(SessionError, match="'json' or 'md'"):
        store.export("工作", "pdf")


def test_text_that_is_not_utf8_does_not_lose_the_turn(store: SessionStore) -> None:
    store.add("work", "a\ud800b", "c\udfff", messages=[Message("user", "a\ud800b", kind="question")])
    assert store.show("work")[0].question == "a?b"


def sentence(error: pytest.ExceptionInfo[SessionError]) -> str:
    said = str(error.value)
    assert said.endswith(".") and "\n" not in said and "Traceback" not in said
    return said


def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(SessionError) as error:
        SessionStore(path)
    assert "damaged" in sentence(error) and path.read_bytes().startswith(b"this is")


def test_damage_inside_the_file_is_told_when_it_is_met(store: SessionStore) -> None:
    for n in range(200):
        store.add("work", f"q{n}", "a" * 500)
    data = bytearray(store.path.read_bytes())
    data[4096 * 3 :] = b"\xff" * (len(data) - 4096 * 3)
    store.path.write_bytes(data)
    with pytest.raises(SessionError) as error:
        store.show("work")
    assert "damaged" in sentence(error)


def test_a_newer_file_a_foreign_one_and_a_folder_are_refused(tmp_path: Path, store: SessionStore) -> None:
    newer = tmp_path / "newer.db"
    SessionStore(newer)
    foreign = tmp_path / "foreign.db"
    for path, statement in ((newer, "PRAGMA user_version = 99"), (foreign, "CREATE TABLE mine (x)")):
        db = sqlite3.connect(path)
        db.execute(statement)
        db.commit()
        db.close()
    for path, said in ((newer, "newer glassloop"), (foreign, "another program"), (tmp_path, "cannot be opened")):
        with pytest.raises(SessionError) as error:
            SessionStore(path)
        assert said in sentence(error)
    with pytest.raises(SessionError) as error:
        SessionStore(store.path / "below" / "s.db")
    assert "cannot be made" in sentence(error)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process without write permission is made by fork")
def test_a_file_that_may_not_be_written_is_refused_in_one_sentence() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.db"
        SessionStore(path)
        for one in (*Path(folder).iterdir(), Path(folder)):
            one.chmod(0o755 if one.is_dir() else 0o444)
        Path(folder).chmod(0o555)
        ended = subprocess.run([sys.executable, "-c", UNPRIVILEGED, str(path)], capture_output=True, text=True)
        Path(folder).chmod(0o755)
    assert "SessionError: The session store" in ended.stderr.splitlines()[-1]
    assert "may not be written" in ended.stderr


def test_a_session_needs_a_name_and_a_note_some_words(store: SessionStore) -> None:
    with pytest.raises(SessionError, match="needs a name"):
        store.begin(" ", "q")
    with pytest.raises(SessionError, match="empty note"):
        store.add_note("u", " \n")


NOTES = [
    "The user's birthday is on 3 March.",
    "The user is allergic to peanuts and never eats them.",
    "Team meetings take place every Tuesday at ten.",
    "用户对青霉素过敏。",
    "用户住在上海浦东，喜欢骑自行车。",
    "项目的代号是“北极星”，截止日期是六月三十日。",
]


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("birthday", 0),
        ("When is my birthday?", 0),
        ("allergies to peanut", 1),
        ("team meeting", 2),
        ("过敏", 3),
        ("对什么药过敏", 3),
        ("我住在哪里", 4),
        ("自行车", 4),
        ("北极星的截止日期", 5),
    ],
)
def test_recall_finds_the_note_in_either_language(store: SessionStore, query: str, place: int) -> None:
    remember, recall = notes_tools(store, "ann")
    for note in NOTES:
        remember(note)
    assert recall(query)["notes"][0]["text"] == NOTES[place]


def test_notes_belong_to_their_user_and_are_kept_once(store: SessionStore) -> None:
    remember, recall = notes_tools(store, "ann")
    _, recall_bob = notes_tools(store, "bob")
    assert remember("likes  tea")["id"] == remember("likes tea")["id"]
    assert recall("tea")["found"] == 1 and recall("")["found"] == 1 and recall("coffee")["found"] == 0
    assert recall_bob("tea")["found"] == 0
    (note,) = store.notes("ann")
    assert not store.delete_note("bob", note.id) and store.delete_note("ann", note.id) and store.notes("ann") == ()
