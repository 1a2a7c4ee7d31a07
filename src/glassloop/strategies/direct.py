"""`direct`: chain of thought without tools (Wei et al., 2022, arXiv:2201.11903).

The same loop with no tool declared and room to think: what a model says without
looking anything up, checked by the same verifier.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace

from ..events import Event
from ..gears import ReplyProtocol
from ..loop import Gears, react
from ..prompts import text
from ..state import State
from ..types import Declaration, Move, ToolCall
from .guided import Guided

THOUGHT_CHARS = 1500
"""Room for the chain of thought, where the protocol bounds thoughts."""


async def direct(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Drive a run to its end without tools."""
    think = text("strategies", state.language, "think")
    protocol = Guided(_roomy(gears.protocol), lambda: (think, False))
    bare = replace(gears, executor=NoTools(), protocol=protocol)
    async with aclosing(react(bare, state)) as events:
        async for event in events:
            yield event


class NoTools:
    """An executor with nothing to run."""

    @property
    def declarations(self) -> Sequence[Declaration]:
        """None."""
        return ()

    def offered(self, state: State) -> Sequence[Declaration]:
        """None."""
        return ()

    def barred(self, state: State) -> Sequence[ToolCall]:
        """None: what is not offered need not be barred."""
        return ()

    async def execute(self, move: Move, state: State) -> AsyncIterator[Event]:
        """Run nothing: without declared tools a protocol reads every call as a fault."""
        return
        yield


def _roomy(protocol: ReplyProtocol) -> ReplyProtocol:
    """The protocol with longer thoughts, if it bounds them."""
    if not getattr(protocol, "thought_chars", 0):
        return protocol
    roomy = copy.copy(protocol)
    roomy.thought_chars = THOUGHT_CHARS  # type: ignore[attr-defined]
    return roomy
