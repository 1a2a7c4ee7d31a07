"""A recorded run comes out the same without model and tools; a change of the code is found where it shows."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from glassloop import Limits, tool
from glassloop.errors import JournalError, ModelTimeout, ReplayDifference
from glassloop.events import Event, RunEnded, event_from_dict
from glassloop.journal.fork import beginning, fork
from glassloop.journal.rebuild import load, rebuild, rebuild_run
from glassloop.journal.replay import replay, replay_all

from .recorded_runs import ENTERED, GOOD, QUESTION, TOOLS, agent, answer, record, reply, step, weather

WEATHER = {"name": "weather", "arguments": '{"city": "Paris"}'}
BOTH = [{"name": "weather", "arguments": {"city": city}} for city in ("Paris", "Oslo")]

RUNS: dict[str, dict[str, Any]] = {
    "good": {},
    "chinese": {
        "replies": [step("查一下", "weather", city="北京", days="3"), answer("北京12度。")],
        "question": "北京三天的天气怎么样？",
    },
    "failing tool": {
        "replies": [step("ask", "broken", city="Paris"), answer("The statistics could not be read: it failed.")],
        "question": "How many people live in Paris?",
    },
    "fault": {
        "replies": [reply('{"calls": ['), reply("{"), step("ok", "weather", city="Paris"), answer("12 degrees.")],
    },
    "denied": {
        "replies": [step("s", "send", to="Bob", text="12"), answer("It was not sent: you did not allow it.")],
        "approver": lambda asked: False,
    },
    "unknown tool": {"replies": [step("x", "wether_report", place="Paris"), answer("I do not know.")]},
    "repeats": {"replies": [step("again", "weather", city="Paris") for _ in range(6)] + [answer("12 degrees.")]},
    "limit": {
        "replies": [step("w", "weather", city="Paris"), step("w", "weather", city="Oslo"), answer("12 degrees.")],
        "limits": Limits(steps=2),
        "question": "Weather in Paris and Oslo?",
    },
    "not supported": {
        "replies": [step("w", "weather", city="Paris"), answer("It is 99 degrees."), answer("It is 98 degrees.")],
    },
    "unchecked": {"replies": [answer("It is 99 degrees.")], "verifier": False},
    "model failed": {"replies": [step("w", "weather", city="Paris"), ModelTimeout("The model gave no reply in time.")]},
    "text": {
        "replies": [
            'Thought: look\nAction: weather\nAction Input: {"city": "Paris"}',
            "Thought: done\nAnswer: 12 degrees.",
        ],
        "protocol": "text",
    },
    "native": {
        "replies": [
            {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": WEATHER}]},
            {"role": "assistant", "content": "It is 12 degrees."},
        ],
        "protocol": "native",
    },
    "side by side": {
        "replies": [reply(json.dumps({"thought": "both", "calls": BOTH})), answer("12 degrees in both.")],
        "question": "Weather in Paris and Oslo?",
    },
}


@pytest.mark.parametrize("name", RUNS)
def test_every_kind_of_run_comes_out_the_same(name: str, tmp_path: Path) -> None:
    path = record(tmp_path, **RUNS[name])
    entered = len(ENTERED)
    found = replay(path, agent=_same_agent(tmp_path, name) if name == "unchecked" else None)
    assert found.ok, found.difference and found.difference.text()
    assert found.matched == found.events == len(load(path))
    assert len(ENTERED) == entered, "a tool was entered"


def _same_agent(directory: Path, name: str) -> Any:
    options = {k: v for k, v in RUNS[name].items() if k not in ("replies", "question")}
    return agent(directory, [], **options)


@pytest.mark.parametrize("name", RUNS)
def test_a_replay_with_the_agent_itself_is_the_same_too(name: str, tmp_path: Path) -> None:
    path = record(tmp_path, **RUNS[name])
    found = replay(path, agent=_same_agent(tmp_path, name))
    assert found.ok, found.difference and found.difference.text()


def test_another_description_shows_in_the_prompt(tmp_path: Path) -> None:
    path = record(tmp_path)
    found = replay(path, tools=[weather.changed(description="Forecast of a city."), *TOOLS[1:]])
    assert found.difference is not None
    assert found.difference.step == 1 and found.difference.what == "the prompt"
    assert "Forecast of a city" in found.difference.text()
    with pytest.raises(ReplayDifference, match="Forecast"):
        found.check()


def test_another_reading_shows_as_such(tmp_path: Path) -> None:
    path = record(tmp_path)
    events = load(path)
    at = next(i for i, e in enumerate(events) if e.type == "move_read")
    data = events[at].to_dict()
    data["move"]["thought"] = "something else"
    found = replay([*events[:at], event_from_dict(data), *events[at + 1 :]])
    assert found.difference is not None and found.difference.what == "the reading of the reply"
    assert found.matched == at


def test_another_schema_shows_in_prompt_or_arguments(tmp_path: Path) -> None:
    @tool(name="weather")
    def other(city: str, days: str = "1") -> dict[str, Any]:
        """Weather of a city. Use it for any question about the weather."""
        return {}

    found = replay(record(tmp_path), tools=[other, *TOOLS[1:]])
    assert found.difference is not None and found.difference.step == 1


def test_another_verdict_shows(tmp_path: Path) -> None:
    path = record(tmp_path, [answer("It is 99 degrees.")], verifier=False)
    found = replay(path, agent=agent(tmp_path, []))
    assert found.difference is not None and "verdict" in found.difference.what


def test_stricter_limits_show(tmp_path: Path) -> None:
    found = replay(record(tmp_path), agent=agent(tmp_path, [], limits=Limits(steps=1)))
    assert found.difference is not None and found.difference.step == 1
    assert "limit" in found.difference.what


def test_a_run_that_was_cut_off_is_replayed_as_far_as_it_goes(tmp_path: Path) -> None:
    events = load(record(tmp_path))
    for count in range(1, len(events) + 1):
        found = replay(events[:count])
        assert found.ok and found.matched == count, (count, found.difference and found.difference.text())


def test_a_run_that_was_cut_off_anywhere_and_resumed_replays(tmp_path: Path) -> None:
    path = record(tmp_path / "whole")
    lines = path.read_bytes().splitlines(keepends=True)
    resumed = 0
    for count in range(1, len(lines)):
        cut = tmp_path / f"cut{count}" / path.name
        cut.parent.mkdir()
        cut.write_bytes(b"".join(lines[:count]))
        said = sum(b'"type":"model_replied"' in line for line in lines[:count])
        run = agent(cut.parent, GOOD[said:] or GOOD[-1:]).resume(path.stem)
        assert run.stop == "answered"
        found = replay(cut)
        assert found.ok, (count, found.difference and found.difference.text())
        resumed += found.resumed
    assert resumed > 0


def test_a_cancelled_run_that_was_resumed_replays(tmp_path: Path) -> None:
    async def stopped() -> str:
        stream = agent(tmp_path, GOOD).stream(QUESTION, live=False)
        async for event in stream:
            if event.type == "call_finished":
                await stream.aclose()
                break
        return stream.run.id

    run = asyncio.run(stopped())
    assert agent(tmp_path, GOOD[1:]).resume(run).stop == "answered"
    events = load(run, tmp_path)
    assert [e.stop for e in events if isinstance(e, RunEnded)] == ["cancelled", "answered"]
    found = replay(run, directory=tmp_path)
    assert found.ok, found.difference and found.difference.text()


def test_a_run_that_waited_for_a_person_replays(tmp_path: Path) -> None:
    run = agent(tmp_path, GOOD, approver=lambda asked: None).run(QUESTION)
    if run.stop != "approval_needed":
        pytest.fail(f"the run should wait, and it ended with {run.stop}")
    assert replay(run.id, directory=tmp_path).ok
    assert agent(tmp_path, GOOD[2:]).resume(run.id).stop == "answered"
    found = replay(run.id, directory=tmp_path)
    assert found.ok, found.difference and found.difference.text()


def test_all_runs_of_a_directory(tmp_path: Path) -> None:
    for name in ("good", "fault", "denied"):
        record(tmp_path, **RUNS[name])
    found = list(replay_all(tmp_path))
    assert len(found) == 3 and all(one.ok for _, one in found)


# -- rebuild and fork ----------------------------------------------------------------------


def test_the_run_is_rebuilt_as_it_was(tmp_path: Path) -> None:
    from dataclasses import replace

    run = agent(tmp_path, GOOD).run(QUESTION)
    again = rebuild_run(Path(run.journal))
    assert json.loads(json.dumps(replace(again, journal=run.journal).to_dict())) == json.loads(
        json.dumps(run.to_dict())
    )


def test_the_state_after_a_step(tmp_path: Path) -> None:
    path = record(tmp_path)
    for step_number in (0, 1, 2, 3):
        assert rebuild(path, step_number).number == step_number
    assert rebuild(path, 1).observed[0][1].name == "weather"
    assert rebuild(path, 2).ended is None and rebuild(path, 3).ended is not None


def test_a_fork_goes_its_own_way_and_knows_its_parent(tmp_path: Path) -> None:
    path = record(tmp_path)
    asked: list[str] = []

    def ask(question: Any) -> bool:
        asked.append(question.call.name)
        return False

    other = agent(tmp_path, [GOOD[1], answer("It is 12 degrees; it was not sent, you did not allow it.")], approver=ask)
    entered = len(ENTERED)
    stream = fork(path, 2, other, live=False)
    run = _finish(stream)
    assert asked == ["send"], "a write in the live part asks again"
    assert ENTERED[entered:] == [], "the read before the fork came from the journal"
    assert run.parent == path.stem and run.stop == "answered" and run.id != path.stem
    assert rebuild_run(path).answer.startswith("It is 12 degrees in Paris")
    assert [e.seq for e in load(run.id, tmp_path)] == list(range(1, len(load(run.id, tmp_path)) + 1))
    found = replay(run.id, directory=tmp_path)
    assert found.ok, found.difference and found.difference.text()


def test_a_fork_with_edits(tmp_path: Path) -> None:
    path = record(tmp_path)
    other = agent(tmp_path, [answer("It is 31 degrees in Paris; nothing was sent.")], verifier=False)
    run = _finish(
        fork(path, 2, other, edits=['observation:1={"temperature": 31}', "question=How warm is Paris?"], live=False)
    )
    seen = run.steps[0].observations[0]
    assert run.question == "How warm is Paris?" and seen.data == {"temperature": 31}
    assert seen.repairs[-1].name == "edited" and "12" in seen.repairs[-1].before
    said = _finish(
        fork(path, 1, agent(tmp_path, [], verifier=False), edits={"reply": '{"thought":"t","answer":"no"}'}, live=False)
    )
    assert said.answer == "no"


@pytest.mark.parametrize(
    ("step_number", "edits", "message"),
    [(0, [], "step from 1"), (9, [], "3 steps"), (2, ["nothing=1"], "nothing to edit"), (2, ["question"], "no value"),
     (2, ["observation:x=1"], "names no step"), (2, ["observation:2=1"], "0 observations")],
)  # fmt: skip
def test_what_cannot_be_forked_says_so(step_number: int, edits: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=message):
        beginning(load(record(tmp_path)), step_number, edits)


def _finish(stream: Any) -> Any:
    async def run() -> list[Event]:
        return [event async for event in stream]

    asyncio.run(run())
    return stream.run
