"""Measures the evaluation's figures: `PYTHONPATH=src python bench/evaluation.py`. Exits 1 if one is missed.

what evaluation adds to a run (score, result, plan)     < 2 ms a case
1,000 scripted cases, journals and all                  < 20 s
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from glassloop import ScriptedModel
from glassloop.evaluation.cases import Case, load_cases
from glassloop.evaluation.metrics import score
from glassloop.evaluation.report import as_json, junit, markdown
from glassloop.evaluation.runner import Settings, Toolbox, evaluate, make_agent
from glassloop.evaluation.summary import summarise
from glassloop.journal.record import JournalRecorder

MISSED: list[str] = []
TOOLS = '''
from glassloop import tool

@tool
def depth(lake: str) -> dict:
    """Depth of a lake in metres. Use it for questions about how deep a lake is.

    Args:
        lake: Name of the lake, for example Vanern.
    """
    return {"lake": lake, "depth_m": 106}
'''
CALL = '{"thought": "I look it up", "calls": [{"name": "depth", "arguments": {"lake": "Vanern"}}]}'
ANSWER = '{"thought": "done", "answer": "Vanern is 106 m deep."}'


def told(name: str, value: float, limit: float, unit: str) -> None:
    """Print one figure beside its limit."""
    good = value < limit
    print(f"{'ok  ' if good else 'MISS'}  {name:<58} {value:9.3f} {unit}  (limit {limit:g} {unit})")
    if not good:
        MISSED.append(name)


async def alone(cases: list[Case], settings: Settings, toolbox: Toolbox, folder: Path) -> float:
    """Make the same runs with their journals and nothing else; return the seconds they took."""
    begun = time.perf_counter()
    for i, case in enumerate(cases):
        recorder = JournalRecorder(folder / f"{i}.jsonl")
        agent = make_agent(case, settings.models[0], "react", settings, toolbox.fresh(case), recorder)
        async for _ in agent.stream(case.question, run_id=str(i), live=False):
            pass
    return time.perf_counter() - begun


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lake_tools.py").write_text(TOOLS)
        lines = ["version: 1", "tools: lake_tools.py", "cases:"]
        for i in range(1000):
            lines += [f"  - id: case-{i}", f"    question: How deep is Vanern, please? ({i})"]
            lines += ["    calls: [{tool: depth, arguments: {lake: Vanern}}]", "    answer: {facts: [106], lies: [9]}"]
        (folder / "many.cases.yaml").write_text("\n".join(lines))
        begun = time.perf_counter()
        cases = load_cases(folder)
        told("1,000 cases read from YAML", time.perf_counter() - begun, 5, "s")
        settings = Settings(models=(lambda case: ScriptedModel([CALL, ANSWER]),), agent={"protocol": "constrained"})
        toolbox = Toolbox(settings)
        toolbox.declared(cases[0])
        times: list[float] = []
        for i, case in enumerate(cases[:100]):
            recorder = JournalRecorder(folder / "alone" / f"{i}.jsonl")
            agent = make_agent(case, settings.models[0], "react", settings, toolbox.fresh(case), recorder)

            async def go(agent=agent, case=case):
                return [e async for e in agent.stream(case.question, run_id="x", live=False)]

            events = asyncio.run(go())
            begun = time.perf_counter()
            found = score(case, events)
            times.append((time.perf_counter() - begun) * 1000)
            assert found.passed, found.problems
        told("scoring a run from its events (median of 100)", statistics.median(times), 2, "ms")
        more: list[float] = []
        for i in range(5):  # taken in turns, so that a busy machine disturbs both sides alike
            some = cases[i * 100 : i * 100 + 100]
            bare = asyncio.run(alone(some, settings, toolbox, folder / f"bare{i}"))
            begun = time.perf_counter()
            asyncio.run(evaluate(some, settings, folder / f"whole{i}"))
            more.append((time.perf_counter() - begun - bare) * 1000 / len(some))
        told("beyond the run itself, a case (median of 5 times 100)", statistics.median(more), 2, "ms")
        begun = time.perf_counter()
        results = asyncio.run(evaluate(cases, settings, folder / "out"))
        took = time.perf_counter() - begun
        assert len(results) == 1000 and all(r.score.passed for r in results)
        told("1,000 scripted cases with journals, one process", took, 20, "s")
        begun = time.perf_counter()
        again = asyncio.run(evaluate(cases, settings, folder / "out"))
        assert len(again) == 1000
        told("the same again: planned, read back, nothing run", time.perf_counter() - begun, 2, "s")
        begun = time.perf_counter()
        report = summarise(results)
        written = [f(report) for f in (as_json, markdown, junit)]
        assert all(written)
        told("report of 1,000 cases in three forms", time.perf_counter() - begun, 2, "s")
    return 1 if MISSED else 0


if __name__ == "__main__":
    sys.exit(main())
