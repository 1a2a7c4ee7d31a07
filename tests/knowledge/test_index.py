"""Nearest vectors, exactly and nearly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glassloop.errors import KnowledgeError
from glassloop.knowledge.fuse import fuse, lean_on_neighbours, near_duplicate, ranked, shares
from glassloop.knowledge.index import ApproximateIndex, VectorIndex, normalised, packed
from glassloop.knowledge.stores.memory import MemoryStore


def rows(count: int, dimensions: int = 32) -> np.ndarray:
    random = np.random.default_rng(1)
    centres = random.normal(size=(20, dimensions))
    return normalised(centres[random.integers(0, 20, count)] + random.normal(size=(count, dimensions)))


def test_exact_search_is_the_sorted_product() -> None:
    matrix = rows(500)
    query = matrix[7]
    numbers, cosines = VectorIndex(matrix).search(query, 10)
    assert numbers.tolist() == np.argsort(-(matrix @ query), kind="stable")[:10].tolist()
    assert cosines[0] == pytest.approx(1.0)


def test_int8_keeps_the_order_nearly() -> None:
    matrix = rows(5000)
    small = VectorIndex(packed(matrix, "int8"))
    exact = VectorIndex(matrix)
    common = [len(set(small.search(q, 10)[0].tolist()) & set(exact.search(q, 10)[0].tolist())) for q in matrix[:50]]
    assert np.mean(common) > 9
    assert np.allclose(small.scores(matrix[0]), exact.scores(matrix[0]), atol=0.02)


def test_zero_vectors_stay_zero() -> None:
    assert not normalised(np.zeros((2, 4))).any()


def test_the_graph_shows_its_recall_and_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    exact = VectorIndex(rows(3000))
    graph = ApproximateIndex.build(exact, samples=50)
    assert 0.9 < graph.recall <= 1.0
    graph.save(tmp_path / "g")
    again = ApproximateIndex.load(tmp_path / "g", exact, graph.recall)
    assert again.search(exact.matrix[3], 5)[0].tolist() == graph.search(exact.matrix[3], 5)[0].tolist()
    with pytest.raises(KnowledgeError, match="does not belong to these vectors"):
        ApproximateIndex.load(tmp_path / "g", VectorIndex(rows(10)), 1.0)


def test_a_large_base_uses_the_graph_and_a_small_one_does_not(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    from store_conformance import addition

    for limit, approximate in ((10, True), (50_000, False)):
        folder = tmp_path / str(limit)
        store = MemoryStore(folder, approximate_above=limit)
        store.apply((), [addition("book", "".join(f"## Part {n}\n\nWords {n}.\n\n" for n in range(40)))])
        store.set_vectors(store.pending(), rows(40))
        assert (store.recall is not None) is approximate
        again = MemoryStore(folder, approximate_above=limit)
        assert again.recall == store.recall
        assert list(again.nearest(rows(40)[5], 3)) == list(store.nearest(rows(40)[5], 3))


def test_fusion_by_hand() -> None:
    fused = fuse({1: 0.9, 2: 0.8, 3: 0.7}, {3: 4.0, 1: 2.0})
    assert fused == pytest.approx({1: 0.6 * 1 + 0.4 * 0.5, 2: 0.6 * 0.5, 3: 0.4})
    assert fuse({}, {5: 3.0, 6: 1.5}) == pytest.approx({5: 1.0, 6: 0.5})
    assert fuse({1: 0.5}, {}) == {1: 1.0}
    assert fuse({}, {}) == {}
    # A passage whose vector is still pending is judged by its words alone.
    assert fuse({1: 0.9, 2: 0.5}, {7: 2.0})[7] == pytest.approx(1.0)
    by_rank = fuse({1: 0.9, 2: 0.8}, {2: 1.0}, method="rrf")
    assert ranked(by_rank) == [2, 1]


def test_neighbours_lift_each_other() -> None:
    lifted = lean_on_neighbours({10: 0.8, 11: 0.8, 20: 0.9})
    assert ranked(lifted) == [10, 11, 20]
    assert max(lifted.values()) <= 1.0


@pytest.mark.parametrize(("budget", "k"), [(2300, 5), (1400, 5), (460, 1), (100, 10)])
def test_shares_never_exceed_the_budget_and_fall(budget: int, k: int) -> None:
    given = shares(budget, k)
    assert len(given) == k
    assert sum(given) <= budget
    assert given == sorted(given, reverse=True)


def test_near_duplicates() -> None:
    text = "The red valve of the pump opens slowly by hand."
    assert near_duplicate(text, [text])
    assert near_duplicate(text, [text.replace(".", " !")])
    assert not near_duplicate(text, ["The blue lid of the kettle closes with a click."])
    assert not near_duplicate("Valve A-100 weighs 3 kg and is red.", ["Valve A-200 weighs 3 kg and is red."])
