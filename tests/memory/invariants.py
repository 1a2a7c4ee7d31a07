"""The history invariants of the suite of broken replies, as checks: each returns what is wrong, or nothing."""

from __future__ import annotations

import json
from typing import Any

Messages = list[dict[str, Any]]


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(p.get("text", "") for p in content)
    return content or ""


def pairing(messages: Messages) -> str:
    waiting: list[str] = []
    seen: set[str] = set()
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return f"message {at}: a result nobody waits for"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"message {at}: {waiting} are not answered"
        for call in message.get("tool_calls", ()):
            if call["id"] in seen:
                return f"message {at}: id {call['id']} is used twice"
            seen.add(call["id"])
            waiting.append(call["id"])
    return f"{waiting} are not answered" if waiting else ""


def alternation(messages: Messages) -> str:
    roles = [m["role"] for m in messages if m["role"] != "tool" and not m.get("tool_calls")]
    roles = roles[1:] if roles[:1] == ["system"] else roles
    wrong = [at for at, role in enumerate(roles) if role != ("user", "assistant")[at % 2]]
    return f"roles {roles}" if wrong else ""


def systems(messages: Messages) -> list[int]:
    return [at for at, m in enumerate(messages) if m["role"] == "system"]


def last_user(messages: Messages) -> str:
    return next((text_of(m) for m in reversed(messages) if m["role"] == "user"), "")


def arguments(messages: Messages) -> list[Any]:
    return [c["function"]["arguments"] for m in messages for c in m.get("tool_calls", ())]


def holds(name: str, given: Messages, sent: Messages, max_chars: int | None) -> bool:  # noqa: C901 - a table
    """Whether the invariant `name` holds for what is sent of `given`."""
    sent_text = "\n".join(text_of(m) for m in sent)
    assistants = [m for m in sent if m["role"] == "assistant"]
    contents = [m["content"] for m in sent if m["role"] == "tool"]
    match name:
        case "tool_results_paired" | "all_calls_answered" | "ids_unique" | "no_duplicate_results":
            return not pairing(sent)
        case "last_user_kept":
            return last_user(given) in last_user(sent)
        case "system_kept":
            return all(text_of(m) in sent_text for m in given if m["role"] == "system")
        case "alternating_roles":
            return not alternation(sent)
        case "text_kept" | "error_text_kept":
            return all(text_of(m) in sent_text for m in given)
        case "single_leading_system":
            return systems(sent) in ([], [0])
        case "no_tool_messages":
            return not any(m["role"] == "tool" or m.get("tool_calls") for m in sent)
        case "no_empty_assistant":
            return all(text_of(m).strip() or m.get("tool_calls") for m in assistants)
        case "content_key_present":
            return all("content" in m for m in sent)
        case "call_message_not_dropped":
            return sum("tool_calls" in m for m in sent) == sum(bool(m.get("tool_calls")) for m in given)
        case "no_empty_tool_calls_key":
            return all(m["tool_calls"] for m in sent if "tool_calls" in m)
        case "arguments_valid_json_objects":
            return all(isinstance(json.loads(a), dict) for a in arguments(sent))
        case "arguments_are_objects":
            return all(isinstance(a, dict) for a in arguments(sent))
        case "all_results_kept":
            return sorted(contents) == sorted(m["content"] for m in given if m["role"] == "tool")
        case "fits_max_chars":
            return max_chars is not None and sum(len(json.dumps(m, ensure_ascii=False)) for m in sent) <= max_chars
        case _:
            raise AssertionError(f"unknown invariant {name}")
