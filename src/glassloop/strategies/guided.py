"""A protocol with a word of the strategy at the end of every request; everything else is the inner protocol's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..gears import ReplyProtocol, Turn
from ..types import Move, Reply, Request


class Guided:
    """Adds an instruction to each turn.

    Args:
        inner: The protocol that writes and reads.
        guide: Gives the instruction for a turn, and whether only an answer may be given.
    """

    def __init__(self, inner: ReplyProtocol, guide: Callable[[], tuple[str, bool]]) -> None:
        self.inner = inner
        self.guide = guide

    @property
    def name(self) -> str:
        """The inner protocol's name."""
        return self.inner.name

    def ask(self, turn: Turn) -> Request:
        """Render the turn with the instruction behind all messages; a wrap-up's own instruction stands alone."""
        return self.inner.ask(self._guided(turn))

    def read(self, reply: Reply, turn: Turn) -> Move:
        """Understand the reply in the light of the same turn."""
        return self.inner.read(reply, self._guided(turn))

    def _guided(self, turn: Turn) -> Turn:
        if turn.instruction:
            return turn
        instruction, answer_only = self.guide()
        if answer_only:
            return replace(turn, instruction=instruction, tools=(), answer_only=True)
        return replace(turn, instruction=instruction)
