"""Promise: the loop fits one screen and a half, and does nothing but the loop.

`loop.py` has at most 200 lines. It parses nothing, formats nothing, and touches neither disk nor network: it imports
only the words of the library (types, events, errors, gears, state) and no module that could do any of that.
"""

from __future__ import annotations

import ast
from pathlib import Path

import glassloop

LOOP = Path(glassloop.__file__).parent / "loop.py"
MAY_IMPORT = {
    "__future__", "collections.abc", "contextlib", "dataclasses", "typing",
    "errors", "events", "gears", "state", "types",
}  # fmt: skip


def test_at_most_200_lines() -> None:
    assert len(LOOP.read_text("utf-8").splitlines()) <= 200


def test_imports_only_the_words_of_the_library() -> None:
    tree = ast.parse(LOOP.read_text("utf-8"))
    found = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    found |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert found <= MAY_IMPORT


def test_opens_and_prints_nothing() -> None:
    calls = {n.func.id for n in ast.walk(ast.parse(LOOP.read_text("utf-8"))) if isinstance(n, ast.Call)
             and isinstance(n.func, ast.Name)}  # fmt: skip
    assert not calls & {"open", "print", "eval", "exec", "compile", "__import__"}
