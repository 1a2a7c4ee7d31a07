"""Finding the offered tool that a written name stands for.

A name may carry decoration that means nothing (quotes, template tokens, a namespace, a
position, another case); taking that off is no guess when exactly one tool is left. A slip
of one letter is a guess, and is said to be one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..types import Declaration, Repair

_TOKENS = re.compile(r"</?[^<>\s]{1,40}>|<[|｜][^<>]{1,40}[|｜]>|\[/?[A-Z_]{3,20}\]|<\|?channel\|?>\w*")
_EDGES = " \t\r\n`'\"“”‘’「」*_#.,;:，。；：!！?？()（）[]{}<>|"
_POSITION = re.compile(r"(?::\d{1,3}|_?#\d{1,3}|\(\s*\)|\{\s*\})\Z")
_SEPARATORS = re.compile(r"[.:/|]+|__|->")


@dataclass(frozen=True)
class Named:
    """The tool a name stands for, and how it was found."""

    tool: Declaration
    repairs: tuple[Repair, ...] = ()


def by_name(tools: Iterable[Declaration]) -> dict[str, Declaration]:
    """Return the tools by their exact names."""
    return {tool.name: tool for tool in tools}


def plain(name: str) -> str:
    """Return a name without case, width and separators."""
    return re.sub(r"[\s_\-]+", "", unicodedata.normalize("NFKC", name)).casefold()


def resolve(written: str, tools: Mapping[str, Declaration], *, near: bool = True) -> Named | None:
    """Return the one offered tool that `written` stands for, or None.

    Args:
        written: The name as the model wrote it.
        tools: The offered tools by name.
        near: Whether a name one edit away may be taken; the repair is then marked as guessed.
    """
    if written in tools:
        return Named(tools[written])
    if len(written) > 400:
        return None
    bare = _undecorated(written)
    for candidate in dict.fromkeys((written.strip(), bare)):
        if candidate in tools:
            return Named(tools[candidate], (Repair("name decoration", "name", written, candidate),))
    last = _SEPARATORS.split(bare)[-1]
    if last in tools:
        return Named(tools[last], (Repair("name prefix", "name", written, last),))
    for candidate in dict.fromkeys((bare, last)):
        same = [tool for tool in tools.values() if plain(tool.name) == plain(candidate)]
        if candidate and len(same) == 1:
            return Named(same[0], (Repair("name spelling", "name", written, same[0].name),))
    found = _with_trailing_text(bare, tools)
    if found is None and near:
        close = [tool for tool in tools.values() if within_one_edit(plain(bare), plain(tool.name))]
        if len(close) == 1:
            found = Named(close[0], (Repair("nearest name", "name", written, close[0].name, guessed=True),))
    return found


def _undecorated(written: str) -> str:
    name = _TOKENS.sub(" ", written).strip(_EDGES)
    return _POSITION.sub("", name).strip(_EDGES)


def _with_trailing_text(bare: str, tools: Mapping[str, Declaration]) -> Named | None:
    """Take `search (for ferries)` or a name followed by a remark in brackets or on a further line."""
    head = re.split(r"\s*[(（\[{\n]|\s+-{1,2}\s|\s*[:：]\s", bare, maxsplit=1)[0].strip(_EDGES)
    if head != bare and head in tools and mentioned(bare, tools) == [head]:
        return Named(tools[head], (Repair("text after the name", "name", bare, head),))
    return None


def mentioned(text: str, tools: Iterable[str]) -> list[str]:
    """Return the offered names that stand in a text as whole words, longest first, none inside another."""
    found: list[str] = []
    rest = text
    for name in sorted(tools, key=len, reverse=True):
        pattern = rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])"
        if name and re.search(pattern, rest):
            found.append(name)
            rest = re.sub(pattern, " ", rest)
    return found


def within_one_edit(a: str, b: str) -> bool:
    """Whether two names differ by one letter put in, left out, changed, or swapped with its neighbour.

    Short names, and names whose first letter differs (`get_x`, `set_x`), are never near.
    """
    if min(len(a), len(b)) < 4 or abs(len(a) - len(b)) > 1 or a[0] != b[0]:
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if a[start + 1 :] == b[start + 1 :] or a[start + 1 :] == b[start:] or a[start:] == b[start + 1 :]:
        return True
    return a[start : start + 2] == b[start : start + 2][::-1] and a[start + 2 :] == b[start + 2 :]
