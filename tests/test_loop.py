"""The loop alone: what comes next is decided by the state, so it can be put down and taken up after any event."""

from __future__ import annotations

import asyncio
from typing import Any

from glassloop import Agent, ScriptedModel, tool
from glassloop.events import Event, RunEnded, RunStarted
from glassloop.loop import react
from glassloop.state import State


@tool
def stock(item: str) -> str:
    """How many of an item are in stock. Use it for any question about stock."""
    return f"41 {item}"


LINES = [
    '{"thought": "look", "calls": [{"name": "stock", "arguments": {"item": "cables"}}]}',
    '{"thought": "wrong", "answer": "There are 58."}',
    '{"thought": "right", "answer": "There are 41."}',
]
START = RunStarted(run_id="r", question="How many cables are in stock?", tools=(stock.declaration.to_dict(),))


def gears(said: int) -> Any:
    return Agent(ScriptedModel(LINES[said:]), [stock], protocol="constrained", journal=False).gears(live=False)


async def drive(state: State, said: int, most: int = 1000) -> list[Event]:
    out: list[Event] = []
    if most == 0:
        return out
    async for event in react(gears(said), state):
        state.apply(event)
        out.append(event)
        if len(out) == most:
            break
    return out


def test_the_order_of_events() -> None:
    events = asyncio.run(drive(State([START]), 0))
    ask = ["model_asked", "model_replied", "move_read"]
    assert [e.type for e in events] == [
        *ask, "call_started", "call_finished", *ask, "answer_checked", *ask, "answer_checked", "run_ended",
    ]  # fmt: skip
    last = events[-1]
    assert isinstance(last, RunEnded) and (last.answer, last.answer_checked) == ("There are 41.", True)


def test_it_goes_on_from_the_state_after_any_event() -> None:
    whole = asyncio.run(drive(State([START]), 0))
    for count in range(len(whole)):
        state = State([START, *whole[:count]])
        said = sum(e.type == "model_replied" for e in whole[:count])
        rest = asyncio.run(drive(state, said))
        assert state.ended is not None and state.ended.answer == "There are 41."
        assert state.to_run().usage.requests == 3 and isinstance(rest[-1], RunEnded)


def test_a_run_that_has_ended_does_nothing_more() -> None:
    assert asyncio.run(drive(State([START, RunEnded(1, stop="answered", answer="x")]), 0)) == []
