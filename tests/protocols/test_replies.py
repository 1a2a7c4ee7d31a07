"""Broken replies of our own making, one for each kind: every marker, both languages, what is an answer and what is not.

The rows (`tests/cases/replies.jsonl`) were judged before they were run, by the rule that a reading
which could be wrong unnoticed (a call invented, a wrong argument, an answer swallowed) is worse than a fault.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import glassloop
from glassloop.gears import Turn
from glassloop.protocols.stream import StreamReader
from glassloop.types import Declaration, Delta, Move, Reply

LINES = (Path(__file__).parents[1] / "cases" / "replies.jsonl").read_text(encoding="utf-8").splitlines()
ROWS: list[dict[str, Any]] = [json.loads(line) for line in LINES]
WORDS_BEFORE = {"think close only", "con leading prose"}
"""Kinds in which words that turn out to be no answer have been shown before anything could tell."""
WRITTEN = [row for row in ROWS if isinstance(row["reply"], str)]


def _tool(name: str, required: str = "", risk: str = "read", **types: str) -> dict[str, Any]:
    properties: dict[str, Any] = {key: {"type": kind} for key, kind in types.items()}
    if "tags" in properties:
        properties["tags"] = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return {"name": name, "risk": risk, "parameters": schema}


TOOLS = [
    _tool("search", "query", query="string", limit="integer"),
    _tool("get_weather", "city", city="string", days="integer"),
    _tool("read_file", "path", path="string"),
    _tool("write_file", "path content", "write", path="string", content="string"),
    _tool("pay", "amount", "write", amount="integer", to="string"),
    _tool("list_rooms"),
    _tool("查询库存", "编号", 编号="string"),
    _tool("convert", "value unit", value="number", unit="string", exact="boolean", tags="array"),
]


def _outcome(move: Move) -> dict[str, Any]:
    if move.fault is not None:
        return {"error": move.fault.kind}
    if move.answer is not None:
        return {"answer": move.answer}
    given = [(c.name, {k: v for k, v in c.arguments.items() if v is not None}) for c in move.calls]
    return {"calls": [{"name": name, "arguments": arguments} for name, arguments in given]}


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["kind"])
def test_a_reply_of_this_kind(row: dict[str, Any]) -> None:
    move = glassloop.read(row["reply"], TOOLS, row["protocol"], row.get("finish_reason"))
    assert _outcome(move) == row["expected"]
    if move.fault is not None:
        assert move.fault.message.strip(), "the model is told what to change"


@pytest.mark.parametrize("row", WRITTEN, ids=lambda r: r["kind"])
def test_what_is_shown_letter_by_letter_is_neither_label_nor_markup(row: dict[str, Any]) -> None:
    declared = tuple(map(Declaration.of, TOOLS))
    reader = StreamReader(row["protocol"], Turn(messages=(), declared=declared, tools=declared))
    shown = [piece for letter in row["reply"] for piece in reader.feed(Delta(text=letter))]
    closed = reader.close(Reply(text=row["reply"], finish_reason=row.get("finish_reason") or "stop"))
    answered = "".join(text for part, text in (*shown, *closed.pieces) if part == "answer").strip()
    move = closed.move
    if move.answer is not None and row["kind"] not in WORDS_BEFORE:
        assert answered == move.answer
    elif answered:
        assert answered in row["reply"]
        assert not re.search(r"[{<\[]|Thought|Action|思考|行动", answered)
