"""Promise: Chinese and English are equals in every word that is sent to a model or read from it.

Each group of texts exists in both languages with the same keys, down to nested groups and with the same `$values`
in each text; and no prompt goes out with a hole in it: a value that is not given is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any

import pytest

import glassloop
from glassloop import prompts

FOLDER = Path(glassloop.__file__).parent / "prompts"
GROUPS = sorted(p.name.removesuffix(".en.json") for p in FOLDER.glob("*.en.json"))


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        yield path, "\n".join(str(v) for v in value)  # lists of lines and of labels may differ in length
    else:
        yield path, str(value)


def values_of(text: str) -> set[str]:
    found = Template.pattern.finditer(text)
    return {m["named"] or m["braced"] for m in found if m["named"] or m["braced"]}


def test_both_languages_have_the_same_groups() -> None:
    chinese = sorted(p.name.removesuffix(".zh.json") for p in FOLDER.glob("*.zh.json"))
    assert GROUPS == chinese and len(GROUPS) >= 8


@pytest.mark.parametrize("group", GROUPS)
def test_the_keys_are_equal(group: str) -> None:
    english, chinese = (
        dict(leaves(json.loads((FOLDER / f"{group}.{x}.json").read_text("utf-8")))) for x in ("en", "zh")
    )
    assert english.keys() == chinese.keys()
    assert [k for k in english if bool(english[k].strip()) != bool(chinese[k].strip())] == []


@pytest.mark.parametrize("group", GROUPS)
def test_each_text_has_the_same_values(group: str) -> None:
    english, chinese = (dict(leaves(prompts.load(group, x))) for x in ("en", "zh"))
    different = {k: (values_of(english[k]), values_of(chinese[k])) for k in english if k in chinese}
    assert {k: v for k, v in different.items() if v[0] != v[1]} == {}


@pytest.mark.parametrize("language", prompts.LANGUAGES)
def test_a_value_that_is_missing_is_an_error(language: str) -> None:
    assert "7" in prompts.text("loop", language, "max_steps", limit=7)
    with pytest.raises(KeyError):
        prompts.text("loop", language, "max_steps")
    with pytest.raises(KeyError):
        prompts.text("loop", language, "no_such_text")
