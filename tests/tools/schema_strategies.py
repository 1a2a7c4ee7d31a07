"""Schemas and values for property tests: ones that make sense, ones that nearly fit each other, and nonsense."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = ["city", "days", "count", "max_results", "kind", "名称"]
WORDS = [
    "",
    "null",
    "None",
    "true",
    "False",
    "是",
    "no",
    "5",
    "１２",
    "1,200",
    "7.5",
    "10.0",
    "a, b, c",
    "北京、上海",
    "1, 2",
    "[1, 2]",
    '["a"]',
    '{"city": "x"}',
    '[{"city": 1}]',
    "{'days': 2}",
    '"open"',
    "OPEN",
    "opne",
    "closed ",
    "in progress",
    "2025-03-01",
    "03/04/2025",
    "2025/3/1",
    "2025年3月1日",
    "2025-11-07 10:00",
    "9:30 PM",
    "下午3点",
    "[",
    "{",
    "\ud800",
    "nan",
    "1e999",
]
FORMATS = ["date", "date-time", "time", "email", "uuid", "uri", "ipv4", "duration", "no-such-format"]

texts = st.sampled_from(WORDS) | st.text(max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-20, 2000)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.sampled_from([1.0, 10.0, 10.5, 0.0])
    | texts
)
names = st.sampled_from([*NAMES, "City", "citys", "maxResults", "value", "arguments", "properties", "other"])


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4)


values = st.recursive(scalars, _containers, max_leaves=8)

wild_values = st.recursive(
    scalars
    | st.floats()
    | st.binary(max_size=4)
    | st.builds(object)
    | st.builds(lambda: 10**5000)
    | st.sampled_from([(), (1, "2"), {1, 2}, frozenset(), Ellipsis, int, len]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(names | st.integers() | st.none(), inner, max_size=3)
    ),
    max_leaves=6,
)

enums = st.lists(
    st.sampled_from(["open", "closed", "in_progress", "Open", 1, 2, 1.5, True, None, "1", "开"]), min_size=1, max_size=4
)
small = st.integers(0, 4)


@st.composite
def leaves(draw: st.DrawFn) -> dict[str, Any]:
    """A schema of a single value."""
    kind = draw(st.sampled_from(["string", "integer", "number", "boolean", "null", "enum", "const", "any", "multi"]))
    if kind == "enum":
        return {"enum": draw(enums)}
    if kind == "const":
        return {"const": draw(scalars)}
    if kind == "any":
        return {}
    if kind == "multi":
        picked = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
        return {"type": draw(st.lists(picked, min_size=1, max_size=3, unique=True))}
    out: dict[str, Any] = {"type": kind}
    if kind == "string":
        extra = draw(st.sampled_from(["", "format", "pattern", "minLength", "maxLength", "enum"]))
        if extra == "format":
            out["format"] = draw(st.sampled_from(FORMATS))
        elif extra == "pattern":
            out["pattern"] = draw(st.sampled_from([r"^[a-z]+$", r"\d", r"^(a+)+$", r"^.{2}$"]))
        elif extra == "enum":
            out["enum"] = ["open", "closed", "in_progress"]
        elif extra:
            out[extra] = draw(small)
    if kind in ("integer", "number"):
        for word in draw(
            st.sets(st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), max_size=2)
        ):
            out[word] = draw(st.integers(-5, 20))
        if draw(st.booleans()):
            out["multipleOf"] = draw(st.sampled_from([1, 2, 5]))
    return out


@st.composite
def nested(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """A schema around other schemas."""
    form = draw(st.sampled_from(["object", "object", "array", "tuple", "anyOf", "oneOf", "allOf", "if", "not", "map"]))
    if form == "array":
        out: dict[str, Any] = {"type": "array", "items": draw(inner)}
        if draw(st.booleans()):
            out[draw(st.sampled_from(["minItems", "maxItems"]))] = draw(small)
        if draw(st.booleans()):
            out["uniqueItems"] = True
        return out
    if form == "tuple":
        return {"type": "array", "prefixItems": draw(st.lists(inner, max_size=2)), "items": draw(inner | st.booleans())}
    if form in ("anyOf", "oneOf", "allOf"):
        return {form: draw(st.lists(inner, min_size=1, max_size=3))}
    if form == "if":
        return {"if": draw(inner), "then": draw(inner), "else": draw(inner)}
    if form == "not":
        return {"not": draw(inner)}
    if form == "map":
        return {"type": "object", "additionalProperties": draw(inner)}
    return draw(objects(inner))


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """A schema of an object."""
    props = draw(st.dictionaries(st.sampled_from(NAMES), inner, max_size=4))
    for name in list(props):
        if draw(st.integers(0, 3)) == 0:
            props[name] = {**props[name], "default": draw(values)}
    out: dict[str, Any] = {"type": "object", "properties": props}
    if props:
        out["required"] = draw(st.lists(st.sampled_from(list(props)), unique=True, max_size=2))
    extra = draw(st.sampled_from(["", "", "false", "true", "schema", "depends", "names"]))
    if extra == "schema":
        out["additionalProperties"] = draw(inner)
    elif extra == "depends" and props:
        out["dependentRequired"] = {draw(st.sampled_from(list(props))): [draw(st.sampled_from(NAMES))]}
    elif extra == "names":
        out["maxProperties"] = draw(small)
    elif extra:
        out["additionalProperties"] = extra == "true"
    return out


schemas = st.recursive(leaves(), nested, max_leaves=6)


@st.composite
def tools(draw: st.DrawFn) -> dict[str, Any]:
    """The parameters of a tool, now and then with definitions that refer to themselves."""
    if draw(st.integers(0, 3)) == 0:
        node = draw(objects(leaves() | st.just({"$ref": "#/$defs/Node"})))
        top = draw(objects(leaves() | st.just({"$ref": "#/$defs/Node"})))
        return {**top, "$defs": {"Node": node}}
    return draw(objects(schemas))


nonsense = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type properties required items anyOf oneOf allOf not if then else enum const format pattern minimum "
                "maximum multipleOf minLength maxItems uniqueItems additionalProperties patternProperties $ref $defs "
                "default nullable prefixItems contains dependentRequired dependentSchemas propertyNames".split()
            ),
            inner
            | st.sampled_from(["object", "array", "string", "integer", "#", "#/properties/city", "^(a|a)*$", "("]),
            max_size=4,
        )
    ),
    max_leaves=10,
)
