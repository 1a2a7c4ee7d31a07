"""What a docstring tells a model: the description of a tool and the text of each argument.

The styles are not guessed from looks. Each one is tried (Google with its keyword
section, NumPy, reST, Epydoc), and the one that describes most of the arguments
that really exist is taken: a wrong guess would silently lose every description.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

_TITLES = {
    "keyword args": "Keyword Args",
    "keyword arguments": "Keyword Arguments",
    "keyword parameters": "Keyword Parameters",
    "other parameters": "Other Parameters",
    "other args": "Other Args",
    "args": "Args",
    "arguments": "Arguments",
    "parameters": "Parameters",
    "params": "Params",
    "参数": "参数",
    "关键字参数": "关键字参数",
}
_OTHER_TITLES = {
    "returns": "Returns",
    "return": "Returns",
    "yields": "Yields",
    "raises": "Raises",
    "examples": "Examples",
    "example": "Examples",
    "返回": "Returns",
    "返回值": "Returns",
    "异常": "Raises",
    "示例": "Examples",
    "例子": "Examples",
}
_UNPARSED_TITLES = "Note|Notes|Warning|Warnings|See Also|Todo|References|Side Effects"
_LIST_LINE = re.compile(r"\s*([-*•·]|\d+[.)、])\s*\S")


@dataclass(frozen=True)
class Documentation:
    """A docstring as read: the description, and the text of each argument by its name."""

    description: str = ""
    arguments: dict[str, str] = field(default_factory=dict[str, str])


def read_docstring(text: str | None, names: Iterable[str]) -> Documentation:
    """Read a docstring, as `inspect.getdoc` gives it, of any common style for the arguments called `names`."""
    if not text or not text.strip():
        return Documentation()
    wanted = set(names)
    cleaned = _canonical_titles(text)
    readings = [_read(parser, cleaned, wanted) for parser in _parsers()]
    best = max(readings, key=lambda r: len(r.arguments))  # the first of equals: Google
    arguments = dict(best.arguments)
    for other in readings:  # a mixed docstring loses nothing
        for name, described in other.arguments.items():
            arguments.setdefault(name, described)
    return Documentation(best.description, arguments)


@lru_cache(maxsize=1)
def _parsers() -> tuple[Any, ...]:
    from docstring_parser import epydoc, google, numpydoc, rest

    arguments = [google.Section(title, "param", google.SectionType.MULTIPLE) for title in _TITLES.values()]
    others = [s for s in google.DEFAULT_SECTIONS if s.title not in _TITLES.values()]
    return (google.GoogleParser([*arguments, *others]), numpydoc.NumpydocParser(), rest, epydoc)


def _canonical_titles(text: str) -> str:
    """Write section titles in one way: full-width colons, other cases and Chinese titles are the same titles."""
    lines: list[str] = []
    for line in text.split("\n"):
        title, colon, rest = line.replace("：", ":").partition(":")
        known = {**_TITLES, **_OTHER_TITLES}.get(title.strip().lower()) if line and not line[0].isspace() else None
        if known and colon and not rest.strip():
            lines.append(f"{known}:")
        elif line[:1].isspace() and re.match(r"\s+`{0,2}\*{0,2}\w+`{0,2}\s*：", line):
            lines.append(line.replace("：", ": ", 1))
        else:
            lines.append(line)
    return "\n".join(lines)


def _read(parser: Any, text: str, wanted: set[str]) -> Documentation:
    from docstring_parser.common import DocstringParam, ParseError

    try:
        # The parsers dedent once more, by all lines but the first: an empty first line keeps the indents.
        parsed = parser.parse(f"\n{text}")
    except ParseError:  # not this style, or a section that only looks like one
        return Documentation(_prose(text))
    found: dict[str, str] = {}
    for meta in parsed.meta:
        if not isinstance(meta, DocstringParam) or not meta.description:
            continue
        for name in meta.arg_name.split(","):
            name = name.strip().strip("`").lstrip("*").strip()
            if name in wanted:
                found.setdefault(name, flow(meta.description))
    short, long = parsed.short_description or "", parsed.long_description or ""
    between = "\n\n" if parsed.blank_after_short_description else "\n"
    return Documentation(_prose(between.join(part for part in (short, long) if part)), found)


def _prose(text: str) -> str:
    """Keep the description proper: what stands before the first section of any kind."""
    titles = "|".join([*_TITLES.values(), *set(_OTHER_TITLES.values()), _UNPARSED_TITLES])
    section = re.search(rf"^(?:{titles}):[ \t]*$", text, re.M)
    return flow(text[: section.start()] if section else text)


def flow(text: str) -> str:
    """Undo line wrapping: one line a paragraph, list items kept, nothing between Chinese characters."""
    paragraphs: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines: list[str] = []
        for line in block.split("\n"):
            if not line.strip():
                continue
            if lines and not _LIST_LINE.match(line):
                lines[-1] = _joined(lines[-1], line.strip())
            else:
                lines.append(line.strip())
        paragraphs.append("\n".join(lines))
    return "\n".join(p for p in paragraphs if p)


def _joined(left: str, right: str) -> str:
    wide = ord(left[-1]) > 0x2E7F and ord(right[0]) > 0x2E7F
    return f"{left}{right}" if wide else f"{left} {right}"
