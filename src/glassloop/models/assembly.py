"""From the pieces a server sends to one `Reply`.

It owes the same `Reply` for the same answer, whether it came whole or as a
stream of chat-completions chunks, and tolerance for what servers really send:
missing indexes and ids, usage in a chunk without choices or not at all.
Nothing is interpreted here: text stays as it came, arguments stay strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from glassloop.joining import Joiner
from glassloop.types import Delta, Reply, Usage

_BODY_KEYS = ("id", "created", "model", "system_fingerprint", "service_tier", "timings")


def reply_from(body: Mapping[str, Any], *, seconds: float, model: str) -> Reply:
    """Read a whole chat-completions body.

    Args:
        body: The decoded JSON body.
        seconds: How long the answer took.
        model: Name to give the reply when the body has none.
    """
    choice = _first(body.get("choices"))
    message = _mapping(choice.get("message"))
    return Reply(
        text=_text(message.get("content")),
        tool_calls=tuple(dict(_mapping(c)) for c in message.get("tool_calls") or ()),
        usage=usage_from(body),
        finish_reason=choice.get("finish_reason"),
        reasoning=_text(message.get("reasoning_content") or message.get("reasoning")),
        raw=dict(body),
        seconds=seconds,
        model=str(body.get("model") or model),
    )


def usage_from(body: Mapping[str, Any]) -> Usage:
    """Read the tokens of a body: from `usage`, or from llama.cpp's `timings` where that is missing or silent."""
    usage, timings = _mapping(body.get("usage")), _mapping(body.get("timings"))
    details = _mapping(usage.get("prompt_tokens_details"))
    cached = details.get("cached_tokens")
    if cached is None:
        # DeepSeek's servers count hits in a field of their own.
        cached = timings.get("cache_n", usage.get("prompt_cache_hit_tokens", 0))
    prompt = usage.get("prompt_tokens")
    if prompt is None:
        prompt = timings.get("cache_n", 0) + timings.get("prompt_n", 0)
    completion = usage.get("completion_tokens")
    if completion is None:
        completion = timings.get("predicted_n", 0)
    return Usage(prompt=prompt or 0, completion=completion or 0, cached=cached or 0, requests=1)


class Assembler:
    """Folds chat-completions chunks into the body the same server would have sent whole."""

    def __init__(self) -> None:
        self._joiner = Joiner()
        self._top: dict[str, Any] = {}
        self._logprobs: list[Any] = []

    @property
    def text(self) -> str:
        """The text so far: what is kept when a stream dies."""
        return self._joiner.text

    @property
    def finish_reason(self) -> str | None:
        """Why the server says the reply ended; None while it has not."""
        return self._joiner.finish_reason

    def add(self, chunk: Mapping[str, Any]) -> Delta | None:
        """Take a chunk and return what it brought, or None if that was only bookkeeping."""
        for key in _BODY_KEYS:
            if chunk.get(key) is not None:
                self._top[key] = chunk[key]
        choice = _first(chunk.get("choices"))
        self._logprobs.extend(_mapping(choice.get("logprobs")).get("content") or ())
        return self._joiner.add(chunk)

    def body(self) -> dict[str, Any]:
        """The whole body, as if it had not been streamed."""
        joiner = self._joiner
        # A whole body says null where a message holds nothing but calls.
        message: dict[str, Any] = {"role": "assistant", "content": joiner.text or (None if joiner.calls else "")}
        if joiner.thinking:
            message["reasoning_content"] = joiner.thinking
        if joiner.calls:
            message["tool_calls"] = [{**({"id": c.id} if c.id else {}), **c.wire()} for c in joiner.ordered]
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": joiner.finish_reason}
        if self._logprobs:
            choice["logprobs"] = {"content": self._logprobs}
        body = {**self._top, "object": "chat.completion", "choices": [choice]}
        if joiner.usage:
            body["usage"] = joiner.usage
        return body

    def reply(self, *, seconds: float, model: str) -> Reply:
        """The whole reply; see `reply_from`."""
        return reply_from(self.body(), seconds=seconds, model=model)


def _first(choices: Any) -> Mapping[str, Any]:
    return _mapping(choices[0]) if isinstance(choices, (list, tuple)) and choices else {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _text(content: Any) -> str:
    """Text of a content field: a string, None, or a list of parts of which only the text ones count."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [_mapping(p) for p in cast("list[Any]", content)]
        return "".join(str(p.get("text") or "") for p in parts if p.get("type") in (None, "text", "output_text"))
    return ""
