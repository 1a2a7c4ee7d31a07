"""What the embedded model refuses before llama.cpp sees a byte. The model itself runs in tests/live."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from glassloop.errors import ModelUnavailable
from glassloop.models.engine import EngineSettings, physical_cores, shared_engine
from glassloop.models.llamacpp import LlamaCppModel
from glassloop.types import Request

ASK = Request(messages=({"role": "user", "content": "Hi"},), schema={"type": "object", "properties": {"a": True}})


def fails(model: LlamaCppModel, words: str) -> None:
    with pytest.raises(ModelUnavailable, match=words):
        asyncio.run(model.complete(ASK))


def test_an_unknown_name_suggests_near_ones() -> None:
    with pytest.raises(ModelUnavailable, match="did you mean smollm2-135m"):
        LlamaCppModel("smollm-135m")


def test_weights_that_are_missing_or_wrong_are_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSLOOP_MODELS", str(tmp_path))
    fails(LlamaCppModel("smollm2-135m"), "run glassloop model fetch smollm2-135m")
    fails(LlamaCppModel(tmp_path / "none.gguf"), "no model file at")
    words = tmp_path / "words.gguf"
    words.write_text("once upon a time")
    fails(LlamaCppModel(words), "is not a GGUF file")
    false = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    false.write_bytes(b"GGUF" + bytes(100))
    fails(LlamaCppModel(false), "bears the name of smollm2-135m and is not that file")


def test_a_file_llama_cpp_cannot_read_is_told_in_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    file = tmp_path / "other.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    fails(LlamaCppModel(file), "llama.cpp cannot load")


def test_the_request_in_llama_cpps_form() -> None:
    model = LlamaCppModel("smollm2-135m", seed=3)
    body = model.body(ASK)
    grammar = body["grammar"]
    schema = json.loads(grammar[grammar.index("{", grammar.index("%json")) :])
    assert schema.pop("x-guidance")["whitespace_flexible"] is False
    assert schema == {"type": "object", "properties": {"a": {}}}
    assert (body["seed"], body["max_tokens"], body["cache_prompt"]) == (3, 2048, True)
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    beside = model.body(replace(ASK, tools=(tool,)))
    assert beside["response_format"]["json_schema"]["schema"] == {"type": "object", "properties": {"a": {}}}
    assert "grammar" not in beside


def test_equal_settings_share_one_engine_and_different_ones_do_not(tmp_path: Path) -> None:
    one = shared_engine(EngineSettings(tmp_path / "a.gguf"))
    assert shared_engine(EngineSettings(tmp_path / "a.gguf")) is one
    assert shared_engine(EngineSettings(tmp_path / "a.gguf", n_ctx=512)) is not one
    one.close()


def test_cores_are_counted() -> None:
    assert physical_cores() >= 1
