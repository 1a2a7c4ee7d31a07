"""Every argument row of the shared cases comes out as expected, or as one of the outcomes that are as defensible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from glassloop.tools.schema import cast, explain

CASES = Path(__file__).parent.parent / "cases" / "visible.jsonl"
ROWS = [row for line in CASES.read_text("utf-8").splitlines() if (row := json.loads(line))["protocol"] == "args"]


def declared(row: dict[str, Any]) -> dict[str, Any]:
    return next(t["parameters"] for t in row["tools"] if t["name"] == row["input"]["tool"])


def fits(outcome: dict[str, Any], result: Any, schema: dict[str, Any]) -> bool:
    if "error" in outcome:
        return not result.ok
    wanted = outcome["calls"][0]["arguments"]
    optional = set(schema["properties"]) - set(schema["required"])
    given = {k: v for k, v in result.value.items() if not (v is None and k in optional)} if result.ok else None
    return given == {k: v for k, v in wanted.items() if not (v is None and k in optional)}


def test_the_cases_are_there():
    assert len(ROWS) == 29


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['id']}-{r['kind']}")
def test_case(row: dict[str, Any]):
    schema = declared(row)
    result = cast(schema, row["input"]["arguments"])
    outcomes = [row["expected"], *row.get("accept", [])]
    assert any(fits(o, result, schema) for o in outcomes), result
    if not result.ok:
        for language in ("en", "zh"):
            reason, hint = explain(result.problems, row["input"]["tool"], schema, language)
            assert all(p.path in reason for p in result.problems)
            assert row["input"]["tool"] in hint
