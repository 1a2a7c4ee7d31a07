"""Is a value the wanted one? For the arguments of a call, and for facts in an answer.

A plain value is compared after folding (width, case, spaces; 3 and 3.0 and "3" are one number).
A mapping with one known key is a rule: `equal`, `number` (with `tolerance`), `regex`, `one_of`,
`any`, `from_observation`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, cast

from ..types import Observation
from ..values import facts_in, same
from ..values.facts import Fact

RULES = ("equal", "number", "regex", "one_of", "any", "from_observation")
"""Keys that make a mapping a rule for an argument."""
FACT_RULES = ("text", "number", "regex")
"""Keys that make a mapping a rule for a fact in an answer."""


def fold(text: str) -> str:
    """A text as it is compared: full and half width, case, and runs of spaces make no difference."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def as_decimal(value: Any) -> Decimal | None:
    """A number, or a text that is nothing but a number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = Decimal(fold(str(value)).replace(",", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def equal(wanted: Any, given: Any) -> bool:
    """Whether two JSON values are the same after folding; the order of keys does not matter, that of lists does."""
    if isinstance(wanted, Mapping) and isinstance(given, Mapping):
        left, right = cast("Mapping[str, Any]", wanted), cast("Mapping[str, Any]", given)
        return left.keys() == right.keys() and all(equal(left[k], right[k]) for k in left)
    if isinstance(wanted, (list, tuple)) and isinstance(given, (list, tuple)):
        first, second = cast("Sequence[Any]", wanted), cast("Sequence[Any]", given)
        return len(first) == len(second) and all(equal(a, b) for a, b in zip(first, second, strict=True))
    if isinstance(wanted, bool) or isinstance(given, bool):
        return wanted is given
    a, b = as_decimal(wanted), as_decimal(given)
    if a is not None and b is not None:
        return a == b
    if isinstance(wanted, str) and isinstance(given, str):
        return fold(wanted) == fold(given)
    return wanted == given


def fits(rule: Any, given: Any, before: Sequence[Observation] = ()) -> bool:
    """Whether an argument fits a rule or plain value.

    Args:
        rule: What the case wants.
        given: The argument as it reached the tool.
        before: The observations made before the call, for `from_observation`.
    """
    kind = rule_of(rule)
    if kind is None:
        return equal(rule, given)
    wanted = rule[kind]
    if kind == "equal":
        return equal(wanted, given)
    if kind == "any":
        return True
    if kind == "one_of":
        return any(fits(each, given, before) for each in wanted)
    if kind == "regex":
        return isinstance(given, (str, int, float)) and re.search(wanted, str(given)) is not None
    if kind == "number":
        return _near(given, wanted, rule.get("tolerance", 0))
    return _seen_before(given, wanted, before)


def rule_of(rule: Any) -> str | None:
    """The kind of a rule, or None when it is a plain value."""
    if not isinstance(rule, Mapping):
        return None
    keys = set(cast("Mapping[str, Any]", rule)) - {"tolerance"}
    kind = next(iter(keys), None)
    return kind if len(keys) == 1 and kind in RULES else None


def _near(given: Any, wanted: Any, tolerance: Any) -> bool:
    number, target = as_decimal(given), as_decimal(wanted)
    return number is not None and target is not None and abs(number - target) <= Decimal(str(tolerance))


def _seen_before(given: Any, tool: Any, before: Sequence[Observation]) -> bool:
    for seen in before:
        if seen.status == "ok" and (tool is True or seen.name == tool):
            data = seen.data if seen.data is not None else seen.content
            if any(_holds(leaf, given) for leaf in leaves(data)):
                return True
    return False


def _holds(leaf: Any, given: Any) -> bool:
    if equal(leaf, given):
        return True
    return isinstance(leaf, str) and isinstance(given, (str, int)) and _spoken(str(given), fold(leaf))


def leaves(data: Any) -> Iterable[Any]:
    """Every value inside JSON data, and the data itself."""
    yield data
    inner: Iterable[Any] = ()
    if isinstance(data, Mapping):
        inner = cast("Mapping[str, Any]", data).values()
    elif isinstance(data, (list, tuple)):
        inner = cast("Sequence[Any]", data)
    for each in inner:
        yield from leaves(each)


# -- facts in an answer ------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """An answer, folded and read once for all facts that are looked for in it."""

    text: str
    folded: str
    facts: tuple[Fact, ...]

    @classmethod
    def of(cls, answer: str) -> Said:
        """Read an answer."""
        return cls(answer, fold(answer), facts_in(answer))


def tells(answer: Said, wanted: Any) -> bool:
    """Whether an answer holds a fact: a text, a number in any way of writing it, a rule, or one of a list of these."""
    if isinstance(wanted, list):
        return any(tells(answer, each) for each in cast("list[Any]", wanted))
    if isinstance(wanted, Mapping):
        rule = cast("Mapping[str, Any]", wanted)
        if "regex" in rule:
            return re.search(rule["regex"], answer.text, re.IGNORECASE) is not None
        if "text" in rule:
            return _spoken(str(rule["text"]), answer.folded)
        return any(
            _near(_number(f), rule["number"], rule.get("tolerance", 0)) for f in answer.facts if f.kind == "number"
        )
    text = str(wanted)
    if as_decimal(wanted) is None and _spoken(text, answer.folded):
        return True
    return any(_states(found, fact) for fact in _whole(wanted) for found in answer.facts)


def _number(fact: Fact) -> Any:
    return float(fact.value)


def _states(found: Fact, wanted: Fact) -> bool:
    if wanted.kind == found.kind == "number":
        # rounding is for the verifier to forgive; a golden fact asks for what it says, see `tolerance`
        return found.value == wanted.value and (not wanted.unit or wanted.unit == found.unit)
    return same(found, wanted)


def _whole(wanted: Any) -> list[Fact]:
    """The fact a text is when it is nothing else: a number with its unit, a date, a time."""
    text = str(wanted).strip()
    return [f for f in facts_in(text) if f.kind in ("number", "date", "time") and len(f.text.strip()) >= len(text)]


def _spoken(text: str, folded: str) -> bool:
    """Whether a text stands in another one, not as part of a longer word or number."""
    wanted = fold(text)
    if not wanted:
        return False
    before = r"(?<![a-z0-9])" if wanted[0].isascii() and wanted[0].isalnum() else ""
    after = r"(?![a-z0-9])" if wanted[-1].isascii() and wanted[-1].isalnum() else ""
    if wanted[-1].isdigit():
        after = r"(?![a-z0-9]|[.,:]\d)"
    if wanted[0].isdigit():
        before = r"(?<![a-z0-9])(?<!\d[.,:])"
    return re.search(before + re.escape(wanted) + after, folded) is not None
