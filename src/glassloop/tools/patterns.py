"""Regular expressions from schemas, matched so that no pattern can hang the program.

Owes: an answer in bounded time. Python's own engine backtracks, and a pattern such
as `^(a+)+$` takes it hours on forty characters; nothing can interrupt it. Patterns
without such danger go to it, the others only as far as a short text stays quick.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

if sys.version_info >= (3, 11):
    from re import _parser as sre  # pyright: ignore
else:
    import sre_parse as sre

MAX_TEXT = 10_000
RISKY_TEXT = 22
"""Longest text given to a pattern with repeats inside repeats: 2**22 steps are a fraction of a second."""
MAX_PATTERN = 2_000
REPEATS = ("MAX_REPEAT", "MIN_REPEAT")

Matcher = Callable[[str], bool]


@lru_cache(maxsize=512)
def matcher(pattern: str) -> Matcher | None:
    """Return a function that tells whether `pattern` is found in a text, or None when it is no Python pattern.

    A text too long to be matched safely does not match: what cannot be checked is not let through.
    """
    if len(pattern) > MAX_PATTERN:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = sre.parse(_javascript_end(pattern))
            compiled = re.compile(_javascript_end(pattern))
    except (re.error, OverflowError, RecursionError, ValueError):
        return None
    repeats = _repeats(tree)
    longest = RISKY_TEXT if repeats == 0 else MAX_TEXT if repeats == 1 else max(100, MAX_TEXT // 10**repeats)
    search = compiled.search

    def found(text: str) -> bool:
        return len(text) <= longest and search(text) is not None

    return found


def _javascript_end(pattern: str) -> str:
    """Make a final `$` mean the very end, as JSON Schema does; Python's also allows a newline after it."""
    if pattern.endswith("$") and not pattern.endswith("\\$"):
        return pattern[:-1] + r"\Z"
    return pattern


def _repeats(tree: Any) -> int:
    """Count the unbounded repeats one after the other (at least 1); 0 means one lies inside another, or a look-back."""
    count, nested = _walk(tree, inside=False)
    return 0 if nested else max(1, count)


def _walk(tree: Any, *, inside: bool) -> tuple[int, bool]:
    count, nested = 0, False
    for op, argument in tree:
        name = str(op)
        if name in REPEATS:
            low, high, body = argument
            wide = int(high) - int(low) > 8
            nested = nested or (wide and inside)
            inner, deeper = _walk(body, inside=inside or wide)
            count += inner + (1 if wide else 0)
            nested = nested or deeper
        elif name == "GROUPREF":
            nested = True
        else:
            for part in _parts(argument):
                inner, deeper = _walk(part, inside=inside)
                count += inner
                nested = nested or deeper
            nested = nested or (inside and name == "BRANCH")
    return count, nested


def _parts(argument: Any) -> list[Any]:
    """The sub-patterns an operator holds, wherever its argument keeps them."""
    if isinstance(argument, sre.SubPattern):
        return [argument]
    if isinstance(argument, (tuple, list)):
        return [part for one in cast("list[Any]", argument) for part in _parts(one)]
    return []
