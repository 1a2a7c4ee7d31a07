"""What every store has to pass; a store of your own proves itself by subclassing `StoreConformance`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from embedders import HashEmbedder

from glassloop.errors import KnowledgeError
from glassloop.knowledge import Document, KnowledgeBase, chunk
from glassloop.knowledge.stores.base import Addition, DocumentRecord, Store

PUMP = (
    "# Pump\n\nThe red valve opens slowly.\n\n## Errors\n\nE-042 means a dirty filter.\n\n"
    + "The filter is cleaned. " * 20
)
KETTLE = "# 水壶\n\n红色的盖子。\n\n## 清洗\n\n每月用柠檬酸清洗一次。\n"


def addition(source: str, text: str, **metadata: str) -> Addition:
    passages = chunk(text, source=source, size=120, metadata=metadata)
    return Addition(DocumentRecord(source, str(hash(text)), metadata=metadata), passages)


class StoreConformance:
    """Fixture `opened` returns a function that opens the same store again."""

    @pytest.fixture
    def store(self, opened: Callable[[], Store]) -> Store:
        store = opened()
        store.apply((), [addition("pump", PUMP, product="P"), addition("kettle", KETTLE, product="K")])
        return store

    def embed(self, store: Store, dimensions: int = 64) -> HashEmbedder:
        embedder = HashEmbedder(dimensions=dimensions)
        ids = store.pending()
        passages = store.fetch(ids)
        store.set_vectors(ids, embedder.passages([passages[i].indexed_text for i in ids]))
        return embedder

    def test_a_new_store_is_empty(self, opened: Callable[[], Store]) -> None:
        store = opened()
        assert (store.count(), store.documents(), store.pending(), store.settings()) == (0, {}, [], {})
        assert store.matching("x", 5) == {}
        assert store.nearest(np.ones(64, np.float32), 5) == {}
        assert store.fetch([1 << 40 | 1]) == {}

    def test_settings_are_kept(self, store: Store) -> None:
        store.put_settings({"size": 256, "embedder": "hash"})
        settings = store.settings()
        assert (settings["size"], settings["embedder"]) == (256, "hash")
        store.apply((), [addition("third", "Words.")])
        assert store.settings()["embedder"] == "hash"

    def test_passages_come_back_as_they_were(self, store: Store) -> None:
        ids = store.pending()
        assert ids == sorted(ids)
        expected = [
            *chunk(PUMP, source="pump", size=120, metadata={"product": "P"}),
            *chunk(KETTLE, source="kettle", size=120, metadata={"product": "K"}),
        ]
        assert list(store.fetch(ids).values()) == expected
        assert store.count() == len(expected)
        assert store.between(min(ids), max(ids) + 1)[0] == expected[0]
        first = store.documents()["kettle"].number << 40
        assert store.between(first, first + (1 << 40)) == chunk(
            KETTLE, source="kettle", size=120, metadata={"product": "K"}
        )
        assert store.documents()["pump"].passages + store.documents()["kettle"].passages == len(expected)

    def test_neighbours_in_a_section_have_neighbouring_ids(self, store: Store) -> None:
        passages = store.fetch(store.pending())
        for passage_id, passage in passages.items():
            after = passages.get(passage_id + 1)
            if after is not None:
                assert (after.source, after.section, after.start) == (passage.source, passage.section, passage.end)
        assert any(passage_id + 1 in passages for passage_id in passages)

    def test_words(self, store: Store) -> None:
        best = next(iter(store.matching("E042", 5)))
        assert "E-042" in store.fetch([best])[best].text
        best = next(iter(store.matching("柠檬酸清洗", 5)))
        assert "柠檬酸" in store.fetch([best])[best].text
        assert store.matching("zebra", 5) == {}
        scores = list(store.matching("the filter", 20).values())
        assert scores == sorted(scores, reverse=True)
        assert len(store.matching("the filter", 2)) == 2

    def test_vectors(self, store: Store) -> None:
        embedder = self.embed(store)
        assert store.pending() == []
        query = embedder.query("red valve opens slowly")
        found = store.nearest(query, 3)
        assert len(found) == 3
        best = next(iter(found))
        assert "red valve" in store.fetch([best])[best].text
        again = store.cosines(query, list(found))
        assert {i: round(s, 4) for i, s in again.items()} == {i: round(s, 4) for i, s in found.items()}
        assert max(found.values()) <= 1.001

    def test_vectors_of_another_size_are_refused(self, store: Store) -> None:
        self.embed(store)
        with pytest.raises(KnowledgeError, match="open it with the model it was built with"):
            store.nearest(np.ones(32, np.float32), 3)
        store.apply((), [addition("third", "Words.")])
        with pytest.raises(KnowledgeError, match="open it with the model it was built with"):
            store.set_vectors(store.pending(), np.ones((1, 32), np.float32))
        store.drop_vectors()
        assert len(store.pending()) == store.count()
        self.embed(store, 32)
        assert store.nearest(np.ones(32, np.float32), 3)

    def test_filters(self, store: Store) -> None:
        embedder = self.embed(store)
        for where in ({"product": "K"}, {"source": ["kettle", "other"]}):
            for found in (
                store.matching("red 红色 filter 盖子", 9, where),
                store.nearest(embedder.query("red"), 9, where),
            ):
                assert {p.source for p in store.fetch(list(found)).values()} == {"kettle"}
        assert store.matching("red", 9, {"product": "none"}) == {}
        assert store.nearest(embedder.query("red"), 9, {"product": "none"}) == {}

    def test_a_change_replaces_removes_and_makes_a_new_version(self, store: Store) -> None:
        self.embed(store)
        before = store.version()
        store.apply(["kettle", "nobody"], [addition("pump", "# Pump\n\nAll is new.\n")])
        assert store.version() != before
        assert list(store.documents()) == ["pump"]
        assert store.matching("valve 柠檬酸", 9) == {}
        assert len(store.pending()) == store.count() == 1
        assert store.nearest(np.ones(64, np.float32), 9) == {}

    def test_another_opening_sees_the_same(self, store: Store, opened: Callable[[], Store]) -> None:
        self.embed(store)
        other = opened()
        assert other.documents() == store.documents()
        assert other.matching("filter", 5) == pytest.approx(store.matching("filter", 5))
        assert other.version() == store.version() or other.count() == store.count()

    def test_odd_characters(self, store: Store) -> None:
        text = "# Odd\n\nA \\ backslash, a 'quote', \"two\", a % sign, 😀 and a tab\t.\n"
        store.apply((), [addition("odd % 'name'", text)])
        passages = store.fetch(list(store.matching("backslash", 3)))
        assert [p.text for p in passages.values()] == [text]
        assert store.documents()["odd % 'name'"].source == "odd % 'name'"

    def test_a_base_on_it_answers_like_one_in_memory(self, opened: Callable[[], Store]) -> None:
        bases = [KnowledgeBase(opened(), embedder=HashEmbedder()), KnowledgeBase(embedder=HashEmbedder())]
        for base in bases:
            base.add([Document("pump", PUMP, metadata={"product": "P"}), Document("kettle", KETTLE)])
        for query in ("What does E-042 mean?", "柠檬酸清洗", "red valve"):
            ours, theirs = (base.search(query, 3) for base in bases)
            assert (ours[0].source, ours[0].start, ours[0].end) == (theirs[0].source, theirs[0].start, theirs[0].end)
