"""Plan first, thought alone, and the final wording: other ways to think over the same gears and events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from glassloop import Agent, ScriptedModel, tool
from glassloop.errors import ConfigurationError, ModelTimeout
from glassloop.events import AnswerReworded, ModelAsked, Noted, PlanMade
from glassloop.journal.record import find_run, read_events
from glassloop.journal.replay import replay
from glassloop.prompts import load
from glassloop.types import Reply, Request


@tool
def weather(city: str) -> dict[str, Any]:
    """Weather of a city. Use it for any question about the weather."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return {"city": city, "temperature": 12 if city == "Paris" else 15}


def call(city: str) -> str:
    return json.dumps({"thought": "look", "calls": [{"name": "weather", "arguments": {"city": city}}]})


def answer(text: str) -> str:
    return json.dumps({"thought": "done", "answer": text}, ensure_ascii=False)


def plan(*steps: str) -> str:
    return json.dumps({"plan": list(steps)})


def agent(model: ScriptedModel, tmp_path: Path, **options: Any) -> Agent:
    return Agent(model, [weather], journal=tmp_path / "runs", **options)


def events(tmp_path: Path) -> list[Any]:
    return list(read_events(find_run("last", tmp_path / "runs")))


def said(request: Request) -> str:
    return "\n".join(str(m["content"]) for m in request.messages)


QUESTION = "Which is warmer, Paris or Rome?"


def test_plan_comes_first_and_is_carried_out_step_by_step(tmp_path: Path) -> None:
    model = ScriptedModel(
        [plan("weather of Paris", "weather of Rome"), call("Paris"), call("Rome"), answer("Rome: 15 against 12.")]
    )
    run = agent(model, tmp_path, strategy="plan").run(QUESTION)
    model.assert_complete()
    assert run.ok and [c.arguments["city"] for c in run.calls] == ["Paris", "Rome"]
    asked = model.requests
    assert asked[0].schema is not None and "plan" in asked[0].schema["properties"] and asked[0].tools == ()
    assert "step 1 of 2 of the plan: weather of Paris" in said(asked[1])
    assert "step 2 of 2 of the plan: weather of Rome" in said(asked[2])
    assert "All steps of the plan are done" in said(asked[3])
    assert "calls" not in json.dumps(asked[3].schema)
    # the step's words stand at the end only: what came before is the same in the next request
    assert asked[2].messages[0] == asked[1].messages[0]
    assert run.usage.requests == 4
    assert replay("last", tools=[weather], directory=tmp_path / "runs").check().ok


def test_one_new_plan_after_a_failed_step_and_no_second_one(tmp_path: Path) -> None:
    model = ScriptedModel(
        [
            plan("weather of Atlantis", "compare"),
            call("Atlantis"),
            plan("weather of Paris"),
            call("Paris"),
            answer("The weather of Atlantis could not be found (no such city); Paris has 12 degrees."),
        ]
    )
    run = agent(model, tmp_path, strategy="plan").run("Weather in Atlantis and Paris?")
    model.assert_complete()
    assert run.ok
    made = [e for e in events(tmp_path) if isinstance(e, PlanMade)]
    assert [m.steps for m in made] == [("weather of Atlantis", "compare"), ("weather of Paris",)]
    assert "has failed" in said(model.requests[2])

    twice = ScriptedModel(
        [plan("a"), call("Atlantis"), plan("b"), call("Atlantis"), answer("Atlantis failed: no such city.")],
        repeat_last=True,
    )
    run = agent(twice, tmp_path, strategy="plan").run("Weather in Atlantis?")
    assert len([e for e in events(tmp_path) if isinstance(e, PlanMade)]) == 2
    assert run.stop == "answered"


@pytest.mark.parametrize(
    ("written", "steps"),
    [
        ("1. weather of Paris\n2) weather of Rome", ("weather of Paris", "weather of Rome")),
        ("第一步：查巴黎\n第二步：查罗马", ("查巴黎", "查罗马")),
        ('```json\n{"plan": ["look"]}\n```', ("look",)),
        ('{"plan": []}', ()),
        ("no idea", ()),
    ],
)
def test_a_plan_is_read_also_without_a_schema(written: str, steps: tuple[str, ...], tmp_path: Path) -> None:
    model = ScriptedModel([written, answer("I do not know.")], repeat_last=True)
    agent(model, tmp_path, strategy="plan").run("Hello there?")
    assert next(e for e in events(tmp_path) if isinstance(e, PlanMade)).steps == steps


def test_a_plan_survives_being_killed_before_it_is_read(tmp_path: Path) -> None:
    replies = [plan("weather of Paris"), call("Paris"), answer("12 degrees.")]
    whole = agent(ScriptedModel(replies), tmp_path, strategy="plan").run("Weather in Paris?")
    path = find_run(whole.id, tmp_path / "runs")
    lines = path.read_bytes().splitlines(keepends=True)
    for cut in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:cut]))
        done = sum(b'"type":"model_replied"' in line for line in lines[:cut])
        rest = ScriptedModel(replies[done:])
        run = agent(rest, tmp_path).resume(whole.id)  # the strategy comes from the record
        rest.assert_complete()
        assert run.answer == whole.answer


def test_plan_under_a_limit_and_with_a_failing_model(tmp_path: Path) -> None:
    run = agent(ScriptedModel([ModelTimeout("slow")]), tmp_path, strategy="plan").run("Weather in Paris?")
    assert run.stop == "model_failed" and "slow" in run.detail
    model = ScriptedModel([plan("a", "b", "c"), call("Paris"), call("Rome"), answer("Paris 12, Rome 15.")])
    from glassloop import Limits

    run = agent(model, tmp_path, strategy="plan", limits=Limits(steps=2)).run(QUESTION)
    assert run.stop == "max_steps" and run.answer == "Paris 12, Rome 15."


@pytest.mark.parametrize("protocol", ["constrained", "native", "text"])
def test_direct_has_no_tools_and_room_to_think(protocol: Any, tmp_path: Path) -> None:
    reply = {
        "constrained": answer("I cannot look that up."),
        "native": "I cannot look that up.",
        "text": "Thought: no tools.\nAnswer: I cannot look that up.",
    }[protocol]
    model = ScriptedModel([reply])
    run = agent(model, tmp_path, strategy="direct", protocol=protocol).run("Weather in Paris?")
    assert run.answer == "I cannot look that up." and run.ok
    request = model.requests[0]
    assert "weather(" not in said(request) and request.tools == () and "step by step" in said(request)
    if protocol == "constrained":
        assert request.schema is not None and request.schema["properties"]["thought"]["maxLength"] >= 1000
    assert replay("last", directory=tmp_path / "runs").check().ok


def test_the_final_answer_is_reworded_and_verified_again(tmp_path: Path) -> None:
    model = ScriptedModel([call("Paris"), answer("12 degrees in Paris."), "In Paris it is a mild 12 degrees."])
    run = agent(model, tmp_path, final_temperature=0.8).run("Weather in Paris?")
    model.assert_complete()
    assert run.answer == "In Paris it is a mild 12 degrees." and run.ok and run.usage.requests == 3
    assert model.requests[-1].temperature == 0.8 and model.requests[0].temperature == 0.1
    assert [e.purpose for e in events(tmp_path) if isinstance(e, ModelAsked)] == ["step", "step", "reword"]
    assert replay("last", tools=[weather], directory=tmp_path / "runs").check().ok


@pytest.mark.parametrize(
    "said_instead",
    [
        "It is 14 degrees in Paris.",
        "It is mild in Paris.",
        "",
        Reply("12 degrees in", finish_reason="length"),
        ModelTimeout("slow"),
    ],
)
def test_a_wording_that_changes_anything_is_dropped(said_instead: Any, tmp_path: Path) -> None:
    model = ScriptedModel([call("Paris"), answer("12 degrees in Paris."), said_instead])
    run = agent(model, tmp_path, final_temperature=0.8).run("Weather in Paris?")
    assert run.answer == "12 degrees in Paris." and run.ok
    found = events(tmp_path)
    assert [e.kept for e in found if isinstance(e, AnswerReworded)] == [False]
    assert any(isinstance(e, Noted) for e in found)


def test_an_answer_that_did_not_pass_is_not_reworded(tmp_path: Path) -> None:
    model = ScriptedModel([call("Paris"), answer("It is 99 degrees."), answer("It is 98 degrees.")])
    run = agent(model, tmp_path, final_temperature=0.8).run("Weather in Paris?")
    model.assert_complete()
    assert not run.answer_checked


def test_reworded_run_survives_being_killed_anywhere(tmp_path: Path) -> None:
    replies = [call("Paris"), answer("12 degrees in Paris."), "In Paris it is 12 degrees."]
    whole = agent(ScriptedModel(replies), tmp_path, final_temperature=0.8).run("Weather in Paris?")
    path = find_run(whole.id, tmp_path / "runs")
    lines = path.read_bytes().splitlines(keepends=True)
    for cut in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:cut]))
        done = sum(b'"type":"model_replied"' in line for line in lines[:cut])
        rest = ScriptedModel(replies[done:])
        assert agent(rest, tmp_path).resume(whole.id).answer == whole.answer
        rest.assert_complete()


def test_unknown_strategy_and_equal_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="react, plan, direct"):
        agent(ScriptedModel([]), tmp_path, strategy="tree")
    for group in ("strategies", "probe", "knowledge"):
        assert load(group, "en").keys() == load(group, "zh").keys()


def test_chinese_plan(tmp_path: Path) -> None:
    model = ScriptedModel([plan("查巴黎天气"), call("Paris"), answer("巴黎 12 度。")])
    run = agent(model, tmp_path, strategy="plan").run("巴黎（Paris）天气怎么样？")
    assert run.ok and "现在执行计划的第 1 步" in said(model.requests[1])
