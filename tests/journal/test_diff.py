"""Where two runs part, and why: the reason named is the one that was made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glassloop import tool
from glassloop.journal.diff import RunDiff, diff
from glassloop.journal.rebuild import load

from .recorded_runs import GOOD, TOOLS, answer, record, step


def compared(tmp_path: Path, one: dict[str, Any], other: dict[str, Any]) -> RunDiff:
    return diff(load(record(tmp_path, **one)), load(record(tmp_path, **other)))


def test_the_same_run_twice_is_the_same(tmp_path: Path) -> None:
    found = compared(tmp_path, {}, {})
    assert found.same and found.a != found.b and not found.changes, found.to_dict()
    assert found.ends is not None and found.ends["tokens"] == [360, 360]


def test_another_answer_of_the_model(tmp_path: Path) -> None:
    found = compared(tmp_path, {}, {"replies": [GOOD[0], answer("It is 12 degrees; nothing was sent.")]})
    assert not found.same and found.step == 2 and found.what == "the model's reply"
    assert "answered differently" in found.why and not found.beginning


def test_another_question(tmp_path: Path) -> None:
    found = compared(tmp_path, {}, {"question": "What is the weather in Paris for 3 days? Send it to Ann."})
    assert found.step == 1 and found.what == "the prompt" and "question" in found.why
    assert any("Ann" in line for change in found.changes for line in change.lines())


def test_another_result_of_a_tool(tmp_path: Path) -> None:
    @tool(name="weather")
    def colder(city: str, days: int = 1) -> dict[str, Any]:
        """Weather of a city. Use it for any question about the weather."""
        return {"city": city, "temperature": 2, "days": days}

    replies = [step("w", "weather", city="Paris"), answer("Done.")]
    found = compared(tmp_path, {"replies": replies}, {"replies": replies, "tools": [colder, *TOOLS[1:]]})
    assert found.step == 1 and found.what == "the observation" and "tool gave something else" in found.why


def test_another_decision(tmp_path: Path) -> None:
    refused = [*GOOD[:2], answer("It is 12 degrees; it was not sent: you did not allow it.")]
    found = compared(tmp_path, {}, {"replies": refused, "approver": lambda asked: False})
    assert found.step == 2 and found.what == "the decision" and "decided differently" in found.why


def test_a_run_that_is_a_part_of_another(tmp_path: Path) -> None:
    events = load(record(tmp_path))
    found = diff(events, events[:9])
    assert not found.same and found.shared == 8 and "ends before" in found.what
