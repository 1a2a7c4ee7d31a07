"""The base: filled, searched, changed, kept, opened again."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from embedders import HashEmbedder

from glassloop.errors import KnowledgeError
from glassloop.knowledge import Document, KnowledgeBase
from glassloop.knowledge.stores.files import FORMAT

PUMP = """# Pump P-200

The pump moves water from the well to the tank.

## Reset

Hold the reset button for ten seconds. The lamp blinks twice, then the pump starts anew with its factory settings.

## Errors

E-042 means that the filter is dirty. Clean the filter under running water.

E-043 means that the well is dry. Wait for an hour before the next start.
"""
KETTLE = """# 水壶 K-10

## 复位

按住复位键十秒钟，指示灯闪烁两次，水壶恢复出厂设置。

## 清洗

每月用柠檬酸清洗一次，去除水垢。
"""


@pytest.fixture
def base() -> KnowledgeBase:
    base = KnowledgeBase(embedder=HashEmbedder())
    base.add([Document("pump.md", PUMP, metadata={"product": "P"}), Document("kettle.md", KETTLE)])
    return base


@pytest.mark.parametrize("mode", ["hybrid", "dense", "keywords"])
def test_it_finds_in_both_languages(base: KnowledgeBase, mode: str) -> None:
    first = base.search("How do I reset the pump with the reset button?", mode=mode)[0]  # type: ignore[arg-type]
    assert (first.source, first.headings) == ("pump.md", ("Pump P-200", "Reset"))
    assert PUMP[first.start : first.end] == first.text
    first = base.search("怎样清洗水垢", mode=mode)[0]  # type: ignore[arg-type]
    assert first.headings == ("水壶 K-10", "清洗")
    assert 0 < first.score <= 1


def test_error_codes_lead_to_their_line(base: KnowledgeBase) -> None:
    assert "dirty" in base.search("E042", budget=0)[0].text


def test_hits_grow_inside_their_section_and_within_the_budget() -> None:
    base = KnowledgeBase(embedder=None, size=64)
    sections = "".join(
        f"## Part {n}\n\n" + "".join(f"Sentence {m} of part {n} about the valve. " for m in range(12)) + "\n\n"
        for n in range(6)
    )
    base.add_text("# Book\n\n" + sections, "book.md")
    for budget in (300, 600, 1500):
        hits = base.search("valve of part 3 sentence 7", 5, budget=budget)
        assert sum(len(hit.text) for hit in hits) <= budget
        assert len(hits[0].text) > 64
        for hit in hits:
            assert hit.text.count("## Part") <= 1
        places = sorted((hit.start, hit.end) for hit in hits)
        assert all(before[1] <= after[0] for before, after in zip(places, places[1:], strict=False))
    assert all(len(hit.text) <= 64 for hit in base.search("valve", 5, budget=0))


def test_headings_without_words_answer_nothing_unless_there_is_nothing_else() -> None:
    base = KnowledgeBase(embedder=None)
    base.add_text("# Valve\n\n## Colour\n\nThe valve is red.\n", "a")
    assert [hit.headings for hit in base.search("valve")] == [("Valve", "Colour")]
    base.add_text("# Quarterly revenue\n", "b")
    assert base.search("quarterly revenue")[0].source == "b"


def test_a_document_can_be_read_back(base: KnowledgeBase) -> None:
    assert base.text("pump.md") == PUMP
    assert base.text("nobody") == ""
    overlapping = KnowledgeBase(embedder=None, size=64, overlap=20)
    overlapping.add_text(PUMP, "p")
    assert overlapping.text("p") == PUMP


def test_filters(base: KnowledgeBase) -> None:
    assert {p.source for p in base.search("reset 复位", where={"source": "kettle.md"})} == {"kettle.md"}
    assert {p.source for p in base.search("reset 复位", where={"product": ["P", "Q"]})} == {"pump.md"}
    assert base.search("reset", where={"product": "none"}) == []


def test_nothing_found_is_said_honestly(base: KnowledgeBase) -> None:
    assert base.search("quarterly revenue of the bakery", min_score=0.3) == []
    assert base.search("reset button", min_score=0.3)


@pytest.mark.parametrize(
    "query", ["", "  \n", "的", "a", "😀😀", "the of and", "？", "x" * 50_000, "reset " * 9_000, "\0", "\ud800"]
)
def test_odd_queries_do_no_harm(base: KnowledgeBase, query: str) -> None:
    for mode in ("hybrid", "keywords", "dense"):
        assert isinstance(base.search(query, mode=mode), list)  # type: ignore[arg-type]


def test_an_empty_base_answers_with_nothing(tmp_path: Path) -> None:
    base = KnowledgeBase.open(tmp_path / "base", embedder=HashEmbedder())
    assert base.search("anything") == []
    assert base.status().passages == 0
    assert base.embed_pending().vectors == 0


def test_near_duplicates_are_dropped_but_not_other_numbers() -> None:
    base = KnowledgeBase(embedder=None)
    same = "The red valve of the pump has to be opened slowly by hand before the first start of the motor."
    base.add_text(same, "a")
    base.add_text(same.replace("first", "very first"), "b")
    base.add_text("Valve A-100 of the pump weighs 3 kg.", "c")
    base.add_text("Valve A-200 of the pump weighs 4 kg.", "d")
    assert len(base.search("red valve motor start", 5)) >= 1
    sources = [hit.source for hit in base.search("valve pump", 5)]
    assert {"c", "d"} <= set(sources)
    assert len({"a", "b"} & set(sources)) == 1


def test_a_base_is_kept_and_opened_again(tmp_path: Path) -> None:
    base = KnowledgeBase.open(tmp_path, embedder=HashEmbedder())
    base.add([Document("pump.md", PUMP, metadata={"product": "P"}), Document("kettle.md", KETTLE)])
    before = base.search("reset button")
    again = KnowledgeBase.open(tmp_path, embedder=HashEmbedder())
    assert again.search("reset button") == before
    assert again.status() == base.status()
    assert [record.source for record in again.documents()] == ["kettle.md", "pump.md"]


def test_changes_of_another_process_are_seen(tmp_path: Path) -> None:
    reader = KnowledgeBase.open(tmp_path, embedder=None)
    assert reader.search("valve") == []
    code = (
        "import sys; from glassloop.knowledge import KnowledgeBase\n"
        "KnowledgeBase.open(sys.argv[1], embedder=None).add_text('The valve.', 'v')"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert [hit.source for hit in reader.search("valve")] == ["v"]


def test_readers_go_on_while_one_writes(tmp_path: Path) -> None:
    writer = KnowledgeBase.open(tmp_path, embedder=None)
    writer.add_text("The valve number 0.", "v0")
    reader = KnowledgeBase.open(tmp_path, embedder=None)
    stop = threading.Event()
    wrong: list[object] = []

    def read() -> None:
        while not stop.wait(0.001):  # a reader that never rests would only test who gets the interpreter's lock
            try:
                if not reader.search("valve"):
                    wrong.append("nothing found")
            except Exception as error:
                wrong.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    for n in range(1, 25):
        writer.add_text(f"The valve number {n}.", f"v{n}")
    stop.set()
    thread.join()
    assert wrong == []
    assert reader.status().documents == 25


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    def write(name: str) -> None:
        base = KnowledgeBase.open(tmp_path, embedder=None)
        for n in range(6):
            base.add_text(f"Text {n} of {name}.", f"{name}-{n}")

    threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert KnowledgeBase.open(tmp_path, embedder=None).status().documents == 12


def test_a_crash_before_the_last_step_leaves_the_old_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = KnowledgeBase.open(tmp_path, embedder=None)
    base.add_text("The old valve.", "old")

    def crash(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", crash)
        with pytest.raises(KeyboardInterrupt):
            base.add_text("The new valve.", "new")
    again = KnowledgeBase.open(tmp_path, embedder=None)
    assert [hit.source for hit in again.search("valve")] == ["old"]
    again.add_text("The new valve.", "new")
    assert len(again.search("valve")) == 2
    assert len(list((tmp_path / "generations").iterdir())) <= 2


def test_a_base_cut_short_is_refused_clearly_and_left_alone(tmp_path: Path) -> None:
    KnowledgeBase.open(tmp_path, embedder=None).add_text("The valve. " * 50, "v")
    file = max(tmp_path.glob("generations/*/passages.jsonl"), key=lambda path: path.stat().st_size)
    file.write_bytes(file.read_bytes()[:20])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(KnowledgeError, match="passages.jsonl is cut short; restore it or index into a new folder"):
        KnowledgeBase.open(tmp_path, embedder=None)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": "x"}'])
def test_a_broken_pointer_is_refused(tmp_path: Path, content: bytes) -> None:
    KnowledgeBase.open(tmp_path, embedder=None).add_text("The valve.", "v")
    (tmp_path / "CURRENT").write_bytes(content)
    with pytest.raises(KnowledgeError, match="index into a new folder|newer"):
        KnowledgeBase.open(tmp_path, embedder=None)


def test_a_base_from_a_newer_version_is_refused(tmp_path: Path) -> None:
    KnowledgeBase.open(tmp_path, embedder=None).add_text("The valve.", "v")
    pointer = json.loads((tmp_path / "CURRENT").read_text())
    (tmp_path / "CURRENT").write_text(json.dumps({**pointer, "format": FORMAT + 1}))
    with pytest.raises(KnowledgeError, match="written by a newer glassloop"):
        KnowledgeBase.open(tmp_path, embedder=None)


def test_another_embedding_model_is_refused_until_embedded_anew(tmp_path: Path) -> None:
    KnowledgeBase.open(tmp_path, embedder=HashEmbedder("one")).add_text(PUMP, "pump")
    other = KnowledgeBase.open(tmp_path, embedder=HashEmbedder("two", 32))
    with pytest.raises(KnowledgeError, match="was embedded with one and is searched with two"):
        other.search("reset")
    assert other.search("reset", mode="keywords")
    assert other.embed_anew(HashEmbedder("two", 32)).vectors == other.status().passages
    assert other.search("reset")


def test_words_serve_before_vectors_do(tmp_path: Path) -> None:
    base = KnowledgeBase.open(tmp_path, embedder=HashEmbedder())
    base.add_text(PUMP, "pump.md", embed=False)
    assert base.status().pending == base.status().passages
    assert base.search("reset button")[0].headings[-1] == "Reset"
    with pytest.raises(KnowledgeError, match="no vectors"):
        base.search("reset", mode="dense")
    seen: list[tuple[int, int]] = []
    report = base.embed_pending(limit=2, progress=lambda p: seen.append((p.done, p.total)))
    assert (report.vectors, report.pending, seen) == (2, base.status().passages - 2, [(2, 2)])
    assert base.search("E-043 well dry")[0].headings[-1] == "Errors"
    assert base.embed_pending().pending == 0


def test_no_vector_is_computed_twice(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    base = KnowledgeBase.open(tmp_path, embedder=embedder)
    base.add_text(PUMP, "pump.md")
    first = embedder.calls
    base.remove("pump.md")
    base.add_text(PUMP, "pump.md")
    assert embedder.calls == first
    base.add_text(PUMP.replace("ten seconds", "five seconds"), "pump.md")
    assert embedder.calls == first + 1


def test_an_interrupted_embedding_keeps_what_it_has(tmp_path: Path) -> None:
    class Interrupted(HashEmbedder):
        def passages(self, texts):  # type: ignore[no-untyped-def]
            if self.calls >= 32:
                raise KeyboardInterrupt
            return super().passages(texts)

    text = "".join(f"## Part {n}\n\nWords about thing{n}.\n\n" for n in range(50))
    base = KnowledgeBase.open(tmp_path, embedder=Interrupted())
    base.add_text(text, "book", embed=False)
    with pytest.raises(KeyboardInterrupt):
        base.embed_pending()
    again = KnowledgeBase.open(tmp_path, embedder=HashEmbedder())
    assert again.status().pending == 50 - 32
    assert again.embed_pending().computed == 50 - 32


def test_int8_finds_the_same_in_a_quarter_of_the_space(tmp_path: Path) -> None:
    bases = {}
    for precision in ("float32", "int8"):
        base = KnowledgeBase.open(tmp_path / precision, embedder=HashEmbedder(), precision=precision)
        base.add([Document("pump.md", PUMP), Document("kettle.md", KETTLE)])
        bases[precision] = base
    exact, small = (bases[p].search("clean the filter", mode="dense") for p in ("float32", "int8"))
    assert [hit.text for hit in exact] == [hit.text for hit in small]
    size = {p: next((tmp_path / p).glob("generations/*/vectors.npy")).stat().st_size - 128 for p in bases}
    assert size["float32"] == 4 * size["int8"]


def test_a_text_replaces_what_had_its_name(base: KnowledgeBase) -> None:
    base.add_text("# Pump\n\nEverything is different now.", "pump.md")
    assert base.search("reset button", where={"source": "pump.md"}, mode="keywords") == []
    assert base.search("everything different")[0].source == "pump.md"
    assert base.remove(["pump.md", "nobody"]) == 1
    assert base.remove("pump.md") == 0


def test_a_file_is_no_base_and_a_scheme_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(KnowledgeError, match="is a file"):
        KnowledgeBase.open(tmp_path / "file")
    with pytest.raises(KnowledgeError, match="No store is named redis"):
        KnowledgeBase.open("redis://localhost")


def test_importing_loads_no_numpy() -> None:
    code = "import sys, glassloop.knowledge; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_tool_numbers_passages_through_a_run(base: KnowledgeBase) -> None:
    search_knowledge = base.as_tool(k=2)
    first = search_knowledge("reset button")
    second = search_knowledge("柠檬酸清洗")
    again = search_knowledge("reset button")
    assert [entry["n"] for entry in first["passages"]] == [entry["n"] for entry in again["passages"]]
    assert second["passages"][0]["n"] > first["passages"][0]["n"]
    citations = search_knowledge.citations  # type: ignore[attr-defined]
    assert citations.passage(first["passages"][0]["n"]).headings == ("Pump P-200", "Reset")
    assert citations.dangling("So it is [1], as [2, 99] and [7](link) say.") == [99]
    assert base.as_tool(min_score=1.1)("reset") == {
        "passages": [],
        "note": "Nothing found. Say so, or search with other words.",
    }


def test_answers_are_forgotten_when_the_base_changes(base: KnowledgeBase) -> None:
    base.remember_answer("q", "a")
    assert base.answer("q") == "a"
    base.add_text("New.", "n")
    assert base.answer("q") is None
