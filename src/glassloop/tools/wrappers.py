"""Arguments that came packed: as text, or inside a second call, a `parameters` object or the schema itself.

Owes: the arguments taken out, each layer noted. A layer is opened only when its name is
no argument of the tool and nothing else of use lies beside it.
"""

from __future__ import annotations

from typing import Any, cast

from . import scalars
from .outline import Schema
from .trail import Trail

WRAPPERS = (
    "arguments",
    "parameters",
    "properties",
    "args",
    "params",
    "kwargs",
    "input",
    "inputs",
    "tool_input",
    "action_input",
    "tool_args",
    "function_args",
    "参数",
)
BESIDE = frozenset(
    "name tool tool_name function action type title description required id $schema $defs strict 名称 工具".split()
) | {"additionalProperties"}
MAX_LAYERS = 4


def unwrap(value: Any, known: frozenset[str], is_open: bool, trail: Trail) -> Any:
    """Take the arguments out of what they are wrapped in.

    Args:
        value: What the model sent as arguments.
        known: The names of the tool's arguments.
        is_open: Whether the tool takes names that are not declared.
        trail: Where each opened layer is noted.
    """
    for _ in range(MAX_LAYERS):
        if isinstance(value, str):
            inner: Any = {} if scalars.nullish(value) else scalars.parsed(value)
            if not isinstance(inner, (dict, str)):
                return value
            name, path = "json", ""
        elif value is None:
            inner, name, path = {}, "null", ""
        elif isinstance(value, dict):
            path = _layer(cast("Schema", value), known, is_open)
            if path is None:
                return cast("Schema", value)
            inner, name = cast("Schema", value)[path], "unwrapped"
            if isinstance(inner, str):
                inner = scalars.parsed(inner)
        else:
            return value
        value = trail.mended(name, path, value, inner)
    return value


def _layer(value: Schema, known: frozenset[str], is_open: bool) -> str | None:
    """The name under which the arguments lie, or None when they lie open."""
    if known & value.keys():
        return None
    found = [w for w in WRAPPERS if w in value and _holds_object(value[w])]
    if len(found) == 1 and value.keys() - {found[0]} <= BESIDE and len(value) <= len(BESIDE):
        inner = value[found[0]]
        inner = scalars.parsed(inner) if isinstance(inner, str) else inner
        if not is_open or (known and known & cast("Schema", inner).keys()):
            return found[0]
    if len(value) == 1 and known and not is_open:
        name, inner = next(iter(value.items()))
        if type(name) is str and isinstance(inner, dict) and inner and cast("Schema", inner).keys() <= known:
            return name
    return None


def _holds_object(value: Any) -> bool:
    if isinstance(value, str):
        return value.lstrip()[:1] == "{" and isinstance(scalars.parsed(value), dict)
    return isinstance(value, dict)
