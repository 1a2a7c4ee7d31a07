"""`native`: the server's own function calling, with everything a server gets wrong put right on reading.

Requests carry `tools` in chat-completions form and history as `tool_calls` and `tool`
messages. Models often write the call into the text instead; `read_native` finds it there.
"""

from __future__ import annotations

import json
from typing import Any

from ..gears import Turn
from ..prompts import text
from ..types import Message, Move, Reply, Request
from .read_native import read_native
from .render import system_text


class NativeProtocol:
    """Function calling as the server offers it."""

    name = "native"

    def ask(self, turn: Turn) -> Request:
        """Render the turn as chat-completions messages with tools; no tools when only an answer is left."""
        rules = text("native", turn.language, "rules") if turn.declared else ""
        messages: list[dict[str, Any]] = [{"role": "system", "content": system_text(turn, rules)}]
        messages.extend(self._one(m) for m in turn.messages if m.role != "system")
        if turn.instruction:
            messages.append({"role": "user", "content": turn.instruction})
        return Request(
            messages=tuple(m for m in messages if m.get("content") or m.get("tool_calls") or m["role"] == "tool"),
            tools=tuple(tool.openai() for tool in turn.declared) if turn.tools else (),
            temperature=turn.temperature,
            max_tokens=turn.max_tokens or 1024,
        )

    def read(self, reply: Reply, turn: Turn) -> Move:
        """Understand one assistant message; see `read_native`."""
        return read_native(reply, turn)

    def _one(self, message: Message) -> dict[str, Any]:
        if message.role == "tool":
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
        if message.role == "assistant" and message.calls:
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
                }
                for call in message.calls
            ]
            return {"role": "assistant", "content": message.thought or None, "tool_calls": calls}
        return {"role": message.role, "content": message.content}
