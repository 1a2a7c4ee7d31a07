"""Plays a run into a `State` by events alone, against a server double that counts tokens in its own way."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from glassloop.events import CallFinished, ModelAsked, ModelReplied, MoveRead, RunStarted
from glassloop.gears import Memory
from glassloop.memory import prepare_messages
from glassloop.state import State
from glassloop.types import Message, Move, Observation, Reply, Request, ToolCall, Usage

_TOKEN = re.compile(r" ?[A-Za-z]{1,6}|\d|[\u4e00-\u9fff][\u4e00-\u6fff]?| ?[^\w\s]{1,2}|\s+|.")


def tokens(text: str) -> list[str]:
    """Cut a text about as Qwen's tokenizer does: pieces of words, single digits, one or two Chinese characters."""
    return _TOKEN.findall(text)


def wire(view: Sequence[Message]) -> list[dict[str, Any]]:
    """Write a view in chat-completions form, as the native protocol does."""
    messages: list[dict[str, Any]] = []
    for m in view:
        one: dict[str, Any] = {"role": m.role, "content": m.content}
        if m.calls:
            one["content"] = m.thought or None
            one["tool_calls"] = [
                {
                    "id": c.id,
                    "type": "function",
                    "function": {"name": c.name, "arguments": json.dumps(c.arguments, ensure_ascii=False)},
                }
                for c in m.calls
            ]
        if m.role == "tool":
            one["tool_call_id"] = m.call_id
        messages.append(one)
    return messages


def rendered(messages: Sequence[dict[str, Any]]) -> str:
    """The prompt as one text, with the marks a template puts around each message."""
    parts: list[str] = []
    for m in messages:
        calls = "".join(f"<call>{json.dumps(c, ensure_ascii=False)}" for c in m.get("tool_calls", ()))
        parts.append(f"<|{m['role']}|>{m['content'] or ''}{calls}<|end|>")
    return "".join(parts)


def shared(before: Sequence[str], now: Sequence[str]) -> int:
    """Tokens at the front that a server's prefix cache already holds."""
    count = 0
    for a, b in zip(before, now, strict=False):
        if a != b:
            break
        count += 1
    return count


@dataclass
class Played:
    """What a long session looked like from the server's side."""

    state: State
    sizes: list[int] = field(default_factory=list)
    cached: list[int] = field(default_factory=list)
    compactions: list[Any] = field(default_factory=list)

    @property
    def hit_rate(self) -> float:
        return sum(self.cached) / sum(self.sizes)


def play(
    memory: Memory,
    steps: int,
    observe: Callable[[int], str],
    *,
    system: str = "",
    question: str = "q",
    language: str = "en",
    profile: str = "openai",
    check: Callable[[list[dict[str, Any]]], None] = lambda messages: None,
    calls: int = 1,
    counts: bool = True,
) -> Played:
    """Play `steps` rounds of calls and observations, asking the memory before each request."""
    played = Played(State([RunStarted(run_id="r", question=question, system=system, language=language, at=1.0)]))
    state = played.state
    before: list[str] = []
    for step in range(steps):
        for event in memory.compact(state):
            state.apply(event)
            played.compactions.append(event)
        messages = prepare_messages(wire(memory.view(state)), profile=profile)
        check(messages)
        now = tokens(rendered(messages))
        played.sizes.append(len(now))
        played.cached.append(shared(before, now))
        before = now
        state.apply(ModelAsked(request=Request(messages=tuple(messages))))
        usage = Usage(prompt=len(now), completion=40, requests=1) if counts else Usage(requests=1)
        state.apply(ModelReplied(reply=Reply(usage=usage)))
        wanted = tuple(ToolCall(f"c{step}_{n}", "read", {"file": f"part-{step}-{n}.log"}) for n in range(calls))
        state.apply(MoveRead(move=Move(thought="I read the next part.", calls=wanted, said="I read the next part.")))
        for call in wanted:
            state.apply(CallFinished(observation=Observation(call.id, call.name, "ok", observe(step))))
    return played
