"""What a model is told when its reply could not be used: one sentence and one right example.

The example is made from the offered tools, with `<name>` in the place of every free text, so
that a small model has nothing to copy but the form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from ..prompts import text
from ..types import Declaration, Fault, FaultKind
from .rescue import shown

ProtocolName = Literal["text", "native", "constrained"]
GROUP = "corrections"

KIND_OF: dict[str, FaultKind] = {
    "empty": "empty",
    "unknown_tool": "unknown_tool",
    "resting": "unknown_tool",
    "cut": "truncated",
    "cut_answer": "truncated",
    "cut_arguments": "truncated",
    "bad_json": "bad_arguments",
    "not_object": "bad_arguments",
    "several": "bad_arguments",
    "only_unknown": "bad_arguments",
    "guessed": "bad_arguments",
}
"""The class of each correction; those not named here are `format`."""


@dataclass(frozen=True)
class Corrections:
    """Writes faults in one language for one protocol and the tools of one turn."""

    tools: Sequence[Declaration]
    language: str = "en"
    protocol: ProtocolName = "native"

    def fault(self, key: str, tool: Declaration | None = None, **values: Any) -> Fault:
        """Return the fault with the sentence named `key`.

        Args:
            key: The name of the sentence in the data file.
            tool: The tool the fault is about; the example is made for it.
            values: Further values of the sentence.
        """
        if not self.tools and key not in ("cut_answer", "no_action"):
            key = {"unknown_tool": "no_tools", "resting": "no_tools", "cut": "cut_answer"}.get(key, key)
        example = self.example(tool)
        filled = {
            "names": self._list([t.name for t in self.tools]),
            "example": example,
            "shape": self._shape(example),
            "answer_shape": self._text(f"answer_{self.protocol}"),
            "tool": tool.name if tool else "",
            "near": "",
            **{k: shown(v) for k, v in values.items()},
        }
        return Fault(KIND_OF.get(key, "format"), self._text(key, **filled))

    def near(self, name: str) -> str:
        """Return the half sentence that asks whether another name was meant."""
        return self._text("near", name=name)

    def example(self, tool: Declaration | None = None) -> str:
        """Return one right call of the tool, or of the first tool offered, as this protocol writes it."""
        tool = tool or next(iter(self.tools), None)
        if tool is None:
            return self._text(f"answer_{self.protocol}")
        arguments = json.dumps(example_arguments(tool, self.language), ensure_ascii=False)
        return self._text(f"call_{self.protocol}", name=tool.name, arguments=arguments)

    def names_of(self, names: Sequence[str]) -> str:
        """Return a list of names as this language writes it."""
        return self._list(names)

    def _shape(self, example: str) -> str:
        if not self.tools:
            return self._text(f"answer_{self.protocol}")
        return self._text(f"shape_{self.protocol}", example=example)

    def _list(self, names: Sequence[str]) -> str:
        return self._text("list_separator").join(names)

    def _text(self, key: str, **values: Any) -> str:
        return text(GROUP, self.language, key, **values)


def example_arguments(tool: Declaration, language: str = "en") -> dict[str, Any]:
    """Return arguments of the right form for a tool: its required parameters, or its first one."""
    properties: Any = tool.parameters.get("properties")
    if not isinstance(properties, dict) or not properties:
        return {}
    named = cast("dict[str, Any]", properties)
    required = [name for name in tool.parameters.get("required") or () if name in named]
    return {name: _example(name, named[name], tool.parameters, language) for name in required or list(named)[:1]}


def _example(name: str, schema: Any, root: Mapping[str, Any], language: str, depth: int = 0) -> Any:
    if not isinstance(schema, Mapping) or depth > 4:
        return text(GROUP, language, "value", name=name)
    wanted = cast("Mapping[str, Any]", schema)
    if "$ref" in wanted:
        return _example(name, _referenced(str(wanted["$ref"]), root), root, language, depth + 1)
    if isinstance(wanted.get("enum"), list) and wanted["enum"]:
        return wanted["enum"][0]
    if "const" in wanted:
        return wanted["const"]
    for key in ("anyOf", "oneOf", "allOf"):
        options: Any = wanted.get(key)
        if isinstance(options, list) and options:
            return _example(name, cast("list[Any]", options)[0], root, language, depth + 1)
    return _typed(name, wanted, root, language, depth)


def _typed(name: str, wanted: Mapping[str, Any], root: Mapping[str, Any], language: str, depth: int) -> Any:
    kind: Any = wanted.get("type")
    if isinstance(kind, list):
        kind = next((k for k in cast("list[Any]", kind) if k != "null"), "string")
    if kind == "integer":
        return int(wanted.get("minimum") or 1)
    if kind == "number":
        return wanted.get("minimum") or 1.5
    if kind == "boolean":
        return True
    if kind == "array":
        return [_example(name, wanted.get("items"), root, language, depth + 1)]
    if kind == "object":
        inner = wanted.get("properties")
        if not isinstance(inner, Mapping):
            return {}
        named = cast("Mapping[str, Any]", inner)
        return {
            k: _example(k, v, root, language, depth + 1) for k, v in named.items() if k in wanted.get("required", ())
        }
    formats = {"date": "YYYY-MM-DD", "date-time": "YYYY-MM-DDTHH:MM:SS"}
    return text(GROUP, language, "value", name=formats.get(str(wanted.get("format")), name))


def _referenced(reference: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for part in reference.removeprefix("#/").split("/"):
        found = cast("Mapping[str, Any]", found).get(part) if isinstance(found, Mapping) else None
    return found
