"""Filling in vectors, and whose they are.

Owes: `EmbedderChoice`, which finds the embedder a base is to use and keeps two models from mixing, and
`fill_vectors`, which computes what is missing, batch by batch, and loses nothing when it is interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import KnowledgeError, MissingExtra
from .embed import CachedEmbedder, Embedder, default_embedder, embedder
from .reports import EmbedReport, OnProgress, Progress
from .stores.base import Store

_BATCH = 32
_SAVE_EVERY = 20.0
"""Seconds between two savings of vectors: each writes the whole matrix; the cache on disk has them all anyway."""


class EmbedderChoice:
    """The embedder of a base, made when it is first needed.

    Args:
        wanted: `auto`, a name, an object, or `None` for keywords alone.
        options: For embedders made by name.
    """

    def __init__(self, store: Store, wanted: str | Embedder | None, options: Mapping[str, Any]) -> None:
        self._store = store
        self._wanted = wanted
        self._options = dict(options)
        self._made: Embedder | None = None
        self._known = False

    @property
    def embedder(self) -> Embedder | None:
        """What makes the vectors; `None` where keywords alone serve."""
        if not self._known:
            self._made = self._make()
            self._known = True
        return self._made

    def change(self, wanted: str | Embedder) -> None:
        """Use another one from now on; the base's vectors are dropped."""
        self._wanted, self._known = wanted, False
        settings = self._store.settings()
        settings.pop("embedder", None)
        self._store.put_settings(settings)
        self._store.drop_vectors()

    def claim(self, model: Embedder) -> None:
        """Write down whose vectors these are; refuse to mix two models."""
        settings = self._store.settings()
        if settings.get("embedder") is None:
            self._store.put_settings(settings | {"embedder": model.name})
        else:
            self.check(model)

    def check(self, model: Embedder) -> bool:
        """Whether the base has vectors of this model.

        Raises:
            KnowledgeError: It has those of another one.
        """
        kept = self._store.settings().get("embedder")
        if kept is not None and kept != model.name:
            raise KnowledgeError(
                f"The base was embedded with {kept} and is searched with {model.name}, whose vectors do not compare: "
                f"open it with embedder={kept!r}, or call embed_anew({model.name!r})."
            )
        return kept is not None

    def _make(self) -> Embedder | None:
        if self._wanted == "auto":
            kept = self._store.settings().get("embedder")
            if not kept:
                return default_embedder(**self._options)
            try:
                return embedder(kept, **self._options)
            except MissingExtra:
                # The base stays searchable by words; `status` and the command say so.
                return None
        return embedder(self._wanted, **self._options) if isinstance(self._wanted, str) else self._wanted


def fill_vectors(
    store: Store, model: Embedder, cache_path: Path | None, progress: OnProgress | None, limit: int | None
) -> EmbedReport:
    """Compute the vectors that are still missing; those already in the cache cost nothing."""
    import numpy as np

    from .vectors import VectorCache

    started = time.perf_counter()
    pending = store.pending()[:limit]
    cache = VectorCache(cache_path)
    cached = CachedEmbedder(model, cache)
    ids: list[int] = []
    vectors: list[Any] = []
    done = 0

    def keep() -> None:
        if ids:
            store.set_vectors(ids, np.stack(vectors))
            ids.clear()
            vectors.clear()

    saved = time.monotonic()
    try:
        for start in range(0, len(pending), _BATCH):
            passages = store.fetch(pending[start : start + _BATCH])
            vectors.extend(cached.passages([passage.indexed_text for passage in passages.values()]))
            ids.extend(passages)
            done += len(passages)
            if progress:
                progress(Progress("vectors", min(start + _BATCH, len(pending)), len(pending), model.name))
            if time.monotonic() - saved > _SAVE_EVERY:
                keep()
                saved = time.monotonic()
    finally:
        # Also after Ctrl-C: what has been computed is not lost.
        keep()
        cache.close()
    return EmbedReport(done, cached.misses, len(store.pending()), time.perf_counter() - started, model.name)
