"""Whole runs of the real small models through all three protocols.

A small model may fail at a task, and the 135M one does. What must hold all the same: no reply is an exception, every
call that ran fitted its schema, a run ends by itself with an honest stop, and its journal replays without a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from glassloop import Agent, Limits, Run, tool
from glassloop.journal.replay import replay
from glassloop.models.llamacpp import LlamaCppModel
from glassloop.models.weights import fetch

pytestmark = pytest.mark.live

PROTOCOLS = ("constrained", "text", "native")
STOCK = {"kettle": 14, "lamp": 3, "水壶": 14}
QUESTIONS = ("How many kettles are in stock?", "仓库里还有多少个水壶？", "What is 48213 * 77? Give the exact number.")


@tool
def stock_level(item: str) -> dict[str, int]:
    """How many pieces of an item are in stock. Use it for questions about stock, pieces left or availability.

    Args:
        item: The item as the user wrote it, for example lamp or 台灯.
    """
    return {"pieces": STOCK[item.lower().removesuffix("s")]}


@tool
def calculate(left: int, operation: Literal["+", "-", "*"], right: int) -> int:
    """The exact result of one calculation with whole numbers. Use it for every sum, difference or product.

    Args:
        left: First number, for example 12.
        operation: What to do.
        right: Second number, for example 7.
    """
    return {"+": left + right, "-": left - right, "*": left * right}[operation]


TOOLS = [stock_level, calculate]


@pytest.fixture(scope="module", params=["smollm2-135m", "qwen2.5-coder-1.5b"])
def model(request: pytest.FixtureRequest) -> Iterator[LlamaCppModel]:
    fetch(request.param)
    with LlamaCppModel(request.param, n_ctx=4096) as loaded:
        yield loaded


def ask(model: Any, protocol: str, question: str, directory: Path) -> Run:
    agent = Agent(model, TOOLS, protocol=protocol, temperature=0, seed=1, limits=Limits(steps=4), journal=directory)
    return agent.run(question)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_run_ends_and_replays(model: LlamaCppModel, protocol: str, question: str, tmp_path: Path) -> None:
    run = ask(model, protocol, question, tmp_path)
    assert run.stop in ("answered", "max_steps", "repeated_call", "ping_pong", "no_progress", "repeated_faults")
    assert run.answer.strip()
    assert run.usage.prompt > 0 and run.usage.completion > 0
    for seen in run.observations:
        if seen.ran and seen.status == "ok":
            assert set(seen.arguments or {}) <= {"item", "left", "operation", "right"}
    again = replay(run.id, directory=tmp_path, tools=TOOLS).check()
    assert again.matched == again.events


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_default_model_does_its_work_by_every_protocol(protocol: str, tmp_path: Path) -> None:
    fetch("qwen2.5-coder-1.5b")
    with LlamaCppModel("qwen2.5-coder-1.5b", n_ctx=4096) as model:
        runs = [ask(model, protocol, question, tmp_path) for question in QUESTIONS]
    right = [want in run.answer.replace(",", "") for run, want in zip(runs, ("14", "14", "3712401"), strict=True)]
    assert sum(right) >= (2 if protocol == "constrained" else 1), [(run.stop, run.answer) for run in runs]
    assert all(run.calls for run in runs if run.answer_checked)
