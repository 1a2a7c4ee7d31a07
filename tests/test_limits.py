"""Each limit ends the run with its own `stop`, in both languages, and nothing is charged twice."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest

from glassloop import Agent, Limits, Run, ScriptedModel, tool
from glassloop.errors import ModelTimeout
from glassloop.events import LimitReached, ModelAsked, Noted
from glassloop.types import Request, Usage

COUNTER = itertools.count()


@tool
def look(n: int) -> str:
    """A shelf. Use it for any question about a shelf."""
    return f"shelf {n} holds {next(COUNTER)} boxes"


@tool
def empty(n: int) -> str:
    """A drawer. Use it for any question about a drawer."""
    return ""


@tool(repeatable=True)
def lamp(name: str) -> str:
    """Whether a lamp is on. Use it for any question about a lamp."""
    return f"{name} is on"


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}


def play(
    line: Any, limits: Limits, question: str = "Look at the shelves.", **options: Any
) -> tuple[Run, ScriptedModel]:
    def say(request: Request, number: int) -> Any:
        if request.purpose == "wrap_up":
            return options.get("last", "I could not finish.")
        return line(number)

    model = ScriptedModel([say], repeat_last=True)
    made = Agent(
        model, [look, empty, lamp], protocol="native", limits=limits, journal=False, price=options.get("price")
    )
    return made.run(question), model


CASES: dict[str, tuple[Any, Limits]] = {
    "max_steps": (lambda n: call("look", n=n), Limits(steps=3)),
    "token_budget": (lambda n: call("look", n=n), Limits(steps=0, tokens=900)),
    "repeated_call": (lambda n: call("lamp", name="red"), Limits()),
    "ping_pong": (lambda n: call("lamp", name="red" if n % 2 else "blue"), Limits()),
    "no_progress": (lambda n: call("empty", n=n), Limits(steps=20)),
    "repeated_faults": (lambda n: "", Limits()),
}


@pytest.mark.parametrize("stop", CASES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_stop_by_its_name_with_a_wrap_up_in_the_users_language(stop: str, language: str) -> None:
    line, limits = CASES[stop]
    question = {"en": "Look at the shelves.", "zh": "请看看架子上的东西。"}[language]
    last = {"en": "I could not finish.", "zh": "没能完成。"}[language]
    run, model = play(line, limits, question, last=last)
    assert (run.stop, run.answer, run.ok) == (stop, last, False)
    request = model.requests[-1]
    assert request.purpose == "wrap_up" and request.tools == (), "the last request offers no tools"
    asked = str(request.messages[-1]["content"])
    assert run.detail in asked, "the model is told why it must end"
    assert any("\u4e00" <= c <= "\u9fff" for c in asked) is (language == "zh")


def test_the_cost_budget_needs_a_price_and_keeps_it() -> None:
    run, model = play(
        lambda n: call("look", n=n), Limits(steps=0, cost=0.01), price=lambda usage: usage.total / 100_000
    )
    assert run.stop == "cost_budget" and run.cost is not None and run.cost >= 0.01
    assert len(model.requests) < 15


def test_a_price_nobody_knows_is_said_and_not_guessed() -> None:
    async def follow() -> list[Any]:
        made = Agent(ScriptedModel(["Hello."]), protocol="native", limits=Limits(cost=1.0), journal=False,
                     price=lambda usage: None)  # fmt: skip
        return [event async for event in made.stream("Say hello.", live=False)]

    events = asyncio.run(follow())
    assert any("price" in e.text for e in events if isinstance(e, Noted))


def test_third_time_by_default_and_second_when_the_first_result_was_final() -> None:
    run, _ = play(lambda n: call("lamp", name="red"), Limits())
    assert len([s for s in run.steps if s.purpose == "step"]) == 3
    run, _ = play(lambda n: call("look", n=1), Limits())
    assert run.stop == "repeated_call"
    assert sum(not o.cached for o in run.observations) == 1, "the final one was entered once"


def test_zero_means_no_limit() -> None:
    run, _ = play(lambda n: call("look", n=n) if n < 30 else "I saw them all.", Limits(steps=0))
    assert run.stop == "answered" and len(run.steps) == 31


def test_nothing_is_charged_twice_and_faults_and_wrap_ups_count() -> None:
    run, model = play(lambda n: "", Limits())
    assert run.usage.requests == len(model.requests) == 4
    spent = sum((s.reply.usage for s in run.steps), Usage())
    assert run.usage == spent


class Slow:
    """A model that takes its time and keeps to the time-out it is given, as every real one does."""

    name = "slow"
    capabilities = ScriptedModel([]).capabilities

    def __init__(self) -> None:
        self.timeouts: list[float | None] = []

    async def complete(self, request: Request) -> Any:
        self.timeouts.append(request.timeout)
        if request.timeout is None:
            await asyncio.Event().wait()  # as long as it likes, which is for ever
        await asyncio.sleep(request.timeout or 0)
        raise ModelTimeout("The model gave no reply in time: ask for less, or allow more seconds.")

    def stream(self, request: Request) -> Any:
        raise NotImplementedError


def test_the_deadline_reaches_the_model_and_is_named() -> None:
    model = Slow()
    run = Agent(model, [look], protocol="native", limits=Limits(seconds=1.5), journal=False).run("Look at shelf 1.")
    assert run.stop == "deadline" and "1.5" in run.answer
    assert model.timeouts[0] is not None and 0 < model.timeouts[0] <= 1.5


def test_a_limit_is_reached_before_the_next_request_goes_out() -> None:
    async def follow() -> list[Any]:
        model = ScriptedModel([call("look", n=1), "I could not finish."])
        made = Agent(model, [look], protocol="native", limits=Limits(steps=1), journal=False)
        return [event async for event in made.stream("Look at shelf 1.", live=False)]

    kinds = [
        (type(e), getattr(e, "purpose", "")) for e in asyncio.run(follow()) if isinstance(e, LimitReached | ModelAsked)
    ]
    assert kinds == [(ModelAsked, "step"), (LimitReached, ""), (ModelAsked, "wrap_up")]
