"""The names of tools: valid on the strictest server, stable, mapped back, and unique.

Chat-completions servers accept `^[a-zA-Z0-9_-]{1,64}$` and answer anything else
with an opaque 400. A name that does not fit is mapped here, once, when the tool
is declared; the name its author gave stays on the tool.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..errors import ToolDefinitionError

if TYPE_CHECKING:
    from .definition import Tool

VALID_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONGEST = 64
_DIGEST = 8


def wire_name(name: str, *, strict: bool = True) -> str:
    """Return the name a server is told: the same for the same `name`, on every machine.

    A valid name comes back as it is. Spaces and punctuation become underscores; letters
    that had to go (Chinese, for one) are stood for by a short hash, so that two names
    never fall together. With `strict=False` letters of any script are kept, for
    servers that take them (Ollama and llama.cpp do).

    Raises:
        ToolDefinitionError: The name is empty.
    """
    if not name.strip():
        raise ToolDefinitionError("A tool has an empty name: give it one with @tool(name=…).")
    if VALID_NAME.fullmatch(name):
        return name
    plain = unicodedata.normalize("NFKC", name).strip()
    if not strict:
        kept = re.sub(r"[^\w-]+", "_", plain).strip("_")
        return _cut(kept, name) if kept else f"tool_{_hash(name)}"
    decomposed = unicodedata.normalize("NFKD", plain)
    without_marks = "".join(c for c in decomposed if not unicodedata.combining(c))
    lost = any(c.isalnum() and not c.isascii() for c in without_marks)
    kept = re.sub(r"[^a-zA-Z0-9-]+", "_", without_marks).strip("_")
    if lost or not kept:
        return _cut(f"{kept or 'tool'}_{_hash(name)}", name)
    return _cut(kept, name)


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]


def _cut(wire: str, name: str) -> str:
    return wire if len(wire) <= LONGEST else f"{wire[: LONGEST - _DIGEST - 1]}_{_hash(name)}"


def check_names(tools: Iterable[Tool]) -> None:
    """Refuse tools that answer to one name; the later would silently replace the earlier.

    Raises:
        ToolDefinitionError: Two tools have the same name; the message says which and where.
    """
    seen: dict[str, Tool] = {}
    for tool in tools:
        for name in sorted({tool.name, tool.original_name}):
            other = seen.setdefault(name, tool)
            if other is not tool:
                raise ToolDefinitionError(
                    f"Two tools are called {name!r} ({other.where} and {tool.where}): "
                    "rename one of them, for example with @tool(name=…), or hand over only one."
                )
