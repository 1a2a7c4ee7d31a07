"""Promise 8: the grammar follows the state.

With a server that can hold a schema, what may be said next is decided by where the run is: a call already answered
is not offered again unchanged, a tool refused twice is gone, and a spent budget leaves only an answer.
"""

from __future__ import annotations

import json
from typing import Any

from glassloop import Agent, Limits, ScriptedModel, tool
from glassloop.types import Request


@tool
def stock(item: str) -> str:
    """How many of an item are in stock. Use it for any question about stock."""
    return f"41 {item}"


@tool(risk="write")
def send(to: str) -> str:
    """Send a greeting to somebody. Use it when the user wants a greeting sent."""
    return "sent"


def step(number: int, name: str, **arguments: Any) -> str:
    return json.dumps({"thought": f"t{number}", "calls": [{"name": name, "arguments": arguments}]})


def names(request: Request) -> set[str]:
    """The tools the schema lets the model call."""
    found = json.dumps(request.schema)
    return {name for name in ("stock", "send") if f'"const": "{name}"' in found}


def played(*lines: str, limits: Limits | None = None) -> list[Request]:
    model = ScriptedModel([*lines, '{"thought": "x", "answer": "I could not do it."}'], repeat_last=True)
    made = Agent(
        model, [stock, send], protocol="constrained", limits=limits, approver=lambda a: False, journal=False,
        verifier=False,
    )  # fmt: skip
    made.run("How many cables are in stock? Send Bob a greeting.")
    return model.requests


def test_at_first_every_tool_and_an_answer_may_be_said() -> None:
    first = played()[0]
    assert names(first) == {"stock", "send"} and '"answer"' in json.dumps(first.schema)


def test_a_tool_refused_twice_is_gone() -> None:
    requests = played(step(1, "send", to="Bob"), step(2, "stock", item="cables"), step(3, "send", to="Bob"))
    assert names(requests[1]) == {"stock", "send"}
    assert "send" not in names(requests[3])


def test_a_spent_budget_leaves_only_an_answer() -> None:
    last = played(step(1, "stock", item="cables"), limits=Limits(steps=1))[-1]
    assert last.purpose == "wrap_up" and names(last) == set()
    assert set(last.schema["properties"]) <= {"thought", "answer"}  # type: ignore[index]


def test_an_answered_call_is_not_offered_again_right_after_it_was_repeated() -> None:
    requests = played(step(1, "stock", item="cables"), step(2, "stock", item="cables"))
    assert "stock" in names(requests[1]) and "stock" not in names(requests[2])
