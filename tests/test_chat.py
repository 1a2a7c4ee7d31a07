"""`Agent.session`: turns are kept, know the ones before, and an interrupted one is shown and continued."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from glassloop import Agent, ScriptedModel, tool
from glassloop.errors import ModelTimeout, SessionError
from glassloop.tools.permission import Pause


@tool
def weather(city: str) -> dict[str, Any]:
    """Weather of a city. Use it for any question about the weather."""
    return {"city": city, "temperature": 12}


@tool(risk="write")
def send(to: str) -> str:
    """Sends the report to a person."""
    SENT.append(to)
    return f"sent to {to}"


SENT: list[str] = []
LOOK = '{"thought":"look","calls":[{"name":"weather","arguments":{"city":"Paris"}}]}'
SAY = '{"thought":"done","answer":"It is 12 degrees in Paris."}'


def agent(tmp_path: Path, *replies: Any, **options: Any) -> Agent:
    return Agent(ScriptedModel(replies), [weather, send], journal=tmp_path / "runs", **options)


def told(a: Agent) -> str:
    model: Any = a.model
    return json.dumps(model.requests[-1].messages, ensure_ascii=False)


def test_a_later_turn_knows_the_earlier_ones_in_another_process_too(tmp_path: Path) -> None:
    first = agent(tmp_path, LOOK, SAY)
    assert first.session("trip").run("Weather in Paris?").ok
    second = agent(tmp_path, '{"thought":"known","answer":"12 degrees, as said."}')
    session = second.session("trip")
    assert session.run("How warm again?").ok  # 12 comes from the turn before
    assert "Weather in Paris?" in told(second) and "12 degrees in Paris" in told(second)
    assert [t.question for t in session.turns] == ["Weather in Paris?", "How warm again?"]
    assert session.turns[0].messages[-1].role in ("tool", "assistant")
    other = agent(tmp_path, SAY.replace("It is 12 degrees in Paris.", "Hello."))
    other.session("other").run("Hello?")
    assert "Paris" not in told(other)
    assert json.loads(session.export())["session"] == "trip" and "How warm again?" in session.export("md")
    assert session.delete() == 2 and session.turns == ()


def test_a_failed_turn_counts_as_interrupted_and_is_continued(tmp_path: Path) -> None:
    session = agent(tmp_path, LOOK, ModelTimeout("slow")).session()
    assert session.run("Weather in Paris?").stop == "model_failed"
    cut = session.interrupted
    assert cut is not None and cut.question == "Weather in Paris?"
    rest = agent(tmp_path, SAY)  # the call is in the journal and is not made again
    again = rest.session()
    run = again.resume()
    assert run.answer == "It is 12 degrees in Paris." and len(run.calls) == 1
    assert [t.state for t in again.turns] == ["finished"]
    with pytest.raises(SessionError, match="interrupted"):
        again.resume()


def test_a_cancelled_turn_is_continued(tmp_path: Path) -> None:
    session = agent(tmp_path, LOOK, SAY).session()

    async def leave() -> None:
        stream = session.stream("Weather in Paris?", live=False)
        async for event in stream:
            if event.type == "call_finished":
                break
        await stream.aclose()

    asyncio.run(leave())
    assert session.interrupted is not None
    assert agent(tmp_path, SAY).session().resume().ok


def test_a_turn_that_waits_is_completed_after_the_approval(tmp_path: Path) -> None:
    SENT.clear()
    asks = '{"thought":"send","calls":[{"name":"send","arguments":{"to":"Ann"}}]}'
    session = agent(tmp_path, asks, approver=Pause()).session()
    run = session.run("Send the report to Ann.")
    assert run.stop == "approval_needed" and session.interrupted is not None and not SENT
    said = '{"thought":"done","answer":"The report was sent to Ann."}'
    agent(tmp_path, said, approver=lambda asked: True).resume(run.id)
    again = agent(tmp_path).session()
    assert again.resume().answer == "The report was sent to Ann."  # taken from the journal, nothing is asked
    assert SENT == ["Ann"] and again.turns[-1].answer == "The report was sent to Ann."


def test_a_turn_without_a_journal_is_asked_anew(tmp_path: Path) -> None:
    session = agent(tmp_path, ModelTimeout("slow")).session()
    run = session.run("Weather in Paris?")
    (tmp_path / "runs" / f"{run.id}.jsonl").unlink()
    again = agent(tmp_path, LOOK, SAY).session()
    assert again.resume().ok and len(again.turns) == 1


def test_what_cannot_begin_is_no_turn(tmp_path: Path) -> None:
    a = agent(tmp_path, SAY)
    with pytest.raises(Exception, match="empty"):
        a.session().run("  ")
    assert a.session().turns == ()
    with pytest.raises(SessionError, match="name"):
        a.session(" ")
