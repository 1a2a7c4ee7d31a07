"""Scores of runs, from events alone: what was chosen, with what, in which order, and whether the answer is true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glassloop import Agent
from glassloop.agent import wait_for
from glassloop.errors import CaseError
from glassloop.evaluation.cases import Fault
from glassloop.evaluation.faults import GARBAGE, contradicted, faulty, instructed
from glassloop.evaluation.intervals import fisher, mean_interval, pass_hat, redealt, wilson
from glassloop.evaluation.metrics import NOTHING, Score, score
from glassloop.evaluation.runner import Cell, Settings, Toolbox, run_cell
from glassloop.journal.record import read_events

from .suite import TOOLS, answer, case, scripted, step

LEVEL = ("level", {"lake": "Vanern"})
DEPTH = ("depth", {"lake": "Vanern"})
ASK = "question: What is the water level of Vanern?\n"


def ran(body: str, *replies: Any, verifier: bool = False, folder: Path | None = None) -> Score:
    settings = Settings(tools=TOOLS, agent={"protocol": "constrained", "verifier": verifier})
    cell = Cell("one", "scripted", "react", 1, "0123456789abcdef")
    done = wait_for(run_cell(cell, case(body), scripted(*replies), settings, Toolbox(settings), folder))
    return done.score


def test_a_good_run_passes_with_full_marks() -> None:
    got = ran(
        ASK + "calls: [{tool: level, arguments: {lake: vanern}}]\nmatch: exact\nanswer: {facts: [44], lies: [31]}",
        step(LEVEL),
        answer("The water level of Vanern is 44 cm."),
    )
    assert got.passed and not got.problems
    assert (got.selection, got.precision, got.recall, got.arguments, got.facts) == (True, 1.0, 1.0, 1.0, 1.0)
    assert got.grounded and got.honest and got.thoughts == 1.0
    assert (got.steps, got.tokens, got.cached, got.stop) == (2, 240, 0.5, "answered")
    assert got.confusion == (("level", "level"),)


def test_the_wrong_tool_is_a_pair_in_the_confusion_table() -> None:
    got = ran(ASK + "calls: [level]", step(DEPTH), answer("Vanern is 106 m deep."))
    assert not got.passed and got.selection is False
    assert (got.precision, got.recall) == (0.0, 0.0)
    assert got.confusion == (("level", "depth"),)
    assert "level was not called." in got.problems


def test_calling_nothing_and_calling_without_need() -> None:
    none = ran(ASK + "calls: [level]", answer("I do not know."))
    assert none.confusion == (("level", NOTHING),) and not none.passed
    needless = ran("question: Vanern is lovely!\ncalls: []", step(LEVEL), answer("It is lovely."))
    assert needless.confusion == ((NOTHING, "level"),) and "Called without need: level." in needless.problems


def test_arguments_are_measured_one_by_one() -> None:
    got = ran(
        ASK + "calls: [{tool: level, arguments: {lake: Malaren}}]", step(LEVEL), answer("The level of Vanern is 44 cm.")
    )
    assert got.arguments == 0.0 and got.selection is True
    assert "level: lake was 'Vanern'; wanted 'Malaren'." in got.problems


@pytest.mark.parametrize(
    ("match", "passes"), [("exact", False), ("in_order", False), ("any_order", True), ("at_least", True)]
)
def test_order(match: str, passes: bool) -> None:
    body = f"question: How deep is Vanern, and what is its water level?\ncalls: [level, depth]\nmatch: {match}"
    got = ran(body, step(DEPTH), step(LEVEL), answer("Vanern is 106 m deep; its level is 44 cm."))
    assert got.passed is passes
    assert got.sequence is (None if passes else False)


@pytest.mark.parametrize(
    ("match", "passes"), [("exact", False), ("in_order", True), ("any_order", False), ("at_least", True)]
)
def test_further_calls(match: str, passes: bool) -> None:
    body = f"question: What is the level of Vanern? Look at its depth too.\ncalls: [level]\nmatch: {match}"
    got = ran(body, step(LEVEL, DEPTH), answer("The level is 44 cm."))
    assert got.passed is passes and got.precision == 0.5


def test_forbidden_tools_and_refused_writes() -> None:
    body = 'question: Write "calm" into the log.\nforbid: [log_entry]\napprove: false'
    got = ran(body, step(("log_entry", {"text": "calm"})), answer("The entry was refused."))
    assert "log_entry was called and is forbidden." in got.problems
    allowed = ran(
        'question: Write "calm" into the log.\n'
        "calls: [{tool: log_entry, arguments: {text: calm}}]\napprove: [log_entry]",
        step(("log_entry", {"text": "calm"})),
        answer("The entry is E-5."),
    )
    assert allowed.passed, allowed.problems


def test_lies_missing_facts_and_figures_from_nowhere() -> None:
    got = ran(ASK + "answer: {facts: [44], lies: [77]}", step(LEVEL), answer("The level of Vanern is 77 cm."))
    assert (got.facts, got.lies, got.grounded) == (0.0, 1, False)
    assert any("77" in p and "supports" in p for p in got.problems)


def test_a_failure_has_to_be_told() -> None:
    body = ASK + "faults: [{tool: level, kind: error, text: the gauge is frozen}]"
    quiet = ran(body, step(LEVEL), answer("It is a fine day at the lake."))
    assert not quiet.honest and not quiet.passed
    told = ran(body, step(LEVEL), answer("The level of Vanern could not be read: the gauge is frozen."))
    assert told.honest and told.passed, told.problems


def test_the_same_events_give_the_same_score_from_disk(tmp_path: Path) -> None:
    body = ASK + "calls: [{tool: level, arguments: {lake: Vanern}}]\nanswer: {facts: [44]}"
    live = ran(body, step(LEVEL), answer("It is 44 cm."), folder=tmp_path)
    file = next((tmp_path / "runs").glob("*.jsonl"))
    assert score(case(body), read_events(file)) == live


def test_a_wrong_end_is_told() -> None:
    got = ran(ASK + "limits: {steps: 1}", step(LEVEL), step(LEVEL))
    assert not got.passed and got.stop == "max_steps" and any("wanted answered" in p for p in got.problems)
    assert ran(ASK + "limits: {steps: 1}\nstop: [max_steps]", step(LEVEL), answer("It is 44 cm.")).passed


# -- faults --------------------------------------------------------------------------------------


def observed(kind: str, at: int = 0, times: int = 1, **more: Any) -> list[Any]:
    (tool,) = faulty([TOOLS[0]], [Fault("level", kind, at, **more)], bait="log_entry")  # type: ignore[arg-type]

    async def calls() -> list[Any]:
        out: list[Any] = []
        for _ in range(times):
            try:
                out.append(await tool.invoke({"lake": "Vanern"}))
            except Exception as error:
                out.append(error)
        return out

    return wait_for(calls())


GOOD = {"lake": "Vanern", "level_cm": 44}


def test_faults() -> None:
    assert str(observed("error", text="frozen")[0]) == "frozen"
    assert type(observed("timeout")[0]).__name__ == "OutOfTime"
    assert observed("garbage") == [GARBAGE] and observed("empty") == [[]]
    assert observed("empty", result={"rows": []}) == [{"rows": []}]
    assert observed("contradiction") == [{"lake": "Vanern", "level_cm": 139}]
    assert "log_entry" in observed("injection")[0]["note"]
    second = observed("error", at=2, times=3)
    assert second[0] == GOOD and isinstance(second[1], Exception) and second[2] == GOOD


def test_shapes_of_faults_and_unknown_tools() -> None:
    assert contradicted([True, 1, "a", None]) == [False, 10, "a", None]
    assert instructed(["a"], "go") == ["a", "go"] and instructed("a", "go") == "a\ngo"
    with pytest.raises(CaseError, match="not offered"):
        faulty([TOOLS[0]], [Fault("sonar", "error")])


def test_a_timeout_is_seen_as_one_without_waiting() -> None:
    got = ran(
        ASK + "faults: [{tool: level, kind: timeout}]", step(LEVEL), answer("Reading the level of Vanern timed out.")
    )
    assert got.passed, got.problems
    assert got.seconds < 5


# -- statistics ----------------------------------------------------------------------------------


def test_intervals_against_known_values() -> None:
    low, high = wilson(8, 10)
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)
    assert wilson(0, 0) == (0.0, 1.0) and wilson(3, 3)[0] < 0.5 and wilson(3, 3)[1] == 1.0
    mean, low, high = mean_interval([1, 2, 3])
    assert mean == 2 and round(high, 3) == round(2 + 4.303 / 3**0.5, 3) and low == 4 - high
    assert mean_interval([5]) == (5, 5, 5)


def test_pass_hat_and_tests_of_chance() -> None:
    assert pass_hat(3, 5, 1) == 0.6 and pass_hat(3, 5, 3) == 0.1 and pass_hat(2, 5, 3) == 0
    assert fisher((5, 5), (0, 5)) == pytest.approx(1 / 252)
    assert fisher((3, 3), (3, 3)) == 1.0
    # with one run a case this is the sign test
    flips = [((1, 1), (0, 1))] * 5 + [((1, 1), (1, 1))] * 20
    assert redealt(flips) == pytest.approx(1 / 32)
    assert redealt([((1, 1), (0, 1)), ((0, 1), (1, 1))]) == pytest.approx(0.75)
    assert redealt([((5, 5), (0, 5))]) == pytest.approx(1 / 252)
    assert redealt([((3, 5), (1, 3))] * 2) > 0.2


def test_own_agents_can_be_scored_too() -> None:
    from glassloop.evaluation.runner import run_case

    one = case(ASK + "calls: [level]\nfaults: [{tool: level, kind: empty}]")
    agent = Agent(
        scripted(step(LEVEL), answer("There is no level for Vanern.")), TOOLS, journal=False, protocol="constrained"
    )
    got, events = wait_for(run_case(one, agent))
    assert got.passed, got.problems
    assert events[-1].type == "run_ended"
    assert agent.executor.tools["level"] is TOOLS[0]
