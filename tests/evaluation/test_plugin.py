"""The pytest plugin in a real pytest of its own: the fixture, and collected files of cases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CASES = """
version: 1
cases:
  - id: good
    question: What is the level of Vanern?
    calls: [{tool: level, arguments: {lake: Vanern}}]
    answer: {facts: [44]}
  - id: bad
    question: What is the level of Vanern?
    answer: {facts: [45]}
"""
CONFTEST = """
from glassloop import Agent, ScriptedModel, tool

@tool
def level(lake: str) -> dict:
    '''Water level of a lake. Use it for questions about the level.'''
    return {"level_cm": 44}

def make_agent():
    call = '{"thought": "look", "calls": [{"name": "level", "arguments": {"lake": "Vanern"}}]}'
    answer = '{"thought": "done", "answer": "The level is 44 cm."}'
    return Agent(ScriptedModel([call, answer]), [level], protocol="constrained", journal=False)
"""
HOOK = "\ndef pytest_glassloop_agent(case):\n    return make_agent()\n"
TESTS = """
from conftest import make_agent

def test_good(glassloop_case):
    score = glassloop_case("lake.cases.yaml::good", agent=make_agent)
    assert score.steps == 2

def test_bad(glassloop_case):
    glassloop_case("lake.cases.yaml::bad", agent=make_agent())

def test_inline(glassloop_case):
    glassloop_case("id: here\\nquestion: What is the level of Vanern?\\ncalls: [level]\\n", agent=make_agent)

def test_which(glassloop_case):
    glassloop_case("lake.cases.yaml", agent=make_agent)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    plugin = ["-p", "glassloop.evaluation.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *arguments]
    source = str(Path(__file__).resolve().parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def prepared(folder: Path, *, hook: bool) -> Path:
    (folder / "lake.cases.yaml").write_text(CASES)
    (folder / "conftest.py").write_text(CONFTEST + (HOOK if hook else ""))
    return folder


def test_the_fixture(tmp_path: Path) -> None:
    prepared(tmp_path, hook=False)
    (tmp_path / "test_lake.py").write_text(TESTS)
    done = run(tmp_path)
    assert "2 failed, 2 passed" in done.stdout, done.stdout
    assert "The answer does not tell 45." in done.stdout and "it holds good, bad" in done.stdout


def test_files_are_collected_when_it_is_said_what_to_run_them_on(tmp_path: Path) -> None:
    prepared(tmp_path, hook=True)
    done = run(tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "lake.cases.yaml:8: bad" in done.stdout
    (tmp_path / "lake.cases.yaml").write_text("cases:\n  - {id: a}\n")
    broken = run(tmp_path)
    assert "lake.cases.yaml:2: cases[0]: write either" in broken.stdout


def test_files_are_left_alone_otherwise(tmp_path: Path) -> None:
    prepared(tmp_path, hook=False)
    assert "no tests ran" in run(tmp_path).stdout
