"""JSON Schema as pydantic writes it, made as small as a small model needs it.

No titles, no `$ref` that merely saves repetition, no docstrings that only repeat
a signature; recursive definitions stay. What a schema allows is not changed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pydantic.json_schema import GenerateJsonSchema

_SUBSCHEMA_MAPS = ("properties", "$defs", "patternProperties", "dependentSchemas")
_DATA = ("default", "const", "enum", "examples", "example")


def tidy(schema: dict[str, Any], definitions: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a copy without titles, with every reference inlined that is not recursive."""
    defs: dict[str, Any] = dict(definitions or schema.get("$defs", {}))
    recursive = {name for name in defs if _reaches(name, name, defs)}
    out = _walk({k: v for k, v in schema.items() if k != "$defs"}, defs, recursive)
    needed = _needed(out, defs, recursive)
    if needed:
        out["$defs"] = {name: _walk(defs[name], defs, recursive) for name in needed}
    return out


def _name(ref: Any) -> str | None:
    return ref.removeprefix("#/$defs/") if isinstance(ref, str) and ref.startswith("#/$defs/") else None


def _refs(node: Any) -> set[str]:
    found: set[str] = set()
    if isinstance(node, dict):
        node = cast("dict[str, Any]", node)
        name = _name(node.get("$ref"))
        if name:
            found.add(name)
        for key, value in node.items():
            if key not in _DATA:
                found |= _refs(value)
    elif isinstance(node, list):
        for item in cast("list[Any]", node):
            found |= _refs(item)
    return found


def _reaches(start: str, goal: str, defs: dict[str, Any]) -> bool:
    seen: set[str] = set()
    ahead = _refs(defs.get(start))
    while ahead:
        name = ahead.pop()
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            ahead |= _refs(defs.get(name)) - seen
    return False


def _needed(node: Any, defs: dict[str, Any], recursive: set[str]) -> list[str]:
    ahead, kept = _refs(node), list[str]()
    while ahead:
        name = min(ahead)
        ahead.discard(name)
        if name in defs and name not in kept:
            kept.append(name)
            ahead |= _refs(_walk(defs[name], defs, recursive))
    return sorted(kept)


def _walk(node: Any, defs: dict[str, Any], recursive: set[str]) -> Any:
    if isinstance(node, list):
        return [_walk(item, defs, recursive) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    node = cast("dict[str, Any]", node)
    target = _name(node.get("$ref"))
    if target and target in defs and target not in recursive:
        beside = {k: v for k, v in node.items() if k != "$ref"}
        return _walk({**defs[target], **beside}, defs, recursive)
    out: dict[str, Any] = {}
    for key, value in node.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in _DATA:
            out[key] = value
        elif key in _SUBSCHEMA_MAPS and isinstance(value, dict):
            named = cast("dict[str, Any]", value)
            out[key] = {name: _walk(sub, defs, recursive) for name, sub in named.items()}
        else:
            out[key] = _walk(value, defs, recursive)
    _simplify(out)
    first = {key: out[key] for key in ("type", "description") if key in out}
    return {**first, **out}


def _simplify(out: dict[str, Any]) -> None:
    described = out.get("description")
    if isinstance(described, str):
        if re.match(r"^\w+\(.*\)$", described, re.S):  # the docstring a dataclass writes itself
            del out["description"]
        else:
            out["description"] = " ".join(described.split())


@lru_cache(maxsize=1)
def generator() -> type[GenerateJsonSchema]:
    """Pydantic's schema writer, but for decimals: a number, or its text under a pattern, becomes a number.

    No grammar can hold that pattern, and small models write decimals as numbers anyway.
    """
    from pydantic.json_schema import GenerateJsonSchema

    class Plain(GenerateJsonSchema):
        def decimal_schema(self, schema: Any) -> dict[str, Any]:
            both = super().decimal_schema(schema)
            return next((each for each in both.get("anyOf", ()) if each.get("type") == "number"), both)

    return Plain
