"""The deadline counts work: what a person took to decide is left out, also over a pause and a resume."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glassloop import Agent, Limits, ScriptedModel, tool
from glassloop.events import ApprovalAsked, ApprovalGiven, RunStarted
from glassloop.journal.rebuild import rebuild
from glassloop.state import State
from glassloop.tools.permission import AlwaysYes
from glassloop.types import ToolCall

CALL = json.dumps({"thought": "t", "calls": [{"name": "keep", "arguments": {"text": "tea"}}]})
DONE = json.dumps({"thought": "t", "answer": "Kept tea."})


@tool(risk="write")
def keep(text: str) -> str:
    """Keep a text. Use it when the user gives one to keep."""
    return "kept"


def test_the_time_of_a_decision_is_no_time_of_the_run() -> None:
    call = ToolCall("c1", "keep", {"text": "tea"})
    events = [
        RunStarted(seq=1, at=1000.0, question="Keep tea"),
        ApprovalAsked(seq=2, at=1003.0, call=call),
        ApprovalAsked(seq=3, at=4600.0, call=call),
        ApprovalGiven(seq=4, at=4605.0, call_id="c1", allowed=True),
    ]
    assert State(events).seconds == pytest.approx(3.0)


def test_a_run_that_waited_over_its_deadline_goes_on(tmp_path: Path) -> None:
    limits = Limits(seconds=60)
    first = Agent(ScriptedModel([CALL]), [keep], approver=lambda asked: None, journal=tmp_path, limits=limits)
    run = first.run("Keep tea")
    assert run.stop == "approval_needed"
    path = tmp_path / f"{run.id}.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line in lines:
        line["at"] -= 3600
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    second = Agent(ScriptedModel([DONE]), [keep], approver=AlwaysYes(), journal=tmp_path, limits=Limits(seconds=60))
    done = second.resume(run.id)
    assert done.stop == "answered" and done.answer == "Kept tea."
    assert done.seconds < 60 and rebuild(path).seconds < 60
