"""A JSON Schema in the words that a server's grammar compiler knows.

It owes, for any input, a schema the backend accepts (it never raises), the list of
what was left out on the way, and nothing narrower than what was asked: a reply
that fits the original also fits the adapted schema. What was left out is the
protocol's to check afterwards. What each compiler takes was measured or read in
its documentation; the sets below are that knowledge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from glassloop.models.patterns import portable_pattern

Backend = Literal["llamacpp", "ollama", "openai", "plain"]

_NOTES = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "nullable"})
_NOTES_UNSAID = frozenset(
    {"$schema", "$id", "$comment", "$anchor", "contentMediaType", "contentEncoding", "discriminator"}
)
_SHAPE = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "oneOf", "allOf"}
    | {"$ref", "$defs", "definitions"}
)
_LLAMA = _SHAPE | {"pattern", "format", "minLength", "maxLength", "minItems", "maxItems", "prefixItems"} | {
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
}  # fmt: skip
_STRICT = (_SHAPE - {"oneOf", "allOf", "definitions"}) | {"pattern", "format", "multipleOf", "minItems", "maxItems"} | {
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
}  # fmt: skip
_PLAIN = _LLAMA | {"minProperties", "maxProperties"}
_KEYWORDS: dict[Backend, frozenset[str]] = {"llamacpp": _LLAMA, "ollama": _LLAMA, "openai": _STRICT, "plain": _PLAIN}
_FORMATS: dict[Backend, frozenset[str]] = {
    "llamacpp": frozenset({"date", "time", "date-time", "uuid"}),
    "ollama": frozenset({"date", "time", "date-time", "uuid"}),
    "openai": frozenset({"date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}),
    "plain": frozenset({"date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"}),
}
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_MISSPELT_SHAPES = {
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "str": "string",
    "text": "string",
}
_MISSPELT_VALUES = {"float": "number", "double": "number", "int": "integer", "bool": "boolean", "none": "null"}
_MISSPELT = {**_MISSPELT_SHAPES, **_MISSPELT_VALUES}
_RANGES = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_LENGTHS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
_NUMERIC = _LENGTHS | set(_RANGES) | {"multipleOf"}


@dataclass(frozen=True)
class Adapted:
    """A schema in a backend's dialect."""

    schema: dict[str, Any]
    dropped: tuple[str, ...] = ()
    """Pointers to what the grammar does not hold, to be checked afterwards, such as `#/properties/age/multipleOf`."""
    strict: bool = True
    """False when OpenAI's strict mode cannot express it; the schema is then only a strong hint to that server."""
    nullable: tuple[str, ...] = ()
    """Pointers to optional properties that strict mode made required: null there means that nothing was given."""


def adapt(schema: Mapping[str, Any], backend: Backend) -> Adapted:
    """Put a JSON Schema into a backend's dialect.

    Args:
        schema: Any JSON Schema; odd ones included. It is not changed.
        backend: `llamacpp` and `ollama` (llama.cpp's grammar compiler), `openai` (strict mode), or `plain` (vLLM
            and other compatible servers).
    """
    work = _Adapter(backend, schema)
    adapted = work.adapt(schema, "#")
    if backend == "openai" and (adapted.get("type") != "object" or "anyOf" in adapted):
        work.strict = False  # the root of a strict schema is one object
    return Adapted(adapted, tuple(dict.fromkeys(work.dropped)), work.strict, tuple(work.nullable))


@dataclass
class _Adapter:
    backend: Backend
    root: Mapping[str, Any]
    dropped: list[str] = field(default_factory=list[str])
    nullable: list[str] = field(default_factory=list[str])
    strict: bool = True

    def adapt(self, schema: Any, at: str) -> dict[str, Any]:
        if schema is True or schema is None:
            return self._anything()
        if not isinstance(schema, Mapping):
            self.dropped.append(at)
            return self._anything()
        given = cast("Mapping[str, Any]", schema)
        out: dict[str, Any] = {}
        handlers: dict[str, Callable[[Any, str], Any]] = {
            "type": self._type,
            "properties": self._properties,
            "required": self._required,
            "items": self._items,
            "prefixItems": self._many,
            "additionalProperties": self._additional,
            "anyOf": self._many,
            "oneOf": self._many,
            "allOf": self._many,
            "$defs": self._named,
            "definitions": self._named,
            "$ref": self._ref,
            "enum": self._enum,
            "pattern": self._pattern,
            "format": self._format,
        }
        for key, value in given.items():
            if key in _NOTES:
                if key != "nullable":
                    out[key] = value
            elif key in _NOTES_UNSAID or key.startswith("x-"):
                continue
            elif key not in _KEYWORDS[self.backend] and key not in ("oneOf", "allOf", "definitions"):
                self.dropped.append(f"{at}/{key}")
            elif key in _NUMERIC and (isinstance(value, bool) or not isinstance(value, (int, float))):
                self.dropped.append(f"{at}/{key}")
            elif key in handlers:
                adapted = handlers[key](value, f"{at}/{key}")
                if adapted is not None:
                    out[key] = adapted
            else:
                out[key] = value
        self._ranges(out, at)
        if given.get("nullable") is True:
            out = _or_null(out)
        if self.backend in ("llamacpp", "ollama") and "oneOf" in out and "anyOf" not in out:
            # llguidance refuses alternatives it cannot tell apart, and the server then goes on without any grammar.
            out["anyOf"] = out.pop("oneOf")
        return self._strict(out, at) if self.backend == "openai" else out

    def _anything(self) -> dict[str, Any]:
        # Strict mode has no "anything"; llama.cpp takes only objects, never `true`.
        if self.backend == "openai":
            self.strict = False
        return {}

    def _type(self, value: Any, at: str) -> Any:
        names = cast("list[Any]", value) if isinstance(value, list) else [value]
        fixed = [_MISSPELT.get(n.lower(), n.lower()) if isinstance(n, str) else n for n in names]
        if not fixed or not all(isinstance(n, str) and n in _TYPES for n in fixed):
            if value != "any":
                self.dropped.append(at)
            return None
        return fixed if isinstance(value, list) else fixed[0]

    def _properties(self, value: Any, at: str) -> Any:
        return self._named(value, at) or {}

    def _named(self, value: Any, at: str) -> Any:
        if not isinstance(value, Mapping):
            self.dropped.append(at)
            return None
        out: dict[str, Any] = {}
        for name, schema in cast("Mapping[str, Any]", value).items():
            if schema is False:
                self.dropped.append(f"{at}/{name}")  # a property that must be absent is simply not offered
            else:
                out[str(name)] = self.adapt(schema, f"{at}/{_escaped(name)}")
        return out

    def _required(self, value: Any, at: str) -> Any:
        if not isinstance(value, list):
            self.dropped.append(at)
            return None
        return [name for name in cast("list[Any]", value) if isinstance(name, str)]

    def _items(self, value: Any, at: str) -> Any:
        if isinstance(value, (list, bool)):
            # The old tuple form, or "no more than these": checked afterwards.
            if value is not True:
                self.dropped.append(at)
            return {} if self.backend != "openai" else self._anything()
        return self.adapt(value, at)

    def _additional(self, value: Any, at: str) -> Any:
        return value if isinstance(value, bool) else self.adapt(value, at)

    def _many(self, value: Any, at: str) -> Any:
        if not isinstance(value, list) or not value:
            self.dropped.append(at)
            return None
        return [self.adapt(s, f"{at}/{n}") for n, s in enumerate(cast("list[Any]", value)) if s is not False] or None

    def _ref(self, value: Any, at: str) -> Any:
        if isinstance(value, str) and _resolves(self.root, value):
            return value
        self.dropped.append(at)
        return None

    def _enum(self, value: Any, at: str) -> Any:
        if isinstance(value, list) and value:
            return cast("list[Any]", value)
        self.dropped.append(at)
        return None

    def _pattern(self, value: Any, at: str) -> Any:
        if isinstance(value, str) and self.backend in ("openai", "plain"):
            return value
        portable = portable_pattern(value) if isinstance(value, str) else None
        if portable is None:
            self.dropped.append(at)
        return portable

    def _format(self, value: Any, at: str) -> Any:
        if isinstance(value, str) and value in _FORMATS[self.backend]:
            return value
        self.dropped.append(at)
        return None

    def _ranges(self, out: dict[str, Any], at: str) -> None:
        """Take out what llama.cpp would ignore or stumble over: ranges of numbers, empty ranges, two string rules."""
        if self.backend in ("llamacpp", "ollama"):
            kinds = out.get("type")
            only_integer = kinds == "integer" or kinds == ["integer"]
            bounds = {k: out[k] for k in _RANGES if k in out}
            whole = all(isinstance(v, int) and not isinstance(v, bool) for v in bounds.values())
            if bounds and (not only_integer or not whole or _empty(bounds)):
                for key in bounds:
                    del out[key]
                    self.dropped.append(f"{at}/{key}")
            if "pattern" in out:  # the pattern wins there, lengths are ignored
                for key in ("minLength", "maxLength"):
                    if out.pop(key, None) is not None:
                        self.dropped.append(f"{at}/{key}")
        for low, high in (("minLength", "maxLength"), ("minItems", "maxItems")):
            if isinstance(out.get(low), int) and isinstance(out.get(high), int) and out[low] > out[high]:
                self.dropped += [f"{at}/{low}", f"{at}/{high}"]
                del out[low], out[high]

    def _strict(self, out: dict[str, Any], at: str) -> dict[str, Any]:
        """Apply OpenAI's strict rules: every property required, none besides, optional ones nullable, only anyOf."""
        if "oneOf" in out:
            out["anyOf"] = out.pop("oneOf")
        if "allOf" in out:
            parts = cast("list[dict[str, Any]]", out.pop("allOf"))
            if len(parts) == 1 and not any(k in out for k in parts[0]):
                out |= parts[0]
            else:
                self.dropped.append(f"{at}/allOf")
                self.strict = False
        if "definitions" in out:
            self.strict = False  # references point there; strict mode knows only $defs
        if out.get("type") == "object" or "properties" in out:
            self._close(out, at)
        return out

    def _close(self, out: dict[str, Any], at: str) -> None:
        properties = cast("dict[str, Any]", out.setdefault("properties", {}))
        if out.get("additionalProperties", False) is not False or not properties:
            self.strict = False  # a free-form object cannot be closed without losing what it may hold
            return
        required = set(cast("list[str]", out.get("required") or []))
        for name in properties:
            if name not in required:
                properties[name] = _or_null(properties[name])
                self.nullable.append(f"{at}/properties/{_escaped(name)}")
        out["required"] = list(properties)
        out["additionalProperties"] = False


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if "enum" in schema or "const" in schema or kind is None:
        return {"anyOf": [schema, {"type": "null"}]}
    kinds = cast("list[str]", kind) if isinstance(kind, list) else [cast("str", kind)]
    return {**schema, "type": kinds if "null" in kinds else [*kinds, "null"]}


def _empty(bounds: Mapping[str, int]) -> bool:
    """Whether no integer lies within the bounds."""
    lows = [bounds["minimum"]] if "minimum" in bounds else []
    lows += [bounds["exclusiveMinimum"] + 1] if "exclusiveMinimum" in bounds else []
    highs = [bounds["maximum"]] if "maximum" in bounds else []
    highs += [bounds["exclusiveMaximum"] - 1] if "exclusiveMaximum" in bounds else []
    return bool(lows and highs) and max(lows) > min(highs)


def _escaped(name: object) -> str:
    return str(name).replace("~", "~0").replace("/", "~1")


def _resolves(root: Any, ref: str) -> bool:
    if ref == "#":
        return True
    if not ref.startswith("#/"):
        return False
    node = root
    for part in ref[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or key not in node:
            return False
        node = cast("Mapping[str, Any]", node)[key]
    return isinstance(node, Mapping)
