"""Promise 1: nothing is hidden.

Whatever the engine mended, coerced, cut, denied or retried is in the Step, with before and after.
"""

from __future__ import annotations

import json

from glassloop import Agent, Run, ScriptedModel, tool

TRIES: list[int] = []


@tool(retries=1)
def stock(item: str, floors: int = 1) -> dict[str, object]:
    """How many of an item are in stock. Use it for any question about stock."""
    TRIES.append(floors)
    if len(TRIES) == 1:
        raise ConnectionError("the line was down")
    return {"item": item, "pieces": 41, "text": "x" * 5000, "debug_trace": "secret"}


@tool(risk="write")
def send(to: str) -> str:
    """Send a greeting to somebody. Use it when the user wants a greeting sent."""
    return "sent"


def played() -> Run:
    TRIES.clear()
    lines = [
        'Sure: {"thought": "t", "calls": [{"name": "stock", "arguments": {"item": "cables", "floors": "2"}},]}',
        '{"thought": "u", "calls": [{"name": "send", "arguments": {"to": "Bob"}}]}',
        '{"thought": "v", "answer": "There are 77; Bob was not sent anything, it was not allowed."}',
        '{"thought": "w", "answer": "There are 41; Bob was not sent anything, it was not allowed."}',
    ]
    made = Agent(ScriptedModel(lines), [stock, send], protocol="constrained", approver=lambda a: False, journal=False)
    return made.run("How many cables are on 2 floors? Send Bob a greeting.")


def test_everything_that_was_changed_is_in_the_step() -> None:
    run = played()
    first, second, third, last = run.steps
    assert first.move.repairs, "the reply was mended"
    seen = first.observations[0]
    cast = next(r for r in seen.repairs if r.path == "floors")
    assert (cast.before, cast.after) == ("2", 2)
    retried = next(r for r in seen.repairs if r.name == "retried")
    assert "the line was down" in retried.before
    assert len(seen.content) <= 1000 and len(seen.data["text"]) == 5000, "what was cut is kept beside it"
    assert "secret" not in seen.content and seen.data["debug_trace"] == "secret"
    assert second.observations[0].status == "denied"
    assert third.verdict and not third.verdict.ok and "77" in third.verdict.complaint
    assert last.verdict and last.verdict.ok and run.ok
    assert first.reply.text.startswith("Sure"), "the reply itself is untouched"


def test_it_is_all_in_the_plain_data_of_the_run() -> None:
    told = json.dumps(played().to_dict(), ensure_ascii=False)
    for part in ("the line was down", "retried", "denied", "77", '"secret"', "Sure: "):
        assert part in told or json.dumps(part)[1:-1] in told
