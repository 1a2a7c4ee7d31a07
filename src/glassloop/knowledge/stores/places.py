"""Which store a location means.

Owes: `open_store`, from a folder or an address to a `Store`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from ...errors import KnowledgeError
from .base import Store


def open_store(
    location: str | Path | Store | None, precision: Literal["float32", "int8"] = "float32"
) -> tuple[Store, Path | None]:
    """The store at a location, and the folder it keeps files in, if it does.

    `postgresql://user@host/database?base=name` and `qdrant://host:6333/name` are servers (`qdrants://` over TLS,
    `qdrant:///folder` Qdrant's local mode); anything else is a folder.
    """
    if location is None:
        return _memory(None, precision), None
    if isinstance(location, Path):
        return _memory(location, precision), location
    if not isinstance(location, str):
        return location, None
    scheme = location.split("://", 1)[0].lower() if "://" in location else ""
    if scheme in ("postgresql", "postgres"):
        from .postgres import PostgresStore

        parts = urlsplit(location)
        options = parse_qs(parts.query)
        name = options.pop("base", ["glassloop"])[0]
        query = "&".join(f"{key}={value}" for key, values in options.items() for value in values)
        return PostgresStore(parts._replace(query=query).geturl(), name=name), None
    if scheme in ("qdrant", "qdrants"):
        from .qdrant import QdrantStore

        return QdrantStore.at(location), None
    if scheme:
        raise KnowledgeError(f"No store is named {scheme}://; use a folder, postgresql://… or qdrant://….")
    return _memory(Path(location), precision), Path(location)


def _memory(path: Path | None, precision: Literal["float32", "int8"]) -> Store:
    from .memory import MemoryStore

    if path is not None and path.exists() and not path.is_dir():
        raise KnowledgeError(f"{path} is a file; a knowledge base is kept in a folder.")
    return MemoryStore(path, precision=precision)
