"""What is written comes back, whatever it is; what a crash left half-written is dropped; runs are found by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassloop.errors import JournalError
from glassloop.events import CallStarted, Event, Noted, RunEnded, RunStarted, TextStreamed
from glassloop.journal.record import JournalRecorder, find_run, mend_tail, new_run_id, read_events
from glassloop.types import ToolCall

from .recorded_runs import record


def write(path: Path, *events: Event) -> Path:
    recorder = JournalRecorder(path)
    for event in events:
        recorder.record(event)
    recorder.close()
    return path


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        path = write(
            Path(name) / "r.jsonl", RunStarted(run_id="r", question=text), Noted(text=f"\u2028{text}\u0085\r\n")
        )
        first, second = read_events(path)
    assert isinstance(first, RunStarted) and isinstance(second, Noted)
    assert first.question == text and second.text == f"\u2028{text}\u0085\r\n"


def test_a_lone_surrogate_does_not_stop_the_record(tmp_path: Path) -> None:
    events = list(read_events(write(tmp_path / "r.jsonl", RunStarted(question="a\ud800b"))))
    assert isinstance(events[0], RunStarted) and events[0].question == "a?b"


def test_every_cut_of_the_last_line_is_dropped_and_written_over(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", RunStarted(run_id="r"), Noted(text="中文 " * 5))
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert len(list(read_events(path))) == 1
        write(path, Noted(text="on"))
        assert [type(e).__name__ for e in read_events(path)] == ["RunStarted", "Noted"]


def test_a_tail_longer_than_a_block_is_cut_off(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", RunStarted(run_id="r"))
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"x" * 200_000)
    assert mend_tail(path) == 200_000 and path.stat().st_size == size and mend_tail(path) == 0


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", RunStarted(run_id="r"), Noted())
    path.write_bytes(path.read_bytes().replace(b"\n", b"\nbroken\n", 1))
    with pytest.raises(JournalError, match="Line 2"):
        list(read_events(path))


def test_only_writes_and_the_end_are_forced_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (forced.append(fd), real(fd))[1])
    recorder = JournalRecorder(tmp_path / "r.jsonl")
    counts: list[int] = []
    call = ToolCall("c", "t")
    for event in (
        RunStarted(),
        TextStreamed(text="live only"),
        CallStarted(call=call),
        CallStarted(call=call, risk="write"),
        CallStarted(call=call, risk="destructive"),
        RunEnded(),
    ):
        recorder.record(event)
        counts.append(len(forced))
    recorder.close()
    assert counts == [0, 0, 0, 1, 2, 3]
    assert len(list(read_events(recorder.path))) == 5


def test_runs_are_found_by_a_part_of_their_id(tmp_path: Path) -> None:
    first, second = record(tmp_path), record(tmp_path)
    os.utime(first, (1, 1))
    assert find_run(first.stem, tmp_path) == first and find_run(second.stem[-4:], tmp_path) == second
    assert find_run("last", tmp_path) == second and find_run(str(first), tmp_path) == first
    for wrong, message in (("nope", "There is no run"), ("2", "More than one"), ("../x", "There is no run")):
        with pytest.raises(JournalError, match=message):
            find_run(wrong, tmp_path)


def test_ids_sort_by_time() -> None:
    assert new_run_id(1_700_000_000) < new_run_id(1_700_000_002)
