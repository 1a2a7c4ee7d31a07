"""What can be told of a JSON Schema without a value: where its references lead, its kinds, its names.

Owes: total functions over any data. A schema that makes no sense is read as one
that allows everything, because a tool must not break over its own declaration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import unquote

Schema = dict[str, Any]

KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")
ALIASES = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
    "map": "object",
    "none": "null",
}
"""Type names that are no JSON Schema but are met in hand-written declarations."""

ONLY_NULL = frozenset({"null"})
ONLY_OBJECT = frozenset({"object"})

OBJECT_WORDS = ("properties", "required", "additionalProperties", "patternProperties", "propertyNames")
ARRAY_WORDS = ("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems")
BRANCH_WORDS = ("anyOf", "oneOf")
MAX_REFS = 32


def as_schema(value: Any) -> Schema | bool:
    """Read any value as a schema: dicts and booleans as they are, the rest as one that allows everything."""
    if isinstance(value, bool):
        return value
    return cast("Schema", value) if isinstance(value, dict) else True


def schema_list(value: Any) -> list[Any]:
    """Read a keyword's value as a list of schemas; anything else is an empty list."""
    return list(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else []


def schema_map(value: Any) -> Schema:
    """Read a keyword's value as schemas by name; anything else is empty."""
    return {str(k): v for k, v in cast("Schema", value).items()} if isinstance(value, dict) else {}


def names(value: Any) -> tuple[str, ...]:
    """Read a keyword's value as a list of names."""
    return tuple(n for n in schema_list(value) if isinstance(n, str))


def own_kinds(schema: Schema) -> frozenset[str] | None:
    """The JSON types the `type` keyword allows, or None when it says nothing that makes sense."""
    given = schema.get("type")
    listed = schema_list(given) if isinstance(given, (list, tuple)) else [given]
    kinds: set[str] = set()
    for one in listed:
        if isinstance(one, str):
            word = one.strip().lower()
            word = ALIASES.get(word, word)
            if word in KINDS:
                kinds.add(word)
    if kinds and schema.get("nullable") is True:
        kinds.add("null")
    return frozenset(kinds) or None


def prefix_of(schema: Schema) -> list[Any]:
    """The schemas of the first items, in the 2020-12 way or as a list under `items`."""
    old = schema.get("items")
    return schema_list(schema.get("prefixItems")) or (schema_list(old) if isinstance(old, list) else [])


def rest_of(schema: Schema) -> Any:
    """The schema of the items after the first ones; None when anything may follow."""
    items = schema.get("items")
    return schema.get("additionalItems") if isinstance(items, list) else items


class Shapes:
    """The static questions about one root schema and everything inside it."""

    def __init__(self, root: Any) -> None:
        self.root = as_schema(root)

    def resolve(self, pointer: Any) -> Any:
        """Follow a `$ref` inside the root; a reference that leads nowhere allows everything."""
        if not isinstance(pointer, str) or not pointer.startswith("#"):
            return True
        rest = pointer[1:]
        if not rest:
            return self.root
        if not rest.startswith("/"):
            return self._anchor(rest)
        here: Any = self.root
        for part in rest[1:].split("/"):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(here, dict) and key in here:
                here = cast("Schema", here)[key]
            elif isinstance(here, list) and key.isdecimal() and int(key) < len(cast("list[Any]", here)):
                here = cast("list[Any]", here)[int(key)]
            else:
                return True
        return here

    def _anchor(self, name: str) -> Any:
        if isinstance(self.root, dict):
            for holder in ("$defs", "definitions"):
                for one in schema_map(self.root.get(holder)).values():
                    if isinstance(one, dict) and name in (one.get("$anchor"), one.get("$dynamicAnchor")):
                        return cast("Schema", one)
        return True

    def target(self, schema: Any) -> Schema | bool:
        """Follow references until there is none; siblings of a reference win over what it names."""
        found = as_schema(schema)
        merged: Schema = {}
        for _ in range(MAX_REFS):
            if not isinstance(found, dict):
                return merged if merged else found
            ref = found.get("$ref", found.get("$dynamicRef"))
            merged = {**found, **merged}
            if ref is None:
                merged.pop("$ref", None)
                merged.pop("$dynamicRef", None)
                return merged
            found = as_schema(self.resolve(ref))
        return True

    def in_place(self, schema: Any, *, branches: bool = True) -> Iterator[Schema]:
        """Every schema that describes the same value: itself, its reference, allOf, and if asked anyOf and the like."""
        seen: set[int] = set()
        waiting: list[Any] = [schema]
        while waiting:
            one = as_schema(waiting.pop())
            if not isinstance(one, dict) or id(one) in seen:
                continue
            seen.add(id(one))
            yield one
            for word in ("$ref", "$dynamicRef"):
                if word in one:
                    waiting.append(self.resolve(one[word]))
            waiting.extend(schema_list(one.get("allOf")))
            if branches:
                for word in BRANCH_WORDS:
                    waiting.extend(schema_list(one.get(word)))
                waiting.extend(one[word] for word in ("if", "then", "else") if word in one)
                waiting.extend(schema_map(one.get("dependentSchemas")).values())

    def known(self, schema: Any, *, branches: bool = True) -> frozenset[str]:
        """All property names that any schema for the same value speaks of."""
        return frozenset(
            n for one in self.in_place(schema, branches=branches) for n in schema_map(one.get("properties"))
        )

    def is_open(self, schema: Any, *, at_root: bool = False) -> bool:
        """Whether an object may hold names nobody declared: said so, or no names are declared at all.

        An absent `additionalProperties` next to declared properties counts as closed: a function
        does not take arguments it has no parameter for.
        """
        declared = False
        for one in self.in_place(schema):
            extra = one.get("additionalProperties", one.get("unevaluatedProperties", False))
            if extra is True or isinstance(extra, dict) or schema_map(one.get("patternProperties")):
                return True
            declared = declared or bool(one.get("properties")) or extra is False and "additionalProperties" in one
            declared = declared or (at_root and "properties" in one)
        return not declared

    def kinds(self, schema: Any) -> frozenset[str]:
        """The JSON types a value for `schema` may have, as far as the schema tells; all of them if it does not."""
        return self._kinds(schema, 0)

    def _kinds(self, schema: Any, depth: int) -> frozenset[str]:
        every = frozenset(KINDS)
        found = self.target(schema)
        if not isinstance(found, dict) or depth > 8:
            return every
        own = own_kinds(found)
        result = own if own is not None else every
        choices = [found["const"]] if "const" in found else schema_list(found.get("enum"))
        if choices:
            result &= frozenset(kind_of(c) for c in choices) | ({"number"} if own and "number" in own else frozenset())
        elif own is None:
            implied = {"object" for w in OBJECT_WORDS if w in found} | {"array" for w in ARRAY_WORDS if w in found}
            result = frozenset(implied) if implied else result
        for one in schema_list(found.get("allOf")):
            result &= self._kinds(one, depth + 1)
        for word in BRANCH_WORDS:
            options = schema_list(found.get(word))
            if options:
                result &= frozenset().union(*(self._kinds(one, depth + 1) for one in options))
        return result or every


def kind_of(value: Any) -> str:
    """The JSON type of a Python value; `other` for what JSON cannot hold. Whole floats are numbers here."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (list, tuple)):
        return "array"
    return "object" if isinstance(value, dict) else "other"


def fits_kind(value: Any, kinds: frozenset[str]) -> bool:
    """Whether the value's JSON type is one of `kinds`; an integer is a number, and 10.0 is an integer."""
    kind = kind_of(value)
    if kind in kinds or (kind == "integer" and "number" in kinds):
        return True
    return kind == "number" and "integer" in kinds and cast("float", value).is_integer()


def same(a: Any, b: Any) -> bool:
    """JSON equality: 1 equals 1.0, true does not equal 1, and containers compare by their members."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        one, two = cast("Schema", a), cast("Schema", b)
        return one.keys() == two.keys() and all(same(v, two[k]) for k, v in one.items())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        left, right = cast("list[Any]", a), cast("list[Any]", b)
        return len(left) == len(right) and all(map(same, left, right))
    return kind_of(a) != "other" and a == b
