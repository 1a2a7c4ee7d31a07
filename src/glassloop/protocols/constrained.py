"""`constrained`: every step is one JSON object that the server holds to a schema.

The schema follows the state of the run: a bounded thought first, then either a list
of calls, each one of the tools that may be called now with exactly its own argument
schema, or the answer. When only an answer is left, the schema has nothing else.
The words bring most of the gain and the grammar the certainty, so both say the same.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ..gears import Turn
from ..prompts import text
from ..types import Declaration, Message, Move, Reply, Request
from .doubt import TOP, doubt_of
from .read_constrained import read_constrained
from .render import answer_in, question_of, signatures, wire

THOUGHT_CHARS = 200
MOST_CALLS = 8


class ConstrainedProtocol:
    """The default protocol wherever the server can hold a JSON schema.

    Args:
        thought_chars: Longest thought the schema lets through, in characters; 0 leaves the thought out.
        most_calls: How many calls one step may ask for.
    """

    name = "constrained"

    def __init__(self, *, thought_chars: int = THOUGHT_CHARS, most_calls: int = MOST_CALLS) -> None:
        self.thought_chars = thought_chars
        self.most_calls = most_calls

    def ask(self, turn: Turn) -> Request:
        """Render the turn and the schema its step must fit."""
        rules = "rules" if turn.declared else "rules_without_tools"
        system = text("constrained", turn.language, rules, tools=signatures(turn.declared), answer_in=answer_in(turn))
        return Request(
            messages=tuple(self._wire(turn, system)),
            schema=self.schema(turn),
            temperature=turn.temperature,
            max_tokens=turn.max_tokens or 1024,
            logprobs=0 if turn.answer_only or not turn.tools else TOP,
        )

    def read(self, reply: Reply, turn: Turn) -> Move:
        """Understand one JSON step, and how sure the model was to call; see `read_constrained` and `doubt_of`."""
        move = read_constrained(reply, turn)
        return replace(move, doubt=doubt_of(reply)) if move.calls else move

    def schema(self, turn: Turn) -> dict[str, Any]:
        """Return the JSON Schema of the next step."""
        answer = self._step({"answer": {"type": "string", "minLength": 1}})
        if turn.answer_only or not turn.tools:
            return answer
        calls = {
            "type": "array",
            "minItems": 1,
            "maxItems": self.most_calls if turn.parallel else 1,
            "items": _one_of([_call_schema(tool) for tool in turn.tools]),
        }
        return {"anyOf": [self._step({"calls": calls}), answer]}

    def _step(self, rest: dict[str, Any]) -> dict[str, Any]:
        thought = {"thought": {"type": "string", "maxLength": self.thought_chars}} if self.thought_chars else {}
        properties = {**thought, **rest}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def _wire(self, turn: Turn, system: str) -> list[dict[str, Any]]:
        reminder = text(
            "constrained", turn.language, "after_results", answer_in=answer_in(turn), question=question_of(turn)
        )
        return wire(turn, system, lambda m: self._one(m, turn.language), after_results=reminder)

    def _one(self, message: Message, language: str) -> tuple[str, str]:
        if message.role == "tool":
            return "user", text(
                "constrained", language, "observation", name=message.name or "", content=message.content
            )
        if message.role == "assistant" and message.calls:
            step: dict[str, Any] = {"thought": message.thought} if self.thought_chars else {}
            step["calls"] = [{"name": c.name, "arguments": c.arguments} for c in message.calls]
            return "assistant", json.dumps(step, ensure_ascii=False)
        if message.role == "assistant" and message.kind == "answer":
            step = {"thought": message.thought} if self.thought_chars and message.thought else {}
            return "assistant", json.dumps({**step, "answer": message.content}, ensure_ascii=False)
        return message.role, message.content


def _call_schema(tool: Declaration) -> dict[str, Any]:
    parameters = {k: v for k, v in tool.parameters.items() if k not in ("title", "description")}
    parameters.setdefault("type", "object")
    parameters.setdefault("properties", {})
    parameters.setdefault("additionalProperties", False)
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": parameters},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _one_of(options: list[dict[str, Any]]) -> dict[str, Any]:
    return options[0] if len(options) == 1 else {"anyOf": options}
