"""What was asked before is not computed again."""

from __future__ import annotations

import threading
import time

import pytest

from glassloop.knowledge.cache import LRU, SearchCache


def test_the_oldest_goes_first() -> None:
    lru: LRU[int] = LRU(2)
    lru.put("a", 1)
    lru.put("b", 2)
    assert lru.get("a") == 1
    lru.put("c", 3)
    assert (lru.get("a"), lru.get("b"), lru.get("c")) == (1, None, 3)


def test_equal_questions_at_the_same_moment_are_computed_once() -> None:
    cache: SearchCache[tuple[int, ...]] = SearchCache()
    calls: list[int] = []

    def compute() -> tuple[int, ...]:
        calls.append(1)
        time.sleep(0.05)
        return (7,)

    results: list[tuple[int, ...]] = []
    threads = [threading.Thread(target=lambda: results.append(cache.get("q", "v", compute))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(calls), results) == (1, [(7,)] * 8)
    assert cache.counts.waited + cache.counts.hits == 7


def test_a_flood_without_answers_neither_computes_again_nor_pushes_the_good_ones_out() -> None:
    cache: SearchCache[tuple[int, ...]] = SearchCache(capacity=4, negative=100)
    cache.get("good", "v", lambda: (1,))
    for _ in range(3):
        for n in range(50):
            cache.get(n, "v", tuple)
    assert cache.counts.computed == 51
    assert cache.counts.negative_hits == 100
    assert cache.get("good", "v", lambda: (2,)) == (1,)


def test_everything_is_forgotten_when_the_base_changes() -> None:
    cache: SearchCache[tuple[int, ...]] = SearchCache()
    cache.get("q", "v1", lambda: (1,))
    cache.get("none", "v1", tuple)
    assert cache.get("q", "v2", lambda: (2,)) == (2,)
    assert cache.get("none", "v2", lambda: (3,)) == (3,)


def test_a_result_of_the_old_state_is_not_kept_for_the_new_one() -> None:
    cache: SearchCache[tuple[int, ...]] = SearchCache()

    def changed_meanwhile() -> tuple[int, ...]:
        cache.get("other", "v2", lambda: (0,))
        return (1,)

    assert cache.get("q", "v1", changed_meanwhile) == (1,)
    assert cache.get("q", "v2", lambda: (2,)) == (2,)


def test_a_failure_is_told_to_all_and_kept_for_none() -> None:
    cache: SearchCache[tuple[int, ...]] = SearchCache()

    def fail() -> tuple[int, ...]:
        raise RuntimeError("down")

    with pytest.raises(RuntimeError):
        cache.get("q", "v", fail)
    assert cache.get("q", "v", lambda: (1,)) == (1,)
