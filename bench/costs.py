"""What single parts cost, each against its goal: import, calculator, lint, provenance, verifier, long questions.

Run: `python bench/costs.py`. A ratio above 1 misses the goal. The tests hold no time limits; these figures are here.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from glassloop import Agent, ScriptedModel
from glassloop.events import CallFinished, ModelAsked, RunStarted
from glassloop.state import State
from glassloop.toolbox.calculator import FormulaError, calculator
from glassloop.tools.lint import lint
from glassloop.tools.observation import clean
from glassloop.tools.provenance import sources_of
from glassloop.types import Declaration, Observation, Request
from glassloop.verify import HonestVerifier

IMPORT = "import time; b = time.perf_counter(); import glassloop; print(time.perf_counter() - b)"
BOMBS = (
    "9**9**9",
    "99999!",
    "(9**9)**(9**9)",
    "1e400*1e400*1e400",
    "*".join(["9**800"] * 100),
    "(" * 400 + "1" + ")" * 400,
)
WORDS = "harbour ferry ticket berth crane cargo customs pilot tide depth anchor beacon buoy channel wharf".split()


def least(call: Callable[[], object], times: int) -> float:
    """Seconds of the least disturbed of several calls."""
    found: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return min(found)


def imported() -> float:
    """Seconds `import glassloop` takes in a fresh process, the least of five."""
    return min(float(subprocess.check_output([sys.executable, "-c", IMPORT])) for _ in range(5))


def refuse(bomb: str) -> None:
    try:
        calculator(bomb)
    except FormulaError:
        return
    raise AssertionError(f"{bomb[:20]} was not refused")


def library() -> list[dict[str, Any]]:
    """Three hundred declarations, many of them alike."""
    chance, made = random.Random(7), list[dict[str, Any]]()
    for n in range(300):
        used = chance.sample(WORDS, 5)
        described = f"The {used[0]} and {used[1]} of a {used[2]}. Use it for {used[3]} 查询港口{used[4]}的泊位和潮汐。"
        fields = {w: {"type": "string", "description": "Its name, for example Rigi."} for w in used}
        parameters = {"type": "object", "properties": fields}
        made.append({"name": f"{used[0]}_{used[1]}_{n}", "description": described, "parameters": parameters})
    return made


def state_with(question: str, data: Any, times: int) -> State:
    """A run in which a tool gave the same data several times."""
    state = State([RunStarted(question=question)])
    for n in range(times):
        state.apply(ModelAsked(request=Request(messages=())))
        state.apply(CallFinished(observation=Observation(f"c{n}", "look", "ok", clean(data), data=data)))
    return state


def figures() -> list[tuple[str, float, float]]:
    """What was measured, its seconds, and the goal."""
    declared = Declaration("t", parameters={"type": "object", "properties": {}})
    small = state_with("Weather in Oslo; mail ana@corp.example at 12:30", {"city": "Oslo", "temp_c": -4}, 3)
    given = {"to": "ana@corp.example", "text": "Oslo has -4 degrees", "when": "12:30", "n": 5}
    rows = [{"id": f"R{n}", "amount": n * 17.5, "city": f"Town {n}"} for n in range(60)]
    # Asked once only: what the verifier has read of a run it keeps.
    long = state_with("What is the total of all amounts?", rows, 50)
    amounts = "Amounts: " + ", ".join(f"{n * 13.37:.2f}" for n in range(40))
    tools, large = library(), {f"k{i}": i for i in range(50_000)}
    reply = '{"thought": "I know.", "answer": "Ask me about one cable."}'

    def asked() -> None:
        Agent(ScriptedModel([reply], repeat_last=True), [], protocol="constrained", journal=False).run(
            "cables " * 28_000
        )

    return [
        ("import glassloop", imported(), 0.150),
        ("calculator: worst bomb", max(least(lambda b=b: refuse(b), 5) for b in BOMBS), 0.05),
        ("lint: 300 declarations", least(lambda: lint(tools), 3), 2.0),
        ("provenance of a usual call", least(lambda: sources_of(given, declared, small), 50), 0.004),
        ("verifier: 50 results of 60 rows", least(lambda: HonestVerifier().check(amounts, long), 1), 5.0),
        ("observation of 50,000 fields", least(lambda: clean(large), 3), 5.0),
        ("question of 196,000 characters", least(asked, 1), 20.0),
    ]


def main() -> int:
    """Print figure, goal and ratio of each; 1 when a goal is missed."""
    found = figures()
    for name, seconds, goal in found:
        print(f"{name:<32}  {seconds * 1e3:10.2f} ms  goal {goal * 1e3:g} ms  ratio {seconds / goal:.3f}")
    return 1 if any(seconds > goal for _, seconds, goal in found) else 0


if __name__ == "__main__":
    raise SystemExit(main())
