"""`glassloop eval` in a process of its own: matrix, reports, resuming, the gate, recording, suggesting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CASES = """
version: 1
tools: tools.py
cases:
  - id: oslo
    question: How warm is it in Oslo?
    calls: [{tool: weather, arguments: {city: Oslo}}]
    answer: {facts: [12]}
    tags: [one]
"""
CALL = '{"thought": "look", "calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}'
GOOD = '{"thought": "done", "answer": "It is 12 degrees in Oslo."}'
BAD = '{"thought": "done", "answer": "I would not know."}'


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "weather.cases.yaml"
    path.write_text(CASES)
    return path


def test_a_run_with_every_report_and_the_gate(glassloop: Any, server: Any, cases: Path, tmp_path: Path) -> None:
    server.script = [CALL, GOOD] * 10
    reports = [part for ending in ("json", "md", "xml", "html") for part in ("--report", f"r.{ending}")]
    done = glassloop("eval", str(cases), "--repeat", "5", "--out", "out", *reports)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "5 of 5" in done.stdout and "pass^5" in done.stdout
    assert all((tmp_path / f"r.{ending}").stat().st_size > 200 for ending in ("json", "md", "xml", "html"))
    asked = len(server.requests)
    again = glassloop("eval", str(cases), "--repeat", "5", "--out", "out", "--json")
    assert again.returncode == 0 and len(server.requests) - asked <= 1  # at most the list of models
    assert json.loads(again.stdout)["columns"][0]["passed"] == 5
    server.script, server.played = [BAD], 0
    worse = glassloop("eval", str(cases), "--repeat", "5", "--baseline", "r.json", "--max-drop", "2")
    assert worse.returncode == 1 and "5 of 5 → 0 of 5, worse" in worse.stdout and "Worse: 100.0 points" in worse.stdout
    server.script, server.played = [BAD, BAD, *[CALL, GOOD] * 4], 0
    noise = glassloop("eval", str(cases), "--repeat", "5", "--baseline", "r.json", "--json")
    assert noise.returncode == 0 and json.loads(noise.stdout)["gate"]["worse"], noise.stdout


def test_a_failing_case_exits_1_and_says_why(glassloop: Any, server: Any, cases: Path) -> None:
    server.script = [BAD]
    done = glassloop("eval", str(cases))
    assert done.returncode == 1 and "✗ oslo" in done.stdout and "weather was not called" in done.stdout
    suggested = glassloop("eval", str(cases), "--suggest", "--json")
    data = json.loads(suggested.stdout)["suggestion"]
    assert data["suggestion"]["tool"] == "weather" and data["cases"] == 1 and data["before"] == [0, 1]


def test_recording_listing_and_mistakes(glassloop: Any, server: Any, cases: Path, tmp_path: Path) -> None:
    server.script = [CALL, GOOD]
    assert glassloop("ask", "How warm is it in Oslo?", "--tools", "tools.py").returncode == 0
    shown = glassloop("eval", "--record", "last")
    assert shown.returncode == 0 and "city: Oslo" in shown.stdout and "12" in shown.stdout
    assert glassloop("eval", str(cases), "--record", "last").returncode == 0
    listed = json.loads(glassloop("eval", str(cases), "--list", "--json").stdout)
    assert len(listed) == 2 and listed[1]["tags"] == ["recorded"]
    assert "oslo" in glassloop("eval", str(cases), "--list", "--tag", "one").stdout
    none = glassloop("eval", str(cases), "--only", "nothing")
    assert none.returncode == 2 and "No case fits" in none.stderr
    cases.write_text(CASES.replace("question", "qestion"))
    broken = glassloop("eval", str(cases))
    assert broken.returncode == 1 and ":6: " in broken.stderr and "did you mean `question`" in broken.stderr
    assert "Traceback" not in broken.stderr
