"""Cast and validate: one evident reading or a problem, all problems at once, never an exception."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import argument_sets as ours
import jsonschema
import pytest
import schema_strategies as made
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glassloop.tools.formats import FORMATS, has_format
from glassloop.tools.outline import same
from glassloop.tools.schema import cast, check_result, explain
from glassloop.tools.wording import WORDS

EXAMPLES = int(os.environ.get("GLASSLOOP_EXAMPLES", "200"))
many = settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def tool(required: list[str] | None = None, /, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties) if required is None else required}


def one(schema: dict[str, Any], value: Any) -> Any:
    """Cast a single required argument; an exception stands for a problem."""
    result = cast(tool(x=schema), {"x": value})
    return result.value["x"] if result.ok else result.problems


INTEGER, NUMBER, BOOLEAN, TEXT = ({"type": t} for t in ("integer", "number", "boolean", "string"))
INTEGERS = {"type": "array", "items": INTEGER}
TEXTS = {"type": "array", "items": TEXT}
DATE = {"type": "string", "format": "date"}
MOMENT = {"type": "string", "format": "date-time"}
CLOCK = {"type": "string", "format": "time"}
STATE = {"type": "string", "enum": ["open", "closed", "in_progress"]}


@pytest.mark.parametrize(
    ("schema", "given", "wanted"),
    [
        (INTEGER, "1,200", 1200),
        (INTEGER, "１，２００", 1200),
        (INTEGER, "-3", -3),
        (INTEGER, "1e3", 1000),
        (INTEGER, "10.0", 10),
        (NUMBER, "75.5", 75.5),
        (NUMBER, ".5", 0.5),
        (NUMBER, "7", 7),
        (BOOLEAN, "是", True),
        (BOOLEAN, "OFF", False),
        (BOOLEAN, 0, False),
        (INTEGERS, "[1, 2]", [1, 2]),
        (INTEGERS, "1; 2", [1, 2]),
        (INTEGERS, "1, 200", [1, 200]),
        (TEXTS, "北京、上海", ["北京", "上海"]),
        (TEXTS, "('a', 'b')", ["a", "b"]),
        (TEXTS, "tea", ["tea"]),
        (STATE, "In Progress", "in_progress"),
        (STATE, "“closed”", "closed"),
        (STATE, "clsoed", "closed"),
        (DATE, "1st of March 2025", "2025-03-01"),
        (DATE, "05/05/2025", "2025-05-05"),
        (DATE, "２０２５年３月１日", "2025-03-01"),
        (MOMENT, "2025年3月1日 下午3点", "2025-03-01T15:00:00"),
        (MOMENT, "2025-03-01 10:00+02:00", "2025-03-01T10:00:00+02:00"),
        (MOMENT, "20250301T100000Z", "2025-03-01T10:00:00Z"),
        (CLOCK, "12:15 am", "00:15:00"),
        (CLOCK, "晚上8点半", "20:30:00"),
        (TEXT, 42, "42"),
        ({"type": ["integer", "null"]}, "none", None),
        ({"type": "integer", "nullable": True}, None, None),
        ({"type": ["string", "null"], "format": "date"}, "null", None),
        ({"type": ["string", "null"], "minLength": 1}, "", None),
        ({"type": ["string", "null"]}, "none", "none"),
        ({"type": "int"}, "4", 4),
        ({"enum": [1, 2, 3]}, "2", 2),
        ({"const": "yes"}, "YES", "yes"),
        ({"anyOf": [INTEGER, TEXTS]}, "5", 5),
        ({"anyOf": [INTEGER, TEXT]}, "5", "5"),
        ({"allOf": [INTEGER, {"minimum": 3}]}, "5", 5),
        ({"type": "array", "prefixItems": [TEXT, INTEGER]}, ["a", "2"], ["a", 2]),
        ({"type": "object", "additionalProperties": NUMBER}, {"a": "1.5"}, {"a": 1.5}),
        ({"type": "object"}, '{"free": [1]}', {"free": [1]}),
        ({"type": "object"}, json.dumps('{"twice": 1}'), {"twice": 1}),
        (INTEGERS, json.dumps("[1, 2]"), [1, 2]),
        ({"type": "string", "pattern": "^[a-z]+$"}, " abc ", "abc"),
    ],
)
def test_one_evident_reading(schema: dict[str, Any], given: Any, wanted: Any):
    outcome = one(schema, given)
    assert same(outcome, wanted), outcome


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        (INTEGER, "10.5"),
        (INTEGER, 10.5),
        (INTEGER, True),
        (INTEGER, "1,20"),
        (INTEGER, "5 km"),
        (INTEGER, "1_000"),
        (INTEGER, "9" * 5000),
        (NUMBER, "1e999"),
        (NUMBER, float("nan")),
        (BOOLEAN, "maybe"),
        (BOOLEAN, 2),
        (BOOLEAN, [0]),
        (INTEGERS, "1,200"),
        (INTEGERS, "one, two"),
        (INTEGERS, "[1, 2"),
        (TEXTS, "null"),
        (TEXTS, "Paris, France; Rome, Italy"),
        (STATE, "opening"),
        (STATE, "shut"),
        (DATE, "03/04/2025"),
        (DATE, "3.4.2025"),
        (DATE, "2025-02-30"),
        (DATE, "tomorrow"),
        (DATE, "25-03-01"),
        (MOMENT, "2025-03-01"),
        (CLOCK, "25:00"),
        (CLOCK, "13:00 pm"),
        (TEXT, {"a": 1}),
        (TEXT, True),
        (TEXT, 1.10),
        ({"enum": ["已完成", "进行中"]}, "未完成"),
        ({"enum": ["order_2024", "order_2026"]}, "order_2025"),
        ({"enum": ["mm", "km"]}, "cm"),
        ({"enum": ["A", "a"]}, "Ａ "),
        ({"enum": ["abcd", "abce"]}, "abcf"),
    ],
)
def test_no_reading_or_several_is_a_problem(schema: dict[str, Any], given: Any):
    result = cast(tool(x=schema), {"x": given})
    assert [p.path for p in result.problems] == ["x"]
    assert repr(result.value["x"]) == repr(given)


def test_every_repair_says_before_and_after_and_where():
    result = cast(tool(a={"type": "array", "items": tool(n=INTEGER)}), {"a": [{"n": 1}, {"n": "2"}]})
    assert [(r.name, r.path, r.before, r.after, r.guessed) for r in result.repairs] == [
        ("integer", "a[1].n", "2", 2, False)
    ]


def test_only_near_matches_are_guesses():
    schema = tool([], state=STATE, max_results=INTEGER, query=TEXT)
    guessed = {r.name for r in cast(schema, {"state": "opem", "qurey": "x", "maxResults": "5"}).repairs if r.guessed}
    assert guessed == {"near_enum", "near_name"}
    assert not cast(schema, {"state": "OPEN", "Max-Results": 5}).guessed


def test_all_problems_at_once():
    schema = tool(a=INTEGER, b=BOOLEAN, c={"type": "array", "items": tool(d=DATE, e=STATE)})
    result = cast(schema, {"b": "perhaps", "c": [{"d": "soon"}, {"d": "2025-01-01", "e": 5}]})
    assert sorted(p.path for p in result.problems) == ["a", "b", "c[0].d", "c[0].e", "c[1].e"]
    assert all(p.given and p.wanted for p in result.problems)


# -- names nobody declared ---------------------------------------------------------------------


def test_unknown_arguments_are_dropped_and_a_near_name_is_told():
    result = cast(tool(query=TEXT), {"query": "x", "querys": "y"})
    assert result.ok and result.value == {"query": "x"}
    assert [(r.name, r.path, r.before) for r in result.repairs] == [("dropped", "querys", "y")]
    assert "query" in result.notes[0]


def test_a_call_whose_only_argument_is_unknown_does_not_run_with_defaults():
    schema = tool([], limit={"type": "integer", "default": 5})
    assert not cast(schema, {"location": "Graz"}).ok
    assert cast(schema, {}).value == {"limit": 5}
    nested = tool(filter=tool([], colour=TEXT))
    assert [p.path for p in cast(nested, {"filter": {"color_name": "red"}}).problems] == ["filter.color_name"]


def test_a_tool_without_arguments_takes_none():
    assert cast({"type": "object", "properties": {}}, {"input": ""}).value == {}


def test_a_missing_argument_names_the_unknown_one_given_instead():
    problem = cast(tool(city=TEXT, day=TEXT), {"location": "Graz", "day": "x"}).problems[0]
    assert problem.path == "city" and "location" in problem.hint


def test_open_objects_keep_their_names():
    schema = {"type": "object", "properties": {"a": INTEGER}, "additionalProperties": True}
    assert cast(schema, {"a": "1", "b": "1"}).value == {"a": 1, "b": "1"}


def test_a_rename_needs_a_value_that_fits():
    result = cast(tool([], count=INTEGER, name=TEXT), {"Count": "many", "name": "x"})
    assert result.value == {"name": "x"}


def test_names_of_composed_objects_are_known_together():
    schema = {"allOf": [tool(a=INTEGER), tool(b=INTEGER)], "type": "object"}
    assert cast(schema, {"a": "1", "b": "2", "c": 3}).value == {"a": 1, "b": 2}


# -- defaults, references, branches --------------------------------------------------------------


def test_defaults_are_filled_at_every_depth_and_are_our_own():
    inner = tool([], on={"type": "boolean", "default": True}, tags={**TEXTS, "default": ["a"]})
    schema = tool([], options={**inner, "default": {}}, rows={"type": "array", "items": inner})
    first = cast(schema, {"rows": [{}]})
    assert first.value == {"rows": [{"on": True, "tags": ["a"]}], "options": {"on": True, "tags": ["a"]}}
    first.value["options"]["tags"].append("b")
    assert cast(schema, {"rows": []}).value["options"]["tags"] == ["a"]
    assert first.repairs == ()


def test_a_default_that_does_not_fit_is_not_filled():
    assert cast(tool([], n={"type": "integer", "default": None}), {}).value == {}


def test_a_default_that_fills_itself_for_ever_is_filled_once():
    endless = tool([], child={"$ref": "#", "default": {}})
    once = cast(endless, {}).value
    assert once == {"child": {}} == cast(endless, once).value


TREE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/Node"}},
    "required": ["root"],
    "$defs": {
        "Node": tool(["name"], name=TEXT, weight=NUMBER, children={"type": "array", "items": {"$ref": "#/$defs/Node"}})
    },
}


def test_recursive_references():
    given = {"root": {"name": "a", "children": {"name": "b", "weight": "2", "children": []}}}
    assert cast(TREE, given).value["root"]["children"] == [{"name": "b", "weight": 2, "children": []}]
    assert cast(TREE, {"root": {"name": "a", "children": [{"weight": 1}]}}).problems[0].path == "root.children[0].name"


def test_nesting_without_end_is_a_problem():
    deep: Any = {"name": "x"}
    for _ in range(5000):
        deep = {"name": "x", "children": [deep]}
    assert cast(TREE, {"root": deep}).problems[0].rule == "depth"
    circle: dict[str, Any] = {"name": "x"}
    circle["children"] = [circle]
    assert cast(TREE, {"root": circle}).problems[0].rule == "depth"
    assert not cast({"$ref": "#"}, {"a": 1}).ok
    twofold = {"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "array", "items": {"$ref": "#"}}]}
    value: Any = "leaf"
    for _ in range(40):
        value = [value]
    # Two branches at each of forty levels: who tries them all never ends.
    assert not cast(tool(x=TEXT) | {"properties": {"x": twofold}}, {"x": value}).ok


def test_the_branch_that_was_meant_is_reported():
    circle = tool(kind={"const": "circle"}, radius=NUMBER)
    box = tool(kind={"const": "box"}, width=NUMBER)
    schema = tool(shape={"oneOf": [circle, box]})
    assert cast(schema, {"shape": {"kind": "box", "width": "2"}}).value["shape"] == {"kind": "box", "width": 2}
    assert [p.path for p in cast(schema, {"shape": {"kind": "box", "width": "wide"}}).problems] == ["shape.width"]
    assert cast(schema, {"shape": 5}).problems[0].path == "shape"


@pytest.mark.parametrize(
    ("value", "step", "good"),
    [
        (0.3, 0.1, True),
        (0.35, 0.1, False),
        (1000000064.0, 5, False),
        (10**30, 0.5, True),
        (1e300, 7, False),
        (7.5, 2.5, True),
    ],
)
def test_multiples_are_exact(value: float, step: float, good: bool):
    assert cast(tool(x={"type": "number", "multipleOf": step}), {"x": value}).ok is good


def test_one_of_must_fit_exactly_one():
    assert cast(tool(x={"oneOf": [INTEGER, NUMBER]}), {"x": 5}).problems[0].rule == "oneOf"


# -- what arguments come wrapped in ---------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        '{"city": "Kobe"}',
        {"arguments": {"city": "Kobe"}},
        {"arguments": '{"city": "Kobe"}'},
        {"name": "w", "parameters": {"city": "Kobe"}},
        {"type": "object", "properties": {"city": "Kobe"}, "required": ["city"]},
        {"weather_request": {"city": "Kobe"}},
        {"city": {"city": "Kobe"}},
        {"city": {"type": "string", "value": "Kobe"}},
    ],
)
def test_wrappers_are_opened(given: Any):
    result = cast(tool(city=TEXT), given)
    assert result.value == {"city": "Kobe"} and result.repairs


def test_an_argument_called_like_a_wrapper_is_an_argument():
    schema = tool(properties={"type": "object"})
    assert cast(schema, {"properties": {"city": "x"}}).value == {"properties": {"city": "x"}}


@pytest.mark.parametrize("given", ["Kobe", 5, [1], True])
def test_arguments_that_are_no_object(given: Any):
    assert cast(tool(city=TEXT), given).problems[0].rule == "arguments"


def test_no_arguments_are_an_empty_object():
    assert cast(tool([], city=TEXT), None).value == {}
    assert cast(tool([], city=TEXT), "").value == {}


# -- results --------------------------------------------------------------------------------------


def test_results_are_cast_and_recorded():
    assert check_result(NUMBER, "75.5").value == 75.5
    assert check_result(NUMBER, "75.5").repairs[0].name == "number"
    rows = {"type": "array", "items": tool(id=INTEGER)}
    assert check_result(rows, {"id": 1, "further": True}).value == [{"id": 1, "further": True}]
    assert not check_result(NUMBER, "warm").ok
    assert not check_result(rows, "a, b").ok


def test_results_are_not_guessed_dropped_or_filled():
    schema = tool([], state=STATE, n={"type": "integer", "default": 1})
    assert check_result(schema, {"other": 1}).value == {"other": 1}
    assert not check_result(schema, {"state": "opem"}).ok


# -- what the model is told -------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_explain_names_field_given_wanted_and_one_right_example(language: str):
    schema = tool(["city", "days"], city=TEXT, days={"type": "integer", "minimum": 2, "maximum": 7}, unit=STATE)
    result = cast(schema, {"days": "secret-value", "unit": "kelvin"})
    reason, hint = explain(result.problems, "weather", schema, language)
    assert all(word in reason for word in ("city", "days", "secret-value", "unit", "kelvin", "in_progress"))
    example = json.loads(hint[hint.index("{") :])
    assert cast(schema, example).ok and not cast(schema, example).repairs
    assert "secret-value" not in hint and set(example) == {"city", "days", "unit"}
    assert "Traceback" not in reason + hint


def test_the_languages_have_equal_keys():
    assert WORDS["en"].keys() == WORDS["zh"].keys()


def test_an_ambiguous_date_is_told_as_one():
    schema = tool(day=DATE)
    result = cast(schema, {"day": "03/04/2025"})
    assert "cannot be told apart" in explain(result.problems, "t", schema)[0]
    assert "无法分清" in explain(result.problems, "t", schema, "zh")[0]


# -- patterns, speed, threads -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern", [r"^(a+)+$", r"^(a|a)*$", r"^(a|aa)+$", r"(.*a){12}", r"^(\w+\s?)*$", r"(a*)*\1b", r"a*a*a*a*a*b"]
)
def test_no_pattern_hangs(pattern: str):
    for text in ("a" * 21 + "!", "a" * 60 + "!", "a" * 5000 + "!"):
        cast(tool(x={"type": "string", "pattern": pattern}), {"x": text})


def test_a_final_dollar_is_the_end():
    assert not cast(
        tool(x={"type": "string", "pattern": "^a$", "maxLength": 2}, y={"const": 1}), {"x": "a\n", "y": 2}
    ).ok
    assert one({"type": "string", "pattern": "^a$"}, "a\n") == "a"


def test_ten_nested_fields_that_are_right_need_no_repair():
    leaf = tool(name=TEXT, count=INTEGER, price=NUMBER)
    schema = tool(
        reference=TEXT, lines={"type": "array", "items": leaf}, state=STATE, express=BOOLEAN, tags=TEXTS, day=DATE,
        note={"anyOf": [TEXT, {"type": "null"}]},
    )  # fmt: skip
    given = {
        "reference": "R-1", "lines": [{"name": "tea", "count": 1, "price": 2.5}], "state": "open", "express": True,
        "tags": ["a"], "day": "2025-03-01", "note": None,
    }  # fmt: skip
    result = cast(schema, given)
    assert result.ok and not result.repairs and result.value == given


def test_a_schema_changed_in_place_is_read_anew():
    schema = tool(x=INTEGER)
    assert not cast(schema, {"x": "a"}).ok
    schema["properties"]["x"] = TEXT
    assert cast(schema, {"x": "a"}).ok


def test_threads_share_compiled_schemas():
    outcomes: list[bool] = []
    schema = tool([], a={**tool([], b={"type": "integer", "default": 1}), "default": {}}, salt={"const": 987})

    def work() -> None:
        outcomes.extend(cast(schema, {}).value == {"a": {"b": 1}} for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 200 and all(outcomes)


# -- properties ----------------------------------------------------------------------------------------


OUR_FORMATS = jsonschema.FormatChecker(formats=())
for name in FORMATS:
    OUR_FORMATS.checks(name)(lambda value, name=name: not isinstance(value, str) or has_format(value, name))


def oracle(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    """Judge by jsonschema, which leaves it to us what a format is: ours take times without an offset."""
    return jsonschema.Draft202012Validator(schema, format_checker=OUR_FORMATS)


def never_internal(result: Any) -> None:
    assert not any(p.rule == "internal" for p in result.problems), result.problems


@many
@given(made.tools(), made.values)
def test_the_result_fits_or_has_problems_and_casting_twice_changes_nothing(schema: dict[str, Any], value: Any):
    first = cast(schema, value)
    never_internal(first)
    if first.ok:
        assert oracle(schema).is_valid(first.value)
    second = cast(schema, first.value)
    assert same(second.value, first.value)
    assert not (first.ok and (second.repairs or second.problems))


@many
@given(made.schemas, made.values)
def test_what_the_oracle_takes_as_a_result_we_take(schema: dict[str, Any], value: Any):
    result = check_result(schema, value)
    never_internal(result)
    judge = oracle(schema)
    assert result.ok or not judge.is_valid(value)
    assert not result.ok or judge.is_valid(result.value)


@many
@given(made.nonsense | made.tools(), made.wild_values)
def test_nothing_raises(schema: Any, value: Any):
    for call in (cast, check_result):
        result = call(schema, value)
        never_internal(result)
        assert all(map(str, result.problems))
        for language in ("en", "zh"):
            assert all(isinstance(text, str) for text in explain(result.problems, "t", schema, language))


@many
@given(st.dictionaries(made.names, made.values, max_size=4))
def test_the_arguments_given_are_not_changed(arguments: dict[str, Any]):
    before = json.dumps(arguments)
    cast(TREE, arguments)
    cast(tool([], city=INTEGERS, days=STATE, count={"type": "object"}), arguments)
    assert json.dumps(arguments) == before


# -- two hundred argument sets ---------------------------------------------------------------------------


def test_there_are_two_hundred_sets_and_twenty_are_nested_three_deep():
    every = ours.sets().all()
    assert len(every) >= 200
    assert sum(ours.nested_three_deep(given) for _, (_, given, _) in every) >= 20


def test_right_stays_hopeless_stays_out_and_repairable_is_repaired():
    found = ours.counts("glassloop")
    assert (
        found["right changed"] == found["right refused"] == found["hopeless passed"] == found["repaired wrongly"] == 0
    )
    assert found["repaired rightly"] >= 0.95 * len(ours.sets().repairable)


def test_the_table_in_the_docs_is_the_measured_one():
    page = (Path(__file__).parents[2] / "docs" / "casting.md").read_text("utf-8")
    assert ours.table() in page
