"""Every tool row of the shared cases: declared as it stands, called as it is called there."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from sleepers import Sleepers

from glassloop.errors import ToolDefinitionError
from glassloop.tools.declare import Tool, check_names, tool
from glassloop.tools.observation import clean

CASES = Path(__file__).parent.parent / "cases" / "visible.jsonl"
ROWS = [row for line in CASES.read_text("utf-8").splitlines() if (row := json.loads(line))["protocol"] == "tool"]


def functions(row: dict[str, Any]) -> list[Any]:
    space: dict[str, Any] = {"__name__": "case"}
    exec(row["input"]["python"], space)
    if "tools_expr" in row["input"]:
        return list(eval(row["input"]["tools_expr"], space))
    return [v for v in space.values() if isinstance(v, FunctionType)][-1:]


def declared(row: dict[str, Any]) -> list[Tool]:
    options = {k: row["input"][k] for k in ("name", "timeout", "return_direct") if k in row["input"]}
    made = [tool(f, **options) for f in functions(row)]
    check_names(made)
    return made


def text_of(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)


def problems(row: dict[str, Any], outcome: dict[str, Any]) -> list[str]:
    """What does not fit the outcome; empty when all does."""
    try:
        made = declared(row)
    except ToolDefinitionError as error:
        said = outcome.get("error_mentions", "")
        return [] if outcome.get("definition_error") and said in str(error) else [f"refused: {error}"]
    if outcome.get("definition_error"):
        return ["not refused"]
    first = made[0]
    wrong: list[str] = []
    if "schema_properties" in outcome and list(first.parameters["properties"]) != outcome["schema_properties"]:
        wrong.append(f"properties {first.parameters}")
    if "schema_required" in outcome and first.parameters.get("required", []) != outcome["schema_required"]:
        wrong.append(f"required {first.parameters}")
    if "schema_type" in outcome and first.parameters["type"] != outcome["schema_type"]:
        wrong.append(f"type {first.parameters}")
    if "wire_name_matches" in outcome and not re.match(outcome["wire_name_matches"], first.name):
        wrong.append(f"name {first.name}")
    for path, described in outcome.get("param_descriptions", {}).items():
        owner, _, name = path.rpartition(".")
        of = next(t for t in made if not owner or t.name == owner)
        if of.parameters["properties"][name].get("description") != described:
            wrong.append(f"description of {path}")
    if "call" in row["input"]:
        wrong += called(first, row, outcome)
    return wrong


def sleeping(made: Tool, row: dict[str, Any]) -> Sleepers:
    """Put `Sleepers` in the place of a row's `time`: they prove the wall time it states without a clock."""
    sleepers = Sleepers(together=len(row["input"].get("parallel_calls", ())))
    if {"wall_seconds_at_most", "loop_blocked_at_most"} & row["expected"].keys():
        made.call.__globals__["time"] = sleepers
    return sleepers


def called(first: Tool, row: dict[str, Any], outcome: dict[str, Any]) -> list[str]:
    sleepers = sleeping(first, row)
    try:
        result = asyncio.run(asyncio.wait_for(first.invoke(row["input"]["call"]), first.timeout))
    except Exception as error:
        told = f"{type(error).__name__} {error} {error.__cause__ or ''}".lower()
        fits = outcome.get("ok") is False
        mentions = [outcome.get(k, "") for k in ("error_mentions", "error_mentions_too")]
        return [] if fits and all(m.lower() in told for m in mentions) else [f"raised {told}"]
    finally:
        sleepers.release()
    if outcome.get("ok") is False:
        return ["did not fail"]
    wrong = []
    if "result_text" in outcome and text_of(result) != outcome["result_text"]:
        wrong.append(f"result {result!r}")
    cleaned = clean(result, limit=1000)
    json.loads(cleaned, parse_constant=lambda c: pytest.fail(f"{c} is not JSON"))
    if any(part not in cleaned for part in outcome.get("result_text_contains", [])):
        wrong.append(f"text {cleaned}")
    if len(cleaned) > outcome.get("result_text_max_chars", 4000):
        wrong.append(f"{len(cleaned)} characters")
    return wrong


def test_the_rows_are_there() -> None:
    assert len(ROWS) >= 17


@pytest.mark.parametrize("row", ROWS, ids=[f"{r['id']}-{r['kind']}" for r in ROWS])
def test_row(row: dict[str, Any]) -> None:
    outcomes = [row["expected"], *row.get("accept", [])]
    found = [problems(row, outcome) for outcome in outcomes]
    assert any(not wrong for wrong in found), found


@pytest.mark.parametrize("row", [r for r in ROWS if "parallel_calls" in r["input"]], ids=lambda r: r["id"])
def test_parallel_row(row: dict[str, Any]) -> None:
    made = declared(row)[0]
    sleeping(made, row)

    async def together() -> list[Any]:
        calls = [made.invoke(arguments) for arguments in row["input"]["parallel_calls"]]
        return await asyncio.gather(*calls, return_exceptions=True)

    results = [str(r) for r in asyncio.run(together())]
    wanted = row["expected"].get("results") or row["expected"]["results_contain"]
    assert all(part in got for part, got in zip(wanted, results, strict=True))
