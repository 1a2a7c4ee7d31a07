"""A reply understood while it is written, and the joining of its chunks.

A `StreamReader` gives out only what it is sure of: never half of a label, a tag or an escape, and
nothing that might still turn out to be a call. What it holds back comes with `close`, together with
the move, which is the move of the whole reply: the same reader reads it.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from ..gears import Turn
from ..joining import Joiner
from ..types import Delta, Move, Reply
from .joining import join
from .listeners import JsonListener, LabelListener, Listener, Mouth, PlainListener, call_text
from .moves import IdFactory, new_id
from .read_constrained import read_constrained
from .read_native import read_native
from .read_text import read_text

__all__ = ["Closed", "StreamReader", "join"]

_READERS = {"text": read_text, "native": read_native, "constrained": read_constrained}


class Closed(NamedTuple):
    """The end of a stream: the pieces that had been held back, and the move of the whole reply."""

    pieces: list[tuple[str, str]]
    move: Move


class StreamReader:
    """Reads one reply from its deltas.

    Args:
        protocol: How the reply was asked for: `text`, `native` or `constrained`.
        turn: What was asked.
        make_id: Makes the ids of the calls.
    """

    def __init__(self, protocol: str, turn: Turn, *, make_id: IdFactory = new_id) -> None:
        self._read = _READERS[protocol]
        self._turn = turn
        self._make_id = make_id
        self._mouth = Mouth()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._joiner = Joiner()
        self._shown: set[int] = set()
        self._names = names = tuple(tool.name for tool in turn.tools or turn.declared)
        self._listener: Listener
        if protocol == "text":
            self._listener = LabelListener(self._mouth, names)
        elif protocol == "native":
            self._listener = PlainListener(self._mouth, names)
        else:
            self._listener = JsonListener(self._mouth, names)

    def feed(self, delta: Delta) -> list[tuple[str, str]]:
        """Take a delta and return what is understood by now, as `(part, text)`.

        Parts are `thought`, `answer` and `call`; a call's text is its name and arguments as JSON.
        Text before a call, or before the end of a think block that nobody opened, is given out as
        `answer` where no labels tell: nothing but the rest of the reply can tell them apart.
        """
        if delta.reasoning:
            self._reasoning.append(delta.reasoning)
            self._mouth.say("thought", delta.reasoning)
        if delta.text:
            self._text.append(delta.text)
            self._listener.feed(delta.text)
        if delta.tool_calls:
            self._joiner.add_delta({"tool_calls": list(delta.tool_calls)})
            for place, call in enumerate(self._joiner.calls):
                if place not in self._shown and call.name in self._names and call.complete:
                    self._shown.add(place)
                    self._mouth.call(call.name, json.loads(call.arguments, strict=False))
        return self._mouth.take()

    def close(self, reply: Reply | None = None) -> Closed:
        """End the stream.

        Args:
            reply: The whole reply, if the model's backend has put it together; else it is made of the deltas.
        """
        if reply is None:
            message = self._joiner.message()
            reply = Reply(
                text="".join(self._text),
                reasoning="".join(self._reasoning),
                tool_calls=tuple(message.get("tool_calls", ())),
                finish_reason="stop",
            )
        move = self._read(reply, self._turn, make_id=self._make_id)
        if move.answer is not None:
            self._mouth.complete("answer", move.answer)
        told = list(self._mouth.calls)
        for call in move.calls:
            text = call_text(call.name, call.arguments)
            if text in told:
                told.remove(text)
            else:
                self._mouth.call(call.name, call.arguments)
        return Closed(self._mouth.take(), move)
