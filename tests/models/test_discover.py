"""Which model answers: the order, the reasons, the advice, and the names that are near."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from loopback import free_port
from ollama_server import OllamaServer
from openai_server import OpenAIServer

from glassloop.errors import ModelUnavailable
from glassloop.models.addresses import ollama_url, shown_url
from glassloop.models.discover import find, survey
from glassloop.models.llamacpp import LlamaCppModel
from glassloop.models.ollama import OllamaModel
from glassloop.models.openai import OpenAIModel


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLASSLOOP_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{free_port()}")


def test_nothing_is_here_and_every_place_says_what_to_do() -> None:
    findings = survey()
    assert [f.state for f in findings] == ["missing"] * 3
    assert all(f.advice for f in findings)
    with pytest.raises(ModelUnavailable, match="glassloop model fetch"):
        find(None)


def test_the_order_of_preference(monkeypatch: pytest.MonkeyPatch) -> None:
    with OllamaServer(models=["nomic-embed-text", "tiny:1b"]) as ollama, OpenAIServer() as openai:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        found = find(None)
        assert isinstance(found.model, OllamaModel)
        assert found.model.name == "ollama:tiny:1b"
        monkeypatch.setenv("OPENAI_BASE_URL", openai.base_url)
        found = find(None)
        assert isinstance(found.model, OpenAIModel)
        assert "tiny-chat at" in found.why
        assert [f.state for f in found.tried] == ["chosen", "ready", "missing"]
        assert find("ollama").model.name == "ollama:tiny:1b"


def test_ollama_says_whether_a_model_knows_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    with OllamaServer() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        assert find("ollama:tiny:1b").model.capabilities.native_tools
        server.abilities = ["completion"]
        assert not find("ollama:tiny:1b").model.capabilities.native_tools
        with pytest.raises(ModelUnavailable, match="did you mean tiny:1b"):
            find("ollama:tiny")


def test_a_wrong_key_is_told_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(key="sk-right-0123456789") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url.replace("//", "//me:sk-secret-0123456789@"))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-0123456789")
        finding = survey()[0]
    assert finding.state == "missing"
    assert "wrong or missing key" in finding.detail
    assert "sk-" not in str(finding)


def test_names(tmp_path: Path) -> None:
    assert isinstance(find("smollm2-135m").model, LlamaCppModel)
    assert find("llamacpp:smollm2-135m").model.name == "llamacpp:smollm2-135m"
    assert find("openai:gpt-x").model.name == "openai:gpt-x"
    for spec, words in {
        "qwen2.5-coder": "did you mean llamacpp:qwen2.5-coder-1.5b",
        "llamacpp:smollm2-135": "did you mean smollm2-135m",
        "zzzz": "write ollama:NAME",
        "/no/such.gguf": "no model file at",
        "recorded:": "recorded:FILE",
        "ollama": "start it with ollama serve",
    }.items():
        with pytest.raises(ModelUnavailable, match=words):
            find(spec)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        (None, "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":1234", "http://127.0.0.1:1234"),
        ("https://box.example/", "https://box.example:443"),
        ("box.example/ollama", "http://box.example:11434/ollama"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(host: str | None, url: str) -> None:
    assert ollama_url(host) == url


def test_addresses_are_shown_without_what_may_be_secret() -> None:
    assert shown_url("https://me:pw@box.example:8443/v1?key=abc") == "https://box.example:8443/v1"


def test_no_backend_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, glassloop.models.discover, glassloop.models.openai, glassloop.models.ollama, "
        "glassloop.models.llamacpp, glassloop.models.recorded, glassloop.models.scripted\n"
        "glassloop.models.openai.OpenAIModel('m'); glassloop.models.ollama.OllamaModel('m')\n"
        "print(*[m for m in ('openai', 'ollama', 'xllamacpp', 'numpy', 'rich', 'httpx') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == ""
