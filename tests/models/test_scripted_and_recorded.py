"""The models that need no model: a script that must be used up, and a recording that must be met exactly."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from glassloop.errors import ModelError, ModelOverloaded, ModelUnavailable
from glassloop.gears import Model
from glassloop.models.failures import Place, from_status
from glassloop.models.recorded import RecordedModel
from glassloop.models.retry import Retry, retrying
from glassloop.models.scripted import ScriptedModel
from glassloop.types import Delta, Reply, Request

ASK = Request(messages=({"role": "system", "content": "s"}, {"role": "user", "content": "2+2?"}))


def ask(model: Model, request: Request = ASK) -> Reply:
    return asyncio.run(model.complete(request))


def test_every_kind_of_line() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    script = [
        "text",
        {"role": "assistant", "content": None, "tool_calls": [call]},
        Reply(text="whole"),
        lambda request, n: f"{n}: {request.messages[-1]['content']}",
        ModelOverloaded("busy"),
    ]
    model = ScriptedModel(script)
    assert ask(model).text == "text"
    assert ask(model).tool_calls == (call,)
    assert ask(model).text == "whole"
    assert ask(model).text == "3: 2+2?"
    with pytest.raises(ModelOverloaded):
        ask(model)
    model.assert_complete()
    assert len(model.requests) == 5
    with pytest.raises(ModelError, match="asked 6 times and has 5 replies"):
        ask(model)


def test_unused_lines_are_told_and_the_last_can_repeat() -> None:
    model = ScriptedModel(["a", "b"], repeat_last=True)
    assert ask(model).text == "a"
    with pytest.raises(AssertionError, match="1 of 2 scripted replies were never asked for; next: 'b'"):
        model.assert_complete()
    assert [ask(model).text for _ in range(3)] == ["b"] * 3
    model.assert_complete()


def test_a_scripted_stream_is_cut_into_pieces_and_ends_with_the_whole() -> None:
    text = "Thought: 想一想\nAnswer: 四"

    async def listen() -> list[Delta | Reply]:
        return [item async for item in ScriptedModel([text]).stream(ASK)]

    items = asyncio.run(listen())
    assert len(items) > 3
    assert "".join(i.text for i in items[:-1]) == text
    assert items[-1].text == text


def test_retrying_wraps_any_model_and_tells_its_own_listener() -> None:
    slept: list[float] = []
    told: list[str] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    inner = ScriptedModel([ModelUnavailable("gone"), "back"])
    model = retrying(inner, Retry(sleep=sleep, dice=lambda: 1.0), on_retry=lambda reason, _: told.append(reason))
    assert ask(model).text == "back"
    assert (slept, told) == ([0.5], ["gone"])
    assert (model.name, model.capabilities) == (inner.name, inner.capabilities)


def test_every_model_error_says_whether_the_server_asked_to_wait() -> None:
    asked = from_status(Place("http://host", "m"), 429, "slow down", retry_after=3.0)
    assert asked.retry_after == 3.0
    assert from_status(Place("http://host", "m"), 503, "down").retry_after is None
    assert ModelUnavailable("nobody there").retry_after is None


def test_retries_never_outlast_the_requests_own_limit() -> None:
    inner = ScriptedModel([ModelUnavailable("gone"), "back"])
    model = retrying(inner, Retry(first=5.0))
    with pytest.raises(ModelUnavailable):
        ask(model, replace(ASK, timeout=1.0))


def test_a_recording_is_made_and_played_without_the_model(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    inner = ScriptedModel(["four", "five"])
    recording = RecordedModel(file, record=inner)
    other = replace(ASK, temperature=0.9)
    assert (ask(recording).text, ask(recording, other).text) == ("four", "five")
    assert ask(recording).text == "four"
    inner.assert_complete()
    played = RecordedModel(file)
    assert (ask(played, other).text, ask(played).text) == ("five", "four")
    assert ask(played, replace(ASK, timeout=3.0, purpose="wrap_up")).text == "four"


def test_equal_requests_get_their_replies_in_order(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    lines = [{"key": ASK.key, "request": ASK.to_dict(), "reply": {"text": t}} for t in ("first", "second")]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"key": "cut o', encoding="utf-8")
    model = RecordedModel(file)
    assert [ask(model).text for _ in range(3)] == ["first", "second", "second"]


def test_only_a_newline_ends_a_line_of_a_recording(tmp_path: Path) -> None:
    # Python's splitlines cuts at each of these; JSON leaves all but the first as they are inside a string.
    odd = "a\x0bb\x85c\u2028d\u2029e"
    file = tmp_path / "talk.jsonl"
    asked = replace(ASK, messages=({"role": "user", "content": odd},))
    assert ask(RecordedModel(file, record=ScriptedModel([odd])), asked).text == odd
    assert "\u2028" in file.read_text("utf-8")
    assert ask(RecordedModel(file), asked).text == odd


def test_a_journal_is_a_recording(tmp_path: Path) -> None:
    longer = replace(ASK, messages=(*ASK.messages, {"role": "assistant", "content": "hm"}))
    events = [
        {"type": "model_asked", "request": ASK.to_dict(), "kept": 0},
        {"type": "model_replied", "reply": {"text": "one"}},
        {"type": "model_asked", "request": replace(longer, messages=longer.messages[2:]).to_dict(), "kept": 2},
        {"type": "model_replied", "reply": {"text": "two"}},
    ]
    file = tmp_path / "run.jsonl"
    file.write_text("".join(json.dumps(e) + "\n" for e in events), encoding="utf-8")
    model = RecordedModel(file)
    assert (ask(model).text, ask(model, longer).text) == ("one", "two")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (replace(ASK, temperature=0.9), r"temperature \(0.9 instead of 0.1\)"),
        (
            replace(ASK, messages=(ASK.messages[0], {"role": "user", "content": "3+3?"})),
            r"message 2 \(user: '3\+3\?'\)",
        ),
        (replace(ASK, messages=ASK.messages[:1]), r"number of messages \(1 instead of 2\)"),
        (replace(ASK, schema={"type": "object"}), "the schema"),
    ],
)
def test_a_missing_reply_names_what_differs(tmp_path: Path, request_: Request, words: str) -> None:
    file = tmp_path / "talk.jsonl"
    ask(RecordedModel(file, record=ScriptedModel(["four"])))
    with pytest.raises(ModelError, match=words):
        ask(RecordedModel(file), request_)


def test_no_recording(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no recording"):
        RecordedModel(tmp_path / "none.jsonl")
