"""A second, closer look at the best passages, behind one protocol.

Owes: `Reranker`; `CrossEncoder` (sentence-transformers), `ServerReranker` (a server's `/v1/rerank`), `Judge` (the
language model says yes or no); and `probe`, which asks a reranker two questions with obvious answers before it is
trusted: a server that serves a model without a ranking head returns numbers without meaning, and no error.

All are off by default. A judge of 1.5 billion parameters moved the right passage to the top in 53 instead of 39 of
100 questions, and took 11 to 14 seconds a question on two cores.
"""

from __future__ import annotations

import json
import math
import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.resources import files
from typing import Any, Literal, Protocol

from ..errors import KnowledgeError, MissingExtra

PASSAGE_CHARACTERS = 1_200
_PAIRS = (
    (
        "How do I reset the device to factory settings?",
        "Hold the reset button for ten seconds: the device goes back to its factory settings.",
        "The museum shows paintings of the seventeenth century and is closed on Mondays.",
    ),
    (
        "怎样把设备恢复出厂设置？",
        "按住复位键十秒钟，设备就会恢复出厂设置。",
        "这座博物馆展出十七世纪的绘画，星期一闭馆。",
    ),
)
_YES = frozenset({"yes", "y", "true", "是", "有", "对", "對", "能"})
_NO = frozenset({"no", "n", "false", "否", "没有", "没", "沒有", "沒", "不", "无", "無"})


class Reranker(Protocol):
    """Judges how well passages answer a question. Any object with these can be given to `KnowledgeBase`."""

    name: str

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score for each text, higher for better."""
        ...


def probe(reranker: Reranker) -> None:
    """Ask two questions, in English and in Chinese, whose answers nobody could miss.

    Raises:
        KnowledgeError: It prefers a passage about something else, or cannot tell them apart.
    """
    for query, right, wrong in _PAIRS:
        scores = reranker.scores(query, [wrong, right])
        if len(scores) != 2 or not all(math.isfinite(score) for score in scores) or scores[1] - scores[0] < 1e-3:
            raise KnowledgeError(
                f"The reranker {reranker.name} cannot tell a right passage from a wrong one ({query!r} gave "
                f"{scores}): its model has no ranking head; use a reranking model or leave reranking off."
            )


class CrossEncoder:
    """A cross-encoder from sentence-transformers, such as `BAAI/bge-reranker-base`."""

    def __init__(self, model: str, *, device: str | None = None) -> None:
        try:
            library: Any = import_module("sentence_transformers")
        except ImportError as error:
            raise MissingExtra(
                "sentence-transformers", "sentence-transformers", "rerank with a cross-encoder"
            ) from error
        self.name = f"sentence-transformers:{model}"
        self._model: Any = library.CrossEncoder(model, device=device)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score for each text."""
        return [float(score) for score in self._model.predict([(query, text) for text in texts])]


class ServerReranker:
    """A server's `/v1/rerank`, as llama.cpp, vLLM, TEI, Jina and Cohere speak it."""

    def __init__(self, base_url: str, model: str = "", *, api_key: str | None = None, timeout: float = 60.0) -> None:
        self.name = f"rerank:{model or base_url}"
        self._url = base_url.rstrip("/").removesuffix("/rerank").removesuffix("/v1") + "/v1/rerank"
        self._model = model
        self._key = api_key
        self._timeout = timeout

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score for each text, in their order."""
        body = {"model": self._model, "query": query, "documents": list(texts), "top_n": len(texts)}
        reply = _post(self._url, body, self._key, self._timeout)
        scores = [-math.inf] * len(texts)
        try:
            for result in reply["results"]:
                scores[result["index"]] = float(result.get("relevance_score", result.get("score")))
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise KnowledgeError(f"The server {self._url} gave no scores; check that it serves a reranker.") from error
        return scores


class Judge:
    """The language model as a judge: the probability that its first word is yes.

    Args:
        base_url: An OpenAI-compatible server that returns log-probabilities.
        language: Language of the question put to the model.
    """

    def __init__(
        self,
        base_url: str,
        model: str = "",
        *,
        language: Literal["en", "zh"] = "en",
        api_key: str | None = None,
        timeout: float = 120.0,
    ) -> None:
        self.name = f"judge:{model or base_url}"
        self._url = base_url.rstrip("/").removesuffix("/v1") + "/v1/chat/completions"
        self._model = model
        self._key = api_key or os.environ.get("OPENAI_API_KEY")
        self._timeout = timeout
        prompt = files(__package__ or "glassloop.knowledge") / f"judge.{language}.txt"
        self._prompt = prompt.read_text(encoding="utf-8")

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The probability of yes for each text."""
        return [self._yes(query, text) for text in texts]

    def _yes(self, query: str, text: str) -> float:
        content = self._prompt.replace("{passage}", text[:PASSAGE_CHARACTERS]).replace("{question}", query)
        body = {
            "model": self._model,
            "messages": [{"role": "user", "content": content}],
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": 20,
        }
        reply = _post(self._url, body, self._key, self._timeout)
        try:
            candidates = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        except (KeyError, IndexError, TypeError) as error:
            raise KnowledgeError(
                f"The model behind {self._url} returns no log-probabilities, so it cannot judge; leave reranking off."
            ) from error
        yes = no = 0.0
        for candidate in candidates:
            word = str(candidate["token"]).strip().lower()
            chance = math.exp(candidate["logprob"])
            yes += chance if word in _YES else 0.0
            no += chance if word in _NO else 0.0
        return yes / (yes + no) if yes + no > 0 else 0.0


def _post(url: str, body: Mapping[str, Any], key: str | None, timeout: float) -> Any:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return json.load(reply)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise KnowledgeError(f"The server {url} did not answer the reranking ({error}); check that it runs.") from error
