"""Ollama's native chat over real sockets: its own forms, and its own bad days."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from loopback import Answer, as_json, free_port
from ollama_server import OllamaServer

from glassloop import errors
from glassloop.models.ollama import OllamaModel, native_messages
from glassloop.models.retry import Retry
from glassloop.types import Delta, Reply, Request

ASK = Request(messages=({"role": "user", "content": "上海天气怎么样？"},), temperature=0)
CALL = {"function": {"name": "get_weather", "arguments": {"city": "上海", "days": 2}}}


def model_at(server: OllamaServer, slept: list[float] | None = None, **more: Any) -> OllamaModel:
    async def sleep(seconds: float) -> None:
        if slept is not None:
            slept.append(seconds)

    return OllamaModel("tiny:1b", server.url, retry=Retry(sleep=sleep), **more)


async def whole_stream(model: OllamaModel, request: Request) -> tuple[list[Delta], Reply]:
    items = [item async for item in model.stream(request)]
    assert isinstance(items[-1], Reply)
    return [i for i in items if isinstance(i, Delta)], items[-1]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "晴，25 °C"},
        {"role": "assistant", "content": "ok", "thinking": "because"},
        {"role": "assistant", "content": "", "tool_calls": [CALL, CALL]},
    ],
)
def test_streamed_and_whole_replies_are_equal(message: dict[str, Any]) -> None:
    with OllamaServer([message]) as server:
        model = model_at(server)
        whole = asyncio.run(model.complete(ASK))
        deltas, streamed = asyncio.run(whole_stream(model, ASK))
    assert replace(streamed, seconds=0) == replace(whole, seconds=0)
    assert "".join(d.text for d in deltas) == whole.text == message["content"]
    assert whole.reasoning == message.get("thinking", "")
    assert [json.loads(c["function"]["arguments"]) for c in whole.tool_calls] == [
        c["function"]["arguments"] for c in message.get("tool_calls", ())
    ]
    assert (whole.usage.prompt, whole.usage.completion, whole.finish_reason) == (40, 9, "stop")


def test_the_context_is_said_in_every_request_and_schemas_go_into_format() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^\\d+$"}}, "required": ["a"]}
    ask = replace(ASK, schema=schema, stop=("Observation",), seed=7, max_tokens=50)
    with OllamaServer() as server:
        asyncio.run(model_at(server, num_ctx=4096).complete(ask))
        asyncio.run(model_at(server).complete(ASK))
        (_, _, full), (_, _, bare) = server.requests
    assert full["options"] == {"num_ctx": 4096, "temperature": 0, "num_predict": 50, "seed": 7, "stop": ["Observation"]}
    assert full["format"]["properties"]["a"]["pattern"] == "^[0-9]+$"
    assert bare["options"]["num_ctx"] == 8192
    assert "format" not in bare
    assert not bare["tools"]


def test_history_takes_ollamas_form() -> None:
    call = {"id": "c7", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    history = (
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c7", "content": "42"},
    )
    assert native_messages(history) == [
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
        {"role": "tool", "content": "42", "tool_name": "f"},
    ]


def test_what_the_client_drops_from_a_tool_is_told_in_words() -> None:
    place = {"type": "object", "description": "Where.", "properties": {"lat": {"type": "number"}}}
    parameters = {"type": "object", "properties": {"place": place}, "required": ["place"]}
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": parameters}}
    with OllamaServer() as server:
        asyncio.run(model_at(server).complete(replace(ASK, tools=(tool,))))
        sent = server.requests[0][2]["tools"][0]["function"]["parameters"]
    assert sent["required"] == ["place"]
    assert sent["properties"]["place"]["description"] == 'Where. {"properties":{"lat":{"type":"number"}}}'


def test_retry_after_is_obeyed_and_a_500_heals() -> None:
    slept: list[float] = []
    script = [as_json({"error": "busy"}, 429, Retry_After="7"), as_json({"error": "boom"}, 500), "fine"]
    with OllamaServer(script) as server:
        assert asyncio.run(model_at(server, slept).complete(ASK)).text == "fine"
    assert slept[0] == 7.0
    assert len(slept) == 2


def test_bad_days() -> None:
    bad: list[tuple[Answer, type[errors.ModelError], str]] = [
        (as_json({"error": "the input length exceeds the context length"}, 400), errors.ContextTooLong, "shorten it"),
        (as_json({"error": "tiny does not support tools"}, 400), errors.ModelRefused, "another protocol"),
        (Answer(chunks=(b'{"error": "llama runner died"}\n',)), errors.ModelBroken, "died|not a chat reply"),
        (Answer(chunks=(b"<html>",)), errors.ModelBroken, "not a chat reply"),
        (Answer(chunks=(b'{"mess',), cut=True), errors.ModelBroken, "ended in the middle|not a chat reply"),
    ]
    for answer, kind, words in bad:
        with OllamaServer([answer]) as server:
            for run in (model_at(server).complete, lambda r, s=server: whole_stream(model_at(s), r)):
                with pytest.raises(kind, match=words):
                    asyncio.run(run(ASK))


@pytest.mark.parametrize("cut", [True, False])
def test_a_stream_that_dies_keeps_its_part(cut: bool) -> None:
    with OllamaServer() as server:
        server.script = [replace(server.streamed({"content": "half of an ans"}, "tiny:1b", cut=True), cut=cut)]
        with pytest.raises(errors.ModelBroken, match="ended in the middle") as caught:
            asyncio.run(whole_stream(model_at(server), ASK))
    assert caught.value.partial == "half of an ans"


def test_nobody_listens_unknown_model_and_slow_reply() -> None:
    nobody = OllamaModel("m", f"127.0.0.1:{free_port()}", retry=Retry(attempts=1))
    with OllamaServer([Answer(held=True)]) as server:
        unknown = OllamaModel("tiny:2b", server.url, known=("tiny:1b",))
        for run in (lambda m, r: m.complete(r), whole_stream):
            with pytest.raises(errors.ModelUnavailable, match="start it"):
                asyncio.run(run(nobody, ASK))
            with pytest.raises(errors.ModelRefused, match="did you mean tiny:1b"):
                asyncio.run(run(unknown, ASK))
            with pytest.raises(errors.ModelTimeout, match=r"0\.3|0\.2"):
                asyncio.run(run(model_at(server), replace(ASK, timeout=0.3)))
