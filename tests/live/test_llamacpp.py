"""The embedded model, really loaded: the 135M one, small enough for every machine."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from glassloop.errors import ContextTooLong, ModelTimeout
from glassloop.models.llamacpp import LlamaCppModel
from glassloop.models.weights import fetch
from glassloop.types import Delta, Reply, Request

pytestmark = pytest.mark.live

ASK = Request(messages=({"role": "user", "content": "Say hello to the world."},), max_tokens=12, temperature=0, seed=1)


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaCppModel]:
    fetch("smollm2-135m")
    with LlamaCppModel("smollm2-135m", n_ctx=2048) as model:
        yield model


def test_streamed_and_whole_replies_are_equal(model: LlamaCppModel) -> None:
    async def listen() -> list[Delta | Reply]:
        return [item async for item in model.stream(ASK)]

    asyncio.run(model.complete(ASK))  # so that both find the same cache
    whole = asyncio.run(model.complete(ASK))
    items = asyncio.run(listen())
    streamed = items[-1]
    assert isinstance(streamed, Reply)
    assert "".join(i.text for i in items[:-1]) == streamed.text
    assert replace(streamed, seconds=0, raw={}) == replace(whole, seconds=0, raw={})
    assert whole.usage.prompt > 0
    assert whole.usage.completion == 12


def test_later_steps_read_only_what_is_new(model: LlamaCppModel) -> None:
    messages = [{"role": "system", "content": "You are careful. " * 40}, {"role": "user", "content": "Begin."}]
    shares: list[float] = []
    for _ in range(4):
        reply = asyncio.run(model.complete(replace(ASK, messages=tuple(messages))))
        shares.append(reply.usage.cached / reply.usage.prompt)
        messages += [{"role": "assistant", "content": reply.text}, {"role": "user", "content": "Observation: ok"}]
    assert min(shares[1:]) >= 0.8


def test_a_schema_is_held(model: LlamaCppModel) -> None:
    schema = {
        "type": "object",
        "properties": {
            "thought": {"type": "string", "maxLength": 20},
            "city": {"enum": ["上海", "北京"]},
            "days": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 1},
        },
        "required": ["thought", "city", "days"],
        "additionalProperties": False,
    }
    reply = asyncio.run(model.complete(replace(ASK, schema=schema, max_tokens=120)))
    said = json.loads(reply.text)
    assert list(said) == ["thought", "city", "days"]
    assert said["city"] in ("上海", "北京")
    assert 1 <= said["days"] <= 9


def test_alternatives_are_held(model: LlamaCppModel) -> None:
    def one(name: str) -> dict[str, object]:
        properties = {"name": {"const": name}, "n": {"type": "integer", "maximum": 99, "minimum": 0}}
        return {"type": "object", "properties": properties, "required": ["name", "n"], "additionalProperties": False}

    reply = asyncio.run(model.complete(replace(ASK, schema={"oneOf": [one("add"), one("take")]}, max_tokens=60)))
    said = json.loads(reply.text)
    assert said["name"] in ("add", "take")
    assert set(said) == {"name", "n"}


def test_stop_sequences_and_logprobs(model: LlamaCppModel) -> None:
    reply = asyncio.run(model.complete(replace(ASK, logprobs=3, max_tokens=3)))
    assert len(reply.raw["choices"][0]["logprobs"]["content"][0]["top_logprobs"]) == 3
    stop = reply.text[1:3]
    assert stop not in asyncio.run(model.complete(replace(ASK, stop=(stop,)))).text


def test_a_prompt_too_long(model: LlamaCppModel) -> None:
    with pytest.raises(ContextTooLong):
        asyncio.run(model.complete(replace(ASK, messages=({"role": "user", "content": "word " * 4000},))))


def test_a_request_ends_when_its_time_is_up_or_its_task_is_cancelled(model: LlamaCppModel) -> None:
    long = replace(ASK, messages=({"role": "user", "content": "Count to a thousand."},), max_tokens=1500)
    began = time.monotonic()
    with pytest.raises(ModelTimeout):
        asyncio.run(model.complete(replace(long, timeout=0.3)))

    async def cancelled() -> None:
        task = asyncio.create_task(model.complete(long))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    # The one slot is free again: nothing goes on generating behind our back.
    asyncio.run(model.complete(replace(ASK, max_tokens=1)))
    assert time.monotonic() - began < 20


def test_nothing_reaches_the_terminal_and_the_process_ends_cleanly() -> None:
    code = (
        "import asyncio\n"
        "from glassloop.models.llamacpp import LlamaCppModel\n"
        "from glassloop.types import Request\n"
        "model = LlamaCppModel('smollm2-135m', n_ctx=512)\n"
        "schema = {'type': 'object', 'properties': {'a': {'type': 'string', 'pattern': '(?=x)y'}}, 'required': ['a']}\n"
        "ask = Request(messages=({'role': 'user', 'content': 'Hi'},), max_tokens=30, schema=schema)\n"
        "print(len(asyncio.run(model.complete(ask)).text) > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "True", "")
