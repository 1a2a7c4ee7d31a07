"""Joining the chunks of a streamed reply into the message a whole reply would have been.

Servers disagree about what makes a tool call's fragment belong to which call: an id may be new
with every fragment, an index may be used twice, drift or be missing, a name may come once, again
and again, or in pieces. The rules here take all of it together: a named fragment begins a new call
only where the call before it can stand by itself; a nameless one always belongs to an open call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from .jsonish import decode
from .sse import EventDecoder

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class OpenCall:
    """A tool call while its fragments arrive."""

    index: int | None
    id: str
    name: str = ""
    arguments: str = ""

    @property
    def complete(self) -> bool:
        """Whether the arguments are a whole JSON object."""
        text = self.arguments.strip()
        return text.endswith("}") and isinstance(decode(text, strict=False), dict)


class Joiner:
    """Takes chunks one by one; `message` and `usage` are what they add up to so far."""

    def __init__(self) -> None:
        self.content: list[str] = []
        self.reasoning: list[str] = []
        self.calls: list[OpenCall] = []
        self.usage: dict[str, Any] | None = None
        self.finish_reason: str | None = None
        self.ended = False
        self.error: Any = None

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take one chunk in chat-completions form (or a line of Ollama's own stream)."""
        usage: Any = chunk.get("usage")
        if isinstance(usage, Mapping) and usage:
            self.usage = dict(cast("Mapping[str, Any]", usage))
        if chunk.get("error"):
            self.error = chunk["error"]
        choices: Any = chunk.get("choices")
        if choices is None and isinstance(chunk.get("message"), Mapping):
            choices = [{"delta": chunk["message"], "finish_reason": _ollama_reason(chunk)}]
        if not isinstance(choices, Sequence) or not choices:
            # Usage in a chunk without choices is the last word of a stream that has said something.
            self.ended = self.ended or (bool(cast("Any", usage)) and bool(self.content or self.calls))
            return
        for choice in cast("Sequence[Any]", choices):
            if isinstance(choice, Mapping) and choice.get("index", 0) in (0, None):
                self._choice(cast("Mapping[str, Any]", choice))

    def _choice(self, choice: Mapping[str, Any]) -> None:
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        delta: Any = choice.get("delta")
        whole: Any = choice.get("message")
        if not isinstance(delta, Mapping) and isinstance(whole, Mapping) and not self.content and not self.calls:
            delta = cast("Any", whole)
        if isinstance(delta, Mapping):
            self.add_delta(cast("Mapping[str, Any]", delta))
        elif isinstance(choice.get("text"), str):
            self.content.append(choice["text"])

    def add_delta(self, delta: Mapping[str, Any]) -> None:
        """Take the delta of one chunk."""
        self.content.append(_text(delta.get("content")) or _text(delta.get("refusal")))
        for key in ("reasoning_content", "reasoning", "thinking"):
            if delta.get(key):
                self.reasoning.append(_text(delta[key]))
                break
        calls: Any = delta.get("tool_calls") or []
        if not calls and isinstance(delta.get("function_call"), Mapping):
            calls = [{"index": 0, "function": delta["function_call"]}]
        if isinstance(calls, Mapping):
            calls = [calls]
        for call in cast("Sequence[Any]", calls if isinstance(calls, Sequence) else ()):
            if isinstance(call, Mapping):
                self._fragment(cast("Mapping[str, Any]", call))

    # -- tool calls --------------------------------------------------------------------

    def _fragment(self, piece: Mapping[str, Any]) -> None:
        inner: Any = piece.get("function")
        function = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else piece
        name = function.get("name") if isinstance(function.get("name"), str) else ""
        arguments = function.get("arguments")
        if isinstance(arguments, (dict, list)):
            arguments = json.dumps(arguments, ensure_ascii=False)
        given = arguments if isinstance(arguments, str) else ""
        index = piece.get("index") if isinstance(piece.get("index"), int) else None
        id_ = piece["id"] if isinstance(piece.get("id"), str) else ""
        call = self._owner(index, id_, name or "", given)
        if call is None:
            self.calls.append(OpenCall(index, id_, name or "", given))
            return
        call.id = call.id or id_
        if name and name != call.name:
            call.name = name if name.startswith(call.name) else call.name + name
        if given.startswith("{") and call.arguments.startswith("{") and given.startswith(call.arguments):
            # The server sends all it has so far, each time; `{{` or `{}{}` would be no JSON.
            call.arguments = given
        elif not (given and given == call.arguments and call.complete):
            call.arguments += given

    def _owner(self, index: int | None, id_: str, name: str, given: str) -> OpenCall | None:
        """Return the call a fragment belongs to, None if it begins a new one."""
        same = self._same_place(index, id_)
        if name:
            return same if same is not None and _goes_on(same, id_, name, given) else None
        if same is not None:
            return same
        if not self.calls:
            return None
        last = self.calls[-1]
        begins = bool(id_) and not given
        return None if begins or (last.complete and id_) else last

    def _same_place(self, index: int | None, id_: str) -> OpenCall | None:
        if index is not None:
            return next((c for c in reversed(self.calls) if c.index == index), None)
        if id_:
            found = next((c for c in reversed(self.calls) if c.id == id_), None)
            return found
        return self.calls[-1] if self.calls else None

    # -- the result --------------------------------------------------------------------

    @property
    def truncated(self) -> bool:
        """Whether the stream stopped without any sign that this was its end."""
        return self.error is not None or not (self.finish_reason or self.ended)

    def message(self) -> dict[str, Any]:
        """Return the assistant message the chunks add up to."""
        content = _whole("".join(self.content))
        message: dict[str, Any] = {"role": "assistant", "content": content if content or not self.calls else None}
        if any(self.reasoning):
            message["reasoning_content"] = _whole("".join(self.reasoning))
        if self.calls:
            ordered = self.calls
            if all(call.index is not None for call in ordered):
                ordered = sorted(ordered, key=lambda call: call.index or 0)
            message["tool_calls"] = [
                {
                    "id": call.id or f"call_{n}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": _whole(call.arguments)},
                }
                for n, call in enumerate(ordered)
            ]
        message["finish_reason"] = self.finish_reason
        if self.truncated:
            message["truncated"] = True
        return message


def _goes_on(call: OpenCall, id_: str, name: str, given: str) -> bool:
    """Whether a named fragment in the place of `call` is a further piece of it."""
    if not call.name:
        return True
    other_id = bool(id_ and call.id and id_ != call.id)
    if name == call.name:
        if not other_id and (not call.complete or not given or given == call.arguments):
            return bool(call.arguments) or not given or not id_ or id_ == call.id
        return not call.complete and bool(call.arguments) and not given.lstrip().startswith("{")
    # A name in pieces: nothing of the arguments has come yet, and the id does not speak against it.
    return not call.arguments and not other_id


def _ollama_reason(chunk: Mapping[str, Any]) -> str | None:
    if not chunk.get("done"):
        return None
    reason = chunk.get("done_reason")
    return reason if isinstance(reason, str) and reason else "stop"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        return ""
    parts: list[str] = []
    for part in cast("Sequence[Any]", content):
        text = cast("Mapping[str, Any]", part).get("text") if isinstance(part, Mapping) else part
        parts.append(text if isinstance(text, str) else "")
    return "".join(parts)


def _whole(text: str) -> str:
    """Put the halves of characters together that were escaped in two chunks."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def join(chunks: Iterable[Mapping[str, Any] | bytes | str]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Join the chunks of a streamed reply.

    Args:
        chunks: Chat-completions chunks as dicts, or the raw pieces of the event stream as bytes or text.

    Returns:
        The assistant message and the usage (None if the server never said). The message also holds
        `finish_reason`, and `truncated: True` when the stream stopped without an end, so that `read`
        runs nothing of it.
    """
    joiner = Joiner()
    decoder = EventDecoder()
    for chunk in chunks:
        if isinstance(chunk, (bytes, bytearray, str)):
            for event in decoder.feed(bytes(chunk) if isinstance(chunk, bytearray) else chunk):
                joiner.add(event)
        else:
            joiner.add(chunk)
    for event in decoder.close():
        joiner.add(event)
    joiner.ended = joiner.ended or decoder.done
    return joiner.message(), joiner.usage


__all__ = ["Joiner", "OpenCall", "join"]
