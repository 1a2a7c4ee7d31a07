"""JSON Schema as pydantic writes it, made as small as a small model needs it.

No titles, no `$ref` that merely saves repetition, no docstrings that only repeat
a signature; recursive definitions stay. What a schema allows is not changed.
"""

from __future__ import annotations

import re
from typing import Any, cast

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
    options = out.get("anyOf")
    if isinstance(options, list) and _is_decimal(cast("list[Any]", options)):
        # A number, or its text under a pattern with look-ahead that no grammar can hold: say number.
        number = next(o for o in cast("list[dict[str, Any]]", options) if o.get("type") == "number")
        rest = [o for o in cast("list[dict[str, Any]]", options) if o.get("type") == "null"]
        del out["anyOf"]
        out.update({"anyOf": [number, *rest]} if rest else number)


def _is_decimal(options: list[Any]) -> bool:
    if not all(isinstance(o, dict) for o in options):
        return False
    dicts = cast("list[dict[str, Any]]", options)
    text = [o for o in dicts if o.get("type") == "string"]
    number = any(o.get("type") == "number" for o in dicts)
    return number and len(text) == 1 and str(text[0].get("pattern", "")).startswith("^(?!^[-+.]*$)")
