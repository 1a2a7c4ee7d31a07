"""The plain values in a call's arguments, each with its path and its part of the schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast


def leaves_of(
    value: Any, schema: Any, path: str = "", root: Any = None, depth: int = 0
) -> Iterator[tuple[str, Any, Any]]:
    """Yield path, value and schema of every plain value in arguments; null is no value."""
    root = schema if root is None else root
    schema = _resolved(schema, root)
    if value is None or depth > 30:
        return
    if isinstance(value, Mapping):
        properties: dict[str, Any] = schema.get("properties") or {}
        for key, item in cast("Mapping[Any, Any]", value).items():
            inner: Any = properties.get(key, schema.get("additionalProperties"))
            yield from leaves_of(item, inner, f"{path}.{key}" if path else str(key), root, depth + 1)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for place, item in enumerate(cast("Iterable[Any]", value)):
            yield from leaves_of(item, schema.get("items"), f"{path}[{place}]", root, depth + 1)
    else:
        yield path, value, schema


def _resolved(schema: Any, root: Any) -> dict[str, Any]:
    for _ in range(8):
        ref = cast("dict[str, Any]", schema).get("$ref") if isinstance(schema, dict) else None
        if not isinstance(ref, str):
            break
        schema = root
        for part in ref.removeprefix("#").strip("/").split("/"):
            schema = cast("dict[str, Any]", schema).get(part) if isinstance(schema, dict) else None
    return cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}


def listed(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether the schema itself names the value: enum, const, default or example, in any branch."""
    if isinstance(value, bool):
        return True
    branches: list[Any] = [schema]
    for key in ("anyOf", "oneOf", "allOf"):
        branches += schema.get(key) or ()
    for branch in branches:
        if not isinstance(branch, Mapping):
            continue
        found = cast("Mapping[str, Any]", branch)
        listed: list[Any] = [*(found.get("enum") or ()), *(found.get("examples") or ())]
        listed += [found[k] for k in ("const", "default") if k in found]
        if any(value == v and not isinstance(v, bool) for v in listed):
            return True
        if "enum" in found and isinstance(value, str) and any(str(v).lower() == value.lower() for v in listed):
            return True
    return False
