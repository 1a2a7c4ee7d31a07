"""Promise: the public names are few, sorted, documented, and do not change unnoticed.

Everything a user needs is reachable from `glassloop` itself; whoever adds or takes away a name has to say so here.
"""

from __future__ import annotations

import inspect
from typing import get_origin

import glassloop

NAMES = [
    "Agent",
    "KnowledgeBase",
    "Limits",
    "Move",
    "Observation",
    "Run",
    "ScriptedModel",
    "Step",
    "Tool",
    "cast",
    "chunk",
    "clean",
    "join",
    "prepare_messages",
    "read",
    "tool",
]


def test_these_and_no_others() -> None:
    assert glassloop.__all__ == NAMES == sorted(NAMES)
    assert dir(glassloop) == NAMES


def test_each_is_there_and_says_what_it_is() -> None:
    for name in NAMES:
        found = getattr(glassloop, name)
        assert get_origin(found) is None
        assert inspect.getdoc(found), name


def test_an_unknown_name_is_an_attribute_error() -> None:
    try:
        glassloop.Agnet  # noqa: B018
    except AttributeError as error:
        assert "Agnet" in str(error)
    else:
        raise AssertionError("a misspelt name was found")
