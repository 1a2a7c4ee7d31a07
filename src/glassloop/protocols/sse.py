"""Decoding server-sent events from raw bytes, however the network cut them."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, cast


class EventDecoder:
    """Turns pieces of an event stream into the JSON objects it carries.

    Attributes:
        done: Whether the server said `[DONE]`.
        broken: Whether some event held no JSON.
    """

    def __init__(self) -> None:
        self.done = False
        self.broken = False
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._data: list[str] = []

    def feed(self, piece: bytes | str) -> Iterator[dict[str, Any]]:
        """Take a piece and yield every event it completes."""
        text = piece if isinstance(piece, str) else self._decoder.decode(piece)
        self._rest += text
        if "\n" not in text and "\r" not in text:
            return
        # A carriage return at the very end may be the first half of a line break.
        ends = len(self._rest) - 1 if self._rest.endswith("\r") else len(self._rest)
        lines = self._rest[:ends].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = lines.pop() + self._rest[ends:]
        for line in lines:
            yield from self._line(line)

    def close(self) -> Iterator[dict[str, Any]]:
        """Yield what the stream ended with, if its last event is whole."""
        rest = self._rest + self._decoder.decode(b"", True)
        self._rest = ""
        if rest.strip():
            yield from self._line(rest.strip("\r"))
        yield from self._event()

    def _line(self, line: str) -> Iterator[dict[str, Any]]:
        if not line:
            yield from self._event()
        elif line.startswith("data:"):
            data = line[5:].removeprefix(" ")
            # Some servers leave out the empty line between events.
            if self._data and data.startswith(("{", "[DONE]")):
                yield from self._event()
            self._data.append(data)
        elif line.startswith("{") and not self._data:
            self._data.append(line)
            yield from self._event()

    def _event(self) -> Iterator[dict[str, Any]]:
        data = "\n".join(self._data).strip()
        self._data.clear()
        if data == "[DONE]":
            self.done = True
        elif data:
            try:
                value = json.loads(data, strict=False)
            except (ValueError, RecursionError):
                self.broken = True
                return
            if isinstance(value, dict):
                yield cast("dict[str, Any]", value)
