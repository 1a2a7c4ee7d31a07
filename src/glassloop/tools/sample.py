"""One right example of a call, built from the schema alone.

Owes: JSON text that fits the schema, or nothing; never a value from anybody's data. Texts
without a format stand as `<name>`, so that no model takes them for values.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from .checks import Findings, quietly
from .formats import EXAMPLES
from .outline import (
    BRANCH_WORDS,
    ONLY_NULL,
    ONLY_OBJECT,
    Schema,
    Shapes,
    names,
    own_kinds,
    prefix_of,
    rest_of,
    schema_list,
    schema_map,
)

if TYPE_CHECKING:
    from .schema import Compiled

MAX_DEPTH = 6
MAX_CHARS = 400
MAX_ITEMS = 5


def sample(ready: Compiled, wanted: set[str], language: str = "en") -> str:
    """Return the JSON text of a right call with all required arguments and those in `wanted`; empty if there is none.

    Args:
        ready: The compiled schema.
        wanted: Names of further arguments to show, if they can be.
        language: Language of the placeholder for a text without a name.
    """
    word = "文本" if language == "zh" else "text"
    maker = Maker(ready.shapes, word)
    for further in (wanted, set[str]()):
        try:
            value = maker.make(ready.root, word, further=further)
            fits = quietly(ready.check, value, Findings(loud=False))
        except Exception:  # an example is a courtesy; without one the problems still say what is wanted
            continue
        text = json.dumps(value, ensure_ascii=False)
        if fits and len(text) <= MAX_CHARS:
            return text
    return ""


class Maker:
    """Builds values from schemas."""

    def __init__(self, shapes: Shapes, word: str) -> None:
        self.shapes = shapes
        self.word = word

    def make(self, schema: Any, name: str, *, further: set[str] | None = None, depth: int = 0) -> Any:
        """Make a value for a schema: its own example first, then what its keywords allow."""
        found = self.shapes.target(schema)
        if not isinstance(found, dict) or depth > MAX_DEPTH:
            return f"<{name}>"
        for part in schema_list(found.get("allOf")):
            merged = self.shapes.target(part)
            found = _merged(found, merged) if isinstance(merged, dict) else found
        if depth:
            for known in (
                *schema_list(found.get("examples"))[:1],
                *(found[w] for w in ("example", "default") if w in found),
            ):
                if known is not None:
                    return known
        if "const" in found:
            return found["const"]
        if schema_list(found.get("enum")):
            return found["enum"][0]
        for word in BRANCH_WORDS:
            options = [o for o in schema_list(found.get(word)) if self.shapes.kinds(o) != ONLY_NULL]
            if options and not (depth == 0 and found.get("properties")):
                return self.make(options[0], name, further=further, depth=depth + (depth > 0))
        return self._by_kind(found, name, further or set(), depth)

    def _by_kind(self, schema: Schema, name: str, further: set[str], depth: int) -> Any:
        kinds = own_kinds(schema) or self.shapes.kinds(schema)
        if "object" in kinds and (depth == 0 or kinds == ONLY_OBJECT):
            props = schema_map(schema.get("properties"))
            shown = [n for n in props if n in names(schema.get("required")) or n in further]
            return {n: self.make(props[n], n, depth=depth + 1) for n in shown}
        if "string" in kinds:
            return _text(schema, name)
        if kinds & {"integer", "number"}:
            return _number(schema)
        if "array" in kinds:
            first = prefix_of(schema)
            count = max(len(first), min(MAX_ITEMS, int(schema.get("minItems", 1) or 1)))
            rest = rest_of(schema)
            return [self.make(first[i] if i < len(first) else rest, name, depth=depth + 1) for i in range(count)]
        return True if "boolean" in kinds else None


def _merged(one: Schema, two: Schema) -> Schema:
    out = {**two, **one}
    out["properties"] = {**schema_map(two.get("properties")), **schema_map(one.get("properties"))}
    out["required"] = [*names(two.get("required")), *names(one.get("required"))]
    return out


def _text(schema: Schema, name: str) -> str:
    form = schema.get("format")
    if form in EXAMPLES:
        return EXAMPLES[form]
    text = f"<{name}>"
    low, high = schema.get("minLength"), schema.get("maxLength")
    if isinstance(low, int) and len(text) < low <= MAX_CHARS:
        text = f"<{name}{'…' * (low - len(text))}>"
    return text[:high] if isinstance(high, int) and high > 0 else text


def _number(schema: Schema) -> int | float:
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    step = schema.get("multipleOf", 1)
    value: int | float = 1 if not isinstance(step, (int, float)) or step <= 0 else step
    unit = value
    if isinstance(above, (int, float)) and not isinstance(above, bool) and value <= above:
        value = (math.floor(above / unit) + 1) * unit
    if isinstance(low, (int, float)) and value < low:
        value = math.ceil(low / unit) * unit
    if isinstance(high, (int, float)) and value > high:
        value = math.floor(high / unit) * unit
    if isinstance(below, (int, float)) and not isinstance(below, bool) and value >= below:
        value = (math.ceil(below / unit) - 1) * unit
    return value
