"""An evaluation on a local Ray cluster gives the results of one process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassloop import ScriptedModel
from glassloop.agent import wait_for
from glassloop.errors import ConfigurationError, MissingExtra
from glassloop.evaluation.cases import load_cases
from glassloop.evaluation.runner import Settings, evaluate, read_results
from glassloop.evaluation.workers import evaluate_on_ray

TOOLS = '''
from glassloop import tool

@tool
def level(lake: str) -> dict:
    """Water level of a lake. Use it for questions about the level.

    Args:
        lake: Name of the lake, for example Vanern.
    """
    return {"level_cm": 44}
'''
CASES = """
version: 1
tools: lake_tools.py
cases:
  - {id: a, question: What is the level of Vanern?, calls: [level], answer: {facts: [44]}, repeat: 3}
  - {id: b, question: What is the level of Vanern today?, answer: {facts: [45]}}
"""


def settings() -> Settings:
    call = '{"thought": "look", "calls": [{"name": "level", "arguments": {"lake": "Vanern"}}]}'
    answer = '{"thought": "done", "answer": "The level of Vanern is 44 cm."}'

    def scripted(case: Any) -> ScriptedModel:
        return ScriptedModel([call, answer])

    return Settings(models=(scripted,), agent={"protocol": "constrained"}, jobs=2)


def test_the_results_are_those_of_one_process(tmp_path: Path) -> None:
    ray: Any = pytest.importorskip("ray")
    import sys

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    (tmp_path / "lake_tools.py").write_text(TOOLS)
    (tmp_path / "lake.cases.yaml").write_text(CASES)
    cases = load_cases(tmp_path)
    here = wait_for(evaluate(cases, settings(), tmp_path / "here"))
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        told: list[tuple[int, int]] = []
        there = evaluate_on_ray(
            cases, settings(), tmp_path / "there", progress=lambda _, done, whole: told.append((done, whole))
        )
        again = evaluate_on_ray(cases, settings(), tmp_path / "there")
    finally:
        ray.shutdown()
    plain = lambda results: [(r.cell, replace(r.score, seconds=0.0), r.tags) for r in results]  # noqa: E731
    assert plain(there) == plain(here) == plain(again)
    assert [r.score.passed for r in there] == [True, False, True, True]
    assert told[-1] == (4, 4) and len(read_results(tmp_path / "there")) == 4
    assert all((tmp_path / "there" / r.run).is_file() for r in there)


def test_what_cannot_be_sent_is_said(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    with pytest.raises(ConfigurationError, match="cannot be sent"):
        evaluate_on_ray([], replace(settings(), tools=()), tmp_path)


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"glassloop\[ray\]"):
        evaluate_on_ray([], settings(), tmp_path)
