"""A call of a tool that only rests for a step is told so; it is never said that there is no such tool."""

from __future__ import annotations

import json
from typing import Any

import pytest

from glassloop.gears import Turn
from glassloop.protocols.constrained import ConstrainedProtocol
from glassloop.protocols.native import NativeProtocol
from glassloop.protocols.text import TextProtocol
from glassloop.types import Declaration, Reply

PARAMETERS = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
STOCK, PRICE = (Declaration(name, f"The {name} of an item.", PARAMETERS) for name in ("stock", "price"))
CALL = {"name": "price", "arguments": {"item": "cable"}}
NATIVE = {"id": "1", "type": "function", "function": {"name": "price", "arguments": json.dumps(CALL["arguments"])}}
TAGGED = f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>"

WAYS = {
    "text": (TextProtocol(), Reply(text='Thought: the price\nAction: price\nAction Input: {"item": "cable"}')),
    "text, in one line": (TextProtocol(), Reply(text='Action: price({"item": "cable"})')),
    "native": (NativeProtocol(), Reply(tool_calls=(NATIVE,))),
    "native, in the text": (NativeProtocol(), Reply(text=TAGGED)),
    "constrained": (ConstrainedProtocol(), Reply(text=json.dumps({"thought": "t", "calls": [CALL]}))),
}


def turn(language: str, *tools: Declaration) -> Turn:
    return Turn(messages=(), declared=(STOCK, PRICE), tools=tools, language=language)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("language", "says"), [("en", "may not be called in this step"), ("zh", "这一步不能调用")])
def test_it_is_told_that_the_tool_rests_and_what_may_be_called(way: str, language: str, says: str) -> None:
    protocol, reply = WAYS[way]
    fault = protocol.read(reply, turn(language, STOCK)).fault
    assert fault is not None and fault.kind == "unknown_tool"
    assert says in fault.message and "price" in fault.message and "stock" in fault.message
    assert "There is no tool" not in fault.message and "没有名为" not in fault.message


@pytest.mark.parametrize("way", WAYS)
def test_offered_it_is_called(way: str) -> None:
    protocol, reply = WAYS[way]
    (call,) = protocol.read(reply, turn("en", STOCK, PRICE)).calls
    assert (call.name, call.arguments) == ("price", {"item": "cable"})


@pytest.mark.parametrize("way", WAYS)
def test_with_nothing_offered_only_the_answer_is_left(way: str) -> None:
    protocol, reply = WAYS[way]
    fault = protocol.read(reply, turn("en")).fault
    assert fault is not None and "No tool may be called now" in fault.message


def test_a_name_nobody_declared_is_still_unknown() -> None:
    protocol: Any = NativeProtocol()
    reply = Reply(text="", tool_calls=({"id": "1", "function": {"name": "weather_now", "arguments": "{}"}},))
    fault = protocol.read(reply, turn("en", STOCK)).fault
    assert fault is not None and fault.message.startswith("There is no tool named weather_now")


@pytest.mark.parametrize("action", ["stock and price", "stock or something else", "stock: who knows"])
def test_a_tool_that_is_offered_is_never_said_to_rest(action: str) -> None:
    fault = TextProtocol().read(Reply(text=f"Action: {action}"), turn("en", STOCK)).fault
    assert fault is None or "stock may not be called" not in fault.message
