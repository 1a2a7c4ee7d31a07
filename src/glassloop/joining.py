"""Joining the chunks of a streamed reply into the message a whole reply would have been.

Servers disagree about what makes a tool call's fragment belong to which call: an id may be new
with every fragment, an index may be used twice, drift or be missing, a name may come once, again
and again, or in pieces. The rules here take all of it together: a named fragment begins a new call
only where the call before it can stand by itself; a nameless one always belongs to an open call.

Models put their streams together with it and protocols read half a reply with it, so it stands
beside the gears and knows none of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from .types import Delta

_REASONING = ("reasoning_content", "reasoning", "thinking")
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
        if not text.endswith("}"):
            return False
        try:
            return isinstance(json.loads(text, strict=False), dict)
        except (ValueError, RecursionError):
            return False

    def wire(self) -> dict[str, Any]:
        """The call in chat-completions form, without its id."""
        return {"type": "function", "function": {"name": self.name, "arguments": _whole(self.arguments)}}


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

    def add(self, chunk: Mapping[str, Any]) -> Delta | None:
        """Take one chunk in chat-completions form (or a line of Ollama's own stream).

        Returns:
            What it brought; None if that was only bookkeeping.
        """
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
            return None
        for choice in cast("Sequence[Any]", choices):
            if isinstance(choice, Mapping) and choice.get("index", 0) in (0, None):
                return self._choice(cast("Mapping[str, Any]", choice))
        return None

    def _choice(self, choice: Mapping[str, Any]) -> Delta | None:
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        delta: Any = choice.get("delta")
        whole: Any = choice.get("message")
        if not isinstance(delta, Mapping) and isinstance(whole, Mapping) and not self.content and not self.calls:
            delta = cast("Any", whole)
        if isinstance(delta, Mapping):
            return self.add_delta(cast("Mapping[str, Any]", delta))
        said: Any = choice.get("text")
        if not isinstance(said, str):
            return None
        self.content.append(said)
        return Delta(said) if said else None

    def add_delta(self, delta: Mapping[str, Any]) -> Delta | None:
        """Take the delta of one chunk and return what it brought."""
        text = _text(delta.get("content")) or _text(delta.get("refusal"))
        reasoning = next((_text(delta[key]) for key in _REASONING if delta.get(key)), "")
        self.content.append(text)
        self.reasoning.append(reasoning)
        calls: Any = delta.get("tool_calls") or []
        if not calls and isinstance(delta.get("function_call"), Mapping):
            calls = [{"index": 0, "function": delta["function_call"]}]
        if isinstance(calls, Mapping):
            calls = [calls]
        pieces = [
            dict(cast("Mapping[str, Any]", call))
            for call in cast("Sequence[Any]", calls if isinstance(calls, Sequence) else ())
            if isinstance(call, Mapping)
        ]
        for piece in pieces:
            self._fragment(piece)
        return Delta(text, reasoning, tuple(pieces)) if text or reasoning or pieces else None

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

    @property
    def text(self) -> str:
        """The text so far."""
        return _whole("".join(self.content))

    @property
    def thinking(self) -> str:
        """The reasoning so far, where the server keeps it apart from the text."""
        return _whole("".join(self.reasoning))

    @property
    def ordered(self) -> list[OpenCall]:
        """The calls so far, in the order the server numbers them, or else in which they came."""
        if all(call.index is not None for call in self.calls):
            return sorted(self.calls, key=lambda call: call.index or 0)
        return list(self.calls)

    def message(self) -> dict[str, Any]:
        """Return the assistant message the chunks add up to."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text or (None if self.calls else "")}
        if thinking := self.thinking:
            message["reasoning_content"] = thinking
        if self.calls:
            message["tool_calls"] = [
                {"id": call.id or f"call_{n}", **call.wire()} for n, call in enumerate(self.ordered)
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
