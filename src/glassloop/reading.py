"""`read`: one reply understood in one call, with its arguments cast and checked.

This puts the reader of a protocol and the casting of the tools gear together, so that the
understanding of replies can be tried alone. A running agent does the same in two steps:
the protocol reads, the executor casts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from .gears import Turn
from .prompts import language_of
from .protocols.corrections import Corrections, ProtocolName
from .protocols.moves import CUT, IdFactory, new_id
from .protocols.read_constrained import read_constrained
from .protocols.read_native import read_native
from .protocols.read_text import read_text
from .tools.schema import cast as cast_arguments
from .tools.schema import explain
from .types import Declaration, Fault, Move, Repair, Reply, ToolCall

_READERS = {"text": read_text, "native": read_native, "constrained": read_constrained}


def read(
    reply: str | Mapping[str, Any] | Reply,
    tools: Iterable[Any] = (),
    protocol: str = "text",
    finish_reason: str | None = None,
    *,
    language: str | None = None,
    parallel: bool = True,
    make_id: IdFactory = new_id,
) -> Move:
    """Understand one reply of a model. Never raises for anything a reply can hold.

    Args:
        reply: The text of a reply, or an assistant message in chat-completions form.
        tools: The tools that were offered, as tools, declarations or dicts.
        protocol: How the reply was asked for: `text`, `native` or `constrained`.
        finish_reason: Why the server stopped; taken from the message if it holds one.
        language: Language of the correction in a fault; that of the reply if not given.
        parallel: Whether several calls may be made at once.
        make_id: Makes the ids of the calls.

    Returns:
        The move: a thought, and exactly one of calls, answer and fault.
    """
    if protocol not in _READERS:
        raise ValueError(f"There is no protocol named {protocol!r}: use text, native or constrained.")
    given = reply_of(reply, finish_reason)
    declared = tuple(Declaration.of(tool) for tool in tools)
    spoken = language or language_of(given.text or given.reasoning)
    turn = Turn(messages=(), declared=declared, tools=declared, language=spoken, parallel=parallel)
    move = _READERS[protocol](given, turn, make_id=make_id)
    return checked(move, turn, cast("ProtocolName", protocol)) if move.calls else move


def reply_of(reply: str | Mapping[str, Any] | Reply, finish_reason: str | None = None) -> Reply:
    """Return a reply from its text or from an assistant message, whatever shape its parts have."""
    if isinstance(reply, Reply):
        return replace(reply, finish_reason=finish_reason) if finish_reason else reply
    if isinstance(reply, str):
        return Reply(text=reply, finish_reason=finish_reason)
    calls: Any = reply.get("tool_calls") or []
    if not calls and isinstance(reply.get("function_call"), Mapping):
        calls = [{"function": reply["function_call"]}]
    if isinstance(calls, Mapping):
        calls = [calls]
    reason = finish_reason or reply.get("finish_reason")
    if reply.get("truncated"):
        reason = reason if reason in CUT else "truncated"
    thinking = next((reply[k] for k in ("reasoning_content", "reasoning", "thinking") if reply.get(k)), "")
    return Reply(
        text=_text_of(reply.get("content")),
        tool_calls=tuple(
            dict(cast("Mapping[str, Any]", c)) for c in cast("Sequence[Any]", calls) if isinstance(c, Mapping)
        ),
        finish_reason=reason,
        reasoning=_text_of(thinking),
        raw=dict(reply),
    )


def _text_of(content: Any) -> str:
    """Return the text of a content: a string, nothing, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, (list, tuple)):
        return ""
    out: list[str] = []
    for part in cast("Sequence[Any]", content):
        if isinstance(part, str):
            out.append(part)
        elif isinstance(part, Mapping):
            text = cast("Mapping[str, Any]", part).get("text")
            out.append(text if isinstance(text, str) else "")
    return "".join(out)


def checked(move: Move, turn: Turn, protocol: ProtocolName) -> Move:
    """Return a move with its calls' arguments cast to their schemas, or the fault that says what does not fit."""
    known = {tool.name: tool for tool in turn.tools}
    corrections = Corrections(turn.tools, turn.language, protocol)
    calls: list[ToolCall] = []
    repairs: list[Repair] = list(move.repairs)
    for call in move.calls:
        tool = known[call.name]
        properties: Any = tool.parameters.get("properties") or {}
        unknown = [key for key in call.arguments if key not in properties]
        result = cast_arguments(tool.parameters, call.arguments)
        repairs += result.repairs
        names = corrections.names_of(list(properties))
        if result.problems:
            reason, hint = explain(result.problems, tool.name, tool.parameters, turn.language)
            fault = Fault("bad_arguments", f"{reason} {hint}")
            return replace(move, calls=(), fault=fault, repairs=tuple(repairs))
        if call.arguments and len(unknown) == len(call.arguments) and not result.value and properties:
            # What was given is not known, so running with nothing but defaults is not what was meant.
            fault = corrections.fault("only_unknown", tool, given=corrections.names_of(unknown), names=names)
            return replace(move, calls=(), fault=fault, repairs=tuple(repairs))
        calls.append(replace(call, arguments=result.value))
    return replace(move, calls=tuple(calls), repairs=tuple(repairs))
