"""A server that refuses what real servers and chat templates refuse, with their kind of complaint.

Written from what those servers check, without a line of the library's own code, so that a mistake
of the library cannot hide in its judge. `SERVERS` maps a profile's name to its check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

Messages = list[dict[str, Any]]


class Refused(Exception):
    """The request would have come back with status 400 or as a template error."""


def openai(messages: Messages) -> None:
    """The chat-completions API: roles, content keys, pairs, ids, arguments, and names in ASCII."""
    chat_completions(messages)
    for at, message in enumerate(messages):
        for call in message.get("tool_calls", ()):
            name = call["function"]["name"]
            _need(bool(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)), f"messages[{at}]: name {name!r}")


def chat_completions(messages: Messages) -> None:
    """What every server with this API refuses, whoever wrote it."""
    _need(bool(messages), "messages is empty")
    try:
        json.dumps(messages, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        raise Refused(f"the body is not valid JSON in UTF-8: {error}") from error
    waiting: list[str] = []
    seen: set[str] = set()
    for at, message in enumerate(messages):
        role = message.get("role")
        _need(role in ("system", "user", "assistant", "tool"), f"messages[{at}].role: {role!r} is not supported")
        _need("content" in message, f"messages[{at}].content is missing")
        content = message["content"]
        if role == "tool":
            _need(isinstance(content, (str, list)), f"messages[{at}].content: a tool result needs content")
            _need(message.get("tool_call_id") in waiting, f"messages[{at}]: no call {message.get('tool_call_id')!r}")
            waiting.remove(message["tool_call_id"])
            continue
        _need(not waiting, f"messages[{at}]: tool_call_ids {waiting} did not have response messages")
        if role != "assistant":
            _need(isinstance(content, (str, list)), f"messages[{at}].content: expected a string or an array")
            _need("tool_calls" not in message, f"messages[{at}].tool_calls is not allowed for {role}")
            continue
        _need("tool_calls" not in message or bool(message["tool_calls"]), f"messages[{at}].tool_calls is too short")
        calls = message.get("tool_calls", [])
        _need(bool(calls) or _says(content), f"messages[{at}]: an assistant message needs content or tool_calls")
        _need(not (calls and content == ""), f"messages[{at}].content is empty next to tool_calls: null is wanted")
        for call in calls:
            _call(call, seen, at)
            waiting.append(call["id"])
    _need(not waiting, f"tool_call_ids {waiting} did not have response messages")


def _call(call: dict[str, Any], seen: set[str], at: int) -> None:
    identity, function = call["id"], call["function"]
    _need(isinstance(identity, str) and 0 < len(identity) <= 40, f"messages[{at}]: id {identity!r} is not 1 to 40 long")
    _need(identity not in seen, f"messages[{at}]: id {identity!r} is used twice")
    seen.add(identity)
    _need(call.get("type") == "function", f"messages[{at}]: the call has no type")
    _need(isinstance(function["name"], str) and bool(function["name"]), f"messages[{at}]: the call has no name")
    _need(isinstance(function["arguments"], str), f"messages[{at}]: arguments must be a string")
    try:
        _need(isinstance(json.loads(function["arguments"]), dict), f"messages[{at}]: arguments must be an object")
    except ValueError as error:
        raise Refused(f"messages[{at}]: arguments are not valid JSON") from error


def mistral(messages: Messages) -> None:
    """Mistral's request validator (v3 ids) and the alternation its chat templates insist on."""
    openai(messages)
    for at, message in enumerate(messages):
        role = message["role"]
        before = messages[at - 1]["role"] if at else None
        _need(role != "system" or at == 0, f"messages[{at}]: a system message must come first")
        _need(before != "tool" or role in ("tool", "assistant"), f"Unexpected role {role!r} after role 'tool'")
        if role == "assistant":
            both = _says(message["content"]) == bool(message.get("tool_calls"))
            _need(not both, f"messages[{at}]: must have either content or tool_calls, but not both")
            for call in message.get("tool_calls", ()):
                _need(bool(re.fullmatch(r"[A-Za-z0-9]{9}", call["id"])), f"Tool call id was {call['id']!r}")
    _need(messages[-1]["role"] != "assistant", "Expected last role User or Tool for serving but got assistant")
    _alternate([m["role"] for m in messages if m["role"] in ("user", "assistant") and not m.get("tool_calls")])


def gemma(messages: Messages) -> None:
    """The first Gemma templates: user and model in turns, nothing else."""
    openai(messages)
    for at, message in enumerate(messages):
        _need(message["role"] != "system", "System role not supported")
        _need(message["role"] != "tool" and "tool_calls" not in message, f"messages[{at}]: no tools in this template")
    _alternate([m["role"] for m in messages])


def llama(messages: Messages) -> None:
    """Llama 3.1's template: one call in a message."""
    chat_completions(messages)
    for message in messages:
        _need(len(message.get("tool_calls", ())) <= 1, "This model only supports single tool-calls at once!")


def _alternate(roles: list[str]) -> None:
    for at, role in enumerate(roles):
        wanted = "assistant" if at % 2 else "user"
        _need(role == wanted, f"Conversation roles must alternate user/assistant/user/assistant/…: {at} is {role}")


def _says(content: Any) -> bool:
    if isinstance(content, list):
        return any(not isinstance(p, dict) or p.get("type") != "text" or p.get("text", "").strip() for p in content)
    return bool(content and content.strip())


def _need(condition: bool, complaint: str) -> None:
    if not condition:
        raise Refused(complaint)


SERVERS: dict[str, Callable[[Messages], None]] = {
    "openai": openai,
    "mistral": mistral,
    "gemma": gemma,
    "llama": llama,
}
