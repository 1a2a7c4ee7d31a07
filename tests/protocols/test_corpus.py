"""Every visible shape of a broken reply is read as expected, or as one of its accepted alternatives.

The rows stand for kinds (see ../shared/cases/README.md). Only public names are called, as whoever
judges the kept-apart rows calls them. A misreading that nobody would notice, such as a call run with
other arguments or an answer cut short, is what this file is for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import glassloop
from glassloop.models.assembly import Assembler

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "visible.jsonl").read_text(encoding="utf-8").splitlines()
]
READ = [r for r in ROWS if r["protocol"] in ("text", "native") and "approve" not in r["input"]]
STREAM = [r for r in ROWS if r["protocol"] == "stream"]


def outcome_fits(move: glassloop.Move, expected: dict[str, Any]) -> bool:
    if "error" in expected and "calls" not in expected:
        return move.fault is not None and move.fault.kind == expected["error"]
    if "answer" in expected:
        return move.answer is not None and move.answer.strip() == expected["answer"].strip()
    wanted = [(c["name"], c["arguments"]) for c in expected["calls"]]
    given = [(c.name, {k: v for k, v in c.arguments.items() if v is not None}) for c in move.calls]
    bare = [(name, {k: v for k, v in arguments.items() if v is not None}) for name, arguments in wanted]
    if given != bare:
        return False
    if expected.get("distinct_ids") and len({c.id for c in move.calls}) != len(move.calls):
        return False
    content = expected.get("content")
    return content is None or " ".join(move.content.split()) == " ".join(content.split())


def assert_as_expected(row: dict[str, Any], move: glassloop.Move) -> None:
    options = [row["expected"], *(row.get("accept") or [])]
    assert any(outcome_fits(move, option) for option in options), (row["what_happened"], options, move)
    if move.fault is not None:
        assert move.fault.message.strip(), "the model is told what to change"


@pytest.mark.parametrize("row", READ, ids=lambda r: r["id"])
def test_a_reply_is_read_as_expected(row: dict[str, Any]) -> None:
    given = row["input"]
    reply = given["text"] if row["protocol"] == "text" else given["message"]
    move = glassloop.read(reply, row["tools"], row["protocol"], given.get("finish_reason"))
    assert_as_expected(row, move)


@pytest.mark.parametrize("row", STREAM, ids=lambda r: r["id"])
def test_a_stream_is_joined_and_read_as_expected(row: dict[str, Any]) -> None:
    given = row["input"]
    chunks = given["chunks"] if "chunks" in given else [bytes.fromhex(h) for h in given["sse_bytes_hex"]]
    message, usage = glassloop.join(chunks)
    move = glassloop.read(message, row["tools"], "native")
    assert_as_expected(row, move)
    if "usage" in row["expected"]:
        assert usage == row["expected"]["usage"]


@pytest.mark.parametrize("row", [r for r in STREAM if "chunks" in r["input"]], ids=lambda r: r["id"])
def test_a_models_own_stream_is_joined_by_the_same_rules(row: dict[str, Any]) -> None:
    """Servers' odd numbering of calls meets a user through a model, not through `join`."""
    assembler = Assembler()
    for chunk in row["input"]["chunks"]:
        assembler.add(chunk)
    reply = assembler.reply(seconds=0.0, model="m")
    joined, usage = glassloop.join(row["input"]["chunks"])
    calls = [(c["function"]["name"], c["function"]["arguments"]) for c in reply.tool_calls]
    assert calls == [(c["function"]["name"], c["function"]["arguments"]) for c in joined.get("tool_calls", ())]
    assert (reply.text, reply.reasoning) == (joined["content"] or "", joined.get("reasoning_content", ""))
    assert assembler.body().get("usage") == usage


def test_two_calls_with_one_id_get_ids_of_their_own() -> None:
    row = next(r for r in ROWS if r["id"] == "N57")
    move = glassloop.read(row["input"]["message"], row["tools"], "native")
    assert [c.arguments["amount"] for c in move.calls] == [5, 5000]
    assert len({c.id for c in move.calls}) == 2


@pytest.mark.parametrize("row", [r for r in READ if r["protocol"] == "native"], ids=lambda r: r["id"])
def test_every_cut_of_a_stream_gives_the_move_of_the_whole(row: dict[str, Any]) -> None:
    message = row["input"]["message"]
    content = message.get("content")
    if not isinstance(content, str) or message.get("tool_calls") is not None or "function_call" in message:
        content = None
    if content is None:
        whole = json.dumps(message)
        assert glassloop.read(json.loads(whole), row["tools"], "native").to_dict().keys()
        return
    reason = row["input"].get("finish_reason")
    whole_move = glassloop.read({"role": "assistant", "content": content}, row["tools"], "native", reason)
    places = range(len(content) + 1) if len(content) < 120 else range(0, len(content) + 1, 7)
    for place in places:
        parts = [content[:place], content[place:]]
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}]} for part in parts
        ]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason or "stop"}]})
        joined, _ = glassloop.join(chunks)
        move = glassloop.read(joined, row["tools"], "native", reason)
        assert same(move, whole_move), place


def same(a: glassloop.Move, b: glassloop.Move) -> bool:
    def shape(move: glassloop.Move) -> Any:
        calls = [(c.name, c.arguments) for c in move.calls]
        return calls, move.answer, move.fault and move.fault.kind, move.thought

    return shape(a) == shape(b)
