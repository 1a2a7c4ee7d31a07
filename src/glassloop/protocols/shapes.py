"""Which JSON values are calls: the many spellings of a name with its arguments.

A `Draft` is a call as the model wrote it, before its name is looked up and its
arguments are decoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..types import Declaration, Repair
from .jsonish import MISSING, DoubledKeys
from .rescue import Problem

NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "action", "action_name", "工具", "名称", "行动")
ARGUMENT_KEYS = (
    "arguments",
    "parameters",
    "args",
    "params",
    "action_input",
    "tool_input",
    "input",
    "kwargs",
    "tool_args",
    "tool_parameters",
    "tool_arguments",
    "function_arguments",
    "参数",
    "输入",
    "行动输入",
)
WRAPPERS = (
    "tool_call",
    "tool_calls",
    "function_call",
    "function_calls",
    "function",
    "call",
    "calls",
    "action",
    "actions",
    "tool",
    "tools",
    "steps",
)
THOUGHT_KEYS = ("thought", "thoughts", "reasoning", "reason", "思考", "想法")
ANSWER_KEYS = ("answer", "final_answer", "finalAnswer", "final answer", "response", "最终答案", "答案", "回答")
SIDE_KEYS = frozenset(("id", "type", "index", "tool_call_id", "call_id", "status", "why", *THOUGHT_KEYS))
"""Keys that may stand beside a call without meaning anything for it."""

MOST_DRAFTS = 64
"""More calls than this in one reply are a model run wild, not a plan."""


@dataclass(frozen=True)
class Draft:
    """A call as written: `arguments` is whatever stood there, `MISSING` if nothing did."""

    name: str
    arguments: Any = MISSING
    repairs: tuple[Repair, ...] = ()
    strict: bool = False
    """True when the shape alone says that this is a call, whatever the name."""
    broken: Problem = ""
    """The problem that kept the arguments from being read."""


def drafts_in(value: Any, tools: Mapping[str, Declaration], depth: int = 0) -> list[Draft]:
    """Return the calls that a JSON value is, none if it is anything else.

    Args:
        value: A decoded JSON value.
        tools: The offered tools by name; they decide where a shape alone does not.
        depth: How many wrappers have been opened already.
    """
    if depth > 3:
        return []
    if isinstance(value, list):
        items = cast("list[Any]", value)[: MOST_DRAFTS + 1]
        found = [drafts_in(item, tools, depth + 1) for item in items]
        return [d for drafts in found for d in drafts] if found and all(found) else []
    if not isinstance(value, dict):
        return []
    data = cast("dict[str, Any]", value)
    return list(_from_object(data, tools, depth))


def _from_object(data: dict[str, Any], tools: Mapping[str, Declaration], depth: int) -> Iterator[Draft]:
    direct = _direct(data, tools)
    if direct is not None:
        yield direct
        return
    for key in WRAPPERS:
        inner = data.get(key)
        if isinstance(inner, (dict, list)) and set(data) <= {key, *SIDE_KEYS}:
            drafts = drafts_in(cast("Any", inner), tools, depth + 1)
            for draft in drafts:
                yield Draft(draft.name, draft.arguments, (*draft.repairs, Repair("wrapper", key)), draft.strict)
            return
    keys = [k for k in data if k not in SIDE_KEYS]
    if keys and all(k in tools and isinstance(data[k], dict) for k in keys):
        for key in keys:
            yield Draft(key, data[key], (Repair("name as key", key),))


def _direct(data: dict[str, Any], tools: Mapping[str, Declaration]) -> Draft | None:
    name_key = next((k for k in NAME_KEYS if isinstance(data.get(k), str)), None)
    if name_key is None:
        return None
    name = str(data[name_key])
    argument_key = next((k for k in ARGUMENT_KEYS if k in data and k != name_key), None)
    tool = tools.get(name)
    properties: set[str] = set(tool.parameters.get("properties", {})) if tool is not None else set()
    side = SIDE_KEYS if argument_key is not None else SIDE_KEYS - properties
    others = set(data) - side - {name_key, argument_key} - {k for k in NAME_KEYS if data.get(k) == name}
    repairs: tuple[Repair, ...] = ()
    if (name_key, argument_key) not in (("name", "arguments"), ("name", "parameters")):
        repairs = (Repair("call keys", before=f"{name_key}/{argument_key or ''}"),)
    if argument_key is not None and not others:
        arguments = data[argument_key]
        if isinstance(data, DoubledKeys) and sum(k == argument_key for k, _ in data.pairs) > 1:
            return Draft(name, broken="several")
        strict = name_key == "name" and argument_key == "arguments" and isinstance(arguments, dict)
        return Draft(name, arguments, repairs, strict or data.get("type") == "function")
    if tool is None:
        return None
    if argument_key is None and not others:
        return Draft(name, MISSING, repairs)
    given = {*others, *([argument_key] if argument_key else [])}
    if given <= properties and name_key not in properties:
        beside = {k: v for k, v in data.items() if k in given}
        return Draft(name, beside, (*repairs, Repair("arguments beside the name", after=beside)))
    return Draft(name, data[argument_key], repairs) if argument_key and _fits(data[argument_key], properties) else None


def _fits(arguments: Any, properties: set[str]) -> bool:
    return isinstance(arguments, dict) and set(cast("dict[str, Any]", arguments)) <= properties
