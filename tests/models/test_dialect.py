"""Schemas in each backend's dialect: nothing raises, nothing gets narrower, what is dropped is named."""

from __future__ import annotations

import copy
import re
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassloop.models.dialect import Backend, adapt
from glassloop.models.patterns import portable_pattern

BACKENDS: tuple[Backend, ...] = get_args(Backend)


def of(schema: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"], **more}


@pytest.mark.parametrize(
    ("schema", "kept", "dropped"),
    [
        ({"type": "integer", "multipleOf": 5, "minimum": 1}, {"type": "integer", "minimum": 1}, ["multipleOf"]),
        ({"type": "number", "minimum": 1.5}, {"type": "number"}, ["minimum"]),
        ({"type": "integer", "minimum": 5, "maximum": 1}, {"type": "integer"}, ["minimum", "maximum"]),
        ({"type": "string", "format": "email"}, {"type": "string"}, ["format"]),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}, []),
        ({"type": "string", "pattern": "(?=a)b"}, {"type": "string"}, ["pattern"]),
        ({"type": "array", "uniqueItems": True}, {"type": "array"}, ["uniqueItems"]),
        ({"type": "dict"}, {"type": "object"}, []),
        ({"type": "any"}, {}, []),
        ({"type": "strange"}, {}, ["type"]),
        ({"enum": []}, {}, ["enum"]),
        ({"$ref": "#/$defs/none"}, {}, ["$ref"]),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}, []),
        ({"not": {"type": "string"}}, {}, ["not"]),
        (True, {}, []),
    ],
)
def test_llama_cpp_gets_only_what_it_takes(schema: Any, kept: dict[str, Any], dropped: list[str]) -> None:
    adapted = adapt(of(schema), "llamacpp")
    assert adapted.schema["properties"]["a"] == kept
    assert list(adapted.dropped) == [f"#/properties/a/{d}" for d in dropped]


def test_strict_mode_requires_all_closes_objects_and_lets_optional_ones_be_null() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"enum": [1, 2]}, "c": {"type": "integer"}},
    }
    adapted = adapt({**schema, "required": ["a"]}, "openai")
    assert adapted.strict
    assert adapted.schema["required"] == ["a", "b", "c"]
    assert adapted.schema["additionalProperties"] is False
    assert adapted.schema["properties"]["a"] == {"type": "string"}
    assert adapted.schema["properties"]["b"] == {"anyOf": [{"enum": [1, 2]}, {"type": "null"}]}
    assert adapted.schema["properties"]["c"] == {"type": ["integer", "null"]}
    assert adapted.nullable == ("#/properties/b", "#/properties/c")


def test_strict_mode_is_given_up_where_it_would_lose_something() -> None:
    assert not adapt(of({"type": "object", "additionalProperties": {"type": "integer"}}), "openai").strict
    assert not adapt({"anyOf": [of({"type": "string"}), of({"type": "integer"})]}, "openai").strict
    assert adapt(of({"oneOf": [{"type": "string"}, {"type": "integer"}]}), "openai").schema["properties"]["a"] == {
        "anyOf": [{"type": "string"}, {"type": "integer"}]
    }


@pytest.mark.parametrize("backend", ["llamacpp", "ollama"])
def test_alternatives_are_said_in_the_form_no_compiler_refuses(backend: Backend) -> None:
    calls = [of({"const": "x"}), of({"const": "y"})]
    assert adapt({"oneOf": calls}, backend).schema == {"anyOf": calls}


def test_the_order_of_properties_is_kept() -> None:
    names = ["thought", "name", "arguments", "answer"]
    for backend in BACKENDS:
        adapted = adapt({"type": "object", "properties": {n: {"type": "string"} for n in names}}, backend)
        assert list(adapted.schema["properties"]) == names


@pytest.mark.parametrize(
    ("pattern", "text", "other"),
    [
        ("^\\d{4}$", "2024", "20245"),
        ("[a-z]+", "9a9", "999"),
        ("^\\w+\\.txt$", "a_1.txt", "a-txt"),
        ("a|b", "xbx", "c"),
    ],
)
def test_portable_patterns_mean_the_same(pattern: str, text: str, other: str) -> None:
    portable = portable_pattern(pattern)
    assert portable is not None
    assert portable.startswith("^")
    assert portable.endswith("$")
    assert not re.search(r"\\[dws]", portable)
    assert re.search(portable, text)
    assert not re.search(portable, other)


@pytest.mark.parametrize("pattern", ["^(?=a).*$", "\\bfoo", "a\\1", "^a+?$", "^a|b$", "[a", "x\\", "^a$b"])
def test_what_cannot_be_said_is_left_out(pattern: str) -> None:
    assert portable_pattern(pattern) is None


KEYS = st.sampled_from(
    ["type", "properties", "required", "items", "anyOf", "allOf", "oneOf", "$ref", "$defs", "enum", "const", "pattern"]
    + ["format", "minimum", "maximum", "minLength", "maxLength", "minItems", "not", "additionalProperties", "nullable"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["object", "string", "^a$", "#"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, JSON, max_size=5), st.sampled_from(BACKENDS))
@settings(max_examples=300, deadline=None)
def test_any_schema_is_adapted_without_a_word(schema: dict[str, Any], backend: Backend) -> None:
    before = copy.deepcopy(schema)
    adapted = adapt(schema, backend)
    assert isinstance(adapted.schema, dict)
    assert schema == before
