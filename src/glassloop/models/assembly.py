"""From the pieces a server sends to one `Reply`.

It owes the same `Reply` for the same answer, whether it came whole or as a
stream of chat-completions chunks, and tolerance for what servers really send:
missing indexes and ids, usage in a chunk without choices or not at all.
Nothing is interpreted here: text stays as it came, arguments stay strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

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
        self._top: dict[str, Any] = {}
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._by_index: dict[int, dict[str, Any]] = {}
        self._logprobs: list[Any] = []
        self._usage: Any = None
        self.finish_reason: str | None = None

    @property
    def text(self) -> str:
        """The text so far: what is kept when a stream dies."""
        return "".join(self._content)

    def add(self, chunk: Mapping[str, Any]) -> Delta | None:
        """Take a chunk and return what it brought, or None if that was only bookkeeping."""
        for key in _BODY_KEYS:
            if chunk.get(key) is not None:
                self._top[key] = chunk[key]
        if chunk.get("usage"):
            self._usage = chunk["usage"]
        choice = _first(chunk.get("choices"))
        if choice.get("finish_reason"):
            self.finish_reason = choice["finish_reason"]
        self._logprobs.extend(_mapping(choice.get("logprobs")).get("content") or ())
        delta = _mapping(choice.get("delta"))
        text = _text(delta.get("content"))
        reasoning = _text(delta.get("reasoning_content") or delta.get("reasoning"))
        calls = tuple(dict(_mapping(c)) for c in delta.get("tool_calls") or ())
        self._content.append(text)
        self._reasoning.append(reasoning)
        for call in calls:
            self._add_call(call)
        return Delta(text, reasoning, calls) if text or reasoning or calls else None

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        call = self._call_for(piece)
        if piece.get("id") and not call.get("id"):
            call["id"] = piece["id"]
        function = _mapping(piece.get("function"))
        if function.get("name"):
            call["function"]["name"] += function["name"]
        arguments = function.get("arguments")
        if isinstance(arguments, str) and isinstance(call["function"]["arguments"], str):
            call["function"]["arguments"] += arguments
        elif arguments is not None:
            call["function"]["arguments"] = arguments  # an object: some servers send it whole

    def _call_for(self, piece: Mapping[str, Any]) -> dict[str, Any]:
        index, id_ = piece.get("index"), piece.get("id")
        if isinstance(index, int):
            known = self._by_index.get(index)
            # The same index with another id: Gemini's compatible server gives every parallel call index 0.
            if known is not None and (not id_ or known.get("id") in (None, id_)):
                return known
        elif self._calls and not (id_ and id_ != self._calls[-1].get("id")) and not self._begins(piece):
            return self._calls[-1]
        call: dict[str, Any] = {"type": "function", "function": {"name": "", "arguments": ""}}
        if id_:
            call = {"id": id_, **call}
        self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        return call

    def _begins(self, piece: Mapping[str, Any]) -> bool:
        """Whether a piece without an index starts a new call: it names a function and arguments came before it."""
        named = bool(_mapping(piece.get("function")).get("name"))
        return named and bool(self._calls[-1]["function"]["arguments"])

    def body(self) -> dict[str, Any]:
        """The whole body, as if it had not been streamed."""
        # A whole body says null where a message holds nothing but calls.
        message: dict[str, Any] = {"role": "assistant", "content": (self.text or None) if self._calls else self.text}
        if reasoning := "".join(self._reasoning):
            message["reasoning_content"] = reasoning
        if self._calls:
            message["tool_calls"] = self._calls
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        if self._logprobs:
            choice["logprobs"] = {"content": self._logprobs}
        body = {**self._top, "object": "chat.completion", "choices": [choice]}
        if self._usage:
            body["usage"] = self._usage
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
