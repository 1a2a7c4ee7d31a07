"""Recorded runs for the tests of this folder: real agents over scripted models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from glassloop import Agent, ScriptedModel, tool
from glassloop.events import CallFinished, ModelAsked, ModelReplied, MoveRead, RunEnded, RunStarted
from glassloop.journal.record import JournalRecorder
from glassloop.types import Move, Observation, Reply, Request, ToolCall, Usage

QUESTION = "What is the weather in Paris for 3 days? Send it to Bob."
ENTERED: list[str] = []
"""Every entry into a tool, so that a test can say that there was none."""


@tool
def weather(city: str, days: int = 1) -> dict[str, Any]:
    """Weather of a city. Use it for any question about the weather."""
    ENTERED.append("weather")
    return {
        "city": city,
        "temperature": 12,
        "days": days,
        "debug_trace": "x" * 500,
        "note": "<script>alert(1)</script>",
    }


@tool(risk="write")
def send(to: str, text: str) -> str:
    """Send a text to somebody. Use it when the user wants something sent."""
    ENTERED.append("send")
    return "sent"


@tool
def broken(city: str) -> str:
    """Population of a city. Use it for questions about how many people live there."""
    ENTERED.append("broken")
    raise RuntimeError("the statistics office is closed")


TOOLS = [weather, send, broken]


def reply(text: str, prompt: int = 100) -> Reply:
    return Reply(text=text, usage=Usage(prompt, 20, prompt // 2, 1), finish_reason="stop", raw={"body": text})


def step(thought: str, name: str, **arguments: Any) -> Reply:
    return reply(
        json.dumps({"thought": thought, "calls": [{"name": name, "arguments": arguments}]}, ensure_ascii=False)
    )


def answer(text: str) -> Reply:
    return reply(json.dumps({"thought": "done", "answer": text}, ensure_ascii=False))


GOOD = [
    reply('Sure! {"thought":"I look it up.","calls":[{"name":"weather","arguments":{"city":"Paris","days":"3"}},]}'),
    step("Now send it.", "send", to="Bob", text="12 degrees"),
    answer("It is 12 degrees in Paris, and I sent it to Bob."),
]


def agent(directory: Path, replies: list[Any], **options: Any) -> Agent:
    given: dict[str, Any] = {"approver": lambda asked: True, "protocol": "constrained", **options}
    return Agent(ScriptedModel(replies), given.pop("tools", TOOLS), journal=directory, **given)


def record(directory: Path, replies: list[Any] | None = None, question: str = QUESTION, **options: Any) -> Path:
    run = agent(directory, GOOD if replies is None else replies, **options).run(question)
    return Path(run.journal)


def write_bulk(path: Path, steps: int, chars: int) -> None:
    """Write a journal of many steps with large results, straight from events."""
    recorder = JournalRecorder(path)
    tools = (weather.declaration.to_dict(),)
    seq = 1
    recorder.record(
        RunStarted(run_id=path.stem, question="Walk far", model="m", protocol="text", tools=tools, seq=1, at=1.0)
    )
    big = "word " * (chars // 5)
    for n in range(1, steps + 1):
        call = ToolCall(f"c{n}", "weather", {"city": f"City{n}"})
        move = Move(thought=f"thought {n}", calls=(call,), said=f"City{n}")
        request = Request(messages=({"role": "user", "content": f"Observation: {n} {'text ' * 200}"},))
        seen = Observation(call.id, "weather", "ok", '{"status":"ok","data":"' + big[:900] + '"}', data=big)
        said = f"Thought: thought {n}\nAction: weather\nAction Input: {json.dumps(call.arguments)}"
        for event in (
            ModelAsked(n, request=request, kept=n - 1),
            ModelReplied(n, reply=reply(said)),
            MoveRead(n, move=move),
            CallFinished(n, observation=seen),
        ):
            seq += 1
            recorder.record(type(event)(**{**event.__dict__, "seq": seq, "at": 1.0 + seq / 10}))
    recorder.record(RunEnded(steps, seq=seq + 1, at=2.0 + seq / 10, stop="max_steps", answer="far", seconds=9.0))
    recorder.close()
