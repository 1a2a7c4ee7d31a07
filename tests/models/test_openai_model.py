"""A model behind an OpenAI-compatible server, over real sockets: good days, bad days, and a key nobody may see."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from loopback import Answer, as_json, free_port
from openai_server import OpenAIServer

from glassloop import errors
from glassloop.models.openai import OpenAIModel
from glassloop.models.retry import Retry
from glassloop.types import Delta, Reply, Request

KEY = "sk-very-secret-0123456789abcdef"
ASK = Request(messages=({"role": "user", "content": "上海天气怎么样？"},), temperature=0)
CALL = {"id": "a1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "上海"}'}}
OTHER = {"id": "a2", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "北京"}'}}


class Waits:
    """A sleep that does not sleep."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.told: list[tuple[str, float]] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def retry(self, **more: Any) -> Retry:
        hear = lambda reason, delay: self.told.append((reason, delay))  # noqa: E731
        return Retry(sleep=self.sleep, dice=lambda: 1.0, on_retry=hear, **more)


def model_at(server: OpenAIServer, waits: Waits | None = None, **more: Any) -> OpenAIModel:
    return OpenAIModel("tiny-chat", server.base_url, KEY, retry=(waits or Waits()).retry(), **more)


async def whole_stream(model: OpenAIModel, request: Request) -> tuple[list[Delta], Reply]:
    items = [item async for item in model.stream(request)]
    assert isinstance(items[-1], Reply)
    return [i for i in items if isinstance(i, Delta)], items[-1]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "晴，25 °C"},
        {"role": "assistant", "content": "ok", "reasoning_content": "because"},
        {"role": "assistant", "content": None, "tool_calls": [CALL, OTHER]},
        {"role": "assistant", "content": ""},
    ],
)
def test_streamed_and_whole_replies_are_equal(message: dict[str, Any]) -> None:
    with OpenAIServer([message]) as server:
        model = model_at(server)

        async def both() -> None:
            whole = await model.complete(ASK)
            deltas, streamed = await whole_stream(model, ASK)
            raw = streamed.raw["choices"], streamed.raw["usage"]
            assert (whole.raw["choices"], whole.raw["usage"]) == raw
            assert replace(streamed, seconds=0, raw={}) == replace(whole, seconds=0, raw={})
            assert "".join(d.text for d in deltas) == whole.text
            assert "".join(d.reasoning for d in deltas) == whole.reasoning

        asyncio.run(both())


def test_usage_counts_cached_tokens_from_the_details() -> None:
    with OpenAIServer() as server:
        usage = asyncio.run(model_at(server).complete(ASK)).usage
    assert (usage.prompt, usage.completion, usage.cached, usage.requests) == (40, 9, 32, 1)


def test_usage_falls_back_to_the_timings_of_llama_cpp() -> None:
    with OpenAIServer() as server:
        server.usage = None
        server.extra = {"timings": {"cache_n": 90, "prompt_n": 10, "predicted_n": 5}}
        model = model_at(server)
        whole = asyncio.run(model.complete(ASK)).usage
        _, streamed = asyncio.run(whole_stream(model, ASK))
    assert (whole.prompt, whole.completion, whole.cached) == (100, 5, 90)
    assert streamed.usage == whole


def test_the_body_holds_what_was_asked_and_nothing_else() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    ask = replace(ASK, schema=schema, tools=(tool,), stop=("Observation",), seed=7, max_tokens=50, logprobs=3)
    with OpenAIServer() as server:
        asyncio.run(model_at(server).complete(ask))
        asyncio.run(model_at(server).complete(ASK))
        (_, headers, full), (_, _, bare) = server.requests
    assert headers["authorization"] == f"Bearer {KEY}"
    assert full["response_format"]["json_schema"]["schema"] == schema
    assert (full["stop"], full["seed"], full["max_tokens"]) == (["Observation"], 7, 50)
    assert (full["logprobs"], full["top_logprobs"], full["tools"]) == (True, 3, [tool])
    assert set(bare) == {"model", "messages", "temperature"}


def test_one_model_serves_many_event_loops() -> None:
    with OpenAIServer() as server:
        model = model_at(server)
        assert [asyncio.run(model.complete(ASK)).text for _ in range(3)] == ["Hello"] * 3


def test_a_500_that_heals_on_the_second_try() -> None:
    waits = Waits()
    with OpenAIServer([as_json({"error": {"message": "boom"}}, 500), "fine"]) as server:
        assert asyncio.run(model_at(server, waits).complete(ASK)).text == "fine"
        deltas, reply = asyncio.run(whole_stream(model_at(server, waits), ASK))
    assert waits.slept == [0.5]
    assert "500" in waits.told[0][0]
    assert reply.text == "fine"


def test_429_obeys_retry_after_and_gives_up_when_that_is_too_long() -> None:
    waits = Waits()
    busy = as_json({"error": {"message": "slow down"}}, 429, Retry_After="7")
    with OpenAIServer([busy, "fine"]) as server:
        assert asyncio.run(model_at(server, waits).complete(ASK)).text == "fine"
    assert waits.slept == [7.0]
    with OpenAIServer([as_json({"error": {"message": "quota"}}, 429, Retry_After="3600")]) as server:
        with pytest.raises(errors.ModelOverloaded, match="quota"):
            asyncio.run(model_at(server, waits).complete(ASK))
        assert server.played == 1


def test_delays_double_and_end() -> None:
    waits = Waits()
    with OpenAIServer([as_json({"error": "no"}, 503)]) as server:
        with pytest.raises(errors.ModelOverloaded, match="503"):
            asyncio.run(model_at(server, waits).complete(ASK))
        assert server.played == 4
    assert waits.slept == [0.5, 1.0, 2.0]


def test_a_refused_request_is_never_tried_again() -> None:
    with OpenAIServer([as_json({"error": {"message": "tools is not supported"}}, 400)]) as server:
        with pytest.raises(errors.ModelRefused, match="tools is not supported"):
            asyncio.run(model_at(server).complete(ASK))
        assert server.played == 1


def test_no_server_listening() -> None:
    waits = Waits()
    model = OpenAIModel("m", f"http://127.0.0.1:{free_port()}/v1", KEY, retry=waits.retry(attempts=2))
    with pytest.raises(errors.ModelUnavailable, match=r"No model server answers at http://127.0.0.1:\d+/v1: start it"):
        asyncio.run(model.complete(ASK))
    assert len(waits.slept) == 1


def test_an_unknown_model_and_a_wrong_address() -> None:
    with OpenAIServer() as server:
        with pytest.raises(errors.ModelRefused, match="no model called 'tiny-chatt'"):
            asyncio.run(OpenAIModel("tiny-chatt", server.base_url).complete(ASK))
        with pytest.raises(errors.ModelRefused, match="ends in /v1"):
            asyncio.run(OpenAIModel("tiny-chat", server.url).complete(ASK))


def cut(server: OpenAIServer) -> Answer:
    return server.streamed({"content": "half of an ans"}, {"model": "tiny-chat"}, cut=True)


def unfinished(server: OpenAIServer) -> Answer:
    return replace(cut(server), cut=False)


@pytest.mark.parametrize("make", [cut, unfinished])
def test_a_stream_that_dies_keeps_its_part(make: Callable[[OpenAIServer], Answer]) -> None:
    with OpenAIServer() as server:
        server.script = [make(server)]
        with pytest.raises(errors.ModelBroken, match="ended in the middle") as caught:
            asyncio.run(whole_stream(model_at(server), ASK))
        assert server.played == 1
    assert caught.value.partial == "half of an ans"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(chunks=(b'{"choices": [{"mess',), cut=True), "ended in the middle"),
        (Answer(chunks=(b'{"choices": [{"mess',)), "is not JSON"),
        (Answer(chunks=(b"",)), "is empty"),
        (Answer(chunks=(b"[]",)), "is not a chat completion"),
        (as_json({"choices": []}), "holds no choices"),
        (as_json({"error": {"message": "out of memory"}}), "out of memory"),
    ],
)
def test_replies_that_are_not_replies(answer: Answer, words: str) -> None:
    with OpenAIServer([answer]) as server, pytest.raises(errors.ModelBroken, match=words):
        asyncio.run(model_at(server).complete(ASK))


def test_a_chunk_that_is_not_json_and_an_error_inside_a_stream() -> None:
    sse = "text/event-stream"
    for chunk in (b'data: {"choi\n\n', b'data: {"error": {"message": "worker died"}}\n\n'):
        with OpenAIServer([Answer(chunks=(chunk,), content_type=sse)]) as server:
            with pytest.raises(errors.ModelBroken, match="not JSON|worker died"):
                asyncio.run(whole_stream(model_at(server), ASK))


@pytest.mark.parametrize("slow", [Answer(held=True), Answer(chunks=(b" ",), gap=0.05, endless=True)])
def test_a_slow_reply_ends_at_the_requests_own_limit(slow: Answer) -> None:
    ask = replace(ASK, timeout=0.3)
    with OpenAIServer([slow]) as server:
        for run in (lambda: model_at(server).complete(ask), lambda: whole_stream(model_at(server), ask)):
            with pytest.raises(errors.ModelTimeout, match=r"within 0\.\d+ seconds"):
                asyncio.run(run())


LLAMACPP_SAYS = "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"
OPENAI_SAYS = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
VLLM_SAYS = "This model's maximum context length is 8192 tokens. Please reduce the length of the input messages."


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, {"error": {"type": "exceed_context_size_error", "message": LLAMACPP_SAYS}}),
        (400, {"error": {"code": "context_length_exceeded", "message": OPENAI_SAYS}}),
        (400, {"object": "error", "message": VLLM_SAYS, "code": 400}),
        (500, {"error": {"message": "the prompt exceeds the context window"}}),
        (413, "prompt is too long: 9000 tokens > 8192 maximum"),
    ],
)
def test_a_prompt_too_long_is_told_apart(status: int, said: Any) -> None:
    with OpenAIServer([as_json(said, status)]) as server:
        with pytest.raises(errors.ContextTooLong, match="shorten it"):
            asyncio.run(model_at(server).complete(ASK))
        assert server.played == 1


def test_no_key_for_openais_own_server() -> None:
    with pytest.raises(errors.ModelRefused, match="OPENAI_API_KEY"):
        asyncio.run(OpenAIModel("gpt-x").complete(ASK))


FAILURES: list[Any] = [
    as_json({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401),
    as_json({"error": {"message": f"key {KEY} may not"}}, 403),
    as_json({"error": {"message": f"model for {KEY} not found"}}, 404),
    as_json({"error": f"bad request by {KEY}"}, 400),
    as_json({"error": f"context length exceeded for {KEY}"}, 400),
    as_json({"error": f"{KEY} too fast"}, 429),
    as_json({"error": f"{KEY} crashed us"}, 500),
    as_json({"error": {"message": f"{KEY} inside a 200"}}),
    Answer(500, (f"plain words {KEY}".encode(),), "text/plain"),
    Answer(chunks=(f"not json {KEY}".encode(),)),
    Answer(chunks=(f"cut {KEY}".encode(),), cut=True),
    Answer(held=True),
    "fine",
]


@pytest.mark.parametrize("answer", FAILURES, ids=lambda a: str(getattr(a, "status", "ok")))
def test_the_key_is_never_shown(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    waits = Waits()
    with OpenAIServer([answer]) as server:
        address = server.base_url.replace("http://", f"http://user:{KEY}@")
        for url in (server.base_url, address):
            model = OpenAIModel("tiny-chat", url, KEY, retry=waits.retry(attempts=2))
            for run in (model.complete, lambda r, m=model: whole_stream(m, r)):
                shown = repr(model) + str(vars(model)["_place"])
                try:
                    shown += repr(asyncio.run(run(replace(ASK, timeout=0.4))))
                except errors.ModelError as error:
                    shown += "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(error.__cause__)
                assert KEY not in shown
                assert "very-secret" not in shown
    assert KEY not in caplog.text
    assert KEY not in repr(waits.told)
