"""The knowledge base that a path on the command line means: a base, a server, or plain documents."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import KnowledgeError

if TYPE_CHECKING:
    from ..knowledge.base import KnowledgeBase
    from ..knowledge.reports import Progress

HOME = Path(".glassloop")


def existing_base(where: str | None) -> KnowledgeBase:
    """Open the base at a place, or the usual one.

    Raises:
        KnowledgeError: Nothing has been indexed there.
    """
    from ..knowledge.base import DEFAULT_FOLDER, KnowledgeBase

    place = where or DEFAULT_FOLDER
    if "://" not in place and not is_base(Path(place)):
        raise KnowledgeError(f"There is no knowledge base in {place}: build one with glassloop index PATH.")
    return KnowledgeBase.open(place)


def base_at(where: str) -> KnowledgeBase:
    """Open a base; a file or folder of documents is indexed first (only what is new or changed is read).

    Raises:
        KnowledgeError: There is nothing at that place, or nothing in it that can be read.
    """
    from ..knowledge.base import KnowledgeBase

    path = Path(where).expanduser()
    if "://" in where or is_base(path):
        return KnowledgeBase.open(where if "://" in where else path)
    if not path.exists():
        raise KnowledgeError(f"There is no file, folder or knowledge base at {where}: check the path.")
    mark = blake2b(str(path.resolve()).encode(), digest_size=4).hexdigest()
    base = KnowledgeBase.open(HOME / "documents" / f"{path.stem}-{mark}")
    with shown("reading") as progress:
        report = base.index([path], progress=progress)
    if not base.documents():
        failed = "; ".join(report.failed.values())
        raise KnowledgeError(f"Nothing in {where} could be read{f' ({failed})' if failed else ''}: give documents.")
    return base


def is_base(path: Path) -> bool:
    """Whether a folder holds a knowledge base."""
    return (path / "generations").is_dir()


class shown:
    """A progress bar for `KnowledgeBase.index` and its like."""

    def __init__(self, label: str) -> None:
        from .progress import Steps

        self._steps = Steps(label)

    def __enter__(self) -> Callable[[Progress], None]:
        self._steps.__enter__()
        return lambda p: self._steps(f"{p.stage} {p.name}".strip()[:60], p.done, p.total)

    def __exit__(self, *error: Any) -> None:
        self._steps.__exit__(*error)
