"""Files under one folder, and nothing outside it: no `..`, no links that lead out, no devices, no surprises of size.

Paths are resolved before they are judged, and what is opened is opened without
following a last link, so that what was checked is what is read.
"""

from __future__ import annotations

import fnmatch
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError
from ..tools.declare import Tool, tool

MOST_BYTES = 2_000_000
MOST_ENTRIES = 200
MOST_VISITED = 20_000
_ENCODINGS = ("utf-8-sig", "gb18030")
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Outside(PermissionError):
    """A path that is not under the root, or not a plain file or folder."""


def files(root: str | Path, *, write: bool = False, max_bytes: int = MOST_BYTES) -> list[Tool]:
    """Make the tools `read_file` and `list_files`, and with `write=True` also `write_file`, for one folder.

    Args:
        root: The folder; nothing outside it can be seen.
        write: Whether files may be written; each write asks for approval.
        max_bytes: Largest file that is read or written.

    Raises:
        ConfigurationError: The folder does not exist.
    """
    base = Path(root).expanduser().resolve()
    if not base.is_dir():
        raise ConfigurationError(f"{root} is not a folder: give the file tools a folder that exists.")

    @tool(limit=6_000)
    def read_file(path: str, first_line: int = 1, lines: int = 200) -> dict[str, Any]:
        """Text of one file, or a part of it. Use it when the content of a file is asked for.

        Args:
            path: Path of the file inside the folder, for example notes/plan.txt.
            first_line: Number of the first line wanted, for example 1.
            lines: How many lines are wanted at most, for example 200.
        """
        text, encoding = _decoded(_read(base, path, max_bytes), path)
        every = text.splitlines()
        start = max(1, first_line) - 1
        part = every[start : start + max(1, lines)]
        return {
            "path": path,
            "encoding": encoding,
            "lines_in_file": len(every),
            "lines_shown": f"{start + 1}-{start + len(part)}" if part else "none",
            "text": "\n".join(part),
        }

    @tool(limit=4_000)
    def list_files(folder: str = ".", pattern: str = "*") -> dict[str, Any]:
        """Names and sizes of the files in a folder and below. Use it to find out which files there are.

        Args:
            folder: Folder to list, for example . or notes.
            pattern: Pattern of the file names wanted, for example *.md.
        """
        start = confined(base, folder)
        if not start.is_dir():
            raise NotADirectoryError(f"{folder!r} is not a folder: list_files without arguments shows what there is")
        found, more = _listing(base, start, pattern)
        note = {"note": f"there are more; only the first {len(found)} are shown: narrow the pattern"} if more else {}
        return {"folder": folder, "files": found, **note}

    def preview(path: str, text: str, overwrite: bool = False) -> str:
        target = confined(base, path)
        what = f"replace {target.stat().st_size:,} bytes in" if target.exists() else "create"
        return f"{what} {path} with {len(text):,} characters"

    @tool(risk="write", idempotent=True, parallel=False, preview=preview)
    def write_file(path: str, text: str, overwrite: bool = False) -> dict[str, Any]:
        """Write a text file as UTF-8. Use it only when the user asks for something to be saved.

        Args:
            path: Path of the file inside the folder, for example notes/plan.txt.
            text: The whole text of the file, for example "Buy milk.".
            overwrite: Whether a file that is already there may be replaced, for example true.
        """
        data = text.encode("utf-8")
        if len(data) > max_bytes:
            raise ValueError(f"the text has {len(data):,} bytes, at most {max_bytes:,} may be written")
        target = confined(base, path)
        if target.exists() and not overwrite:
            raise FileExistsError(f"{path!r} exists already: ask the user, then call again with overwrite true")
        if target.is_dir():
            raise IsADirectoryError(f"{path!r} is a folder: give the path of a file")
        _write(target, data)
        return {"path": path, "bytes_written": len(data)}

    return [read_file, list_files, write_file] if write else [read_file, list_files]


def confined(base: Path, path: str) -> Path:
    """Return the real path a tool may touch.

    Raises:
        Outside: It leads out of `base`, by `..`, by a link, or by being absolute.
    """
    if "\0" in path:
        raise Outside("a path cannot hold a NUL character")
    plain = path.strip().replace("\\", "/") or "."
    if ".." in plain.split("/"):
        raise Outside(f"{path!r} is outside the folder: paths with .. are not allowed")
    target = (base / plain).resolve()
    if target != base and base not in target.parents:
        raise Outside(f"{path!r} is outside the folder: give a path inside it, for example notes/plan.txt")
    return target


def _read(base: Path, path: str, max_bytes: int) -> bytes:
    target = confined(base, path)
    if target.is_dir():
        raise IsADirectoryError(f"{path!r} is a folder: use list_files for it")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(target, flags)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path!r}: list_files shows which there are") from None
    except PermissionError:
        raise PermissionError(f"the file {path!r} may not be read") from None
    except OSError as error:
        raise Outside(f"the file {path!r} cannot be opened ({error.strerror})") from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Outside(f"{path!r} is not a plain file")
        if status.st_size > max_bytes:
            raise ValueError(f"the file {path!r} has {status.st_size:,} bytes, at most {max_bytes:,} are read")
        return file.read(max_bytes + 1)[:max_bytes]


def _decoded(data: bytes, path: str) -> tuple[str, str]:
    bom = _BOMS.get(data[:2])
    if bom is None and b"\0" in data[:8192]:
        raise ValueError(f"{path!r} is a binary file of {len(data):,} bytes, not text")
    for encoding in (bom,) if bom else _ENCODINGS:
        try:
            return data.decode(encoding), encoding.removesuffix("-sig")
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def _listing(base: Path, start: Path, pattern: str) -> tuple[list[str], bool]:
    found: list[str] = []
    visited = 0
    for folder, inside, names in os.walk(start, followlinks=False):
        inside[:] = sorted(d for d in inside if not d.startswith("."))
        for name in sorted(names):
            visited += 1
            if visited > MOST_VISITED or len(found) >= MOST_ENTRIES:
                return found, True
            relative = (Path(folder) / name).relative_to(base).as_posix()
            wanted = fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(relative, pattern)
            if name.startswith(".") or not wanted:
                continue
            try:
                size = confined(base, relative).stat().st_size
            except OSError:  # a link that leads out, or nowhere
                continue
            found.append(f"{relative} ({size:,} bytes)")
    return found, False


def _write(target: Path, data: bytes) -> None:
    """Write beside and move into place, so that a full disk never leaves half a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=".glassloop-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).chmod(0o644)
        Path(beside).replace(target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
