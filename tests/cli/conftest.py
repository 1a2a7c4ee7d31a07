"""Runs the command line as a person does: a process of its own, in an empty folder, with a model double on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "doubles"))

Done = subprocess.CompletedProcess[str]
Glassloop = Callable[..., Done]

TOOLS = '''
from pathlib import Path
from glassloop import tool

@tool
def weather(city: str, days: int = 1) -> dict:
    """Weather of a city. Use it for any question about the weather.

    Args:
        city: Name of the city, for example Oslo.
        days: How many days.
    """
    return {"city": city, "temperature": 12, "days": days}

@tool(risk="write")
def send(to: str) -> str:
    """Sends the report to a person. Use it when the user asks to send it.

    Args:
        to: Name of the person, for example Ann.
    """
    with Path("sent.txt").open("a") as file:
        file.write(to + "\\n")
    return f"sent to {to}"
'''


@pytest.fixture
def server() -> Iterator[Any]:
    from openai_server import OpenAIServer

    with OpenAIServer(["{}"]) as running:
        yield running


@pytest.fixture
def glassloop(tmp_path: Path, server: Any) -> Glassloop:
    """Call the command line; `model=False` leaves no model anywhere."""
    (tmp_path / "tools.py").write_text(TOOLS)

    def run(*arguments: str, given: str = "", model: bool = True, **more: str) -> Done:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "OLLAMA", "GLASSLOOP", "XDG"))}
        env |= {"PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        env |= {"PYTHONUTF8": "1", "OLLAMA_HOST": "127.0.0.1:9", **more}
        if model:
            env |= {"OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "tiny-chat"}
        command = [sys.executable, "-m", "glassloop", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=env, input=given, capture_output=True, text=True, encoding="utf-8", timeout=120
        )

    return run
