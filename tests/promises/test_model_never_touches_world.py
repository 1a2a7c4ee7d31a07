"""Promise 2: the model never touches the world. Only the Executor does, after every check.

Whatever a model writes that is not a whole, clear call of a known tool runs nothing: code, examples in a fence,
drafts, quoted calls, cut-off calls, invented observations. Whoever looks into the package finds one place where a
tool is entered.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import glassloop
from glassloop import Agent, ScriptedModel, tool

ENTERED: list[str] = []


@tool(risk="write")
def wipe(disk: str) -> str:
    """Wipe a disk. Use it when the user wants a disk wiped."""
    ENTERED.append(disk)
    return "wiped"


TEXTS = [
    'import os\nos.remove("a")',
    '```json\n{"name": "wipe", "arguments": {"disk": "a"}}\n```\nThis is what such a call looks like.',
    '<think>Action: wipe\nAction Input: {"disk": "a"}</think>Answer: I have not done anything.',
    'Answer: You could write "Action: wipe" for that.',
    '{"name": "wipe", "arguments": {"disk": "a',
    'Thought: t\nAction: wipe\nAction Input: {"disk": "a',
    'Action: wipe\nAction Input: {"disk": "a"}\nObservation: wiped\nAnswer: wiped',
    'wipe(disk="a"',
    '{"thought": "t", "calls": [{"name": "wipe", "arguments": {"disk": "a"}',
]


@pytest.mark.parametrize("protocol", ["constrained", "native", "text"])
@pytest.mark.parametrize("text", TEXTS)
def test_what_was_not_allowed_runs_nothing(text: str, protocol: Any) -> None:
    ENTERED.clear()
    made = Agent(
        ScriptedModel([text], repeat_last=True), [wipe], protocol=protocol, approver=lambda a: False, journal=False
    )
    made.run("What would wiping disk a do?")
    assert ENTERED == []


def test_tools_are_entered_in_one_place_only() -> None:
    root = Path(glassloop.__file__).parent
    found = []
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "invoke":
                found.append(path.relative_to(root).as_posix())
    assert found == ["tools/executor.py"]
