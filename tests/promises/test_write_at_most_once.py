"""Promise 5: a write happens at most once.

Its intent is on disk before it runs; after a crash an unfinished write is `unknown` and is asked about, never
repeated silently. A run of five steps with two writes is killed at every event of its journal, between two events
and in the middle of a line, in every protocol and both languages (over 200 places), and then resumed:

- each write has happened exactly once where the person asked looks before saying yes, and at most once whatever a
  rule says;
- a write with an intent and no outcome goes to the approver with the word `unknown`, and nothing else does;
- the answer is that of the undisturbed run, no recorded reply is asked for again, no recorded line is changed.

Most kills are played by cutting a copy of the journal, with the files the tools write put into every state they can
be in at that moment; 32 are real SIGKILLs of a process of its own, some of them inside a tool.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import five_steps
import pytest
from five_steps import ANSWER, QUESTION, WRITES

from glassloop import Run
from glassloop.events import ApprovalAsked
from glassloop.tools.permission import AlwaysYes

COMBINATIONS = [(p, x) for p in ("constrained", "native", "text") for x in ("en", "zh")]


def done(folder: Path) -> list[str]:
    """The writes that have really happened."""
    file = folder / "out.txt"
    return [n for n in file.read_text("utf-8").splitlines() if n in WRITES] if file.exists() else []


def said(lines: list[bytes]) -> int:
    return sum(b'"type":"model_replied"' in line for line in lines)


def of_type(lines: list[bytes], kind: str) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in lines]
    return [e for e in events if e["type"] == kind]


def begun(lines: list[bytes]) -> tuple[list[str], list[str]]:
    """The writes with an outcome in these lines, and those with an intent only."""
    finished = {e["observation"]["call_id"]: e["observation"]["name"] for e in of_type(lines, "call_finished")}
    started = {e["call"]["id"]: e["call"]["name"] for e in of_type(lines, "call_started")}
    over = [n for n in finished.values() if n in WRITES]
    return over, [n for i, n in started.items() if n in WRITES and i not in finished]


class Careful:
    """A person who, asked about an unknown write, looks whether it has happened."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, []

    def __call__(self, asked: ApprovalAsked) -> bool:
        self.asked.append(asked)
        return asked.call.name not in done(self.folder) if asked.unknown else True


def resume(folder: Path, protocol: str, language: str, lines: list[bytes], approver: Any) -> Run:
    made = five_steps.agent(folder, protocol, language, said=said(lines), approver=approver)
    return made.resume("r")


def check(folder: Path, protocol: str, language: str, lines: list[bytes]) -> None:
    _, unsettled = begun(lines)
    person = Careful(folder)
    run = resume(folder, protocol, language, lines, person)
    assert done(folder) == list(WRITES), "each write once, in order"
    assert [a.call.name for a in person.asked if a.unknown] == unsettled
    assert (run.answer, run.stop) == (ANSWER[language], "answered")
    journal = (folder / "runs" / "r.jsonl").read_bytes()
    assert journal.startswith(b"".join(lines)), "what was recorded stays as it was"
    assert said(journal.splitlines()) == len(five_steps.STEPS) + 1, "no recorded reply is asked for again"
    intents = [e["call"]["id"] for e in of_type(journal.splitlines(), "call_started")]
    assert len(intents) - len(set(intents)) <= 1


@pytest.mark.parametrize(("protocol", "language"), COMBINATIONS)
def test_killed_at_every_event(tmp_path: Path, protocol: str, language: str) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    run = five_steps.agent(whole, protocol, language).run(QUESTION[language], run_id="r")
    assert run.answer == ANSWER[language] and done(whole) == list(WRITES), run.detail
    lines = (whole / "runs" / "r.jsonl").read_bytes().splitlines(keepends=True)
    places = 0
    for count in range(1, len(lines)):
        over, unsettled = begun(lines[:count])
        # A write with an intent only may have happened or not; both are tried, and a line cut in its middle.
        states = [over, [*over, *unsettled]] if unsettled else [over]
        for n, happened in enumerate(states):
            for tail in (b"", lines[count][: len(lines[count]) // 2]):
                folder = tmp_path / f"{count}-{n}-{len(tail)}"
                (folder / "runs").mkdir(parents=True)
                (folder / "runs" / "r.jsonl").write_bytes(b"".join(lines[:count]) + tail)
                (folder / "out.txt").write_text("".join(f"{name}\n" for name in happened), "utf-8")
                check(folder, protocol, language, lines[:count])
                places += 1
    assert places >= 50  # 6 combinations: over 300 in all


def test_a_rule_never_repeats_an_unknown_write(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    five_steps.agent(whole, "constrained", "en").run(QUESTION["en"], run_id="r")
    lines = (whole / "runs" / "r.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines)):
        over, unsettled = begun(lines[:count])
        if not unsettled:
            continue
        for happened in ([], unsettled):
            folder = tmp_path / f"{count}-{len(happened)}"
            (folder / "runs").mkdir(parents=True)
            (folder / "runs" / "r.jsonl").write_bytes(b"".join(lines[:count]))
            (folder / "out.txt").write_text("".join(f"{n}\n" for n in [*over, *happened]), "utf-8")
            run = resume(folder, "constrained", "en", lines[:count], AlwaysYes())
            assert done(folder).count(unsettled[0]) == len(happened), "not done by a rule"
            seen = next(o for o in run.observations if o.name == unsettled[0])
            assert seen.status == "unknown" and "nobody knows" in seen.content


REAL = {
    ("constrained", "en"): [*range(1, 27, 2), "in:book", "out:book", "in:mail", "out:mail"],
    ("native", "zh"): [*range(2, 28, 2), "out:book", "out:mail"],
}


@pytest.mark.parametrize(("protocol", "language"), REAL, ids=str)
def test_killed_for_real(tmp_path: Path, protocol: str, language: str) -> None:
    points = [str(p) for p in REAL[protocol, language]]
    program = [sys.executable, five_steps.__file__, str(tmp_path), protocol, language, *points]
    ended = subprocess.run(program, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    for point in points:
        folder = tmp_path / point.replace(":", "-")
        lines = (folder / "runs" / "r.jsonl").read_bytes().splitlines(keepends=True)
        if point.isdigit():
            assert len(lines) == int(point)
        else:
            assert begun(lines)[1] == [point.partition(":")[2]], "the intent was on disk before the tool was entered"
        check(folder, protocol, language, lines)
