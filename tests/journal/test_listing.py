"""The list is right, is read from first and last lines only, and finds out again what has changed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from glassloop.events import ModelAsked, RunEnded, RunStarted
from glassloop.journal.listing import INDEX, Filter, Listing, called_tools, read_entry
from glassloop.journal.record import JournalRecorder

from .recorded_runs import answer, record, step

ENDED = RunEnded(2, stop="answered")


def write(path: Path, at: float, question: str, *, end: RunEnded | None = ENDED, model: str = "m") -> Path:
    recorder = JournalRecorder(path)
    recorder.record(RunStarted(run_id=path.stem, question=question, model=model, at=at))
    recorder.record(ModelAsked(1, at=at))
    if end is not None:
        recorder.record(end)
    recorder.close()
    return path


def test_an_entry_says_what_the_run_says(tmp_path: Path) -> None:
    entry = read_entry(record(tmp_path))
    assert entry.question.startswith("What is the weather") and entry.answer.startswith("It is 12")
    assert (entry.stop, entry.checked, entry.steps, entry.tokens, entry.cached) == ("answered", True, 3, 360, 150)
    assert entry.tools == ("weather", "send", "broken") and entry.model == "scripted" and entry.seconds > 0


def test_newest_first_pages_and_limits(tmp_path: Path) -> None:
    for n in range(5):
        write(tmp_path / f"2026010{n}-000000-aaaa.jsonl", float(n), f"q{n}")
    listing = Listing(tmp_path)
    assert [e.question for e in listing.entries()] == ["q4", "q3", "q2", "q1", "q0"]
    assert [e.question for e in listing.entries(limit=2, offset=1)] == ["q3", "q2"]
    assert listing.count() == 5


def test_filters(tmp_path: Path) -> None:
    record(tmp_path)
    record(
        tmp_path, [step("w", "weather", city="Oslo"), answer("It is 12 degrees in Oslo.")], question="Weather in Oslo?"
    )
    listing = Listing(tmp_path)

    def found(**wanted: object) -> int:
        return len(listing.entries(Filter(**wanted)))  # type: ignore[arg-type]

    assert found(tool="send") == 1 and found(tool="weather") == 2 and found(tool="broken") == 0
    assert found(text="oslo WEATHER") == 1 and found(text="nothing of it") == 0
    assert found(text="alert(1)") == 0 and found(text="alert(1)", everywhere=True) == 2
    assert found(model="SCRIPT") == 2 and found(model="qwen") == 0
    assert found(stop="answered") == 2 and found(stop="max_steps") == 0
    assert found(since=time.time() - 3600) == 2 and found(before=time.time() - 3600) == 0
    assert Listing(tmp_path).entries(Filter(tool="send"))[0].called == ("weather", "send")


def test_running_interrupted_and_unreadable_runs(tmp_path: Path) -> None:
    path = write(tmp_path / "20260101-000000-aaaa.jsonl", time.time(), "q", end=None)
    with path.open("ab") as file:
        file.write(b'{"type":"model_rep')  # the process is in the middle of a line
    (tmp_path / "20260102-000000-bbbb.jsonl").write_text("what is this\n")
    (tmp_path / "20260103-000000-cccc.jsonl").write_text("")
    broken, odd, running = Listing(tmp_path).entries()
    assert running.stop == "running" and running.question == "q"
    assert odd.problem and broken.problem
    old = Listing(tmp_path, now=lambda: time.time() + 1000).entries()[-1]
    assert old.stop == "interrupted"


def test_a_run_that_went_on_is_read_again_and_others_are_not(tmp_path: Path) -> None:
    one = write(tmp_path / "20260101-000000-aaaa.jsonl", 1.0, "one", end=None)
    two = write(tmp_path / "20260102-000000-bbbb.jsonl", 2.0, "two")
    Listing(tmp_path).entries()
    index = tmp_path / INDEX
    data = json.loads(index.read_text())
    data["runs"][two.name]["question"] = "from the index"
    index.write_text(json.dumps(data))
    recorder = JournalRecorder(one)
    recorder.record(RunEnded(1, stop="max_steps"))
    recorder.close()
    again = Listing(tmp_path).entries()
    assert [(e.question, e.stop) for e in again] == [("from the index", "answered"), ("one", "max_steps")]


def test_a_broken_or_foreign_index_only_costs_time(tmp_path: Path) -> None:
    write(tmp_path / "20260101-000000-aaaa.jsonl", 1.0, "one")
    for text in ("{", "[]", '{"version": 99, "runs": {}}', '{"version": 1, "runs": {"x": {"no": 1}}}'):
        (tmp_path / INDEX).write_text(text)
        assert [e.question for e in Listing(tmp_path).entries()] == ["one"]


def test_deleted_runs_leave_the_index(tmp_path: Path) -> None:
    path = write(tmp_path / "20260101-000000-aaaa.jsonl", 1.0, "one")
    write(tmp_path / "20260102-000000-bbbb.jsonl", 1.0, "two")
    Listing(tmp_path).entries()
    path.unlink()
    write(tmp_path / "20260103-000000-cccc.jsonl", 1.0, "three")
    assert [e.question for e in Listing(tmp_path).entries()] == ["three", "two"]
    assert path.name not in json.loads((tmp_path / INDEX).read_text())["runs"]


def test_no_directory_is_an_empty_list(tmp_path: Path) -> None:
    assert Listing(tmp_path / "nowhere").entries() == [] and not (tmp_path / "nowhere").exists()


def test_a_long_last_line_is_read_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", 1.0, "q", end=RunEnded(1, stop="answered", answer="x" * 300_000))
    assert read_entry(path).stop == "answered"


def test_calls_are_found_by_name_with_any_characters(tmp_path: Path) -> None:
    line = {"type": "call_finished", "step": 1, "seq": 2, "at": 1.5, "observation": {"call_id": "c", "name": '天"气'}}
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + os.linesep.encode())
    assert called_tools(path) == ('天"气',)
