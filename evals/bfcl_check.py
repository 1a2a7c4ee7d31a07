"""What a right reply is in the Berkeley function-calling data: the rules of its checker, and its types as JSON Schema.

The rules are those of the AST checker that comes with the data: the function's name is right, every required
argument is there, none that the answer does not know, each value has the declared type and is among the allowed
ones; of strings, case, blanks and `,./-_*^` do not count; the calls of a parallel item match in any order. Where no
function fits, a reply is right if it calls nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from glassloop.tools.wirenames import wire_name
from glassloop.types import Declaration

OMITTED = ""
"""Stands among the allowed values of an argument that may be left out."""

JSON_TYPES = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "list": "array",
    "bool": "boolean",
    "any": "string",
}
PYTHON_TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
_IGNORED = re.compile(r"[ ,./\-_*^]")

Call = tuple[str, dict[str, Any]]


# -- declarations ------------------------------------------------------------------------------


def json_schema(described: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the data's description of a type, which uses Python's names, into JSON Schema."""
    out = {key: value for key, value in described.items() if key != "optional"}
    if "type" in out:
        out["type"] = JSON_TYPES.get(str(out["type"]).lower(), out["type"])
    if isinstance(described.get("properties"), Mapping):
        out["properties"] = {name: json_schema(inner) for name, inner in described["properties"].items()}
    if isinstance(described.get("items"), Mapping):
        out["items"] = json_schema(described["items"])
    return out


def without_defaults(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with no defaults, so that casting adds nothing that the model did not say."""
    out = {key: value for key, value in schema.items() if key != "default"}
    if isinstance(out.get("properties"), Mapping):
        out["properties"] = {name: without_defaults(inner) for name, inner in out["properties"].items()}
    if isinstance(out.get("items"), Mapping):
        out["items"] = without_defaults(out["items"])
    return out


def declarations(functions: Iterable[Mapping[str, Any]]) -> tuple[list[Declaration], dict[str, str]]:
    """Declare an item's functions.

    Returns:
        The declarations, with names that every server takes, and the data's own name for each of these.
    """
    declared: list[Declaration] = []
    own: dict[str, str] = {}
    for function in functions:
        name = wire_name(function["name"])
        while name in own:
            name += "_"
        own[name] = function["name"]
        declared.append(Declaration(name, function.get("description", ""), json_schema(function["parameters"])))
    return declared, own


# -- the rules -----------------------------------------------------------------------------------


def wrong(item: Mapping[str, Any], calls: Sequence[Call]) -> str:
    """Say what is wrong with the calls made for an item; empty if nothing is.

    Args:
        item: One item of the data with `function` and, unless nothing fits, `ground_truth`.
        calls: Name and arguments of each call, the names as the data writes them.
    """
    expected = item.get("ground_truth")
    if expected is None:
        return f"called {calls[0][0]} although nothing fits" if calls else ""
    if not calls:
        return "no call"
    if len(calls) != len(expected):
        return f"{len(calls)} calls instead of {len(expected)}"
    left = list(calls)
    for one in expected:
        name, allowed = next(iter(one.items()))
        function = next(f for f in item["function"] if f["name"] == name)
        verdicts = [wrong_call(function, allowed, call) for call in left]
        if "" not in verdicts:
            return verdicts[0]
        left.pop(verdicts.index(""))
    return ""


def wrong_call(function: Mapping[str, Any], allowed: Mapping[str, Sequence[Any]], call: Call) -> str:
    """Say what is wrong with one call, measured by one expected call; empty if nothing is."""
    name, arguments = call
    if name != function["name"]:
        return f"called {name} instead of {function['name']}"
    parameters = function["parameters"]
    for required in parameters.get("required", ()):
        if required not in arguments:
            return f"{required} is missing"
    for key, value in arguments.items():
        if key not in parameters["properties"] or key not in allowed:
            return f"{key} is not expected"
        if not _fits(value, parameters["properties"][key], allowed[key]):
            return f"{key} is {value!r}, expected {' or '.join(repr(v) for v in allowed[key])}"
    for key, values in allowed.items():
        if key not in arguments and OMITTED not in values:
            return f"{key} is missing"
    return ""


def _fits(value: Any, described: Mapping[str, Any], allowed: Sequence[Any]) -> bool:
    kind = described["type"]
    wanted = PYTHON_TYPES[kind]
    inner = PYTHON_TYPES[described["items"]["type"]] if kind in ("array", "tuple") else None
    if kind == "float" and type(value) is int:
        value = float(value)
    if type(value) is not wanted:
        # The data sometimes expects a value of another type, such as a variable's name for a number.
        return type(value) is _kind(allowed) and value in allowed
    if inner is not None and not any(_holds(value, inner, v) for v in allowed):
        return False
    if _kind(allowed) not in (None, wanted):
        return value in allowed
    if wanted is dict:
        return any(_same_object(value, v) for v in allowed if isinstance(v, Mapping))
    if inner is not None:
        # An empty list is as good as leaving the argument out.
        allowed = [[] if v == OMITTED else v for v in allowed]
    if inner is dict:
        return any(_same_objects(value, v) for v in allowed if isinstance(v, list))
    return _folded(value) in [_folded(v) for v in allowed]


def _kind(allowed: Sequence[Any]) -> type | None:
    """The type of the allowed values, None where the only one is to leave the argument out."""
    return next((type(v) for v in allowed if v != OMITTED), None)


def _holds(values: list[Any], inner: type, allowed: Any) -> bool:
    """Whether each element has the declared type, or that of the allowed elements."""
    return not isinstance(allowed, list) or all(type(v) in (inner, _kind(cast("list[Any]", allowed))) for v in values)


def _folded(value: Any) -> Any:
    if isinstance(value, list):
        return [_folded(v) if isinstance(v, str) else v for v in cast("list[Any]", value)]
    return _IGNORED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value


def _same_object(value: Mapping[str, Any], allowed: Mapping[str, Sequence[Any]]) -> bool:
    known = all(k in allowed and _folded(v) in [_folded(a) for a in allowed[k]] for k, v in value.items())
    return known and all(k in value or OMITTED in values for k, values in allowed.items())


def _same_objects(values: Sequence[Any], allowed: Sequence[Any]) -> bool:
    return len(values) == len(allowed) and all(
        isinstance(v, Mapping) and _same_object(cast("Mapping[str, Any]", v), a)
        for v, a in zip(values, allowed, strict=True)
    )
