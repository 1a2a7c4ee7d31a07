"""How many tokens a view takes: the server's own figures where there are any, an estimate for the rest.

No tokenizer is loaded. The estimate leans to the high side, and once a server has counted a few
requests, its growth from step to step says how far off the estimate is for this model and language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from ..types import Message, Step, canonical

if TYPE_CHECKING:
    from ..state import State

_PER_MESSAGE = 4
"""Tokens a chat template spends on a message beside its text: role, begin, end."""
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_DIGITS = re.compile(r"\d")
_MARKS = re.compile(r"[^\w\s]", re.ASCII)
_STEPS_FOR_RATIO = 8
_ENOUGH_TO_CALIBRATE = 150
_LEAST, _MOST = 0.5, 2.5


@lru_cache(maxsize=1024)
def estimate(content: str) -> int:
    """Return about how many tokens a text takes: 1 a Chinese character, 1 for about 4 letters, more for digits."""
    wide = len(_WIDE.findall(content))
    digits = len(_DIGITS.findall(content))
    marks = len(_MARKS.findall(content)) - wide
    letters = len(content) - wide - digits - max(0, marks)
    return int(wide + 0.7 * digits + 0.4 * max(0, marks) + 0.25 * letters + 0.999)


def message_tokens(message: Message) -> int:
    """Return the estimate for one message, as text or as calls, whichever is longer."""
    calls = sum(estimate(call.name) + estimate(canonical(call.arguments)) + 8 for call in message.calls)
    said = estimate(message.content) if message.content else 0
    thought = estimate(message.thought) if message.thought else 0
    return _PER_MESSAGE + (max(said, thought + calls) if message.calls else said)


def view_tokens(messages: Iterable[Message]) -> int:
    """Return the estimate for a whole view."""
    return sum(message_tokens(m) for m in messages)


def _wire_tokens(messages: Iterable[Mapping[str, Any]]) -> int:
    return sum(_PER_MESSAGE + estimate(canonical({k: v for k, v in m.items() if k != "role"})) for m in messages)


def ratio(steps: list[Step]) -> float:
    """Return how many of the server's tokens one estimated token is, from the growth between requests; 1 unknown."""
    counted = grown = 0
    recent = steps[-_STEPS_FOR_RATIO:]
    for earlier, later in zip(recent, recent[1:], strict=False):
        before, after = earlier.request.messages, later.request.messages
        more = later.reply.usage.prompt - earlier.reply.usage.prompt
        if not before or len(after) <= len(before) or after[: len(before)] != before or more <= 0:
            continue
        if not earlier.reply.usage.prompt:
            continue
        counted += more
        grown += _wire_tokens(after[len(before) :])
    if grown < _ENOUGH_TO_CALIBRATE:
        return 1.0
    return min(_MOST, max(_LEAST, counted / grown))


def measure(state: State, view: tuple[Message, ...]) -> int:
    """Return how many tokens the next request's messages will take.

    The last request's own count stands for everything it held. After a compaction nobody has
    counted the new view yet, so the compaction's figure stands until the next reply.
    """
    scale = ratio(state.steps)
    new_view = state.compacted
    if new_view is not None and state.last_prompt_messages < new_view.covers:
        return new_view.after + round(scale * view_tokens(state.messages[new_view.covers :]))
    guessed = round(scale * view_tokens(view)) + _tools_tokens(state)
    at = state.last_prompt_messages
    since = state.messages[at:]
    if since and since[0].role == "assistant":
        since = since[1:]  # the reply itself: its completion tokens are in the count
    counted = state.last_prompt_tokens + round(scale * view_tokens(since))
    # Some servers count only what they had to read anew. Such a figure is too small to be the whole prompt.
    return counted if counted * 3 >= view_tokens(view) else guessed


def _tools_tokens(state: State) -> int:
    tools = cast("tuple[Any, ...]", state.started_event.tools)
    return estimate(canonical(list(tools))) if tools else 0
