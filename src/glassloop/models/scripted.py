"""A public test model: it plays a list of replies and says whether all were used."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from glassloop.errors import ModelError
from glassloop.models.assembly import reply_from
from glassloop.types import Capabilities, Delta, Reply, Request, Usage

Line = str | Mapping[str, Any] | Reply | Exception
Script = Line | Callable[[Request, int], Line]

_PIECE = 7
"""Characters in one streamed piece: odd and small, so that labels and escapes are cut."""


class ScriptedModel:
    r"""Plays replies in order, for tests without a model.

    Args:
        replies: Each a text, an assistant message as a dict, a `Reply`, an exception to raise, or a function of the
            request and its number (from 0) that returns one of these.
        capabilities: What the model claims to be able to do.
        repeat_last: Play the last reply again and again instead of failing when all are used.
        name: The model's name.

    Example:
        ```python
        model = ScriptedModel(["Thought: easy\nAnswer: 4"])
        run = Agent(model=model, protocol="text").run("2+2?")
        model.assert_complete()
        ```
    """

    def __init__(
        self,
        replies: Sequence[Script],
        *,
        capabilities: Capabilities | None = None,
        repeat_last: bool = False,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.capabilities = capabilities or Capabilities(native_tools=True, json_schema=True)
        self.requests: list[Request] = []
        """Every request so far, in order."""
        self._replies = list(replies)
        self._repeat_last = repeat_last
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"ScriptedModel({len(self._replies)} replies, {self._played} used)"

    @property
    def _played(self) -> int:
        return min(len(self.requests), len(self._replies))

    async def complete(self, request: Request) -> Reply:
        """Play the next reply."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        if number >= len(self._replies) and not (self._repeat_last and self._replies):
            raise ModelError(
                f"ScriptedModel was asked {number + 1} times and has {len(self._replies)} replies: "
                "add replies, or pass repeat_last=True."
            )
        line = self._replies[min(number, len(self._replies) - 1)]
        if callable(line):
            line = line(request, number)
        return self._spoken(line, request)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Play the next reply in small pieces, then whole."""
        reply = await self.complete(request)
        for start in range(0, len(reply.reasoning), _PIECE):
            yield Delta(reasoning=reply.reasoning[start : start + _PIECE])
        for start in range(0, len(reply.text), _PIECE):
            yield Delta(text=reply.text[start : start + _PIECE])
        for index, call in enumerate(reply.tool_calls):
            yield Delta(tool_calls=({"index": index, **call},))
        yield reply

    def assert_complete(self) -> None:
        """Fail unless every reply was played.

        Raises:
            AssertionError: Some were not; the message shows the first of them.
        """
        left = self._replies[self._played :]
        if left:
            raise AssertionError(
                f"{len(left)} of {len(self._replies)} scripted replies were never asked for; next: {left[0]!r}"
            )

    def _spoken(self, line: Line, request: Request) -> Reply:
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Reply):
            return line
        message = {"role": "assistant", "content": line} if isinstance(line, str) else dict(line)
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
        reply = reply_from(body, seconds=0.0, model=self.name)
        said = len(reply.text) + len(reply.reasoning) + sum(len(json.dumps(c)) for c in reply.tool_calls)
        read = sum(len(str(cast("Any", m.get("content")) or "")) for m in request.messages)
        # No tokenizer here; four characters a token keeps budgets meaningful in tests.
        usage = Usage(prompt=max(1, read // 4), completion=max(1, said // 4), requests=1)
        return replace(reply, usage=usage)
