"""Engine overhead per step without the model: scripted, and against a loopback OpenAI server. Goal: under 1 ms a step.

Run it with `python bench/loop.py`. The time of the double itself (one bare request of the same client) is taken off
the loopback figure, so that what is left is glassloop's.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from glassloop import Agent, Limits, ScriptedModel, tool

STEPS, RUNS = 20, 15


@tool
async def shelf(n: int) -> str:
    """A shelf. Use it for any question about a shelf."""
    return f"shelf {n} holds {n * 7} boxes"


def step(number: int) -> str:
    if number == STEPS - 1:
        return '{"thought": "done", "answer": "I saw them all."}'
    return json.dumps({"thought": f"look at {number}", "calls": [{"name": "shelf", "arguments": {"n": number}}]})


def milliseconds(make: Any, journal: Any) -> float:
    """Time of a step in the least disturbed of several runs."""
    out: list[float] = []
    for _ in range(RUNS):
        made = Agent(make(), [shelf], protocol="constrained", limits=Limits(steps=0), journal=journal)
        began = time.perf_counter()
        run = made.run("Look at the shelves.")
        out.append((time.perf_counter() - began) * 1000 / STEPS)
        assert len(run.steps) == STEPS, (run.stop, run.detail)
    return min(out)  # the least disturbed run


def loopback(journal: Any) -> tuple[float, float]:
    """A step against the loopback server, and one bare request to it."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "doubles"))
    from openai import OpenAI
    from openai_server import OpenAIServer

    from glassloop.models.openai import OpenAIModel

    with OpenAIServer([step(n) for n in range(STEPS)] * RUNS) as server:
        whole = milliseconds(lambda: OpenAIModel("tiny-chat", base_url=server.base_url, api_key="none"), journal)
        client, times = OpenAI(base_url=server.base_url, api_key="none"), []
        for _ in range(40):
            began = time.perf_counter()
            client.chat.completions.create(model="tiny-chat", messages=[{"role": "user", "content": "x"}])
            times.append((time.perf_counter() - began) * 1000)
    return whole, min(times)


def main() -> None:
    """Print one line for each way."""

    def scripted() -> ScriptedModel:
        return ScriptedModel([step(n) for n in range(STEPS)])

    with tempfile.TemporaryDirectory() as folder:
        print(f"scripted, no journal      {milliseconds(scripted, False):6.2f} ms a step")
        print(f"scripted, journal         {milliseconds(scripted, folder):6.2f} ms a step")
        whole, bare = loopback(folder)
        print(f"loopback server, journal  {whole:6.2f} ms a step, {whole - bare:.2f} beside the request ({bare:.2f})")


if __name__ == "__main__":
    main()
