"""A profile says what was seen: a dozen questions to models that can, cannot, or refuse."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassloop import ScriptedModel
from glassloop.errors import ModelRefused, ModelUnavailable
from glassloop.models.probe import Profile, load_profile, probe, save_profile
from glassloop.models.profile import known_profiles
from glassloop.protocols import choose
from glassloop.types import Capabilities, Request


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSLOOP_PROFILES", str(tmp_path / "profiles"))


def able(request: Request, number: int) -> Any:
    """A model that does everything as asked, judged from the request alone."""
    asked = str(request.messages[-1]["content"])
    chinese = bool(re.search("[\u4e00-\u9fff]", asked))
    cities = ["上海", "北京"] if chinese else ["Paris", "Rome"]
    if request.tools:
        wanted = [c for c in cities if c in asked]
        calls = [
            {
                "id": f"c{n}",
                "type": "function",
                "function": {"name": "weather", "arguments": json.dumps({"city": c}, ensure_ascii=False)},
            }
            for n, c in enumerate(wanted)
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    if request.schema is not None:
        return '{"n": 8}' if "n" in request.schema["properties"] else '{"sea": "rough", "waves": 4}'
    if request.stop:
        return "1,2,3,4,5,"
    if "Action Input" in asked:
        return 'Thought: look\nAction: weather\nAction Input: {"city": "Paris"}'
    if "行动输入" in asked:
        return '思考：查一下\n行动：weather\n行动输入：{"city": "上海"}'
    return "蓝色" if chinese else "blue"


def measured(model: Any) -> Profile:
    return asyncio.run(probe(model))


def test_a_model_that_can_everything() -> None:
    said: list[tuple[str, int, int]] = []
    model = ScriptedModel([able], repeat_last=True, name="openai:able")
    profile = asyncio.run(probe(model, lambda *step: said.append(step)))
    assert profile.native_tools and profile.json_schema and profile.stop and profile.parallel_calls
    assert (profile.labels, profile.follows, profile.asked) == ("both", 6, 6)
    assert profile.prompt_language == "auto" and profile.protocol == "constrained" and not profile.notes
    assert said[0][1] == 0 and said[-1][1] == said[-1][2] == len(model.requests) == 14
    assert all((r.max_tokens or 0) <= 200 for r in model.requests)


def test_a_model_that_can_nothing() -> None:
    profile = measured(ScriptedModel(["As a language model, 1 2 3 4 5 6 7 8 9."], repeat_last=True))
    assert profile == replace(Profile("scripted", asked=6), measured=profile.measured, seconds=profile.seconds)
    assert profile.protocol == "text"


def test_a_call_in_the_text_is_no_native_call_and_one_of_two_is_not_two() -> None:
    def reply(request: Request, number: int) -> Any:
        if request.tools and "at once" not in str(request.messages) and "同时" not in str(request.messages):
            return '{"name": "weather", "arguments": {"city": "Paris"}}'
        first = able(request, number)
        return {**first, "tool_calls": first["tool_calls"][:1]} if request.tools else first

    profile = measured(ScriptedModel([reply], repeat_last=True))
    assert not profile.native_tools and not profile.parallel_calls and profile.json_schema


def test_one_language_only() -> None:
    def reply(request: Request, number: int) -> Any:
        chinese = bool(re.search("[\u4e00-\u9fff]", str(request.messages[-1]["content"])))
        return able(request, number) if chinese else "对不起"

    profile = measured(ScriptedModel([reply], repeat_last=True))
    assert profile.prompt_language == "zh" and profile.labels == "zh"


def test_a_refusal_is_an_answer_and_an_unreachable_server_is_an_error() -> None:
    def reply(request: Request, number: int) -> Any:
        return ModelRefused("no tools here") if request.tools or request.schema else able(request, number)

    profile = measured(ScriptedModel([reply], repeat_last=True))
    assert not profile.native_tools and not profile.json_schema and profile.stop and profile.protocol == "text"
    with pytest.raises(ModelUnavailable):
        measured(ScriptedModel([ModelUnavailable("nobody")], repeat_last=True))
    none = measured(ScriptedModel([ModelRefused("wrong key")], repeat_last=True))
    assert none.asked == 0 and any("wrong key" in note for note in none.notes)


def test_profiles_are_kept_by_name_and_what_is_broken_is_none(tmp_path: Path) -> None:
    profile = Profile(
        "openai:org/model:7b", measured="2026-12-01", json_schema=True, notes=("a",), tokens_per_second=3.5
    )
    path = save_profile(profile)
    assert load_profile("openai:org/model:7b") == profile
    assert load_profile("openai:org-model:7b") is None  # the same file name, another model
    assert known_profiles(["x", "openai:org/model:7b"]) == {"openai:org/model:7b": profile}
    path.write_text(path.read_text().replace('"model"', '"modell"'))
    assert load_profile("openai:org/model:7b") is None
    path.write_text("half")
    assert load_profile("openai:org/model:7b") is None
    save_profile(replace(profile, version=0))
    assert load_profile("openai:org/model:7b") is None


def test_the_embedded_default_ships_measured_and_a_measurement_here_goes_first() -> None:
    from glassloop.models.catalogue import DEFAULT_MODEL

    shipped = load_profile(f"llamacpp:{DEFAULT_MODEL}")
    assert shipped is not None and shipped.asked and shipped.tokens_per_second > 0
    assert shipped.protocol == "constrained" and len(shipped.lines()) >= 9 and "tokens/s" in shipped.summary()
    save_profile(replace(shipped, json_schema=False, native_tools=False))
    here = load_profile(f"llamacpp:{DEFAULT_MODEL}")
    assert here is not None and here.protocol == "text"


def test_choose_believes_what_was_measured() -> None:
    says_all = Capabilities(native_tools=True, json_schema=True)
    assert choose("auto", says_all).name == "constrained"
    assert choose("auto", says_all, Profile("m", native_tools=True)).name == "native"
    assert choose("auto", Capabilities(), Profile("m", json_schema=True)).name == "constrained"
    assert choose("text", says_all, Profile("m", json_schema=True)).name == "text"
