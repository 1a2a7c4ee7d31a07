"""Remembering what was asked: answers found, vectors of queries, and questions that have no answer.

Owes: `SearchCache`. Everything in it is forgotten when the base changes; equal questions at the same moment are
computed once; questions without an answer have a cache of their own, so that a flood of them neither reaches the
model again nor pushes the good ones out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value")


class LRU(Generic[Value]):
    """The last `capacity` values used; safe to share between threads. A capacity of 0 keeps nothing."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        """The value, now the youngest; `None` if it is not there."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value, and let the oldest one go."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self.capacity:
                self._values.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)


@dataclass(slots=True)
class CacheCounts:
    """How often the cache helped."""

    hits: int = 0
    negative_hits: int = 0
    waited: int = 0
    """Answered by a computation that another caller had already begun."""
    computed: int = 0


class SearchCache(Generic[Value]):
    """Results by question, for one state of the base.

    Args:
        capacity: How many questions with results are kept.
        negative: How many questions without results are kept.
    """

    def __init__(self, capacity: int = 512, negative: int = 2048) -> None:
        self.counts = CacheCounts()
        self._found: LRU[Value] = LRU(capacity)
        self._nothing: LRU[Value] = LRU(negative)
        self._running: dict[Hashable, Future[Value]] = {}
        self._version = ""
        self._lock = threading.Lock()

    def get(self, key: Hashable, version: str, compute: Callable[[], Value]) -> Value:
        """The value of a key, computed at most once at a time and once for a state of the base."""
        with self._lock:
            if version != self._version:
                self._found.clear()
                self._nothing.clear()
                self._running.clear()
                self._version = version
            if (value := self._found.get(key)) is not None:
                self.counts.hits += 1
                return value
            if (value := self._nothing.get(key)) is not None:
                self.counts.negative_hits += 1
                return value
            running = self._running.get(key)
            mine: Future[Value] = Future()
            if running is None:
                self._running[key] = mine
                self.counts.computed += 1
            else:
                self.counts.waited += 1
        if running is not None:
            return running.result()
        try:
            value = compute()
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            with self._lock:
                # A result of an older state must not be taken for one of the new.
                if version == self._version:
                    (self._found if value else self._nothing).put(key, value)
            mine.set_result(value)
            return value
        finally:
            with self._lock:
                if self._running.get(key) is mine:
                    del self._running[key]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._found.clear()
            self._nothing.clear()
