"""Folders come into the base, stay up to date, and no bad file stops the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from embedders import HashEmbedder

from glassloop.knowledge import KnowledgeBase, Progress
from glassloop.knowledge import indexing as indexing_module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "a").mkdir(parents=True)
    (root / "b").mkdir()
    (root / "a" / "manual.md").write_text("# Pump\n\nThe valve is red.\n")
    (root / "b" / "manual.md").write_text("# Kettle\n\nThe lid is blue.\n")
    (root / "notes.txt").write_text("Nothing but notes.\n")
    (root / "picture.png").write_bytes(b"\x89PNG\0\0")
    (root / ".hidden.md").write_text("secret\n")
    (root / "node_modules").mkdir()
    (root / "node_modules" / "x.md").write_text("module\n")
    return root


def base_at(tmp_path: Path) -> KnowledgeBase:
    return KnowledgeBase.open(tmp_path / "base", embedder=HashEmbedder())


def test_new_changed_unchanged_and_deleted_files(folder: Path, tmp_path: Path) -> None:
    base = base_at(tmp_path)
    seen: list[Progress] = []
    report = base.index(folder, progress=seen.append)
    assert sorted(report.added) == ["docs/a/manual.md", "docs/b/manual.md", "docs/notes.txt"]
    assert [p.stage for p in seen] == ["files"] * 3 + ["vectors"]
    assert (seen[2].done, seen[2].total) == (3, 3)
    assert base.status().pending == 0
    assert {hit.source for hit in base.search("valve lid red blue", mode="keywords")} == {
        "docs/a/manual.md",
        "docs/b/manual.md",
    }
    assert sorted(base.index(folder).unchanged) == ["docs/a/manual.md", "docs/b/manual.md", "docs/notes.txt"]
    (folder / "a" / "manual.md").write_text("# Pump\n\nThe valve is green.\n")
    (folder / "notes.txt").unlink()
    report = base.index(folder)
    assert (report.added, report.updated, report.removed) == ([], ["docs/a/manual.md"], ["docs/notes.txt"])
    assert "green" in base.search("valve")[0].text
    assert base.search("notes", mode="keywords") == []


def test_two_folders_of_the_same_name_keep_their_documents_apart(tmp_path: Path) -> None:
    for parent in ("one", "two"):
        (tmp_path / parent / "docs").mkdir(parents=True)
        (tmp_path / parent / "docs" / "m.md").write_text(f"Words of {parent}.\n")
    base = base_at(tmp_path)
    base.index([tmp_path / "one" / "docs", tmp_path / "two" / "docs"])
    assert [record.source for record in base.documents()] == ["docs/m.md", "two/docs/m.md"]
    assert base.search("words of two", 1)[0].source == "two/docs/m.md"
    assert base.index([tmp_path / "one" / "docs", tmp_path / "two" / "docs"]).unchanged == [
        "docs/m.md",
        "two/docs/m.md",
    ]


def test_a_bad_file_is_one_line_and_stops_nothing(folder: Path, tmp_path: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    (folder / "empty.md").write_bytes(b"")
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 9)
    base = base_at(tmp_path)
    report = base.index([folder, tmp_path / "missing"])
    assert len(report.added) == 3
    reasons = {Path(path).name: reason for path, reason in report.failed.items()}
    assert reasons == {
        "broken.pdf": "is no PDF file, or a broken one",
        "empty.md": "is empty",
        "binary.txt": "is no text file",
        "missing": "is not there; check the path",
    }
    assert sum(line.startswith("failed: ") for line in report.lines()) == 4


def test_a_file_that_breaks_keeps_its_earlier_version(folder: Path, tmp_path: Path) -> None:
    base = base_at(tmp_path)
    base.index(folder)
    (folder / "a" / "manual.md").write_bytes(b"")
    report = base.index(folder)
    assert list(report.failed.values()) == ["is empty; its earlier version stays in the base"]
    assert "red" in base.search("valve")[0].text


def test_an_unreadable_folder_is_reported_and_not_taken_for_empty(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = base_at(tmp_path)
    base.index(folder)
    scandir = indexing_module.os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("/a"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(indexing_module.os, "scandir", refusing)
    report = base.index(folder)
    assert list(report.failed.values()) == ["cannot be opened (Permission denied); check its permissions"]
    assert report.removed == []
    assert base.search("valve")


def test_ignore_patterns(folder: Path, tmp_path: Path) -> None:
    (folder / "b" / ".glassloopignore").write_text("# comment\nmanual.*\n")
    base = base_at(tmp_path)
    report = base.index(folder, ignore=["*.txt"])
    assert report.added == ["docs/a/manual.md"]
    assert base.index(folder, ignore=["docs", "a/"]).removed == ["docs/a/manual.md"]


def test_a_file_named_itself_is_read_whatever_its_name(folder: Path, tmp_path: Path) -> None:
    assert base_at(tmp_path).index(folder / ".hidden.md").added == [".hidden.md"]


def test_an_interruption_loses_nothing_that_was_read(folder: Path, tmp_path: Path) -> None:
    base = base_at(tmp_path)

    def interrupt(progress: Progress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        base.index(folder, progress=interrupt)
    assert base.status().documents == 2
    report = base_at(tmp_path).index(folder)
    assert (len(report.unchanged), len(report.added)) == (2, 1)


def test_a_file_is_read_at_one_moment(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that changes while it is parsed: its text and its hash are of the same bytes, and the change is seen."""
    file = folder / "a" / "manual.md"
    load = indexing_module.load_bytes

    def changing(data: bytes, name: str) -> object:
        if b"red" in data:
            file.write_text("# Pump\n\nThe valve is violet now.\n")
        return load(data, name)

    monkeypatch.setattr(indexing_module, "load_bytes", changing)
    base = base_at(tmp_path)
    base.index(folder)
    assert "red" in base.search("valve")[0].text
    assert base.index(folder).updated == ["docs/a/manual.md"]
    assert "violet" in base.search("valve")[0].text


def test_metadata_of_a_folder_filters(folder: Path, tmp_path: Path) -> None:
    base = base_at(tmp_path)
    base.index(folder / "a", metadata={"product": "P"})
    base.index(folder / "b", metadata={"product": "K"})
    assert {hit.source for hit in base.search("red blue valve lid", where={"product": "K"})} == {"b/manual.md"}
