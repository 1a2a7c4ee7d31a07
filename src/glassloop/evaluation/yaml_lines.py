"""YAML as plain data that still knows the line of every value.

Owes `cases.py` two things: nothing but plain values (no tags, no dates, no second key of the
same name), and for any path into them the line a person has to look at.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from ..errors import CaseError, MissingExtra

Path_ = tuple[Any, ...]
"""Keys and indices from the root to a value."""


@dataclass(frozen=True)
class Located:
    """A document and where each of its values stands.

    Attributes:
        data: The document as plain data.
        lines: The line of each value by its path.
        file: What the document is called in errors.
    """

    data: Any
    lines: dict[Path_, int]
    file: str

    def line(self, path: Path_) -> int:
        """The line of a value, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def fail(self, path: Path_, problem: str) -> NoReturn:
        """Raise the error for a value: file, line, place, and what to do."""
        place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")
        raise CaseError(f"{self.file}:{self.line(path)}: {place + ': ' if place else ''}{problem}")


def read_yaml(source: str | Path, *, name: str = "") -> Located:
    """Read a YAML file, or a text when `name` is given.

    Raises:
        CaseError: The file cannot be read or is not YAML; with its line.
        MissingExtra: PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        raise MissingExtra("yaml", "eval", "read golden cases") from None
    file = name or str(source)
    try:
        text = str(source) if name else Path(source).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CaseError(f"{file} cannot be read ({error}): give a UTF-8 file of golden cases.") from None
    try:
        compose: Any = cast("Any", yaml).compose
        root: Any = compose(text, Loader=_loader(yaml))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or str(error)
        raise CaseError(f"{file}:{line}: this is not YAML ({problem}): mend the line or quote its text.") from None
    lines: dict[Path_, int] = {}
    if root is None:
        raise CaseError(f"{file}:1: the file is empty: write a list of cases under `cases:`.")
    return Located(_plain(root, (), lines, file, yaml), lines, file)


def _loader(yaml: Any) -> Any:
    """The safe loader without timestamps: `2026-03-01` in a question's arguments is text, as in JSON."""

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in rules if not tag.endswith(":timestamp")]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


def _plain(node: Any, path: Path_, lines: dict[Path_, int], file: str, yaml: Any) -> Any:
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return [_plain(child, (*path, i), lines, file, yaml) for i, child in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key in out:
                line = key_node.start_mark.line + 1
                raise CaseError(f"{file}:{line}: {key!r} is given twice: remove one of them.")
            out[key] = _plain(value_node, (*path, key), lines, file, yaml)
            lines[(*path, key)] = key_node.start_mark.line + 1
        return out
    return _scalar(node, file)


def _scalar(node: Any, file: str) -> Any:
    kind, text = node.tag.rpartition(":")[2], node.value
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    try:
        if kind == "int":
            # 7:40 would be 460 in YAML 1.1 and 012 would be 10: nobody who writes a case means that
            return (
                text
                if ":" in text or (len(text) > 1 and text.lstrip("+-").startswith("0"))
                else int(text.replace("_", ""))
            )
        if kind == "float":
            return text if ":" in text else float(text.replace("_", ""))
    except ValueError:
        return text
    if kind == "str":
        return text
    raise CaseError(f"{file}:{node.start_mark.line + 1}: the tag {node.tag!r} is not allowed: write plain YAML.")
