"""One report in five forms, the gate, suggestions, and cases made from runs."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from glassloop import Agent
from glassloop.agent import wait_for
from glassloop.errors import CaseError
from glassloop.evaluation.gate import compare
from glassloop.evaluation.html import page
from glassloop.evaluation.metrics import NOTHING, Score
from glassloop.evaluation.record import append_case, case_from_run
from glassloop.evaluation.report import junit, markdown, read_report, write
from glassloop.evaluation.runner import Cell, Result
from glassloop.evaluation.suggest import ask_model, most_confused, suggest, touched
from glassloop.evaluation.summary import Report, summarise

from .suite import TOOLS, answer, cases, scripted, step

EVIL = '<script>alert(1)</script> ]]> "\x00| `'


def result(case: str, passed: bool, repeat: int = 1, model: str = "m", **more: Any) -> Result:
    score = Score(passed, () if passed else (f"went wrong {EVIL}",), steps=2, tokens=100 + repeat, seconds=0.5, **more)
    return Result(
        Cell(case, model, "react", repeat, f"{case}{model}{repeat}"), score, f"runs/{case}-{repeat}.jsonl", ("en",)
    )


def report(outcomes: dict[str, str], model: str = "m") -> Report:
    """A report from outcomes such as `{"a": "110"}`: passed, passed, failed."""
    return summarise(
        [result(c, o == "1", i, model) for c, line in outcomes.items() for i, o in enumerate(line, 1)], at=1.0
    )


MIXED = summarise(
    [
        result("a", True, 1, selection=True, recall=1.0, confusion=(("level", "level"),)),
        result("a", True, 2, selection=True, recall=1.0, confusion=(("level", "level"),)),
        result("b", False, 1, selection=False, recall=0.0, confusion=(("level", "depth"),), answer=EVIL),
        result("b", True, 2, selection=True, recall=1.0, confusion=(("level", "level"),)),
        result("c<d>", False, 1, confusion=((NOTHING, "depth"),)),
        result("c<d>", False, 2),
    ],
    at=1.0,
)


def test_summary() -> None:
    (column,) = MIXED.columns
    assert (column.passed, column.total, column.k) == (3, 6, 2)
    assert column.pass_at_1 == 0.5 and column.pass_hat_k == pytest.approx(1 / 3)
    assert 0.18 < column.low < 0.5 < column.high < 0.82
    assert column.measures["recall"]["mean"] == 0.75 and column.measures["recall"]["count"] == 4
    assert ("level", "depth", 1) in column.confusion and ("level", "level", 3) in column.confusion
    assert column.tags == {"en": [3, 6]}
    assert [(r.case, r.passed, r.outcomes) for r in MIXED.cases][1] == ("b", 1, (False, True))


def test_json_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write(MIXED, path)
    assert read_report(path) == MIXED
    path.write_text("[]")
    with pytest.raises(CaseError, match="is no report"):
        read_report(path)
    with pytest.raises(CaseError, match="is written as"):
        write(MIXED, tmp_path / "r.pdf")


def test_markdown_keeps_its_tables_whole() -> None:
    for block in re.findall(r"(?:^\|.*\n)+", markdown(MIXED), re.M):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1, block
    assert "<script>" not in markdown(MIXED)
    assert "| level | depth | 1 |" in markdown(MIXED)


def test_junit_is_xml_with_a_failure_for_each_case_that_failed() -> None:
    root = ElementTree.fromstring(junit(MIXED))
    suite = root.find("testsuite")
    assert suite is not None and suite.get("tests") == "3" and suite.get("failures") == "2"
    failed = [c.get("name") for c in suite.iter("testcase") if c.find("failure") is not None]
    assert failed == ["b", "c<d>"]
    assert "runs/b-1.jsonl" in (suite.find(".//failure").text or "")  # type: ignore[union-attr]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [v or "" for k, v in attrs if k in ("href", "src")]
        if tag not in ("meta", "link", "line", "rect", "path", "circle", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag


def test_the_page_is_whole_safe_and_needs_no_network(tmp_path: Path) -> None:
    text = page(MIXED, base="out")
    seen = Tags()
    seen.feed(text)
    assert "script" not in seen.tags and seen.tags.count("svg") == 3 and not seen.open
    assert "out/runs/b-1.jsonl" in seen.links
    assert not [link for link in seen.links if link.startswith(("http", "//"))]
    write(MIXED, tmp_path / "sub" / "r.html", tmp_path / "out")
    assert "../out/runs/a-1.jsonl" in (tmp_path / "sub" / "r.html").read_text("utf-8")


# -- the gate --------------------------------------------------------------------------------------


def test_the_gate_tells_a_drop_from_noise() -> None:
    before = report({"a": "11111", "b": "11111", "c": "11011"})
    same = compare(before, before)
    assert same.ok and same.drop == 0 and not same.worse
    broken = compare(before, report({"a": "11111", "b": "00000", "c": "11011"}), max_drop=2)
    assert not broken.ok and broken.drop == pytest.approx(100 / 3)
    assert [c.case for c in broken.worse] == ["b"] and broken.worse[0].sure and "Worse" in broken.reason
    noisy = compare(before, report({"a": "11111", "b": "11101", "c": "11011"}), max_drop=2)
    assert noisy.ok and noisy.drop > 2 and not noisy.worse[0].sure and "noise" in noisy.reason
    assert not compare(before, report({"a": "11111", "b": "11101", "c": "11011"}), max_drop=2, strict=True).ok
    allowed = compare(before, report({"a": "11111", "b": "00000", "c": "11011"}), max_drop=40)
    assert allowed.ok and allowed.worse


def test_the_gate_compares_what_both_have() -> None:
    renamed = compare(report({"a": "1"}, "old"), report({"a": "0"}, "new"), strict=True)
    assert not renamed.ok and renamed.compared == 1
    partly = compare(report({"a": "1", "b": "1"}), report({"a": "1"}))
    assert partly.ok and partly.missing == ("b",)
    assert not compare(report({"a": "1"}), report({"z": "1"})).ok


# -- suggestions -------------------------------------------------------------------------------------


def test_a_suggestion_names_the_other_tool_and_when_to_use_this_one() -> None:
    made = suggest(MIXED, TOOLS)
    assert most_confused(MIXED) in ("depth", "level") and made is not None
    assert made.after.startswith(made.before) and len(made.after) > len(made.before)
    other = "depth" if made.tool == "level" else "level"
    assert f"that is {other}" in made.after
    assert suggest(report({"a": "1"}), TOOLS) is None


def test_suggestions_in_chinese_and_for_a_tool_that_was_not_called() -> None:
    from glassloop import tool

    @tool
    def depth(lake: str) -> int:
        """查询湖泊的最大深度。

        Args:
            lake: 湖名，例如青海湖。
        """
        return 1

    missed = summarise([result("a", False, confusion=(("depth", NOTHING),))])
    made = suggest(missed, [depth])
    assert made is not None and "必须调用" in made.after and "Use it" not in made.after


def test_a_model_may_write_it_and_nonsense_is_not_taken() -> None:
    made = suggest(MIXED, TOOLS)
    assert made is not None
    by_model = wait_for(ask_model(made, scripted('"Greatest depth of a lake. Not for its water level."')))
    assert by_model.after == "Greatest depth of a lake. Not for its water level." and by_model.by == "scripted"
    assert wait_for(ask_model(made, scripted("ok"))) == made


def test_what_a_suggestion_is_measured_on() -> None:
    made = suggest(MIXED, TOOLS)
    assert made is not None
    some = cases(
        "  - {id: a, question: x, calls: [level]}\n  - {id: x, question: x, calls: [log_entry]}\n"
        "  - {id: b, question: x, calls: [depth]}\n"
    )
    assert {c.id for c in touched(MIXED, made, some)} == {"b"} | ({"a"} if made.tool == "level" else set())


# -- cases from runs -----------------------------------------------------------------------------------


def recorded(tmp_path: Path, *replies: Any, question: str = "What is the water level of Vanern?") -> Path:
    agent = Agent(scripted(*replies), TOOLS, journal=tmp_path, protocol="constrained")
    return Path(agent.run(question).journal)


def test_a_good_run_becomes_a_case_that_passes_on_it(tmp_path: Path) -> None:
    run = recorded(tmp_path, step(("level", {"lake": "Vanern"})), answer("The level of Vanern is 44 cm."))
    file = tmp_path / "new.cases.yaml"
    append_case(case_from_run(str(run)), file)
    from glassloop.evaluation.cases import load_cases

    (made,) = load_cases(file)
    assert made.question == "What is the water level of Vanern?" and made.match == "in_order"
    assert made.calls is not None and made.calls[0].arguments == {"lake": "Vanern"}
    assert made.facts and "44" in str(made.facts[0])
    before = file.read_text()
    with pytest.raises(CaseError, match="used twice"):
        append_case(case_from_run(str(run)), file)
    assert file.read_text() == before


def test_a_bad_run_becomes_none(tmp_path: Path) -> None:
    run = recorded(tmp_path, step(("level", {"lake": "Vanern"})), answer("The level is 91 cm."))
    with pytest.raises(CaseError, match="not good enough"):
        case_from_run(str(run))
