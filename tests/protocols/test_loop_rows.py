"""The `loop` rows of the shared cases, the `tool` rows that need a run, and those that generate calls.

Each plays its script through a real agent: `Agent(model=ScriptedModel(...), tools=[...])`. What the row says of
the finished run is checked on the `Run`, on the requests the model got, and on how often each tool was entered.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from sleepers import Sleepers

from glassloop import Agent, Limits, Run, ScriptedModel, Tool, tool
from glassloop.errors import ToolDefinitionError

CASES = Path(__file__).parent.parent / "cases" / "visible.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
LOOPS = [row for row in ROWS if row["protocol"] == "loop"]
TOOLS = [row for row in ROWS if row["protocol"] == "tool"]

QUESTION = "Is it 7 tons? Please do what is needed and tell me the outcome."
"""The rows give no question; this one names the one figure that a script answers with and no tool returns."""

ENDS = {
    "answer": {"answered"},
    "max_steps": {"max_steps"},
    "stopped_loop": {"repeated_call", "ping_pong", "no_progress"},
    "format_error": {"repeated_faults"},
}
"""Our stops for each end a row names."""


def row_id(row: dict[str, Any]) -> str:
    return f"{row['id']}-{row['kind']}"


def message(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}


def script_of(row: dict[str, Any]) -> list[Any]:
    """The successive replies; the wrap-up, which offers no tools, gets an honest sentence."""
    given = row["input"]["script"]
    last = len(given) - 1

    def line(number: int) -> Any:
        if row["input"].get("repeat_all"):
            return given[number % len(given)]
        if "generate" in given[0]:
            name, argument, pattern = re.match(r"call (\w+)\((\w+)='(.*?)'\)", given[0]["generate"]).groups()  # type: ignore[union-attr]
            return message(name, {argument: pattern.format(n=number + 1)})
        return given[min(number, last)] if row["input"].get("repeat_last") else given[number]

    def say(request: Any, number: int) -> Any:
        return "I could not finish this." if request.purpose == "wrap_up" else line(number)

    return [say]


def tools_of(row: dict[str, Any], entered: Counter[str]) -> list[Tool]:
    def played(name: str, result: Any) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            number = entered[name]
            entered[name] += 1
            if isinstance(result, dict) and "raises" in result:
                raise RuntimeError(result["raises"])
            return result[min(number, len(result) - 1)] if isinstance(result, list) else result

        return call

    results = row["input"]["tool_results"]
    return [
        Tool.from_schema(t["name"], t.get("description", ""), t["parameters"], played(t["name"], results[t["name"]]))
        for t in row["tools"]
    ]


def play(row: dict[str, Any]) -> tuple[Run, ScriptedModel, Counter[str]]:
    entered: Counter[str] = Counter()
    model = ScriptedModel(script_of(row), repeat_last=True)
    agent = Agent(
        model,
        tools_of(row, entered),
        protocol="text" if "dialect" in row["input"] else "native",
        limits=Limits(steps=row["input"]["max_steps"]),
        journal=False,
    )
    return agent.run(QUESTION), model, entered


def shown(request: Any) -> str:
    return json.dumps(request.messages, ensure_ascii=False)


@pytest.mark.parametrize("row", LOOPS, ids=row_id)
def test_loop_row(row: dict[str, Any]) -> None:
    run, model, entered = play(row)
    wanted = row["expected"]
    assert run.stop in set().union(*(ENDS[e] for e in wanted["ends_in"])), (run.stop, run.detail)
    steps = [s for s in run.steps if s.purpose == "step"]
    checks: dict[str, Callable[[Any], bool]] = {
        "ends_in": lambda _: True,
        "answer": lambda text: run.answer.strip() == text,
        "executions": lambda counts: dict(entered) == counts,
        "executions_at_most": lambda counts: all(entered[name] <= most for name, most in counts.items()),
        "model_calls": lambda count: len(model.requests) == count,
        "model_calls_at_most": lambda most: len(model.requests) <= most,
        "steps_at_most": lambda most: len(steps) <= most,
        "result_keeps_steps": lambda count: len(steps) == count,
        "run_is_success": lambda good: run.ok is good,
        "next_prompt_contains": lambda text: text in shown(model.requests[1]),
        "next_prompt_lacks": lambda text: text not in shown(model.requests[1]),
        "model_told_before_stop": lambda _: run.ok or told_of_the_repetition(run, model),
        "prompt_contains_all_previous_results": lambda _: all_results_shown(run, model),
    }
    assert {key: wanted[key] for key in wanted if not checks[key](wanted[key])} == {}
    assert run.answer.strip(), "every end has a word for the user"


def told_of_the_repetition(run: Run, model: ScriptedModel) -> bool:
    """The model was told that it had asked the same before, in a request before the run's end."""
    return any("do not repeat it" in shown(r).lower() for r in model.requests[1:])


def all_results_shown(run: Run, model: ScriptedModel) -> bool:
    """Each request holds every call and result of the steps before it."""
    for step, request in zip(run.steps, model.requests, strict=True):
        results = [m["content"] for m in request.messages if m["role"] == "tool"]
        before = [o.content for s in run.steps[: step.number - 1] for o in s.observations]
        if results != before:
            return False
    return True


def functions(row: dict[str, Any]) -> list[Any]:
    space: dict[str, Any] = {"__name__": "case"}
    exec(row["input"]["python"], space)
    if "tools_expr" in row["input"]:
        return list(eval(row["input"]["tools_expr"], space))
    return [v for v in space.values() if isinstance(v, FunctionType)][-1:]


def run_tool_row(row: dict[str, Any]) -> Run:
    """Call the row's tool from a run; where the row limits the wall time, `Sleepers` prove it without a clock."""
    options = {k: row["input"][k] for k in ("name", "timeout", "return_direct") if k in row["input"]}
    function, sleepers = functions(row)[0], Sleepers(together=len(row["input"].get("parallel_calls", ())))
    if {"wall_seconds_at_most", "loop_blocked_at_most"} & row["expected"].keys():
        function.__globals__["time"] = sleepers
    made = tool(function, **options)
    asked = row["input"].get("parallel_calls") or [row["input"].get("call", {})]
    calls = [message(made.name, a)["tool_calls"][0] for a in asked]
    first = {"role": "assistant", "content": None, "tool_calls": calls}
    agent = Agent(ScriptedModel([first, "The tool has run, and that is all I can say."]), [made], protocol="native",
                  journal=False, verifier=False)  # fmt: skip

    try:
        return agent.run("Call the tool with a, red, tea, cocoa, Ana, q9, 1, 2, 3.")
    finally:
        sleepers.release()


def tool_problems(row: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    try:
        if "tools_expr" in row["input"]:
            Agent(ScriptedModel(["ok"]), [tool(f) for f in functions(row)], journal=False)
            return ["not refused"] if wanted.get("definition_error") else []
        run = run_tool_row(row)
    except ToolDefinitionError as error:
        return [] if wanted.get("definition_error") and wanted.get("error_mentions", "") in str(error) else [str(error)]
    if wanted.get("definition_error"):
        return ["not refused"]
    seen = run.observations
    told = " ".join(o.content for o in seen).lower()
    wrong = [f"status {o.status}: {o.content}" for o in seen if "ok" in wanted and (o.status == "ok") != wanted["ok"]]
    wrong += [key for key in ("error_mentions", "error_mentions_too") if wanted.get(key, "").lower() not in told]
    parts = wanted.get("results") or wanted.get("results_contain") or []
    wrong += [f"{p} not in {o.content}" for p, o in zip(parts, seen, strict=False) if p not in o.content]
    wrong += [f"{p} missing" for p in wanted.get("result_text_contains", []) if p.lower() not in told]
    if "result_text" in wanted and json.loads(seen[0].content).get("data") != wanted["result_text"]:
        wrong.append(seen[0].content)
    if wanted.get("final_answer_is_error_text") is False and "no data" in run.answer:
        wrong.append("the error text is the answer")
    if wanted.get("run_is_success") is False and run.ok and not wanted.get("run_continues"):
        wrong.append("a success")
    if wanted.get("run_continues") and len(run.steps) < 2:
        wrong.append("the run did not go on")
    for o in seen:
        json.loads(o.content, parse_constant=lambda c: pytest.fail(f"{c} is not JSON"))
    return wrong


@pytest.mark.parametrize("row", TOOLS, ids=row_id)
def test_tool_row(row: dict[str, Any]) -> None:
    found = [tool_problems(row, outcome) for outcome in (row["expected"], *row.get("accept", []))]
    assert any(not wrong for wrong in found), found


def test_the_rows_are_there() -> None:
    assert len(LOOPS) >= 9 and len(TOOLS) >= 17


@pytest.mark.parametrize("protocol", ["constrained", "native", "text"])
def test_a_good_result_of_a_direct_tool_is_the_answer(protocol: Any) -> None:
    @tool(return_direct=True)
    def final(city: str) -> str:
        """The report of a city. Use it for every question about a city."""
        return f"All is well in {city}."

    replies = {
        "native": message("final", {"city": "Oslo"}),
        "text": 'Thought: t\nAction: final\nAction Input: {"city": "Oslo"}',
        "constrained": '{"thought":"t","calls":[{"name":"final","arguments":{"city":"Oslo"}}]}',
    }
    model = ScriptedModel([replies[protocol]])
    run = Agent(model, [final], protocol=protocol, journal=False).run("How is Oslo?")
    assert (run.answer, run.stop, run.ok) == ("All is well in Oslo.", "answered", True)
    model.assert_complete()
