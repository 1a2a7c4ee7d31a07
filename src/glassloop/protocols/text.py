"""`text`: Thought, Action, Action Input, Observation, Answer as labelled lines, in English or Chinese.

The protocol of the ReAct paper (Yao et al., 2022, arXiv:2210.03629). It needs nothing
from the server but a stop sequence before the Observation label, so it works with
every model that can write text.
"""

from __future__ import annotations

import json
from typing import Any

from ..gears import Turn
from ..prompts import load, text
from ..types import Message, Move, Reply, Request
from .read_text import read_text
from .render import signatures, wire


class TextProtocol:
    """Labelled lines in plain text; the labels follow the language of the run."""

    name = "text"

    def ask(self, turn: Turn) -> Request:
        """Render the turn; generation stops before the model can invent an observation."""
        rules = "rules" if turn.declared else "rules_without_tools"
        system = text("text", turn.language, rules, tools=signatures(turn.declared))
        stops: list[str] = load("text", turn.language)["stop"]
        return Request(
            messages=tuple(wire(turn, system, lambda m: self._one(m, turn.language))),
            stop=tuple(stops),
            temperature=turn.temperature,
            max_tokens=turn.max_tokens or 1024,
        )

    def read(self, reply: Reply, turn: Turn) -> Move:
        """Understand one labelled reply; see `read_text`."""
        return read_text(reply, turn)

    def _one(self, message: Message, language: str) -> tuple[str, str]:
        words = load("text", language)
        if message.role == "tool":
            return "user", f"{words['observation']}: {message.content}"
        if message.role == "assistant" and message.calls:
            return "assistant", message.content or self._calls(message, words)
        if message.role == "assistant" and message.kind == "answer":
            thought = f"{words['thought']}: {message.thought}\n" if message.thought else ""
            return "assistant", f"{thought}{words['answer']}: {message.content}"
        return message.role, message.content

    def _calls(self, message: Message, words: dict[str, Any]) -> str:
        lines = [f"{words['thought']}: {message.thought}"] if message.thought else []
        for call in message.calls:
            lines.append(f"{words['action']}: {call.name}")
            lines.append(f"{words['action_input']}: {json.dumps(call.arguments, ensure_ascii=False)}")
        return "\n".join(lines)
