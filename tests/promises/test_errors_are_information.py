"""Promise 3: an error is information.

Whatever goes wrong with a call goes back to the model in one uniform shape, `{"status": …, "reason": …, "hint": …}`,
valid JSON, without a traceback; and into the answer, if it is not overcome.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from glassloop import Agent, ScriptedModel, tool


@tool
def raises(n: int) -> int:
    """Count a shelf. Use it for any question about a shelf."""
    raise ValueError("the shelf is locked")


@tool(timeout=0.05)
async def hangs(n: int) -> int:
    """Count a drawer. Use it for any question about a drawer."""
    import asyncio

    await asyncio.sleep(9)
    return n


@tool(returns=int)
def lies(n: int):  # type: ignore[no-untyped-def]
    """Count a box. Use it for any question about a box."""
    return "many"


@tool(risk="write")
def put(n: int) -> str:
    """Put something on a shelf. Use it when the user wants something put away."""
    return "done"


TOOLS = [raises, hangs, lies, put]
FAILURES = [
    ("raises", {"n": 4}),
    ("hangs", {"n": 4}),
    ("lies", {"n": 4}),
    ("put", {"n": 4}),
    ("raises", {"n": "four-ish"}),
]


def played(name: str, arguments: dict[str, Any], *answers: str) -> tuple[Any, ScriptedModel]:
    calls = json.dumps({"thought": "t", "calls": [{"name": name, "arguments": arguments}]})
    model = ScriptedModel([calls, *(json.dumps({"thought": "a", "answer": a}) for a in answers)])
    made = Agent(model, TOOLS, protocol="constrained", approver=lambda a: False, journal=False)
    return made.run("Please see to number 4."), model


@pytest.mark.parametrize(("name", "arguments"), FAILURES, ids=lambda v: str(v))
def test_every_failure_has_one_shape_and_reaches_the_model(name: str, arguments: dict[str, Any]) -> None:
    run, model = played(name, arguments, "It failed, so I cannot say; nothing was done.")
    content = run.observations[0].content
    told = json.loads(content)
    assert told["status"] in ("error", "denied") and told["reason"] and set(told) <= {"status", "reason", "hint"}
    assert "Traceback" not in content and ".py" not in content
    assert content in json.dumps(model.requests[1].messages, ensure_ascii=False).encode().decode("unicode_escape")
    assert run.ok


def test_a_failure_that_is_not_told_is_complained_about_and_marked() -> None:
    run, model = played("raises", {"n": 4}, "Number 4 is fine.", "Number 4 is fine.")
    assert not run.answer_checked and any("raises" in r for r in run.reasons)
    assert "the shelf is locked" in json.dumps(model.requests[2].messages)
