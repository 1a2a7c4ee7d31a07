"""All stores pass one suite: memory, files, PostgreSQL with pgvector, Qdrant."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from store_conformance import StoreConformance

from glassloop.errors import KnowledgeError
from glassloop.knowledge.stores.base import Store
from glassloop.knowledge.stores.memory import MemoryStore
from glassloop.knowledge.stores.places import open_store


class TestMemory(StoreConformance):
    @pytest.fixture
    def opened(self) -> Callable[[], Store]:
        store = MemoryStore()
        return lambda: store


class TestFiles(StoreConformance):
    @pytest.fixture(params=["float32", "int8"])
    def opened(self, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[], Store]:
        return lambda: MemoryStore(tmp_path, precision=request.param)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pgserver")
        server = pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


class TestPostgres(StoreConformance):
    @pytest.fixture
    def opened(self, postgres: str, request: pytest.FixtureRequest) -> Iterator[Callable[[], Store]]:
        pytest.importorskip("pg8000")
        stores: list[Any] = []
        name = f"t{abs(hash(request.node.name)) % 10**9}"

        def open_one() -> Store:
            joint = "&" if "?" in postgres else "?"
            store, _ = open_store(f"{postgres}{joint}base={name}")
            stores.append(store)
            return store

        yield open_one
        for store in stores:
            with contextlib.suppress(Exception):
                store.close()

    def test_a_server_that_is_not_there(self) -> None:
        pytest.importorskip("pg8000")
        with pytest.raises(KnowledgeError, match="PostgreSQL cannot be reached"):
            open_store("postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=2")

    def test_a_failed_change_leaves_everything_as_it_was(self, store: Store) -> None:
        from store_conformance import addition

        class Broken(list):  # type: ignore[type-arg]
            def __iter__(self) -> Any:
                yield from super().__iter__()
                raise RuntimeError("broken in the middle")

        before = (store.version(), store.count(), store.documents())
        good, bad = addition("new", "Words."), addition("bad", "Words.")
        with pytest.raises(RuntimeError):
            store.apply(["pump"], [good, type(bad)(bad.record, Broken(bad.passages))])
        assert (store.version(), store.count(), store.documents()) == before


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
class TestQdrant(StoreConformance):
    @pytest.fixture
    def opened(self) -> Callable[[], Store]:
        pytest.importorskip("qdrant_client")
        store, _ = open_store("qdrant://")
        return lambda: store

    def test_a_server_that_is_not_there(self) -> None:
        with pytest.raises(KnowledgeError, match="Qdrant could not answer"):
            open_store("qdrant://127.0.0.1:1/base")

    def test_local_folder(self, tmp_path: Path) -> None:
        from store_conformance import KETTLE, addition

        store, _ = open_store(f"qdrant://{tmp_path}?base=b")
        store.apply((), [addition("kettle", KETTLE)])
        store.close()
        again, _ = open_store(f"qdrant://{tmp_path}?base=b")
        assert list(again.documents()) == ["kettle"]
        assert again.matching("柠檬酸", 3)
        again.close()
