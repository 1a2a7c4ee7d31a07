"""The figures of the knowledge gear, side by side in one process: medians and ratios.

Run: python bench/knowledge.py [--json] [--manuals FOLDER] [--servers]

`--manuals` indexes a folder of PDFs. `--servers` also times PostgreSQL and Qdrant. Recall is measured by `recall.py`.
Set OPENBLAS_NUM_THREADS=1 for the figures of one thread; it is set here if nothing else is said.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import contextlib
import json
import random
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from glassloop.knowledge import Document, KnowledgeBase, Passage, chunk
from glassloop.knowledge.index import ApproximateIndex, VectorIndex, normalised
from glassloop.knowledge.keywords import KeywordIndex
from glassloop.knowledge.stores.base import Addition, DocumentRecord
from glassloop.knowledge.stores.memory import MemoryStore

DIMENSIONS = 384
Row = tuple[str, float, str, str, bool]
"""What, value, unit, limit, whether it is met."""


class NoModel:
    """An embedder whose vectors are ready: what is measured is everything else."""

    name = "ready"
    calibration = (0.0, 1.0)

    def __init__(self) -> None:
        self._random = np.random.default_rng(5)
        self._queries: dict[str, Any] = {}

    def passages(self, texts: Any) -> Any:
        return normalised(self._random.normal(size=(len(texts), DIMENSIONS)))

    def query(self, text: str) -> Any:
        if text not in self._queries:
            self._queries[text] = normalised(self._random.normal(size=(1, DIMENSIONS)))[0]
        return self._queries[text]


def median_ms(work: Callable[[int], object], times: int = 300) -> float:
    """The median of so many calls, in milliseconds."""
    for n in range(min(20, times)):
        work(n)
    taken = []
    for n in range(times):
        started = time.perf_counter()
        work(n)
        taken.append(time.perf_counter() - started)
    return 1000 * statistics.median(taken)


def text_of(passages: int) -> str:
    """A manual of about so many passages, in words of Zipf's frequencies."""
    chooser = random.Random(3)
    words = [f"{stem}{ending}" for stem in _stems(chooser, 2000) for ending in ("", "s", "ed", "ing")]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    picked = iter(chooser.choices(words, weights, k=passages * 42))
    parts: list[str] = []
    for number in range(passages // 5):
        parts.append(f"## Part {number}\n\n")
        for _ in range(5):
            parts.append(" ".join(next(picked, "end") for _ in range(18)).capitalize() + ". ")
            parts.append(" ".join(next(picked, "end") for _ in range(18)).capitalize() + f" E-{number:04d}.\n\n")
    return "".join(parts)


def book_of(passages: int) -> str:
    """A text that is cut into exactly so many passages."""
    text = text_of(passages)
    return text[: chunk(text)[passages - 1].end]


def _stems(chooser: random.Random, count: int) -> list[str]:
    letters = "abcdefghijklmnoprstuvw"
    return ["".join(chooser.choices(letters, k=chooser.randint(3, 8))) for _ in range(count)]


def bare_numpy(matrix: Any) -> Callable[[Any], Any]:
    """What one would write by hand."""

    def search(query: Any) -> Any:
        scores = matrix @ query
        best = np.argpartition(scores, -5)[-5:]
        return best[np.argsort(-scores[best])]

    return search


def vectors(rows: list[Row]) -> None:
    """Query vector to top five, at three sizes, beside bare numpy."""
    source = np.random.default_rng(1)
    for count in (1_200, 10_000, 100_000):
        matrix = normalised(source.normal(size=(count, DIMENSIONS)).astype(np.float32))
        queries = normalised(source.normal(size=(64, DIMENSIONS)).astype(np.float32))
        _beside_numpy(rows, matrix, queries)
        if count == 100_000:
            _graph(rows)


def _beside_numpy(rows: list[Row], matrix: Any, queries: Any) -> None:
    count = len(matrix)
    bare = bare_numpy(matrix)
    index = VectorIndex(matrix)
    store = _filled(matrix) if count <= 10_000 else None
    times = 300 if count < 100_000 else 40
    plain, ours, whole = [], [], []
    for _ in range(3):  # in turns, so that a busy moment hits all of them
        plain.append(median_ms(lambda n: bare(queries[n % 64]), times))
        ours.append(median_ms(lambda n: index.search(queries[n % 64], 5), times))
        if store is not None:
            whole.append(median_ms(lambda n: store.fetch(list(store.nearest(queries[n % 64], 5))), times))
    base = statistics.median(plain)
    rows.append((f"bare numpy, {count:,} vectors", base, "ms", "", True))
    ratio = statistics.median(ours) / base
    rows.append((f"exact index / bare numpy, {count:,}", ratio, "×", "≤ 2", ratio <= 2))
    if whole:
        ratio = statistics.median(whole) / base
        rows.append((f"store, with five passages / bare numpy, {count:,}", ratio, "×", "≤ 2", ratio <= 2))


def _graph(rows: list[Row]) -> None:
    try:
        # Real texts lie in clusters; evenly random vectors have no near neighbours for a graph to find.
        source = np.random.default_rng(2)
        centres = source.normal(size=(2_000, DIMENSIONS))
        clustered = centres[source.integers(0, 2_000, 30_000)] + 0.7 * source.normal(size=(30_000, DIMENSIONS))
        exact = VectorIndex(normalised(clustered))
        graph = ApproximateIndex.build(exact, samples=100)
    except ImportError:
        return
    except Exception as error:
        rows.append((f"graph: {error}", 0.0, "", "", False))
        return
    probes = exact.matrix[:64]
    taken = median_ms(lambda n: graph.search(probes[n % 64], 5), 200)
    rows.append(("HNSW graph, 30,000 vectors", taken, "ms", "", True))
    rows.append(("its recall@10", graph.recall, "", "≥ 0.95", graph.recall >= 0.95))


def _filled(matrix: Any) -> MemoryStore:
    store = MemoryStore()
    passages = [
        Passage(
            f"Passage {n} of the bench, some 200 characters long. " * 4, "book", n * 200, n * 200 + 200, section=n // 8
        )
        for n in range(len(matrix))
    ]
    store.apply((), [Addition(DocumentRecord("book", "x"), passages)])
    store.set_vectors(store.pending(), matrix)
    return store


def words_and_chunks(rows: list[Row]) -> None:
    """Chunking, keyword index and keyword search, in English and Chinese."""
    text = text_of(10_000)
    started = time.process_time()
    passages = chunk(text, source="book")
    rate = len(passages) / (time.process_time() - started)
    rows.append(("chunking, English", rate, "passages/s", "≥ 10,000", rate >= 10_000))
    chinese = "这台机器的过滤器需要每个月清洗一次，请先断开电源，然后打开盖子。第{}步完成以后，指示灯会亮起绿色。\n\n"
    long = "".join(f"## 第{n}节\n\n" + chinese.format(n) * 6 for n in range(1_000))
    started = time.process_time()
    cut = chunk(long)
    rate = len(cut) / (time.process_time() - started)
    rows.append(("chunking, Chinese", rate, "passages/s", "≥ 10,000", rate >= 10_000))
    texts = [passage.indexed_text for passage in passages[:10_000]]
    started = time.process_time()
    index = KeywordIndex.empty().updated(np.zeros(0, np.int64), texts)
    rate = len(texts) / (time.process_time() - started)
    rows.append((f"keyword index of {len(texts):,}", rate, "passages/s", "≥ 3,000", rate >= 3_000))
    chooser = random.Random(9)
    queries = [" ".join(chooser.choices(text[:200_000].split(), k=7)) for _ in range(64)]
    taken = median_ms(lambda n: index.search(queries[n % 64], 5))
    rows.append((f"keywords at {len(texts):,}", taken, "ms", "≤ 0.3", taken <= 0.3))


def whole_search(rows: list[Row]) -> None:
    """Everything around the embedding of the query: hybrid, fused, grown, cited."""
    for count in (1_200, 10_000):
        base = KnowledgeBase(embedder=NoModel())
        base.add([Document("book", book_of(count))])
        words = text_of(200).split()
        chooser = random.Random(4)
        queries = [" ".join(chooser.choices(words, k=8)) for _ in range(800)]
        for query in queries:
            base._query_vector(query)
        number = iter(range(10**9))
        taken = median_ms(lambda _, b=base, q=queries, i=number: b.search(q[next(i) % 800], 5), 300)
        rows.append((f"a whole search, {base.status().passages:,} passages", taken, "ms", "", True))
        matrix = base.store._current().vectors.matrix  # type: ignore[attr-defined]
        product = median_ms(lambda n, m=matrix: m @ m[n], 300)
        ours = taken - product
        rows.append((f"of that, all but the product, {count:,}", ours, "ms", "≤ 1", ours <= 1))
        again = median_ms(lambda n, b=base, q=queries: b.search(q[799], 5), 300)
        rows.append((f"the same query again, {count:,}", again, "ms", "", True))


def memory_and_opening(rows: list[Row]) -> None:
    """What 10,000 passages take, and how long a base takes to open."""
    with tempfile.TemporaryDirectory() as folder:
        base = KnowledgeBase.open(folder, embedder=NoModel())
        base.add([Document("book", book_of(10_000))])
        base.close()
        taken = median_ms(lambda n: MemoryStore(Path(folder)), 20)
        rows.append(("opening 10,000 passages", taken, "ms", "", True))
        tracemalloc.start()
        opened = KnowledgeBase.open(folder, embedder=NoModel())
        for query in ("valve pump", "E-0042", "some other words"):
            opened.search(query)
        used = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        mapped = sum(file.stat().st_size for file in Path(folder).glob("generations/*/*.npy")) / 2**20
        total = used + mapped
        rows.append(("memory for 10,000 passages, all files mapped in", total, "MB", "≤ 100", total <= 100))


def manuals(rows: list[Row], folder: Path) -> None:
    """A folder of PDFs in one command."""
    base = KnowledgeBase(embedder=None)
    started = time.process_time()
    report = base.index(folder)
    rows.append(
        (
            f"{len(report.added)} files, {report.pages} pages, {report.passages} passages",
            time.process_time() - started,
            "s",
            "",
            not report.failed,
        )
    )


def servers(rows: list[Row]) -> None:
    """The same 1,200 and 10,000 vectors in PostgreSQL and Qdrant's local mode."""
    source = np.random.default_rng(1)
    for count in (1_200, 10_000):
        matrix = normalised(source.normal(size=(count, DIMENSIONS)).astype(np.float32))
        queries = normalised(source.normal(size=(64, DIMENSIONS)).astype(np.float32))
        memory = _filled(matrix)
        ours = median_ms(lambda n, s=memory, q=queries: s.fetch(list(s.nearest(q[n % 64], 5))), 100)
        rows.append((f"memory, {count:,}", ours, "ms", "", True))
        for name, opening in (("PostgreSQL + pgvector", _postgres), ("Qdrant, local mode", _qdrant)):
            with contextlib.suppress(ImportError), opening() as store:
                passages = [memory._current().table[row] for row in range(count)]
                store.apply((), [Addition(DocumentRecord("book", "x"), passages)])
                store.set_vectors(store.pending(), matrix)
                taken = median_ms(lambda n, s=store, q=queries: s.fetch(list(s.nearest(q[n % 64], 5))), 40)
                rows.append((f"{name}, {count:,}", taken, "ms", "", True))
                words = median_ms(lambda n, s=store: s.matching(f"passage {n} bench", 5), 20)
                rows.append((f"{name}, words, {count:,}", words, "ms", "", True))
                store.close()


@contextlib.contextmanager
def _postgres() -> Iterator[Any]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgserver
    from glassloop.knowledge.stores.postgres import PostgresStore

    with tempfile.TemporaryDirectory() as folder:
        server = pgserver.get_server(folder, cleanup_mode="stop")
        try:
            yield PostgresStore(server.get_uri(), name="bench")
        finally:
            server.cleanup()


@contextlib.contextmanager
def _qdrant() -> Iterator[Any]:
    import qdrant_client  # noqa: F401 - asks whether it is installed

    from glassloop.knowledge.stores.qdrant import QdrantStore

    yield QdrantStore.at("qdrant://")


def main() -> int:
    """Measure and print; 1 if a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--manuals", type=Path)
    parser.add_argument("--servers", action="store_true")
    options = parser.parse_args()
    rows: list[Row] = []
    for part in (vectors, words_and_chunks, whole_search, memory_and_opening):
        part(rows)
    if options.manuals:
        manuals(rows, options.manuals)
    if options.servers:
        servers(rows)
    if options.json:
        print(json.dumps([dict(zip(("what", "value", "unit", "limit", "met"), row, strict=True)) for row in rows]))
    else:
        for what, value, unit, limit, met in rows:
            print(f"{'ok  ' if met else 'MISS'} {what:<58} {value:>12,.3f} {unit:<11} {limit}")
    return 0 if all(row[4] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
