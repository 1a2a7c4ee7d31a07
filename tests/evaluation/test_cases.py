"""Golden cases from YAML: every mistake is a sentence with a line; the published schema agrees with the reader."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from glassloop.errors import CaseError
from glassloop.evaluation.cases import load_cases, read_cases
from glassloop.evaluation.matchers import Said, fits, tells
from glassloop.evaluation.yaml_lines import read_yaml
from glassloop.types import Observation

SCHEMA = json.loads((resources.files("glassloop.evaluation") / "cases.schema.json").read_text("utf-8"))
OWN = Path(__file__).resolve().parents[2] / "evals" / "cases"

GOOD = """
version: 1
approve: [book]
tags: all
cases:
  - id: one
    question: When is high water at 7:40?
    tools: [tide, book]
    forbid: [book]
    match: exact
    calls:
      - tool: tide
        arguments: {harbour: Oban, day: 2026-03-01, height: {number: 3, tolerance: 0.5}}
    answer:
      facts: [[07:40, {regex: "7.40"}], 12]
      lies: ["8:40"]
    faults:
      - {tool: tide, kind: error, at: 1}
  - id: zwei
    conversation:
      - user: 你好
      - assistant: 你好！
      - user: 几点了？
    calls: []
"""


def test_a_good_file() -> None:
    one, two = read_cases(GOOD, name="good")
    assert one.calls is not None and one.calls[0].arguments["day"] == "2026-03-01"
    assert one.approve == ("book",) and one.tags == ("all",) and one.faults[0].at == 1
    assert one.facts == (["07:40", {"regex": "7.40"}], 12)
    assert two.question == "几点了？" and [m.role for m in two.history] == ["user", "assistant"]
    assert two.calls == () and two.match == "exact"
    jsonschema.validate(read_yaml(GOOD, name="good").data, SCHEMA)


BAD = {
    "cases:\n  - id: a\n    question: x\n    qestion: y\n": (4, "did you mean `question`?"),
    "cases:\n  - question: x\n": (2, "needs an id"),
    "cases:\n  - id: a\n": (2, "either a `question` or a `conversation`"),
    "cases: []\n": (1, "list of cases"),
    "version: 2\ncases:\n  - {id: a, question: x}\n": (1, "version 1"),
    "cases:\n  - id: a\n    question: x\n    match: sorted\n": (4, "exact, in_order"),
    "cases:\n  - id: a\n    question: x\n    calls:\n      - tool: t\n        arguments:\n          n: {numbr: 3}\n": (
        7,
        "did you mean `number`?",
    ),
    "cases:\n  - id: a\n    question: x\n    answer:\n      facts:\n        - a\n        - {regex: '('}\n": (
        7,
        "no regular",
    ),
    "cases:\n  - id: a\n    question: x\n    answer:\n      facts: [yes]\n": (5, "in quotes"),
    "cases:\n  - id: a\n    question: x\n    faults:\n      - {tool: t, kind: crash}\n": (5, "timeout"),
    "cases:\n  - id: a\n    question: x\n    faults:\n      - {tool: t, kind: error, at: 0}\n": (5, "from 1"),
    "cases:\n  - id: a\n    question: x\n    limits: {steps: -1}\n": (4, "from 0"),
    "cases:\n  - id: a\n    question: x\n    repeat: 0\n": (4, "from 1"),
    "cases:\n  - id: a\n    conversation:\n      - assistant: x\n": (4, "- user"),
}


@pytest.mark.parametrize("text", BAD, ids=lambda t: t.strip().splitlines()[-1].strip())
def test_a_mistake_is_told_with_its_line_and_refused_by_the_schema_too(text: str) -> None:
    line, words = BAD[text]
    with pytest.raises(CaseError) as told:
        read_cases(text, name="bad.cases.yaml")
    assert str(told.value).startswith(f"bad.cases.yaml:{line}: ") and words in str(told.value)
    if "assistant" not in text:  # the order of turns is beyond a schema
        checker = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
        assert list(checker.iter_errors(read_yaml(text, name="bad").data))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("cases:\n  - id: [\n", 3, "not YAML"),
        ("cases:\n  - id: a\n    question: x\n    id: b\n", 4, "given twice"),
        ("cases:\n  - id: a\n    question: x\n  - id: a\n    question: x\n", 4, "used twice"),
        ("cases:\n  - id: a\n    question: x\n    tools: [t]\n    calls: [u]\n", 4, "not offered"),
        ("cases:\n  - id: a\n    question: !!python/name:os.system x\n", 3, "not allowed"),
        ("", 1, "empty"),
    ],
)
def test_mistakes_that_only_the_reader_sees(text: str, line: int, words: str) -> None:
    with pytest.raises(CaseError, match=words) as told:
        read_cases(text, name="bad")
    assert str(told.value).startswith(f"bad:{line}: ")


def test_two_files_may_not_share_an_id(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.cases.yaml").write_text("cases:\n  - {id: same, question: x}\n")
    with pytest.raises(CaseError, match="is taken"):
        load_cases(tmp_path)
    with pytest.raises(CaseError, match="There is no"):
        load_cases(tmp_path / "a.cases.yaml", (tmp_path / "empty").mkdir() or tmp_path / "empty")


@pytest.mark.parametrize(
    ("rule", "given", "good"),
    [
        ("Oban", " oban ", True),
        ("Ｏban", "Oban", True),
        ("Oban", "Obana", False),
        (3, "3.0", True),
        (3, 3.5, False),
        (True, 1, False),
        ({"number": 3, "tolerance": 0.5}, 3.5, True),
        ({"number": 3, "tolerance": 0.5}, 3.6, False),
        ({"regex": "^A-\\d+$"}, "A-17", True),
        ({"regex": "^A-\\d+$"}, "xA-17", False),
        ({"one_of": ["a", {"regex": "^b"}]}, "bc", True),
        ({"one_of": ["a", "b"]}, "c", False),
        ({"any": True}, None, True),
        ({"equal": {"a": [1, 2]}}, {"a": ["1", 2.0]}, True),
        ({"equal": {"a": [1, 2]}}, {"a": [2, 1]}, False),
        ({"from_observation": "find"}, "K-88", True),
        ({"from_observation": "find"}, "K-8", False),
        ({"from_observation": "other"}, "K-88", False),
        ({"from_observation": True}, 12, True),
    ],
)
def test_arguments(rule: Any, given: Any, good: bool) -> None:
    before = [Observation("1", "find", "ok", "", data={"hits": [{"code": "K-88", "seats": 12}]})]
    assert fits(rule, given, before) is good


@pytest.mark.parametrize(
    ("wanted", "answer", "good"),
    [
        (1200, "It costs 1,200 euros.", True),
        (1200, "一共1200元。", True),
        (1200, "It costs 12000 euros.", False),
        ("1200 kg", "It is 1,200 kilograms", True),
        ("1200 kg", "It is 1,200 metres", False),
        ("15:30", "at 3:30 p.m.", True),
        ("15:30", "下午3点半出发", True),
        ("15:30", "at 5:30 p.m.", False),
        ("7", "17 boats", False),
        ("Ada", "Ada's boat", True),
        ("Ada", "Adam", False),
        ("北岸", "在北岸码头", True),
        (["no", "没有"], "没有船", True),
        ({"number": 4.2, "tolerance": 0.1}, "about 4.3 m", True),
        ({"number": 4.2, "tolerance": 0.1}, "about 4.4 m", False),
        ({"regex": "not? found"}, "It was NOT found", True),
        ({"text": "42"}, "42", True),
    ],
)
def test_facts(wanted: Any, answer: str, good: bool) -> None:
    assert tells(Said.of(answer), wanted) is good
