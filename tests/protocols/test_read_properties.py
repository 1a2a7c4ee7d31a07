"""Whatever arrives, a reader gives exactly one of calls, answer and fault, and never an exception.

`GLASSLOOP_EXAMPLES` raises the number of examples (100,000 were run before a release).
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from growth import cost
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import glassloop
from glassloop.gears import Turn
from glassloop.protocols.stream import StreamReader
from glassloop.types import Declaration, Delta, Reply

EXAMPLES = int(os.environ.get("GLASSLOOP_EXAMPLES", "200"))


def _object(required: bool, **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": list(properties)} if required else {})


TOOLS: list[dict[str, Any]] = [
    {"name": "search", "parameters": _object(True, query={"type": "string"})},
    {"name": "查询库存", "parameters": _object(True, 编号={"type": "string"})},
    {"name": "pay", "risk": "write", "parameters": _object(False, amount={"type": "integer"})},
]
LABELS = ["Thought:", "思考：", "Action:", "行动:", "Action Input:", "Observation:", "Answer:", "Final Answer:"]
LABELS += ["答案："]
WORDS = ["search", "查询库存", "pay", "None", "Finish", "ﬀ", "，", "\x00", "\ud800", " ", "\n"]
SIGNS = ["{", "}", "[", "]", '"', "'", "\\", ",", ":", "```json\n", "```"]
TAGS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "<function=search>"]
CALLS = ['{"query": "x"}', "{'query': 'x'}", '{"name": "search", "arguments": ', "functools[", "(query=1)"]
PIECES = st.sampled_from(LABELS + WORDS + SIGNS + TAGS + CALLS)
TEXT = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join))

NAME = st.one_of(st.none(), st.sampled_from(["search", "functions.search", "x"]))
ARGUMENTS = st.one_of(st.none(), TEXT, st.dictionaries(TEXT, st.integers(), max_size=3))
FUNCTION = st.one_of(st.none(), st.fixed_dictionaries({"name": NAME, "arguments": ARGUMENTS}))
CALL = st.one_of(st.none(), st.dictionaries(TEXT, TEXT, max_size=3), st.fixed_dictionaries({"function": FUNCTION}))
PARTS = st.lists(st.dictionaries(st.sampled_from(["type", "text"]), TEXT), max_size=3)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "content": st.one_of(st.none(), TEXT, PARTS),
        "tool_calls": st.one_of(st.none(), TEXT, st.lists(CALL, max_size=4)),
        "reasoning_content": TEXT,
    },
)


@pytest.mark.parametrize("protocol", ["text", "native", "constrained"])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=TEXT, finish=st.sampled_from([None, "stop", "length", "tool_calls", "odd"]))
@example(text='{""""}0{"```json0```', finish=None)  # json-repair trips over an assertion of its own
def test_any_text_is_read(protocol: str, text: str, finish: str | None) -> None:
    move = glassloop.read(text, TOOLS, protocol, finish)
    assert bool(move.calls) + (move.answer is not None) + (move.fault is not None) == 1
    assert {c.name for c in move.calls} <= {t["name"] for t in TOOLS}
    json.dumps([c.arguments for c in move.calls])
    if finish == "length":
        assert not move.calls, "a reply cut by the length limit runs nothing"
    if move.guessed:
        assert "pay" not in {c.name for c in move.calls}, "a guess never lets a write run"


@pytest.mark.parametrize("protocol", ["text", "native", "constrained"])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(message=MESSAGES)
def test_any_message_is_read(protocol: str, message: dict[str, Any]) -> None:
    move = glassloop.read(message, TOOLS, protocol)
    assert bool(move.calls) + (move.answer is not None) + (move.fault is not None) == 1
    ids = [c.id for c in move.calls]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("protocol", ["text", "native", "constrained"])
@settings(max_examples=EXAMPLES // 4, deadline=None, suppress_health_check=list(HealthCheck))
@given(pieces=st.lists(PIECES, max_size=20))
def test_what_streams_is_what_was_read(protocol: str, pieces: list[str]) -> None:
    turn = Turn(messages=(), declared=tuple(map(Declaration.of, TOOLS)), tools=tuple(map(Declaration.of, TOOLS)))
    reader = StreamReader(protocol, turn)
    shown = [part for piece in pieces for part in reader.feed(Delta(text=piece))]
    text = "".join(pieces)
    closed = reader.close(Reply(text=text, finish_reason="stop"))
    answers = "".join(text for part, text in (*shown, *closed.pieces) if part == "answer")
    if closed.move.answer is None:
        return
    # What stands before a think block's end that nobody opened has been shown before its end could tell what it was.
    assert answers.strip() in closed.move.answer or ("</think>" in text and answers.strip() in closed.move.thought)


UNITS = ["{", "}", "{}", "}{", "[[", "[{}]", '"', "\\", '{"a": ["C" "', "Action: search\n", "思考：", "</think>", "*\n"]
UNITS += ["<tool_call>", "<tool_call>\n{}\n", "</tool_call>", "[TOOL_CALLS]{", "<|im_end|>", "<parameter=query>", "<"]
UNITS += ["```json\n", "```\n", '[{"name": "x", "arguments": {}}]']
HEADS = ["", "Action: search\nAction Input: {", '{"name": "search", "arguments": {"query": "']


@pytest.mark.parametrize("protocol", ["text", "native", "constrained"])
@pytest.mark.parametrize("unit", UNITS)
def test_reading_grows_no_faster_than_the_text(protocol: str, unit: str) -> None:
    def seconds(size: int) -> float:
        texts = [head + unit * (size // len(unit)) for head in HEADS]
        return cost(lambda: [glassloop.read(text, TOOLS, protocol) for text in texts])

    # Eight times the text: linear is 8, quadratic 64. Below some milliseconds the clock says nothing.
    small, large = seconds(16_000), seconds(128_000)
    assert large <= 30 * max(small, 0.003), (small, large)
