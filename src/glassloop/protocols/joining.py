"""`join`: the chunks of a streamed reply, as dicts or as raw pieces of the event stream, in one go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..joining import Joiner
from .sse import EventDecoder


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
