"""Write what can be derived from the code: `docs/reference.md`, `docs/commands.md`, and line numbers in source links.

    python docs/make_reference.py

The reference comes from docstrings and signatures, the commands from their own `--help`. A link in a document whose
text is a name in backticks and whose target is a line of a Python file gets the line where that name is defined.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import click

import glassloop
from glassloop.cli import COMMANDS, cli

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
MADE = "<!-- Made by docs/make_reference.py; change the docstrings instead. -->\n"
SECTIONS = {
    "Gears": "gears",
    "Values": "types",
    "Events": "events",
    "Errors": "errors",
    "Limits": "limits",
    "Approvers": "tools.approvers",
    "Permission": "tools.permission",
    "Memory": "memory",
    "Models": "models",
    "Knowledge": "knowledge",
    "Journal": "journal.record",
    "Evaluation": "evaluation",
    "Ready tools": "toolbox",
}
MODELS = ("models.openai", "models.ollama", "models.llamacpp", "models.scripted", "models.recorded")
SOURCE_LINK = re.compile(r"\[`([\w.]+)`\]\(([\w./-]+\.py)#L\d+\)")


def reference() -> str:
    """Return the whole reference as Markdown."""
    parts = [MADE, "# Reference\n", "Names that `from glassloop import …` gives, then the parts behind them.\n"]
    parts.append("## Public names\n")
    seen: set[int] = set()
    for name in glassloop.__all__:
        value = getattr(glassloop, name)
        seen.add(id(value))
        parts.append(entry(name, value))
    for title, where in SECTIONS.items():
        entries = [entry(name, value) for name, value in public(where) if id(value) not in seen]
        if entries:
            module = importlib.import_module(f"glassloop.{where}")
            parts += [f"## {title}\n", first_paragraph(module), *entries]
    return "\n".join(parts)


def public(where: str) -> list[tuple[str, Any]]:
    """Return the public classes and functions of a module, in the order in which they are written."""
    modules = [importlib.import_module(f"glassloop.{where}")]
    if where == "models":
        modules = [importlib.import_module(f"glassloop.{name}") for name in MODELS]
    found: list[tuple[str, Any]] = []
    for module in modules:
        names = getattr(module, "__all__", None) or [
            name for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
        ]  # fmt: skip
        found += [(name, getattr(module, name)) for name in names]
    return [(n, v) for n, v in found if inspect.isclass(v) or inspect.isfunction(v) or hasattr(v, "declaration")]


def first_paragraph(module: ModuleType) -> str:
    """Return what a module owes, as its docstring begins."""
    return inspect.cleandoc(module.__doc__ or "").split("\n\n")[0] + "\n"


def entry(name: str, value: Any) -> str:
    """Return one class, function or tool as Markdown."""
    if hasattr(value, "declaration") and not inspect.isclass(value):
        return f"### `{name}`\n\n{value.declaration.description}\n"
    called = signature(value)
    lines = [f"### {name}\n", *([wrapped(name, called)] if called else []), prose(value)]
    if inspect.isclass(value) and not issubclass(value, BaseException):
        for attribute, member in vars(value).items():
            documented = inspect.getdoc(getattr(value, attribute)) if callable_like(member) else None
            if attribute.startswith("_") or not documented:
                continue
            called = "" if isinstance(member, property) else signature(getattr(value, attribute))
            lines.append(f"- `.{attribute}{called}` {documented.splitlines()[0]}")
        lines.append("")
    return "\n".join(lines)


def callable_like(member: Any) -> bool:
    """Whether a class member is a method or property that a reader may use."""
    return inspect.isfunction(member) or isinstance(member, (property, classmethod, staticmethod))


def signature(value: Any) -> str:
    """Return a signature on one line, without `self` and without the noise of module names."""
    if inspect.isclass(value) and (issubclass(value, BaseException) or getattr(value, "_is_protocol", False)):
        return ""
    try:
        given = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)"
    parts: list[str] = []
    star = False
    for parameter in given.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        star = star or parameter.kind is parameter.VAR_POSITIONAL
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        hint = "" if parameter.annotation is parameter.empty else f": {plain(parameter.annotation)}"
        default = "" if parameter.default is parameter.empty else f" = {shown(parameter.default)}"
        parts.append(f"{stars}{parameter.name}{hint}{default}")
    back = given.return_annotation
    arrow = "" if back is given.empty or inspect.isclass(value) else f" -> {plain(back)}"
    return f"({', '.join(parts)}){arrow}"


def plain(annotation: Any) -> str:
    """Return an annotation as it is written in the code."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:typing|collections\.abc|pathlib|glassloop(?:\.\w+)*)\.", "", text.strip("\"'"))


def shown(default: Any) -> str:
    """Return a default that reads the same on every machine."""
    text = repr(default)
    long = len(text) > 40 or " at 0x" in text or text.startswith(("<", "PosixPath"))
    return "…" if long or dataclasses.is_dataclass(default) else text


def wrapped(name: str, called: str) -> str:
    """Return a signature as a code block, one parameter a line where it is long."""
    text = f"{name}{called}"
    if len(text) > 110 and ", " in text:
        inner, _, after = text[len(name) + 1 :].rpartition(")")
        pieces = re.split(r", (?=\*{0,2}\w+(?::| =|$|,)|\*(?:,|$))", inner)
        text = f"{name}(\n" + "".join(f"    {piece},\n" for piece in pieces) + f"){after}"
    return f"```python\n{text}\n```\n"


def prose(value: Any) -> str:
    """Return a Google-style docstring as Markdown."""
    out: list[str] = []
    section = ""
    for line in inspect.cleandoc(value.__doc__ or "").splitlines():
        if heading := re.fullmatch(r"(Args|Returns|Yields|Raises|Attributes|Example|Examples):", line):
            section = heading[1]
            out.append(f"**{section}**\n")
        elif line.strip() and not line.startswith(" "):
            section = ""
            out.append(line)
        elif section.startswith("Example"):
            out.append(line.removeprefix("    "))
        elif section and re.match(r"    \S", line):
            name, _, rest = line.strip().partition(": ")
            named = rest and re.fullmatch(r"[\w*]+(?:, \w+)*", name)
            out.append(f"- `{name}`: {rest}" if named else f"- {line.strip()}")
        elif section and line.strip():
            out[-1] += " " + line.strip()
        else:
            out.append(line)
    return "\n".join(out).rstrip() + "\n"


def commands() -> str:
    """Return the help of every command and of its subcommands."""
    parts = [MADE, "# The command line\n", "What `glassloop COMMAND --help` says.\n"]
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        parts.append(help_of(command, f"glassloop {name}", 2))
        if isinstance(command, click.Group):
            parts += [help_of(one, f"glassloop {name} {sub}", 3) for sub, one in command.commands.items()]
    return "\n".join(parts)


def help_of(command: click.Command, path: str, level: int) -> str:
    """Return one command's help under its heading, at a width that does not follow the terminal."""
    context = click.Context(command, info_name=path, max_content_width=100, terminal_width=100)
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return f"{'#' * level} {path}\n\n```text\n{text}\n```\n"


def with_lines(document: Path) -> str:
    """Return a document whose source links point at the lines where their names are defined now."""

    def pointed(match: re.Match[str]) -> str:
        line = line_of((document.parent / match[2]).resolve(), match[1])
        return f"[`{match[1]}`]({match[2]}#L{line})" if line else match[0]

    return SOURCE_LINK.sub(pointed, document.read_text(encoding="utf-8"))


def line_of(file: Path, name: str) -> int | None:
    """Return the line of a file that defines a class, function or `Class.method`; None when none does."""
    if not file.is_file():
        return None
    nodes: list[Any] = ast.parse(file.read_text(encoding="utf-8")).body
    found = None
    for part in name.split("."):
        found = next((n for n in nodes if getattr(n, "name", None) == part), None)
        if found is None:
            return None
        nodes = getattr(found, "body", [])
    return found.lineno


def made() -> dict[Path, str]:
    """Return every generated text by its file."""
    texts = {DOCS / "reference.md": reference(), DOCS / "commands.md": commands()}
    for document in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]:
        if document not in texts:
            texts[document] = with_lines(document)
    return texts


def main() -> None:
    """Write what has changed, and say so."""
    for file, text in made().items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(f"written: {file.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
