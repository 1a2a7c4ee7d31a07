"""The fixture in a real pytest of its own: a run that is the same passes, one that is not fails readably."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .recorded_runs import record

PASSING = """
def test_same(glassloop_replay):
    assert len(glassloop_replay("runs")) == 1
"""
FAILING = """
from glassloop import tool

@tool
def weather(city: str, days: int = 1) -> dict:
    '''Something else.'''

def test_parted(glassloop_replay):
    glassloop_replay("runs", tools=[weather])

def test_nothing(glassloop_replay):
    glassloop_replay("empty")
"""


def test_the_fixture(tmp_path: Path) -> None:
    record(tmp_path / "runs")
    (tmp_path / "empty").mkdir()
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["glassloop.journal.pytest_replay"]\n')
    (tmp_path / "test_passing.py").write_text(PASSING)
    (tmp_path / "test_failing.py").write_text(FAILING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)], capture_output=True, text=True
    )
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "Something else" in done.stdout and "the prompt" in done.stdout
    assert "record one with glassloop ask" in done.stdout
