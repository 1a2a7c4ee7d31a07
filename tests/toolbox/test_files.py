"""File tools see one folder and nothing else."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from glassloop.errors import ConfigurationError
from glassloop.toolbox.files import Outside, files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    inside = tmp_path / "root"
    (inside / "notes").mkdir(parents=True)
    (inside / "notes" / "plan.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (inside / "notes" / "诗.md").write_text("床前明月光", encoding="utf-8")
    (inside / ".secret").write_text("hidden")
    (tmp_path / "outside.txt").write_text("not yours")
    (tmp_path / "root2").mkdir()
    (tmp_path / "root2" / "x.txt").write_text("not yours either")
    return inside


def call(root: Path, name: str, /, *, write: bool = False, **arguments: Any) -> Any:
    made = next(t for t in files(root, write=write, max_bytes=50_000) if t.name == name)
    return asyncio.run(made.invoke(arguments))


def test_reading_whole_and_in_part(root: Path) -> None:
    assert call(root, "read_file", path="notes/plan.txt")["text"] == "one\ntwo\nthree"
    part = call(root, "read_file", path="./notes/plan.txt", first_line=2, lines=1)
    assert (part["text"], part["lines_in_file"], part["lines_shown"]) == ("two", 3, "2-2")
    assert call(root, "read_file", path=str(root / "notes" / "诗.md"))["text"] == "床前明月光"
    assert call(root, "read_file", path="notes/plan.txt", first_line=9)["lines_shown"] == "none"


@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt",
        "notes/../../outside.txt",
        "notes\\..\\..\\outside.txt",
        "/etc/passwd",
        "../root2/x.txt",
        "a\0b",
        "link_out",
        "dir_out/x.txt",
        "chain",
    ],
)
def test_nothing_outside_can_be_read_or_written(root: Path, path: str) -> None:
    (root / "link_out").symlink_to(root.parent / "outside.txt")
    (root / "dir_out").symlink_to(root.parent / "root2")
    (root / "chain").symlink_to("link_out")
    for name, more in (("read_file", {}), ("write_file", {"text": "x", "overwrite": True})):
        with pytest.raises(Outside):
            call(root, name, write=True, path=path, **more)
    assert (root.parent / "outside.txt").read_text() == "not yours"
    listing = call(root, "list_files")["files"]
    assert [each.split()[0] for each in listing] == ["notes/plan.txt", "notes/诗.md"]


def test_links_inside_are_fine(root: Path) -> None:
    (root / "short").symlink_to("notes/plan.txt")
    assert call(root, "read_file", path="short")["lines_in_file"] == 3


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        ("汉字".encode("gb18030"), "gb18030", "汉字"),
        ("\ufeffbom".encode(), "utf-8", "bom"),
        ("汉字".encode("utf-16"), "utf-16", "汉字"),
        (b"caf\xe9 \xff\x00"[:5], "latin-1", "caf\xe9 "),
        (b"", "utf-8", ""),
    ],
)
def test_encodings(root: Path, data: bytes, encoding: str, text: str) -> None:
    (root / "f").write_bytes(data)
    got = call(root, "read_file", path="f")
    assert (got["encoding"], got["text"]) == (encoding, text)


def test_what_is_not_a_readable_text_file_is_told(root: Path) -> None:
    (root / "picture").write_bytes(b"\x89PNG\r\n\x00\x00\x01")
    (root / "large").write_bytes(b"x" * 50_001)
    os.mkfifo(root / "pipe")
    for path, said in {
        "picture": "binary file",
        "large": "50,001 bytes",
        "notes": "is a folder",
        "missing.txt": "no file 'missing.txt'",
        "pipe": "not a plain file",
    }.items():
        with pytest.raises((OSError, ValueError), match=said):
            call(root, "read_file", path=path)


def test_listing_by_folder_and_pattern(root: Path) -> None:
    assert call(root, "list_files", folder="notes", pattern="*.md")["files"] == ["notes/诗.md (15 bytes)"]
    for n in range(230):
        (root / "notes" / f"n{n:03}.log").touch()
    many = call(root, "list_files")
    assert len(many["files"]) == 200 and "there are more" in many["note"]
    with pytest.raises(NotADirectoryError):
        call(root, "list_files", folder="nowhere")


def test_writing_is_a_write_and_never_half(root: Path) -> None:
    write_file = files(root, write=True)[2]
    assert write_file.risk == "write" and [t.name for t in files(root)] == ["read_file", "list_files"]
    preview = asyncio.run(write_file.describe({"path": "new/a.txt", "text": "hello"}))
    assert preview == "create new/a.txt with 5 characters"
    assert call(root, "write_file", write=True, path="new/a.txt", text="你好")["bytes_written"] == 6
    with pytest.raises(FileExistsError, match="exists already"):
        call(root, "write_file", write=True, path="new/a.txt", text="again")
    call(root, "write_file", write=True, path="new/a.txt", text="again", overwrite=True)
    assert (root / "new" / "a.txt").read_text() == "again"
    assert [p.name for p in (root / "new").iterdir()] == ["a.txt"]
    with pytest.raises(ValueError, match="at most"):
        call(root, "write_file", write=True, path="big", text="x" * 60_000)


def test_the_root_must_be_a_folder(root: Path) -> None:
    with pytest.raises(ConfigurationError, match="not a folder"):
        files(root / "nowhere")
