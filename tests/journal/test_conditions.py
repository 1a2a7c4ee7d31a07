"""The conditions of a run survive its journal: a tool made from its record behaves like the one that was there."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassloop import tool
from glassloop.errors import JournalError
from glassloop.events import RunStarted
from glassloop.journal.conditions import capabilities_from, settings_record, tool_from, tool_record
from glassloop.journal.rebuild import load
from glassloop.journal.replay import replay
from glassloop.types import Capabilities

from .recorded_runs import TOOLS, answer, record, step


@tool(
    risk="write",
    limit=200,
    keep=("debug_id",),
    drop=("internal",),
    parallel=False,
    repeatable=True,
    idempotent=True,
    retries=2,
)
def store(value: str) -> dict[str, Any]:
    """Store a value. Use it when the user gives one to keep."""
    return {"value": value, "internal": "x" * 500, "debug_id": 7, "list": list(range(200))}


def through_json(value: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(value))


def test_a_tool_comes_back_with_every_option() -> None:
    again = tool_from(through_json(tool_record(store)))
    for option in (
        "declaration",
        "limit",
        "keep",
        "drop",
        "parallel",
        "repeatable",
        "idempotent",
        "retries",
        "risk",
        "name",
    ):
        assert getattr(again, option) == getattr(store, option), option
    assert "options" not in tool_record(TOOLS[0].changed(returns_schema=None))


def test_a_tool_from_a_journal_cannot_be_run() -> None:
    with pytest.raises(JournalError, match="cannot be run"):
        asyncio.run(tool_from(tool_record(TOOLS[1])).invoke({"to": "Bob", "text": "x"}))


def test_settings_come_back() -> None:
    capabilities = Capabilities(json_schema=True, context=4096)
    given = settings_record(temperature=0.2, seed=3, verifier="off", provenance=False, capabilities=capabilities)
    assert capabilities_from(through_json(given)) == capabilities and given["context"] == 4096


def test_with_conditions_in_the_journal_results_are_cleaned_again(tmp_path: Path) -> None:
    replies = [step("keep it", "store", value="seven"), answer("I stored seven.")]
    path = record(tmp_path, replies, question="Keep seven.", tools=[store])
    events = load(path)
    start = events[0]
    assert isinstance(start, RunStarted)
    settings = settings_record(
        temperature=0.1, seed=None, verifier="on", provenance=True, capabilities=Capabilities(json_schema=True)
    )
    known = replace(start, tools=(tool_record(store),), settings=settings)
    found = replay([known, *events[1:]])
    assert found.ok, found.difference and found.difference.text()
    looser = replace(start, tools=(tool_record(store.changed(limit=5000)),), settings=settings)
    parted = replay([looser, *events[1:]])
    assert parted.difference is not None and parted.difference.what == "the observation"


def test_without_them_the_recorded_observation_stands(tmp_path: Path) -> None:
    replies = [step("keep it", "store", value="seven"), answer("I stored seven.")]
    events = load(record(tmp_path, replies, question="Keep seven.", tools=[store]))
    start = events[0]
    assert isinstance(start, RunStarted)
    bare = replace(start, tools=(store.declaration.to_dict(),), settings={"temperature": 0.1, "seed": None})
    found = replay([bare, *events[1:]])
    assert found.ok, found.difference and found.difference.text()
