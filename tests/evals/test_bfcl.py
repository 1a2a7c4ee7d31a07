"""The pure parts of the function-calling evaluation: types, names, the sample, the checker's rules, the judging."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from glassloop.types import Reply

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "evals"))

# The scripts of evals/ are no package.
import bfcl
import bfcl_check as check

AREA: dict[str, Any] = {
    "name": "geo.area",
    "description": "Area of a shape.",
    "parameters": {
        "type": "dict",
        "properties": {
            "sides": {"type": "tuple", "items": {"type": "float"}},
            "unit": {"type": "string", "default": "m"},
            "exact": {"type": "boolean"},
            "origin": {"type": "dict", "properties": {"x": {"type": "integer"}, "label": {"type": "string"}}},
            "scale": {"type": "float"},
            "marks": {"type": "array", "items": {"type": "dict"}},
        },
        "required": ["sides"],
    },
}
ALLOWED: dict[str, list[Any]] = {
    "sides": [[2.0, 3.5]],
    "unit": ["square feet", ""],
    "exact": ["", True],
    "origin": ["", {"x": [4, 5], "label": ["North Gate", ""]}],
    "scale": ["", 2.0],
    "marks": ["", [{"x": [1]}, {"x": [2]}]],
}


def item(question: str, *expected: dict[str, Any], functions: tuple[dict[str, Any], ...] = (AREA,)) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": "t_0",
        "category": "simple_python",
        "question": [[{"role": "user", "content": question}]],
        "function": list(functions),
    }
    return {**made, "ground_truth": list(expected)} if expected else made


def test_python_types_become_json_types_at_every_depth() -> None:
    schema = check.json_schema(AREA["parameters"])
    assert schema["type"] == "object"
    assert schema["properties"]["sides"] == {"type": "array", "items": {"type": "number"}}
    assert schema["properties"]["origin"]["properties"]["x"] == {"type": "integer"}


def test_an_argument_that_is_called_like_a_keyword_stays_an_argument() -> None:
    given = {"type": "dict", "properties": {"type": {"type": "any"}, "optional": {"type": "float", "optional": True}}}
    assert check.json_schema(given)["properties"] == {"type": {"type": "string"}, "optional": {"type": "number"}}


def test_names_are_mapped_and_mapped_back_and_stay_apart() -> None:
    twins = [{**AREA, "name": name} for name in ("geo.area", "geo_area", "plain")]
    declared, own = check.declarations(twins)
    assert [own[d.name] for d in declared] == ["geo.area", "geo_area", "plain"]
    assert len({d.name for d in declared}) == 3
    assert all("." not in d.name for d in declared)


def test_defaults_are_taken_out_at_every_depth_and_nothing_else() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}, "default": {}}
    assert check.without_defaults({"properties": {"default": inner}, "default": 1}) == {
        "properties": {"default": {"type": "object", "properties": {"a": {"type": "string"}}}}
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {"sides": [2.0, 3.5]},
        {"sides": [2.0, 3.5], "unit": "Square-Feet"},
        {"sides": [2.0, 3.5], "exact": True, "scale": 2},
        {"sides": [2.0, 3.5], "origin": {"x": 5}},
        {"sides": [2.0, 3.5], "origin": {"x": 4, "label": "north gate"}},
        {"sides": [2.0, 3.5], "marks": [{"x": 1}, {"x": 2}]},
        {"sides": [2.0, 3.5], "marks": []},
    ],
)
def test_right_calls_pass(arguments: dict[str, Any]) -> None:
    assert check.wrong(item("?", {"geo.area": ALLOWED}), [("geo.area", arguments)]) == ""


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "sides is missing"),
        ({"sides": [3.5, 2.0]}, "sides is"),
        ({"sides": ["2.0", 3.5]}, "sides is"),
        ({"sides": [2.0, 3.5], "unit": "feet"}, "unit is"),
        ({"sides": [2.0, 3.5], "exact": 1}, "exact is"),
        ({"sides": [2.0, 3.5], "scale": "2.0"}, "scale is"),
        ({"sides": [2.0, 3.5], "origin": {"label": "North Gate"}}, "origin is"),
        ({"sides": [2.0, 3.5], "origin": {"x": 4, "y": 1}}, "origin is"),
        ({"sides": [2.0, 3.5], "marks": [{"x": 2}, {"x": 1}]}, "marks is"),
        ({"sides": [2.0, 3.5], "height": 1}, "height is not expected"),
    ],
)
def test_wrong_calls_are_told(arguments: dict[str, Any], reason: str) -> None:
    assert check.wrong(item("?", {"geo.area": ALLOWED}), [("geo.area", arguments)]).startswith(reason)


def test_an_argument_that_may_not_be_left_out_is_missed() -> None:
    strict = {**ALLOWED, "unit": ["feet"]}
    assert check.wrong(item("?", {"geo.area": strict}), [("geo.area", {"sides": [2.0, 3.5]})]) == "unit is missing"


def test_a_variable_may_stand_where_the_data_expects_one() -> None:
    function = {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}}
    assert check.wrong_call(function, {"n": ["size"]}, ("f", {"n": "size"})) == ""
    assert check.wrong_call(function, {"n": ["size"]}, ("f", {"n": "Size"})) != ""


def test_calls_match_in_any_order_and_each_only_once() -> None:
    both = item("?", {"geo.area": {**ALLOWED, "sides": [[1.0]]}}, {"geo.area": {**ALLOWED, "sides": [[2.0]]}})
    one, two = ("geo.area", {"sides": [1.0]}), ("geo.area", {"sides": [2.0]})
    assert check.wrong(both, [two, one]) == ""
    assert check.wrong(both, [one, one]) != ""
    assert check.wrong(both, [one]) == "1 calls instead of 2"


def test_where_nothing_fits_only_no_call_is_right() -> None:
    assert check.wrong(item("?"), []) == ""
    assert check.wrong(item("?"), [("geo.area", {})]) == "called geo.area although nothing fits"
    assert check.wrong(item("?", {"geo.area": ALLOWED}), []) == "no call"


def test_the_sample_is_fixed_and_every_beginning_has_its_shares() -> None:
    pools = {c: [{"id": f"{c}_{n}"} for n in range(100)] for c in bfcl.SHARES}
    sample = bfcl.draw(pools, bfcl.SHARES, 1)
    turned = {c: list(reversed(pool)) for c, pool in pools.items()}
    assert sample == bfcl.draw(turned, bfcl.SHARES, 1) != bfcl.draw(pools, bfcl.SHARES, 2)
    assert len({i["id"] for i in sample}) == sum(bfcl.SHARES.values()) == 200
    for category, share in bfcl.SHARES.items():
        assert abs(sum(i["id"].rpartition("_")[0] == category for i in sample[:100]) - share / 2) <= 1


def judged(
    question: str, step: dict[str, Any], *expected: dict[str, Any], doubt: float | None = None
) -> dict[str, Any]:
    asked = bfcl.Asked.of(item(question, *expected))
    row = {"reply": Reply(text=json.dumps(step), finish_reason="stop").to_dict(), "doubt": doubt, "seconds": 0.0}
    return bfcl.judge(asked, bfcl.ConstrainedProtocol(), row)


def test_a_call_is_read_cast_and_named_as_the_data_names_it() -> None:
    step = {"thought": "t", "calls": [{"name": "geo_area", "arguments": {"sides": ["2.0", 3.5]}}]}
    verdict = judged("Sides 2.0 and 3.5", step, {"geo.area": ALLOWED})
    assert verdict["calls"] == [("geo.area", {"sides": [2.0, 3.5]})]
    assert [verdict[f] for f in bfcl.FIGURES] == ["", "", ""]


def test_a_doubted_call_counts_only_with_a_value_that_speaks_for_it() -> None:
    step = {"thought": "t", "calls": [{"name": "geo_area", "arguments": {"sides": [8.25]}}]}
    assert [bool(judged("Who are you?", step, doubt=0.5)[f]) for f in bfcl.FIGURES] == [True, False, False]
    assert [bool(judged("Who is 8.25?", step, doubt=0.5)[f]) for f in bfcl.FIGURES] == [True, True, True]
    assert [bool(judged("Who are you?", step, doubt=0.0)[f]) for f in bfcl.FIGURES] == [True, True, False]


def test_a_required_value_without_a_source_costs_a_right_call_too() -> None:
    """The engine does not know which items have no fitting function, so the figure may not know it either."""
    step = {"thought": "t", "calls": [{"name": "geo_area", "arguments": {"sides": [2.0, 3.5]}}]}
    verdict = judged("The usual sides, please", step, {"geo.area": ALLOWED}, doubt=0.0)
    assert (verdict["run"], verdict["sourced"]) == ("", "no call")


def test_a_reply_that_is_a_fault_is_right_nowhere() -> None:
    verdict = judged("Who are you?", {"thought": "only that"})
    assert all(verdict[f].startswith("fault") for f in bfcl.FIGURES)


def test_an_unfinished_line_of_a_kept_run_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text('{"id": "a", "protocol": "plain"}\n{"id": "b", "protocol": "native"}\n{"id": "c", "pro', "utf-8")
    assert list(bfcl.known_rows(path, "plain")) == ["a"]
    assert bfcl.known_rows(tmp_path / "none.json", "plain") == {}


def test_a_plain_empty_list_is_an_answer() -> None:
    asked = bfcl.Asked.of(item("Who are you?"))
    plain = bfcl.PlainProtocol()
    assert plain.read(Reply(text='{"calls": []}'), asked.turn).answer
    called = plain.read(Reply(text='{"calls": [{"name": "geo_area", "arguments": {"sides": [1.0]}}]}'), asked.turn)
    assert [c.name for c in called.calls] == ["geo_area"]


def test_the_data_is_found_below_a_directory(tmp_path: Path) -> None:
    data = tmp_path / "unzipped" / "data"
    (data / "possible_answer").mkdir(parents=True)
    for place, content in ((data, item("?")), (data / "possible_answer", {"id": "t_0", "ground_truth": [{}]})):
        (place / "BFCL_v4_simple_python.json").write_text(json.dumps(content) + "\n", encoding="utf-8")
    assert bfcl.find_data(tmp_path) == data
    assert bfcl.find_data(tmp_path / "nowhere") is None
    assert bfcl.load(data, "simple_python")[0]["ground_truth"] == [{}]
