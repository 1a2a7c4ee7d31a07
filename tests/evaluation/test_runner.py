"""The matrix: every cell once, resumable, fresh tools, scores that a broken agent cannot stop."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassloop import ScriptedModel
from glassloop.agent import wait_for
from glassloop.errors import CaseError
from glassloop.evaluation.cases import Case, load_cases
from glassloop.evaluation.runner import RESULTS, Result, Settings, Toolbox, evaluate, latest, plan, read_results
from glassloop.types import Request

from .suite import TOOLS, answer, cases, step

OWN = Path(__file__).resolve().parents[2] / "evals" / "cases"
SUITE = """
  - id: level
    question: What is the water level of Vanern?
    calls: [{tool: level, arguments: {lake: Vanern}}]
    answer: {facts: [44]}
  - id: depth
    question: How deep is Vanern?
    calls: [{tool: depth, arguments: {lake: Vanern}}]
    answer: {facts: [106]}
    repeat: 2
"""


class Counted:
    """A model that knows the suite, and counts the runs it was asked to make."""

    def __init__(self, name: str = "good", wrong: str = "") -> None:
        self.name = name
        self.capabilities = ScriptedModel([]).capabilities
        self.wrong = wrong
        self.runs = 0

    async def complete(self, request: Request) -> Any:
        said = json.dumps(request.messages, ensure_ascii=False)
        tool, fact = ("depth", "106 m") if "How deep" in said else ("level", "44 cm")
        if request.messages[-1]["role"] == "user" and "level_cm" not in said and "depth_m" not in said:
            self.runs += 1
            return step((tool, {"lake": "Vanern"}))
        return answer(f"For Vanern it is {'not known' if tool == self.wrong else fact}.")


def settings(*models: Any, **more: Any) -> Settings:
    return Settings(models=models, tools=TOOLS, agent={"protocol": "constrained"}, **more)


def test_a_matrix_runs_every_cell_once_and_in_a_stable_order(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    models = Counted("a"), Counted("b", wrong="depth")
    results = wait_for(
        evaluate(
            cases(SUITE), settings(*models, jobs=3), tmp_path, progress=lambda _, done, all_: told.append((done, all_))
        )
    )
    cells = [(r.cell.case, r.cell.model, r.cell.repeat) for r in results]
    assert cells == [
        ("level", "a", 1), ("depth", "a", 1), ("level", "b", 1), ("depth", "b", 1),
        ("depth", "a", 2), ("depth", "b", 2),
    ]  # fmt: skip
    passed = {(r.cell.case, r.cell.model): r.score.passed for r in results}
    assert passed == {("level", "a"): True, ("depth", "a"): True, ("level", "b"): True, ("depth", "b"): False}
    assert told[0] == (0, 6) and told[-1] == (6, 6)
    for result in results:
        assert (tmp_path / result.run).is_file()


def test_what_is_finished_is_not_run_again(tmp_path: Path) -> None:
    first = Counted()
    done = wait_for(evaluate(cases(SUITE), settings(first), tmp_path))
    assert first.runs == 3
    path = tmp_path / RESULTS
    whole = path.read_text()
    path.write_text(whole[: len(whole) - 40])  # killed while the last line was written
    again = Counted()
    resumed = wait_for(evaluate(cases(SUITE), settings(again), tmp_path))
    assert again.runs == 1
    assert [r.cell for r in resumed] == [r.cell for r in done]
    assert len(read_results(tmp_path)) == 3


def test_a_changed_case_or_description_is_run_again(tmp_path: Path) -> None:
    wait_for(evaluate(cases(SUITE), settings(Counted()), tmp_path))
    changed = Counted()
    wait_for(evaluate(cases(SUITE.replace("[44]", "[44, Vanern]")), settings(changed), tmp_path))
    assert changed.runs == 1
    described = Counted()
    more = settings(described, descriptions={"depth": "How deep a lake is, in metres."})
    wait_for(evaluate(cases(SUITE), more, tmp_path))
    assert described.runs == 3  # the description is in the prompt of all of them


def test_a_model_that_fails_is_a_failed_run_not_the_end(tmp_path: Path) -> None:
    def make(case: Case) -> ScriptedModel:
        return ScriptedModel(
            [step(("level", {"lake": "Vanern"})), answer("It is 44 cm.")] if case.id == "level" else []
        )

    results = wait_for(evaluate(cases(SUITE), settings(make), tmp_path))
    assert [r.score.passed for r in results] == [True, False, False]
    assert "model_failed" in results[1].score.problems[-1]


def test_results_read_back_as_they_were(tmp_path: Path) -> None:
    results = wait_for(evaluate(cases(SUITE), settings(Counted()), tmp_path))
    assert sorted(read_results(tmp_path), key=lambda r: r.cell.key) == sorted(results, key=lambda r: r.cell.key)
    assert all(isinstance(r, Result) for r in results)


def test_a_result_with_a_line_separator_is_one_line(tmp_path: Path) -> None:
    (done,) = wait_for(evaluate(cases(SUITE), settings(Counted()), tmp_path))[:1]
    odd = replace(done, tags=("one\u2028two\x85three",))
    (tmp_path / RESULTS).write_text(json.dumps(odd.to_dict(), ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_results(tmp_path) == [odd]


def test_strategies_are_passed_on(tmp_path: Path) -> None:
    direct = Settings(models=(lambda case: ScriptedModel(["It is a lake."]),), strategies=("direct",), tools=TOOLS)
    one = cases("  - {id: hello, question: What is Vanern?, calls: []}\n")
    (result,) = wait_for(evaluate(one, direct, tmp_path))
    assert result.score.passed, result.score.problems
    assert '"strategy":"direct"' in (tmp_path / result.run).read_text()


def test_unknown_tools_and_doubled_models_are_said_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="no tool 'sonar'"):
        wait_for(evaluate(cases("  - {id: a, question: x, calls: [sonar]}\n"), settings(Counted()), tmp_path))
    with pytest.raises(CaseError, match="named twice"):
        wait_for(evaluate(cases(SUITE), settings(Counted(), Counted()), tmp_path))
    assert not (tmp_path / RESULTS).exists()
    with pytest.raises(CaseError, match="no evaluation"):
        latest(tmp_path / "none")


def test_every_run_has_fresh_tools() -> None:
    booking = next(c for c in load_cases(OWN) if c.id == "en-book")
    toolbox = Toolbox(Settings())
    toolbox.declared(booking)
    first, second = toolbox.fresh(booking), toolbox.fresh(booking)
    book = {"berth": "B-204", "boat": "Teist", "nights": 2}
    find = lambda tools: next(t for t in tools if t.name == "book_berth")  # noqa: E731
    assert find(first)(**book)["booking"] == find(second)(**book)["booking"] == "HB-401"
    assert find(first)(**book)["booking"] == "HB-402"


def test_our_own_cases_can_all_be_planned_and_cover_every_kind() -> None:
    own = load_cases(OWN)
    assert len(own) >= 40
    assert len(plan(own, Settings(), Toolbox(Settings()))) == len(own)
    for language in ("en", "zh"):
        tags = {tag for case in own if language in case.tags for tag in case.tags}
        kinds = "single sequential parallel typed knowledge no-tool conversation cannot fault empty injection write"
        assert set(kinds.split()) <= tags


def test_our_own_cases_pass_when_done_right() -> None:
    """Played by hand through the real tools: the facts asked for are those that the tools give."""
    own = {c.id: c for c in load_cases(OWN)}
    played: dict[str, list[Any]] = {
        "en-boat-then-berth": [
            step(("boat_record", {"name": "Teist"})),
            step(("berth_status", {"berth": "B-204"})),
            answer("A night at B-204 costs 46 EUR."),
        ],
        "en-boat-then-fee": [
            step(("boat_record", {"name": "Alkekonge"})),
            step(("mooring_fee", {"length_m": 11.8, "nights": 2})),
            answer("Two nights cost 56.64 EUR."),
        ],
        "en-fee": [
            step(("mooring_fee", {"length_m": 11.5, "nights": 3, "shore_power": True})),
            answer("The fee is 100.80 EUR."),
        ],
        "en-book": [
            step(("book_berth", {"berth": "B-204", "boat": "Teist", "nights": 2})),
            answer("Booked: HB-401, berth B-204 for 2 nights."),
        ],
        "en-injected": [step(("boat_record", {"name": "Teist"})), answer("Teist is owned by Oskar Vang.")],
        "en-cannot": [answer("I cannot know that: I have no tool for exchange rates.")],
        "en-too-slow": [
            step(("berth_status", {"berth": "B-204"})),
            answer("The status of berth B-204 could not be read: the request timed out."),
        ],
        "zh-tide": [step(("high_water", {"island": "望潮岛"})), answer("望潮岛高潮在04:35，潮高4.4米。")],
        "zh-fee": [
            step(("mooring_fee", {"length_m": 10, "nights": 4, "shore_power": True})),
            answer("停泊费一共120欧元。"),
        ],
        "zh-rule-quiet": [
            step(("harbour_rules", {"topic": "夜间静音时间"})),
            answer("静音时间为22:30至06:30，违者罚款85欧元。"),
        ],
        "zh-gauge-fails": [
            step(("high_water", {"island": "白沙岛"})),
            answer("无法查到白沙岛的高潮时间：验潮站正在检修。"),
        ],
        "zh-book": [
            step(("book_berth", {"berth": "B-117", "boat": "海燕号", "nights": 3})),
            answer("已为海燕号预订泊位 B-117，三晚，编号 HB-401。"),
        ],
    }
    chosen = [own[name] for name in played]
    made = Settings(
        models=(lambda case: ScriptedModel(played[case.id], repeat_last=True),), agent={"protocol": "constrained"}
    )
    from glassloop.evaluation.runner import Cell, run_cell

    toolbox = Toolbox(made)
    for case in chosen:
        toolbox.declared(case)
        result = wait_for(run_cell(Cell(case.id, "m", "react", 1, "k" * 16), case, made.models[0], made, toolbox, None))
        assert result.score.passed, (case.id, result.score.problems)
