"""Promise of the tests: none fails because the machine is busy.

A test that holds a clock difference against a fixed number measures the machine, not the code. Figures belong into
`bench/`; growth is the ratio of two costs (`doubles/growth.py`); that something is left behind or runs side by side is
proven by order (`doubles/sleepers.py`, events, barriers). A process gets a minute or more to end. Read off the source.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS}
PROCESSES = {"run", "check_output", "check_call", "call", "communicate"}
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
LEAST = 60
"""Seconds that a process gets at the least."""

ALLOWED: dict[str, str] = {
    "live/test_llamacpp.py": "needs a real model and runs by hand only: whether it still generates shows in time alone",
}
"""File: why a fixed limit is right there."""


def reads_clock(node: ast.AST, names: set[str]) -> bool:
    """Whether a clock is read in the expression, or one of the names that hold its reading is used."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            called = part.func
            if isinstance(called, ast.Attribute):
                of_time = isinstance(called.value, ast.Name) and called.value.id == "time"
                if called.attr in CLOCKS or (of_time and called.attr == "time"):
                    return True
            elif isinstance(called, ast.Name) and called.id in CLOCKS:
                return True
        if (isinstance(part, ast.Name) and part.id in names) or (isinstance(part, ast.Attribute) and part.attr == "at"):
            return True
    return False


def is_span(node: ast.AST, clocked: set[str], spans: set[str]) -> bool:
    """Whether the expression holds a time that has passed: a clock difference, or a name or call that gives one."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in spans:
            return True
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub):
            if reads_clock(part.left, clocked) and reads_clock(part.right, clocked):
                return True
    return False


def targets(node: ast.AST) -> list[str]:
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def learned(tree: ast.AST) -> tuple[set[str], set[str]]:
    """Names that hold a clock's reading, and names (functions too) that hold a time passed."""
    clocked, spans, before = set[str](), {"cost"}, (-1, -1)
    while before != (len(clocked), len(spans)):  # until nothing more follows from what is known
        before = (len(clocked), len(spans))
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                left = node.targets if isinstance(node, ast.Assign) else [node.target]
                pairs = [(side, node.value) for side in left]
                if isinstance(left[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(left[0].elts, node.value.elts, strict=False))
                for side, value in pairs:
                    if is_span(value, clocked, spans):
                        spans.update(targets(side))
                    elif reads_clock(value, clocked):
                        clocked.update(targets(side))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                returned = [part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value]
                if any(is_span(value, clocked, spans) for value in returned):
                    spans.add(node.name)
    return clocked, spans


def limits(source: str) -> list[int]:
    """Lines that hold a time passed against something that is none, or give a process less than a minute."""
    tree, found = ast.parse(source), list[int]()
    clocked, spans = learned(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(isinstance(op, ORDER) for op in node.ops):
            sides = [is_span(side, clocked, spans) for side in (node.left, *node.comparators)]
            if any(sides) and not all(sides):
                found.append(node.lineno)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PROCESSES:
            given = [k.value for k in node.keywords if k.arg == "timeout" and isinstance(k.value, ast.Constant)]
            of_process = node.func.attr == "communicate" or ast.unparse(node.func.value) == "subprocess"
            if of_process and any(isinstance(v.value, int | float) and v.value < LEAST for v in given):
                found.append(node.lineno)
    return sorted(found)


@pytest.mark.parametrize(
    "source",
    [
        "began = time.perf_counter()\nwork()\nassert time.perf_counter() - began < 0.05",
        "model, began = Slow(), monotonic()\nassert 5 >= monotonic() - began",
        "began = time.time()\ntook = time.time() - began\nassert took < GOAL",
        "def seconds():\n    b = time.process_time()\n    return time.process_time() - b\nassert min(seconds(), 9) < 2",
        "assert done.at - asked.at < 0.19",
        "assert cost(work) <= 1e-3",
        "subprocess.run(command, timeout=5)",
        "process.communicate(timeout=30)",
    ],
)
def test_a_limit_is_found(source: str) -> None:
    assert limits(source)


@pytest.mark.parametrize(
    "source",
    [
        "small, large = cost(one), cost(eight)\nassert large <= 30 * max(small, 0.001)",
        "assert found(since=time.time() - 60) == 2",
        "assert 0 < model.timeouts[0] <= 0.3",
        "subprocess.run(command, timeout=120)",
        "agent.run(question, timeout=1)",
    ],
)
def test_what_is_no_limit_is_left_alone(source: str) -> None:
    assert limits(source) == []


def test_no_test_has_a_time_limit() -> None:
    found = {p.relative_to(TESTS).as_posix(): limits(p.read_text("utf-8")) for p in sorted(TESTS.rglob("*.py"))}
    found = {name: lines for name, lines in found.items() if lines}
    assert {n: lines for n, lines in found.items() if n not in ALLOWED} == {}
    assert set(ALLOWED) <= set(found), "an exception that is no longer needed"
