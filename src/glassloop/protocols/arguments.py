"""Decoding the arguments of a call: from whatever a model wrote to a plain object.

Types are not cast here (`tools/schema.py` does that, by the same rules for every
protocol); this module owes an object with the values as written, or a problem.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..types import Declaration, Repair
from .jsonish import MISSING, DoubledKeys, decode
from .rescue import Problem, mend, shown

WRAPPERS = ("arguments", "parameters", "properties", "args", "params", "input", "kwargs")
NOTHING = frozenset(("", "none", "null", "{}", "n/a", "无", "空", "没有"))
_PAIR = re.compile(r"\s*[\"'`]?([^\W\d][\w-]*)[\"'`]?\s*(=|:|：|＝)\s*")


@dataclass(frozen=True)
class Decoded:
    """The argument objects of one written call: one, or several when its keys were doubled."""

    objects: tuple[dict[str, Any], ...] = ()
    repairs: tuple[Repair, ...] = ()
    problem: Problem = ""
    given: str = ""


def decode_arguments(raw: Any, tool: Declaration) -> Decoded:
    """Return the arguments as an object, from an object, its JSON text (once or twice encoded), or nothing.

    Args:
        raw: What stood in the place of the arguments; `MISSING` if nothing did.
        tool: The tool that is called; its parameter names decide what is a wrapper.
    """
    repairs: tuple[Repair, ...] = ()
    value = raw
    for _ in range(3):
        if not isinstance(value, str):
            break
        if value.strip().lower() in NOTHING:
            value = None
            break
        mended = mend(value)
        if not mended.ok:
            return _from_text(value, tool, (*repairs, *mended.repairs), mended.problem)
        repairs = (*repairs, *mended.repairs)
        if isinstance(mended.value, str):
            repairs = (*repairs, Repair("double encoding", before=shown(value), after=shown(mended.value)))
        value = mended.value
    if value is None or value is MISSING or value == [] or value == "":
        return Decoded(({},), repairs)
    if isinstance(value, list) and len(cast("list[Any]", value)) == 1 and isinstance(value[0], dict):
        value = cast("Any", value[0])
        repairs = (*repairs, Repair("arguments in a list", after=shown(value)))
    if not isinstance(value, dict):
        return Decoded(repairs=repairs, problem="broken", given=shown(value))
    return _objects(cast("dict[str, Any]", value), tool, repairs)


def _objects(value: dict[str, Any], tool: Declaration, repairs: tuple[Repair, ...]) -> Decoded:
    if isinstance(value, DoubledKeys):
        several = _undoubled(value)
        if several is None:
            return Decoded(repairs=repairs, problem="several", given=shown(dict(value)))
        return Decoded(several, (*repairs, Repair("doubled keys", before=shown(value.pairs), guessed=True)))
    inner = _unwrapped(value, tool)
    if inner is not value:
        repairs = (*repairs, Repair("schema echo", before=shown(value), after=shown(inner)))
    return Decoded((inner,), repairs)


def _undoubled(value: DoubledKeys) -> tuple[dict[str, Any], ...] | None:
    """One object for each time a key stands there; keys that stand once belong to all of them."""
    listed: dict[str, list[Any]] = {}
    for key, item in value.pairs:
        listed.setdefault(key, []).append(item)
    times = {len(items) for items in listed.values()} - {1}
    if len(times) != 1:
        return None
    count = times.pop()
    return tuple({k: items[i if len(items) > 1 else 0] for k, items in listed.items()} for i in range(count))


def properties_of(tool: Declaration) -> dict[str, Any]:
    """Return the schemas of a tool's parameters by name."""
    properties = tool.parameters.get("properties")
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}


def _unwrapped(value: dict[str, Any], tool: Declaration) -> dict[str, Any]:
    known = set(properties_of(tool))
    for key in WRAPPERS:
        inner: Any = value.get(key)
        if key in known or not isinstance(inner, dict) or not inner:
            continue
        values = cast("dict[str, Any]", inner)
        beside = set(value) - {key, "name", "type", "id", "title", "description", "required", "tool"}
        if not beside and set(values) <= known and not any(_is_schema(v) for v in values.values()):
            return values
    return value


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), (str, list))


# -- text that is no object ----------------------------------------------------------------


def sole_parameter(tool: Declaration) -> str | None:
    """Return the one parameter that a bare value can only be meant for."""
    properties = properties_of(tool)
    required = [name for name in tool.parameters.get("required") or () if name in properties]
    if len(required) == 1:
        return required[0]
    return next(iter(properties)) if len(properties) == 1 else None


def _from_text(text: str, tool: Declaration, repairs: tuple[Repair, ...], problem: Problem) -> Decoded:
    if text.strip()[:1] not in ("{", "["):
        pairs = keyword_arguments(text.strip(), tool)
        if pairs is not None:
            return Decoded((pairs,), (Repair("keyword arguments", before=shown(text), after=shown(pairs)),))
    return Decoded(repairs=repairs, problem=problem or "broken", given=shown(text))


def literal(text: str) -> Any:
    """Return the value a Python or JSON literal stands for, `MISSING` if it is none."""
    text = text.strip()
    value = decode(text)
    if value is not MISSING:
        return value
    if text[:1] in "\"'{[(“「" and text:
        if text[0] == "(" and text.endswith(")"):
            text = f"[{text[1:-1]}]"
        held = mend(f"[{text}]")
        inner = cast("list[Any]", held.value) if held.ok else []
        if len(inner) == 1 and not any(r.guessed for r in held.repairs):
            return inner[0]
        return MISSING
    return {"True": True, "False": False, "None": None}.get(text, MISSING)


_PIECE = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\]+|\\.)*\"|(?<![^\W_])'(?:[^'\\]+|\\.)*'|“[^”]*”|[(\[{]|[)\]}]|[,，;\n]",
    re.DOTALL,
)


def split_arguments(text: str) -> list[str]:
    """Split `a=1, b="x, y", [2, 3]` at the commas (or line breaks) that stand outside strings and brackets."""
    parts: list[str] = []
    depth = start = 0
    for found in _PIECE.finditer(text):
        token = found.group()
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(0, depth - 1)
        elif token in ",，;\n" and depth == 0:
            parts.append(text[start : found.start()])
            start = found.end()
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def keyword_arguments(text: str, tool: Declaration, *, strict: bool = False) -> dict[str, Any] | None:
    """Return `{"a": 1}` for `a=1` or `a: 1` when every key is a parameter of the tool, else None.

    Args:
        text: The written arguments, without the brackets around them.
        tool: The tool that is called.
        strict: Whether every value must be a literal; else a bare word is a string.
    """
    known = properties_of(tool)
    out: dict[str, Any] = {}
    for part in split_arguments(text):
        found = _PAIR.match(part)
        if not found or found.group(1) not in known or found.group(1) in out:
            return None
        rest = part[found.end() :].strip()
        value = literal(rest)
        if value is MISSING:
            if strict or not rest or rest[0] in "\"'{[":
                return None
            value = rest
        out[found.group(1)] = value
    return out or None


def call_arguments(text: str, tool: Declaration) -> tuple[dict[str, Any], tuple[Repair, ...]] | None:
    """Return the arguments inside the brackets of `name(…)`: keywords, an object, or values by position."""
    inner = text.strip()
    if not inner:
        return {}, ()
    if inner[0] in "{｛":
        decoded = decode_arguments(inner, tool)
        return (decoded.objects[0], decoded.repairs) if len(decoded.objects) == 1 else None
    pairs = keyword_arguments(inner, tool)
    if pairs is not None:
        return pairs, (Repair("keyword arguments", before=shown(inner), after=shown(pairs)),)
    return _by_position(inner, tool)


def _by_position(inner: str, tool: Declaration) -> tuple[dict[str, Any], tuple[Repair, ...]] | None:
    sole = sole_parameter(tool)
    values = [literal(part) for part in split_arguments(inner)]
    if len(values) == 1 and values[0] is not MISSING and sole:
        return {sole: values[0]}, (Repair("value by position", sole, before=shown(inner)),)
    names = list(properties_of(tool))
    if len(values) < 2 or any(v is MISSING for v in values) or len(values) > len(names):
        return None
    placed = dict(zip(names, values, strict=False))
    return placed, (Repair("values by position", before=shown(inner), after=shown(placed), guessed=True),)


def bare_value(text: str, tool: Declaration) -> tuple[dict[str, Any], tuple[Repair, ...]] | None:
    """Return the arguments when `text` is a bare value for a tool that one value suffices."""
    sole = sole_parameter(tool)
    if sole is None:
        return None
    value = literal(text) if text[:1] in "\"'“「[" else MISSING
    wants: Any = properties_of(tool).get(sole)
    kind: Any = cast("Mapping[str, Any]", wants).get("type") if isinstance(wants, Mapping) else None
    if value is MISSING or (not isinstance(value, str) and kind == "string"):
        value = text
    return {sole: value}, (Repair("bare value", sole, before=shown(text)),)
