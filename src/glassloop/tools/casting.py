"""A schema compiled into casts: the one evident reading of a value that is nearly right.

Owes: a value that already fits is left alone, except that nested objects get their defaults
and lose what nobody declared; every change is noted; what has no evident reading is returned
as it was, for the validation to complain about. Casting twice changes nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from . import scalars
from .checks import quietly
from .formats import to_format
from .members import Members
from .outline import (
    ARRAY_WORDS,
    BRANCH_WORDS,
    OBJECT_WORDS,
    Schema,
    Shapes,
    as_schema,
    fits_kind,
    own_kinds,
    prefix_of,
    rest_of,
    same,
    schema_list,
)
from .trail import Trail
from .validation import Validation

Caster = Callable[[Any, str, Trail], Any]
Surrounding = tuple[frozenset[str], bool]
"""Names the schemas around this one know for the same object, and whether they let further ones in."""

ALONE: Surrounding = (frozenset(), False)
_SEPARATORS = ("[,，]", "、", "[;；]", r"\n")
_TEXT_WORDS = ("format", "pattern", "minLength", "maxLength")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


def untouched(value: Any, path: str, trail: Trail) -> Any:
    """Cast nothing."""
    return value


class Casting:
    """The casts of one root schema.

    Args:
        shapes: The static questions about the root.
        validation: Its checks.
        result: True for a tool's result: nothing is dropped, filled in, renamed or guessed.
    """

    def __init__(self, shapes: Shapes, validation: Validation, *, result: bool = False) -> None:
        self.shapes = shapes
        self.validation = validation
        self.result = result
        self._made: dict[tuple[int, Surrounding], tuple[Any, Caster]] = {}

    def caster_of(self, schema: Any, around: Surrounding = ALONE, *, at_root: bool = False) -> Caster:
        """Return the cast of a schema, compiled once."""
        key = (id(schema), around)
        held = self._made.get(key)
        if held is not None and held[0] is schema:
            return held[1]
        made = self._compile(as_schema(schema), around, at_root)
        self._made[key] = (schema, made)
        return made

    def later(self, schema: Any, around: Surrounding = ALONE) -> Caster:
        """A cast compiled when first needed: what a reference names may be what is being compiled."""

        def cast_later(value: Any, path: str, trail: Trail) -> Any:
            trail.found.step()
            return self.caster_of(schema, around)(value, path, trail)

        return cast_later

    def tried(self, schema: Any, value: Any, path: str, trail: Trail) -> tuple[Any, Trail, bool]:
        """Cast on a fork: the outcome, the fork, and whether the outcome fits."""
        fork = trail.fork()
        outcome = self.caster_of(schema)(value, path, fork)
        good = not fork.problems and self.validation.fits(schema, outcome, trail.found)
        return outcome, fork, good

    def _compile(self, schema: Schema | bool, around: Surrounding, at_root: bool) -> Caster:
        if not isinstance(schema, dict):
            return untouched
        choices = [schema["const"]] if "const" in schema else schema_list(schema.get("enum"))
        kinds = own_kinds(schema) or _implied(schema)
        whole = kinds is not None and "integer" in kinds and "number" not in kinds
        needs_text = any(w in schema for w in _TEXT_WORDS) and not choices
        members = Members(self, schema, around, at_root=at_root)
        items = self._items(schema)
        places = self._in_place(schema, members)
        check = self.validation.check_of(schema)

        def cast_value(value: Any, path: str, trail: Trail) -> Any:
            if value is None:
                return None
            if choices and not any(same(value, c) for c in choices):
                value = self._choose(value, choices, path, trail)
            if value is None:
                return None
            if kinds is not None and not fits_kind(value, kinds):
                value = self._convert(value, kinds, schema, path, trail)
            kind = cast("type[Any]", type(value))
            if kind is dict:
                value = members.cast(value, path, trail)
            elif kind is list:
                value = items(value, path, trail) if items else value
            elif kind is str:
                if needs_text and not self.result and not quietly(check, value, trail.found):
                    value = self._reword(value, schema, path, trail, nullable="null" in (kinds or ()))
            elif kind is float and whole and value.is_integer():
                value = trail.mended("integer", path, value, int(value))
            elif isinstance(value, tuple):
                listed = list(cast("tuple[Any, ...]", value))
                value = items(listed, path, trail) if items else listed
            for place in places:
                value = place(value, path, trail)
            return value

        return cast_value

    # -- what a node does to a value ------------------------------------------------------

    def _choose(self, value: Any, choices: list[Any], path: str, trail: Trail) -> Any:
        meant = scalars.choice(value, choices)
        if meant is None or (self.result and meant[2]):
            return value
        return trail.mended(meant[1], path, value, meant[0], guessed=meant[2])

    def _convert(self, value: Any, kinds: frozenset[str], schema: Schema, path: str, trail: Trail) -> Any:
        """Read a value of another JSON type as one of the types that are wanted, plainest first."""
        if "null" in kinds and not self.result and scalars.nullish(value):
            return trail.mended("null", path, value, None)
        for kind in ("integer", "number", "boolean"):
            read = _READERS[kind]
            if kind in kinds and (outcome := read(value)) is not None:
                return trail.mended(kind, path, value, outcome)
        if "object" in kinds and isinstance(value, str) and value.lstrip()[:1] in ("{", '"'):
            outcome = scalars.decoded(value)
            if isinstance(outcome, dict):
                return trail.mended("json", path, value, cast("Schema", outcome))
        if "array" in kinds:
            listed = self._listed(value, schema, path, trail)
            if listed is not None:
                return listed
        if "string" in kinds and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**60:
            return trail.mended("text", path, value, str(value))
        return value

    def _reword(self, text: str, schema: Schema, path: str, trail: Trail, *, nullable: bool) -> Any:
        """Find another form of a text that breaks its format, pattern or length: without quotes, width, spaces."""
        if nullable and scalars.nullish(text):
            return trail.mended("null", path, text, None)
        form = schema.get("format")
        forms = [to_format(text, form) if isinstance(form, str) else None]
        forms += [text.strip(), scalars.width(text), scalars.unquoted(scalars.width(text)).strip()]
        for candidate in forms:
            if candidate and candidate != text and self.validation.fits(schema, candidate, trail.found):
                return trail.mended("format" if form else "trimmed", path, text, candidate)
        return text

    # -- lists ----------------------------------------------------------------------------

    def _items(self, schema: Schema) -> Caster | None:
        first = [self.caster_of(s) for s in prefix_of(schema)]
        after = rest_of(schema)
        rest = untouched if after is None else self.caster_of(after)
        if not first and rest is untouched:
            return None

        def cast_items(value: list[Any], path: str, trail: Trail) -> list[Any]:
            return [(first[i] if i < len(first) else rest)(item, f"{path}[{i}]", trail) for i, item in enumerate(value)]

        return cast_items

    def _listed(self, value: Any, schema: Schema, path: str, trail: Trail) -> list[Any] | None:
        """Read one item, JSON text, or items with separators between them as a list."""
        item = (prefix_of(schema) or [rest_of(schema)])[0]
        kinds = self.shapes.kinds(item)
        if isinstance(value, str):
            outcome = scalars.decoded(value) if value.lstrip()[:1] in ("[", "{", "(", '"') else scalars.MISSING
            if isinstance(outcome, list):
                return trail.mended("json", path, value, cast("list[Any]", outcome))
            if isinstance(outcome, dict):
                value = cast("Schema", outcome)
            elif value.lstrip()[:1] in ("[", "{") or scalars.nullish(value):
                return None
            elif isinstance(outcome, str):
                value = outcome
        if isinstance(value, str) and not self.result:
            parts = _split(value, numeric=bool(kinds & {"integer", "number"}) and "string" not in kinds)
            if parts is None:
                return None
            if len(parts) > 1:
                good = all(self.tried(item, part, path, trail)[2] for part in parts)
                return trail.mended("split", path, value, parts) if good else None
        if isinstance(value, dict) and "object" in kinds or self.tried(item, value, path, trail)[2]:
            return trail.mended("wrapped", path, value, [value])
        return None

    # -- schemas for the same value -------------------------------------------------------

    def _in_place(self, schema: Schema, members: Members) -> list[Caster]:
        around = (members.known, members.open)
        places = [self.later(self.shapes.resolve(schema[w]), around) for w in ("$ref", "$dynamicRef") if w in schema]
        places += [self.later(part, around) for part in schema_list(schema.get("allOf"))]
        inner = (members.certain, members.open_outside)
        for word in BRANCH_WORDS:
            options = schema_list(schema.get(word))
            if options:
                places.append(self._branches(options, inner))
        if "if" in schema and ("then" in schema or "else" in schema):
            test = self.validation.check_of(schema["if"])
            yes, no = (self.later(schema.get(w, True), around) for w in ("then", "else"))

            def either(value: Any, path: str, trail: Trail) -> Any:
                return (yes if quietly(test, value, trail.found) else no)(value, path, trail)

            places.append(either)
        return places

    def _branches(self, options: list[Any], around: Surrounding) -> Caster:
        casters = [(o, self.later(o, around)) for o in options]

        def cast_branch(value: Any, path: str, trail: Trail) -> Any:
            best: tuple[Any, Trail] | None = None
            torn = False
            for option, caster in casters:
                fork = trail.fork()
                outcome = caster(value, path, fork)
                if fork.problems or not self.validation.fits(option, outcome, trail.found):
                    continue
                if fork.cost == 0:
                    trail.adopt(fork)
                    return outcome
                if best is None or fork.cost < best[1].cost:
                    best, torn = (outcome, fork), False
                elif fork.cost == best[1].cost and fork.guessed and not same(outcome, best[0]):
                    torn = True  # two guesses equally far: none is taken
            if best is not None:
                if torn:
                    return value
                trail.adopt(best[1])
                return best[0]
            likely = self.validation.likely(options, value, trail.found)
            return value if likely is None else self.caster_of(likely, around)(value, path, trail)

        return cast_branch


_READERS: dict[str, Callable[[Any], Any]] = {
    "integer": scalars.integer,
    "number": scalars.number,
    "boolean": scalars.boolean,
}


def _implied(schema: Schema) -> frozenset[str] | None:
    """The kind a schema without `type` evidently speaks of."""
    if any(w in schema for w in OBJECT_WORDS):
        return frozenset({"object"}) if not any(w in schema for w in ARRAY_WORDS) else None
    return frozenset({"array"}) if any(w in schema for w in ARRAY_WORDS) else None


def _split(text: str, *, numeric: bool) -> list[str] | None:
    """The parts of an enumeration; one part when there is no separator, None when it is not clear where to cut."""
    if numeric and _GROUPED.fullmatch(scalars.width(text)):
        return None  # 1,200 may be one number or two
    present = [s for s in _SEPARATORS if re.search(s, text.strip())]
    if not present:
        return [text]
    if len(present) > 1:
        return None
    parts = [scalars.unquoted(p.strip()) for p in re.split(present[0], text)]
    return [p for p in parts if p]
