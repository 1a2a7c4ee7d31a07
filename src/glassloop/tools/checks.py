"""The parts a compiled schema is made of: single checks, and what they hand to each other.

Owes: closures over one keyword's limit. Each tells whether a value fits and, when the pass is
loud, notes what is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

from .outline import Schema, fits_kind, kind_of, same
from .problems import Problem
from .wording import problem

MAX_STEPS = 20_000
"""Most references and branches followed for one value: bounds schemas that refer to themselves in all directions."""

JSON_TYPES: tuple[type, ...] = (str, int, float, bool, type(None), list, dict)


class TooMuch(Exception):
    """The value or the schema is too entangled to be followed; caught where casting begins."""


class Findings:
    """What the checks of one pass hand to each other."""

    __slots__ = ("loud", "problems", "steps")

    def __init__(self, *, loud: bool = True) -> None:
        self.problems: list[Problem] = []
        self.loud = loud
        self.steps = 0

    def step(self) -> None:
        """Count one reference or branch; give up when there are too many."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooMuch

    def add(self, path: str, value: Any, rule: str, limit: Any = None, extra: tuple[str, ...] = ()) -> bool:
        """Note a problem, if anybody listens, and return False."""
        if self.loud:
            self.problems.append(problem(path, value, rule, limit, extra))
        return False


Check = Callable[[Any, str, Findings], bool]


def always(value: Any, path: str, found: Findings) -> bool:
    """Fit everything."""
    return True


def never(value: Any, path: str, found: Findings) -> bool:
    """Fit nothing."""
    return found.add(path, value, "false")


PYTHON_TYPES: dict[str, type] = {
    "null": type(None),
    "boolean": bool,
    "integer": int,
    "string": str,
    "array": list,
    "object": dict,
}
BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda v, m: v >= m,
    "maximum": lambda v, m: v <= m,
    "exclusiveMinimum": lambda v, m: v > m,
    "exclusiveMaximum": lambda v, m: v < m,
}


def quietly(test: Check, value: Any, found: Findings) -> bool:
    """Run a check without noting what is wrong."""
    loud, found.loud = found.loud, False
    good = test(value, "", found)
    found.loud = loud
    return good


def fits_slowly(value: Any, kinds: frozenset[str]) -> bool:
    """Whether a value whose type is not exactly the common one has one of the kinds: floats and subclasses."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return fits_kind(value, kinds)


def base_type(value: Any) -> type:
    """The plain JSON type a value of a subclass counts as."""
    kind = kind_of(value)
    return float if kind == "number" else PYTHON_TYPES.get(kind, object)


def is_echo(value: Any) -> bool:
    """Whether a model gave the description of an argument instead of a value."""
    if not isinstance(value, dict):
        return False
    keys = cast("Schema", value).keys()
    return "type" in keys and keys <= {"type", "description", "title", "enum", "default", "format", "items"}


def for_all(tests: dict[type, list[Check]], test: Check) -> None:
    """Run a check on values of every type."""
    for listed in tests.values():
        listed.append(test)


def finite(value: Any) -> int | float | None:
    """Read a keyword's value as a number; anything else says nothing."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def count_of(value: Any) -> int | None:
    """Read a keyword's value as a count; anything else says nothing."""
    found = finite(value)
    return int(found) if found is not None and found >= 0 and float(found).is_integer() else None


def one_of_these(choices: list[Any], rule: str, limit: Any) -> Check:
    """A check for `enum` and `const`."""
    texts = frozenset(c for c in choices if isinstance(c, str))

    def one_of(value: Any, path: str, found: Findings) -> bool:
        if type(value) is str and value in texts:
            return True
        return any(same(value, c) for c in choices) or found.add(path, value, rule, limit)

    return one_of


def measured(schema: Schema, least: str, most: str) -> list[Check]:
    """The checks of how many characters, items or fields there are."""
    low, high = count_of(schema.get(least)), count_of(schema.get(most))
    out: list[Check] = []
    if low:
        out.append(lambda v, p, f: len(v) >= low or f.add(p, v, least, low))
    if high is not None:
        out.append(lambda v, p, f: len(v) <= high or f.add(p, v, most, high))
    return out


def bounded(rule: str, limit: int | float) -> Check:
    """A check of a number against a bound."""
    good = BOUNDS[rule]
    return lambda v, p, f: good(v, limit) or f.add(p, v, rule, limit)


def multiple_of(step: int | float) -> Check:
    """A check for `multipleOf`; 0.3 is a multiple of 0.1, whatever binary fractions say."""
    exact = Fraction(step) if isinstance(step, int) else Fraction(repr(step))

    def multiple(value: int | float, path: str, found: Findings) -> bool:
        if isinstance(value, int):
            good = value % step == 0 if isinstance(step, int) else (value / exact).denominator == 1
        else:  # as the decimal that was written: the nearest binary fraction of 0.3 is no multiple of that of 0.1
            good = math.isfinite(value) and (Fraction(repr(value)) / exact).denominator == 1
        return good or found.add(path, value, "multipleOf", step)

    return multiple


def unique(value: list[Any], path: str, found: Findings) -> bool:
    """Check `uniqueItems`."""
    try:
        if len({(type(v) is bool, v) for v in value}) == len(value):
            return True
    except TypeError:  # lists and objects have no hash: compare each with each, up to a bound
        pass
    for i, item in enumerate(value):
        found.steps += i // 50
        found.step()
        if any(same(item, other) for other in value[:i]):
            return found.add(path, value, "uniqueItems")
    return True


def members_of(checks: dict[str, Check]) -> Check:
    """A check of the members that are there."""
    pairs = tuple(checks.items())

    def members(value: dict[str, Any], path: str, found: Findings) -> bool:
        good = True
        for name, test in pairs:
            if name in value and not test(value[name], f"{path}.{name}" if path else name, found):
                good = False
                if not found.loud:
                    break
        return good

    return members
