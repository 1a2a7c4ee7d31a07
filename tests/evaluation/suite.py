"""Cases, tools and scripted models for the tests of this folder."""

from __future__ import annotations

import json
from typing import Any

from glassloop import ScriptedModel, tool
from glassloop.evaluation.cases import Case, read_cases
from glassloop.types import Reply, Usage


@tool
def level(lake: str) -> dict[str, Any]:
    """Water level of a lake in centimetres. Use it for questions about the water level.

    Args:
        lake: Name of the lake, for example Vanern.
    """
    return {"lake": lake, "level_cm": {"Vanern": 44, "Malaren": 31}.get(lake, 12)}


@tool
def depth(lake: str) -> dict[str, Any]:
    """Greatest depth of a lake in metres. Use it for questions about how deep a lake is.

    Args:
        lake: Name of the lake, for example Vanern.
    """
    return {"lake": lake, "depth_m": 106}


@tool(risk="write")
def log_entry(text: str) -> dict[str, Any]:
    """Write a text into the log. Use it only when the user asks for an entry.

    Args:
        text: What to write.
    """
    return {"entry": "E-5"}


TOOLS = (level, depth, log_entry)


def step(*calls: tuple[str, dict[str, Any]], thought: str = "I look it up") -> Reply:
    body = {"thought": thought, "calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}
    return _reply(json.dumps(body, ensure_ascii=False))


def answer(text: str) -> Reply:
    return _reply(json.dumps({"thought": "done", "answer": text}, ensure_ascii=False))


def _reply(text: str) -> Reply:
    return Reply(text=text, usage=Usage(100, 20, 50, 1), finish_reason="stop", model="scripted")


def cases(text: str) -> list[Case]:
    return read_cases(f"cases:\n{text}", name="suite.cases.yaml")


def case(body: str, name: str = "one") -> Case:
    return cases(f"  - id: {name}\n" + "".join(f"    {line}\n" for line in body.strip().splitlines()))[0]


def scripted(*replies: Any) -> ScriptedModel:
    return ScriptedModel(list(replies), repeat_last=True)
