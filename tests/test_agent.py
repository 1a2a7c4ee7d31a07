"""The agent: three ways to run that are one, cancelling, resuming, bad questions and bad days."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from glassloop import Agent, ScriptedModel, tool
from glassloop.errors import ConfigurationError, ContextTooLong, ModelOverloaded, ModelRefused, ModelUnavailable
from glassloop.events import HistoryCompacted, ModelRetried, Noted, RunEnded, TextStreamed
from glassloop.journal.record import read_events
from glassloop.types import Request


@tool
def stock(item: str) -> dict[str, Any]:
    """How many of an item are in stock. Use it for any question about stock."""
    return {"item": item, "pieces": 41}


QUESTION, ANSWER = "How many cables are in stock?", "There are 41 cables in stock."


def replies(protocol: str) -> list[Any]:
    if protocol == "native":
        function = {"name": "stock", "arguments": '{"item": "cables"}'}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        }
        return [message, ANSWER]
    if protocol == "text":
        return [
            'Thought: I look.\nAction: stock\nAction Input: {"item": "cables"}',
            f"Thought: I know.\nAnswer: {ANSWER}",
        ]
    return [
        '{"thought": "I look.", "calls": [{"name": "stock", "arguments": {"item": "cables"}}]}',
        json.dumps({"thought": "I know.", "answer": ANSWER}),
    ]


def agent(protocol: Any = "constrained", lines: list[Any] | None = None, **options: Any) -> Agent:
    given: dict[str, Any] = {"journal": False, **options}
    return Agent(ScriptedModel(lines or replies(protocol)), [stock], protocol=protocol, **given)


@pytest.mark.parametrize("protocol", ["constrained", "native", "text"])
def test_run_arun_and_stream_are_one(protocol: Any) -> None:
    async def streamed(live: bool) -> tuple[Any, str]:
        stream = agent(protocol).stream(QUESTION, live=live)
        parts = [e.text async for e in stream if isinstance(e, TextStreamed) and e.part == "answer"]
        return stream.run, "".join(parts)

    whole = agent(protocol).run(QUESTION)
    live, told = asyncio.run(streamed(True))
    assert (whole.answer, whole.stop, told) == (ANSWER, "answered", ANSWER)
    for other in (asyncio.run(agent(protocol).arun(QUESTION)), asyncio.run(streamed(False))[0], live):
        assert (other.answer, other.stop, other.usage) == (whole.answer, whole.stop, whole.usage)
        assert [s.move.answer for s in other.steps] == [s.move.answer for s in whole.steps]
        assert [o.content for o in other.observations] == [o.content for o in whole.observations]


def test_run_works_inside_a_running_event_loop() -> None:
    async def notebook() -> Any:
        return agent().run(QUESTION)

    assert asyncio.run(notebook()).answer == ANSWER


@pytest.mark.parametrize("question", ["", "  \n\t"])
def test_an_empty_question_is_refused_in_one_sentence(question: str) -> None:
    with pytest.raises(ConfigurationError, match="question is empty"):
        agent().run(question)


@pytest.mark.parametrize(("word", "answer"), [("cables ", ANSWER), ("电缆", "库存里有 41 根电缆。")])
def test_a_question_of_200_000_characters(word: str, answer: str) -> None:
    question = (QUESTION + " " + word * (200_000 // len(word)))[:200_000]
    lines = [replies("constrained")[0], json.dumps({"thought": "I know.", "answer": answer})]
    assert agent(lines=lines, verifier=True).run(question).answer == answer


def test_cancelling_is_recorded_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    entered: list[str] = []

    @tool
    async def slow(item: str) -> str:
        """How many of an item are in stock. Use it for any question about stock."""
        entered.append(item)
        await asyncio.sleep(0 if len(entered) > 1 else 30)
        return f"41 {item}"

    lines = [line.replace('"stock"', '"slow"') for line in replies("constrained")]

    async def cancelled() -> None:
        task = asyncio.ensure_future(
            Agent(ScriptedModel(lines), [slow], protocol="constrained", journal=tmp_path / "runs").arun(
                QUESTION, run_id="r"
            )
        )
        while not entered:  # noqa: ASYNC110  -- the tool of a run has no event to hand out
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    last = list(read_events(tmp_path / "runs" / "r.jsonl"))[-1]
    assert isinstance(last, RunEnded) and last.stop == "cancelled"
    again = Agent(ScriptedModel(lines[1:]), [slow], protocol="constrained", journal=tmp_path / "runs").resume("r")
    assert (again.answer, again.stop, len(entered)) == (ANSWER, "answered", 2)


def test_closing_a_stream_is_cancelling(tmp_path: Path) -> None:
    async def closed() -> Any:
        stream = agent(journal=tmp_path / "runs").stream(QUESTION, run_id="r", live=False)
        async for _ in stream:
            break
        await stream.aclose()
        return stream.run

    assert asyncio.run(closed()).stop == "cancelled"
    assert agent(journal=tmp_path / "runs").resume("r").answer == ANSWER


@pytest.mark.parametrize(
    "error", [ModelRefused("The key is wrong: set another."), RuntimeError], ids=["refused", "used up"]
)
def test_a_model_that_fails_ends_the_run_with_what_is_known(error: Any) -> None:
    lines = replies("constrained")[:1] + ([error] if isinstance(error, Exception) else [])
    run = agent(lines=lines).run(QUESTION)
    assert run.stop == "model_failed" and not run.ok
    assert "could not finish" in run.answer and '"pieces":41' in run.answer
    assert run.detail


def test_retries_are_told_as_events() -> None:
    busy = ModelOverloaded("The server is busy: wait a little.")
    busy.retry_after = 0.01  # type: ignore[attr-defined]
    down = ModelUnavailable("Nothing answers there: start the server.")
    down.retry_after = 0.01  # type: ignore[attr-defined]

    async def follow() -> tuple[Any, list[Any]]:
        stream = agent(lines=[busy, down, *replies("constrained")]).stream(QUESTION, live=False)
        seen = [event async for event in stream]
        return stream.run, [e for e in seen if isinstance(e, ModelRetried)]

    run, told = asyncio.run(follow())
    assert run.answer == ANSWER
    assert [e.reason for e in told] == [str(busy), str(down)] and all(e.delay == 0.01 for e in told)


def long_agent(refusals: int) -> tuple[Agent, ScriptedModel]:
    @tool(limit=4000)
    def chapter(n: int) -> str:
        """A chapter of the book. Use it for any question about the book."""
        return f"Chapter {n}. " + "The tide rises and falls. " * 120

    seen = 0

    def say(request: Request, number: int) -> Any:
        nonlocal seen
        if number >= 6 and seen < refusals:
            seen += 1
            raise ContextTooLong("The prompt does not fit into the model's context: shorten it.")
        if number < 6:
            return json.dumps({"thought": f"t{number}", "calls": [{"name": "chapter", "arguments": {"n": number}}]})
        return '{"thought": "read", "answer": "It is about the tide."}'

    model = ScriptedModel([say], repeat_last=True)
    return Agent(model, [chapter], protocol="constrained", journal=False, verifier=False), model


@pytest.mark.parametrize(("refusals", "stop"), [(1, "answered"), (9, "model_failed")])
def test_too_long_a_context_is_compacted_harder_once_and_tried_once_more(refusals: int, stop: str) -> None:
    made, model = long_agent(refusals)

    async def follow() -> tuple[Any, list[Any]]:
        stream = made.stream("What is the book about?", live=False)
        seen = [event async for event in stream]
        return stream.run, [e for e in seen if isinstance(e, HistoryCompacted) and e.how.startswith("harder")]

    run, harder = asyncio.run(follow())
    assert run.stop == stop and len(harder) == 1
    assert len(model.requests) == 8
    sizes = [sum(len(str(m["content"])) for m in r.messages) for r in model.requests[-2:]]
    assert sizes[1] < sizes[0]


# -- bad days ---------------------------------------------------------------------------------------


SENT: list[str] = []


@tool(risk="write")
def send(to: str) -> str:
    """Send a greeting to somebody. Use it when the user wants a greeting sent."""
    SENT.append(to)
    return "sent"


def told_and_refused(journal: Any) -> None:
    SENT.clear()
    lines = [
        '{"thought": "a", "calls": [{"name": "stock", "arguments": {"item": "cables"}}]}',
        '{"thought": "b", "calls": [{"name": "send", "arguments": {"to": "Bob"}}]}',
        '{"thought": "c", "answer": "There are 41 cables; Bob got no greeting, it could not be sent."}',
    ]
    made = Agent(ScriptedModel(lines), [stock, send], protocol="constrained", approver=lambda a: True, journal=journal)

    async def follow() -> tuple[Any, list[Any]]:
        stream = made.stream("How many cables? Send Bob a greeting.", live=False)
        seen = [event async for event in stream]
        return stream.run, [e for e in seen if isinstance(e, Noted)]

    run, notes = asyncio.run(follow())
    assert run.stop == "answered" and "41" in run.answer, run.detail
    assert len(notes) == 1 and "not recorded" in notes[0].text, "it is said, once"
    assert SENT == [] and run.observations[1].status in ("error", "denied"), "what cannot be recorded is not done"
    assert run.journal == ""


def test_a_file_where_the_journals_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("in the way")
    told_and_refused(tmp_path / "runs")


class FullDisk:
    """A recorder on a disk that fills up after some events: writes end on /dev/full."""

    def __init__(self, room: int) -> None:
        self.room, self.file = room, Path("/dev/full").open("wb", buffering=0)

    def record(self, event: Any) -> None:
        self.room -= 1
        if self.room < 0:
            self.file.write(b"x")

    def close(self) -> None:
        self.file.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full on this system")
@pytest.mark.parametrize("room", [0, 1, 5, 8])
def test_a_disk_that_fills_up_at_any_moment_before_the_write(room: int) -> None:
    told_and_refused(FullDisk(room))
