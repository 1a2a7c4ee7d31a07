"""Promise: a long session never outgrows its window, and the server's prefix cache keeps working.

Two hundred steps with observations of 4 KB run under a window of 8,192 tokens. Every prompt fits, every prompt
is taken by servers as strict as OpenAI, Mistral and Gemma, calls and results are never parted, and at least 70 %
of all prompt tokens lie in a prefix that was sent before, counted on what is really rendered. Between two
compactions a prompt only grows at its end, byte for byte.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from glassloop.memory import WindowMemory

DOUBLES = Path(__file__).parent.parent / "doubles"
WINDOW = 8192
REPLY = 512
STEPS = 200
WORDS = "tide gauge harbour value noon agreed reading wall north river level rises falls keeper notes wind ".split(" ")
HAN = "潮位正常读数一致风向转北水势渐涨码头记录员午后再测与昨日相同并无异常"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOUBLES / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


conversation = load("conversation")
strict_server = load("strict_server")


def english(step: int) -> str:
    dice = random.Random(step)
    text = f"Part {step}, value {dice.randint(100, 999)}: "
    while len(text) < 4096:
        text += dice.choice(WORDS) + " "
    return text[:4096]


def chinese(step: int) -> str:
    dice = random.Random(step)
    return f"第{step}部分，数值{dice.randint(100, 999)}：" + "".join(dice.choice(HAN) for _ in range(1350))


def floats(step: int) -> str:
    dice = random.Random(step)
    return json.dumps({"status": "ok", "data": [round(dice.uniform(-900, 900), 6) for _ in range(330)]})


def records(step: int) -> str:
    dice = random.Random(step)
    rows: list[dict[str, object]] = []
    while len(json.dumps(rows)) < 3950:
        rows.append({"id": f"R-{step}-{len(rows)}", "town": dice.choice(WORDS), "level": dice.randint(1, 900)})
    return json.dumps({"status": "ok", "data": rows})


CASES = {
    "en": ("You help with readings. " * 30, "Read all parts and give the sum.", english),
    "zh": ("你帮助处理读数。" * 40, "请读完各部分并给出总和。", chinese),
}


@pytest.mark.parametrize("profile", ["openai", "mistral", "gemma"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_long_session_fits_keeps_its_pairs_and_its_prefix(language: str, profile: str) -> None:
    system, question, observe = CASES[language]
    assert len(observe(7).encode()) >= 4000
    played = conversation.play(
        WindowMemory(WINDOW * 3 // 4),
        STEPS,
        observe,
        system=system,
        question=question,
        language=language,
        profile=profile,
        check=strict_server.SERVERS[profile],
    )
    assert len(played.sizes) == STEPS and max(played.sizes) <= WINDOW - REPLY
    assert played.hit_rate >= 0.70
    assert len(played.compactions) <= STEPS / 4


def test_between_compactions_a_prompt_only_grows_at_its_end() -> None:
    system, question, observe = CASES["en"]
    played = conversation.play(WindowMemory(6144), 60, observe, system=system, question=question, profile="mistral")
    before = 0
    broken = 0
    for size, cached in zip(played.sizes, played.cached, strict=True):
        broken += cached < before
        before = size
    assert broken == len(played.compactions) > 0


@pytest.mark.parametrize(("calls", "counts"), [(3, True), (1, False), (3, False)])
def test_a_session_with_batches_or_without_the_servers_figures_still_fits(calls: int, counts: bool) -> None:
    system, question, observe = CASES["en"]
    played = conversation.play(
        WindowMemory(WINDOW * 3 // 4),
        60,
        observe,
        system=system,
        question=question,
        profile="mistral",
        check=strict_server.SERVERS["mistral"],
        calls=calls,
        counts=counts,
    )
    assert max(played.sizes) <= WINDOW - REPLY


@pytest.mark.parametrize(("observe", "least"), [(records, 0.45), (floats, 0.33)])
def test_dense_json_fits_and_reuses_what_its_size_allows(observe: Callable[[int], str], least: float) -> None:
    """Records and figures cost two to three times the tokens of text of the same length.

    Where one result fills a third of the window, only two or three prompts lie between two compactions, and the
    latest result stays whole in the first of them: no more than about half of the prompt can be a repetition.
    """
    assert 3900 <= len(observe(7)) <= 4300
    played = conversation.play(
        WindowMemory(WINDOW * 3 // 4),
        STEPS,
        observe,
        system=CASES["en"][0],
        question=CASES["en"][1],
        profile="openai",
        check=strict_server.SERVERS["openai"],
    )
    assert len(played.sizes) == STEPS and max(played.sizes) <= WINDOW - REPLY
    assert played.hit_rate >= least
