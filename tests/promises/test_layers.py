"""Promise: dependencies point downwards only, and no gear knows another gear.

`types.py` imports nothing of the package. Above it stand `errors`, `events`, `gears`, `state` and the shared
vocabulary (`prompts`, `values`, `joining`); above them the gears, each of which imports only those and its own
folder; above them `loop`, which knows the seams and no gear, and the `strategies` beside it; then `agent`, which
introduces the gears to each other; and on top the edges, which import the core and are never imported by it. Read off
the source, imports inside functions included; an import that is only for the type checker binds nothing and does not
count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import glassloop

ROOT = Path(glassloop.__file__).parent

VOCABULARY = {"types", "errors", "events", "gears", "state", "prompts", "values", "joining"}
GEARS = {"protocols", "tools", "models", "memory", "knowledge", "journal", "limits", "verify"}
EDGES = {"cli", "evaluation", "__main__", "toolbox"}

MAY_IMPORT: dict[str, set[str]] = {
    "types": set(),
    "errors": set(),
    "values": {"types"},
    "joining": {"types"},
    "prompts": set(),
    "events": {"types", "errors"},
    "gears": {"types", "events"},
    "state": {"types", "events", "prompts"},
    "loop": {"types", "errors", "events", "gears", "state"},
    "strategies": VOCABULARY | {"loop"},
    **dict.fromkeys(GEARS, VOCABULARY),
}

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("journal.replay", "agent"): "a replay is a run: it puts an agent together from the record",
    ("journal.replay", "limits"): "with the limits of the record",
    ("journal.replay", "strategies"): "and its way to think",
    ("journal.pytest_replay", "agent"): "the pytest fixture replays with an agent of the user's",
    ("journal.conditions", "tools"): "writes down how each tool was declared",
    ("journal.tape", "tools"): "plays recorded results back in the place of tools",
}
"""(module, part it imports): why that is right."""


def part_of(module: str) -> str:
    return module.partition(".")[0]


def modules() -> dict[str, ast.Module]:
    found: dict[str, ast.Module] = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


def imports_of(module: str, tree: ast.AST, *, packages: set[str]) -> Iterator[str]:
    """Yield every part of the package that a module imports at run time."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield from imports_of(module, other, packages=packages)
            continue
        if isinstance(node, ast.ImportFrom):
            yield from targets(module, node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("glassloop."):
                    yield part_of(alias.name.removeprefix("glassloop."))
        yield from imports_of(module, node, packages=packages)


def targets(module: str, node: ast.ImportFrom) -> Iterator[str]:
    said = node.module or ""
    if node.level == 0:
        if said.partition(".")[0] != "glassloop":
            return
        full = said.removeprefix("glassloop").lstrip(".")
    else:
        here = module.split(".")
        base = here[: len(here) - node.level]
        full = ".".join([*base, *([said] if said else [])])
    if full:
        yield part_of(full)
    else:
        yield from (part_of(alias.name) for alias in node.names)


def found_imports() -> set[tuple[str, str]]:
    everything = modules()
    names = {part_of(name) for name in everything}
    out: set[tuple[str, str]] = set()
    for module, tree in everything.items():
        for target in imports_of(module, tree, packages=names):
            if target in names and target != part_of(module):
                out.add((module, target))
    return out


def test_dependencies_point_downwards_only() -> None:
    wrong = [
        (module, target)
        for module, target in sorted(found_imports())
        if part_of(module) in MAY_IMPORT and target not in MAY_IMPORT[part_of(module)]
        and (module, target) not in EXCEPTIONS
    ]  # fmt: skip
    assert wrong == []


def test_the_core_never_imports_an_edge() -> None:
    wrong = [(m, t) for m, t in found_imports() if t in EDGES - {"toolbox"} and part_of(m) not in EDGES]
    assert wrong == []


def test_only_the_agent_strategies_and_the_edges_know_the_loop() -> None:
    assert {m for m, t in found_imports() if t == "loop" and part_of(m) not in EDGES | {"strategies"}} == {"agent"}


def test_every_exception_is_still_needed() -> None:
    assert set(EXCEPTIONS) - found_imports() == set()


def test_the_test_sees_imports() -> None:
    found = found_imports()
    assert ("agent", "loop") in found and ("loop", "gears") in found and len(found) > 60
