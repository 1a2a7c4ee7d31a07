"""What follows from known figures by simple arithmetic: expressions written in a text, and one or two operations.

`derivable` searches backwards from the claimed figure (which partner would each known figure need?), so one
operation over n figures costs n look-ups, not n² trials. Everything is bounded. `evaluate` is exact.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction

from .facts import DIMENSIONS, Fact, compatible, convert
from .numerals import Number, whole
from .scan import narrow

MAX_KNOWN = 300
SHORT = 6
"""So many figures may be combined freely; among more, any value is met by chance."""
_MAX_TOKENS = 80

_NUMBER = r"\d{1,3}(?:,\d{3}){1,9}(?![\d,])(?:\.\d{1,40})?|\d{1,60}(?:\.\d{1,40})?"
_TOKEN = re.compile(
    rf"\s{{0,3}}(?:[$€£¥￥]\s?)?(?P<num>{_NUMBER})(?P<pct>\s?%)?"
    r"(?:\s?(?:°[CF]?|℃|℉|USD|CNY|EUR|dollars?|美元|元|度|公里|km|kg|(?<=\s)(?:[a-z]{3,10})(?=\s[*×x+=/÷-]\s?\d?)))?"
    r"|\s{0,3}(?P<op>\*\*|[-+*/^()×÷−·%]|\\times|\\div|\\cdot|[xX](?=\s?[\d(])"
    r"|multiplied by|divided by|times|plus|minus|乘以|除以|乘|加上|减去|加|减)"
)
_NORMAL_OPS = {
    **dict.fromkeys(("×", "·", "x", "X", "\\times", "\\cdot", "times", "乘以", "乘", "multiplied by"), "*"),
    **dict.fromkeys(("÷", "\\div", "divided by", "除以"), "/"),
    **dict.fromkeys(("−", "minus", "减", "减去"), "-"),
    **dict.fromkeys(("plus", "加", "加上"), "+"),
    "**": "^",
}
_START = re.compile(r"(?<![\w.,/:-])(?<![A-Za-z_]-)[(\d$€£¥￥-]")


class _Wrong(ValueError):
    """The tokens are no expression this module computes."""


def evaluate(text: str) -> Number | None:
    """Compute an arithmetic expression exactly, or return None when the text is none.

    Knows + - * / % ^ ** and parentheses, ×, ÷, and the words for them in English and Chinese.
    """
    tokens, end = _tokens(narrow(text).strip(), 0)
    if not tokens or end != len(narrow(text).strip()):
        return None
    return _value(tokens)


def expressions(text: str) -> list[tuple[int, int, Number]]:
    """Return every expression of at least one operation in a text as `(start, end, value)`."""
    flat, at = narrow(text), 0
    out: list[tuple[int, int, Number]] = []
    while m := _START.search(flat, at):
        tokens, end = _tokens(flat, m.start())
        at = max(end, m.end())
        # a trailing operator or an open parenthesis belongs to the sentence, not to the expression
        while tokens and tokens[-1][0] not in ("num", "%") and tokens[-1][1] != ")":
            tokens.pop()
        if sum(kind == "num" for kind, _, _ in tokens) < 2:
            continue
        value = _value(tokens)
        if value is not None:
            out.append((m.start(), tokens[-1][2], value))
    return out


_Token = tuple[str, str, int]


def _tokens(text: str, at: int) -> tuple[list[_Token], int]:
    out: list[_Token] = []
    while len(out) < _MAX_TOKENS and (m := _TOKEN.match(text, at)):
        after_value = bool(out) and (out[-1][0] in ("num", "%") or out[-1][1] == ")")
        if m["num"]:
            if after_value:
                break
            out.append(("num", m["num"], m.end()))
            if m["pct"]:
                out.append(("%", "%", m.end()))
        else:
            op = _NORMAL_OPS.get(m["op"], m["op"])
            if op == "(" and after_value:
                break
            out.append(("op", op, m.end()))
        at = m.end()
    return out, at


def _value(tokens: Sequence[_Token]) -> Number | None:
    try:
        value, at = _sum(tokens, 0, 0)
        return whole(value) if at == len(tokens) else None
    except (_Wrong, ZeroDivisionError, OverflowError):
        return None


def _peek(tokens: Sequence[_Token], at: int) -> str:
    return tokens[at][1] if at < len(tokens) and tokens[at][0] != "num" else ""


def _sum(tokens: Sequence[_Token], at: int, depth: int) -> tuple[Fraction, int]:
    left, at = _product(tokens, at, depth)
    while (op := _peek(tokens, at)) in ("+", "-") and op:
        right, at = _product(tokens, at + 1, depth)
        left = left + right if op == "+" else left - right
    return left, at


def _product(tokens: Sequence[_Token], at: int, depth: int) -> tuple[Fraction, int]:
    left, at = _power(tokens, at, depth)
    while (op := _peek(tokens, at)) in ("*", "/") and op:
        right, at = _power(tokens, at + 1, depth)
        left = left * right if op == "*" else left / right
    return left, at


def _power(tokens: Sequence[_Token], at: int, depth: int) -> tuple[Fraction, int]:
    base, at = _atom(tokens, at, depth)
    if _peek(tokens, at) == "^":
        exponent, at = _power(tokens, at + 1, depth + 1)
        if exponent.denominator != 1 or not -64 <= exponent <= 64 or abs(base) > 10**40:
            raise _Wrong
        base = base ** int(exponent)
    return base, at


def _atom(tokens: Sequence[_Token], at: int, depth: int) -> tuple[Fraction, int]:
    if at >= len(tokens) or depth > 20:
        raise _Wrong
    kind, text, _ = tokens[at]
    if kind == "num":
        value = Fraction(text.replace(",", ""))
        return (value / 100, at + 2) if _peek(tokens, at + 1) == "%" else (value, at + 1)
    if text in ("-", "+"):
        value, at = _power(tokens, at + 1, depth + 1)
        return (-value if text == "-" else value), at
    if text == "(":
        value, at = _sum(tokens, at + 1, depth + 1)
        if _peek(tokens, at) == ")":
            return value, at + 1
    raise _Wrong


# -- one or two operations on known figures ----------------------------------------------------------


class _Sorted:
    """Figures in order, with the question "is one of them in this interval?"."""

    def __init__(self, values: Iterable[float]) -> None:
        self.values = sorted(set(values))

    def within(self, low: float, high: float) -> bool:
        if low > high:
            low, high = high, low
        slack = 1e-9 * max(abs(low), abs(high), 1e-9)
        at = bisect_left(self.values, low - slack)
        return at < len(self.values) and self.values[at] <= high + slack


def _float(value: Number) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def derivable(value: Fact | Number, known: Iterable[Fact | Number], depth: int = 1) -> str:
    """Say how a figure follows from known ones by simple arithmetic, or "" when it does not.

    Sums and differences of like figures, products, ratios, percentages, totals and means, and conversions
    between units; with `depth` 2 also two operations in a row. Units must fit: degrees are only compared, dollars
    are not added to kilometres. The more figures are given the more values are met by chance, so the caller
    names only those that the claim can be about.

    Args:
        value: The claimed figure; a `Fact` brings its unit and the digits it is given to.
        known: The figures it may follow from; at most 300 are looked at.
        depth: 0 for conversions alone, 1 for one operation, 2 for two.
    """
    claimed = value if isinstance(value, Fact) else Fact("number", str(value), value=value, step=0)
    facts = [f if isinstance(f, Fact) else Fact("number", str(f), value=f) for f in known]
    facts = [f for f in facts if f.kind == "number"][:MAX_KNOWN]
    for fact in facts:
        if claimed.unit and fact.unit and (there := convert(fact.value, fact.unit, claimed.unit)) is not None:
            if _close(claimed, there):
                return f"{fact.text} in {claimed.unit}"
    if depth < 1 or not facts:
        return ""
    target = _float(claimed.value)
    if target is None:
        return _exact(claimed.value, facts)
    usable = [f for f in facts if _fits(claimed.unit, f.unit)]
    return (
        _groups(claimed, usable)
        or _sums(claimed, target, usable)
        or _products(claimed, target, [f for f in usable if not _is_temp(f.unit)])
        or (_chains(claimed, target, [f for f in usable if not _is_temp(f.unit)]) if depth > 1 else "")
    )


def _is_temp(unit: str) -> bool:
    return DIMENSIONS.get(unit) == "temp"


def _fits(unit: str, other: str) -> bool:
    """A temperature follows from temperatures only; prices, shares and counts mix freely."""
    return "temp" not in (DIMENSIONS.get(unit), DIMENSIONS.get(other)) or DIMENSIONS.get(
        unit, "temp"
    ) == DIMENSIONS.get(other, "temp")


def _close(claimed: Fact, value: Number) -> bool:
    return abs(claimed.value - value) * 2 <= claimed.step or (
        claimed.about and abs(claimed.value - value) * 20 <= abs(value)
    )


def _exact(value: Number, facts: Sequence[Fact]) -> str:
    have = {f.value for f in facts}
    for f in facts:
        if value - f.value in have or (f.value and Fraction(value) / f.value in have):
            return f"{f.text} and another"
    return ""


def _groups(claimed: Fact, facts: Sequence[Fact]) -> str:
    """Totals and means: of all figures under one key, of all figures, and of those of a short list from its start."""
    by_key: dict[str, list[Number]] = {}
    for f in facts:
        if f.key and f.role == "figure":
            by_key.setdefault(f.key, []).append(f.value)
    for key, values in by_key.items():
        if len(values) > 1 and (_close(claimed, sum(values)) or _close(claimed, Fraction(sum(values)) / len(values))):
            return f"total or mean of {key}"
    values = [f.value for f in facts if f.role == "figure" and compatible(claimed.unit, f.unit)]
    runs = {len(values)} if len(values) > SHORT else set(range(3, len(values) + 1))
    for start in {0, 1} if len(values) <= SHORT else {0}:
        for n in runs:
            taken = values[start : start + n]
            if len(taken) > 2 and (_close(claimed, sum(taken)) or _close(claimed, Fraction(sum(taken)) / len(taken))):
                return f"total or mean of {len(taken)} figures"
    return ""


def _half(claimed: Fact) -> float:
    """Half the last digit given; nothing for small whole numbers, which any two figures' ratio would meet."""
    exact = claimed.step == 1 and abs(claimed.value) < 100 and not claimed.about
    return 0.0 if exact else float(claimed.step) / 2


def _floats(facts: Iterable[Fact]) -> list[float]:
    return list(dict.fromkeys(x for f in facts if (x := _float(f.value)) is not None))


def _sums(claimed: Fact, target: float, facts: Sequence[Fact]) -> str:
    """Sums and differences of figures of one unit (or none), and by how many percent one is more than another."""
    half = float(claimed.step) / 2
    low, high, share = target - half, target + half, claimed.unit == "%"
    for unit in {f.unit for f in facts}:
        like = [f for f in facts if f.unit in (unit, "")]
        floats = _floats(like)
        pool = _Sorted(floats)
        fits = unit == "%" if share else compatible(claimed.unit, unit)
        for a in floats if fits else ():
            if pool.within(a - high, a - low) or pool.within(a + low, a + high):
                return f"difference with {a:g}"
            if not _is_temp(unit) and pool.within(low - a, high - a):
                return f"sum with {a:g}"
        ways = ((0, 1), (1, 1), (1, -1)) if share and not _is_temp(unit) else ()
        for a in floats if ways else ():
            if a and any(pool.within(a * (k + s * low / 100), a * (k + s * high / 100)) for k, s in ways):
                return f"percentage of {a:g}"
    return ""


def _products(claimed: Fact, target: float, facts: Sequence[Fact]) -> str:
    """So many times so much, so much a piece, and a share of a figure."""
    if claimed.unit == "%":
        return ""
    like = [f for f in facts if f.unit != "%" and compatible(claimed.unit, f.unit)]
    others = [f for f in facts if f.unit != "%" and not (f.unit and f.unit == claimed.unit)]
    half, tight = float(claimed.step) / 2, _half(claimed)
    low, high = target - half, target + half
    have = _Sorted(_floats(like))
    for a in _floats(others):
        if a and (
            have.within((target - tight) / a, (target + tight) / a)
            or have.within(a * (target - tight), a * (target + tight))
        ):
            return f"product or ratio with {a:g}"
    if not claimed.unit:
        same = _floats(like)
        for a in same:
            if a and have.within(a * (target - tight), a * (target + tight)):
                return f"ratio with {a:g}"
    for p in (float(f.value) / 100 for f in facts if f.unit == "%"):
        for factor in (p, 1 + p, 1 - p):
            if factor and have.within(low / factor, high / factor):
                return f"{p:.4g} of a figure"
    return ""


def _chains(claimed: Fact, target: float, facts: Sequence[Fact]) -> str:
    """Two operations, for figures of three or more digits out of few: others are met by chance."""
    if len(str(abs(claimed.value)).strip("0.")) < 3 and not (
        isinstance(claimed.value, int) and abs(claimed.value) >= 100
    ):
        return ""
    floats = _floats(f for f in facts if f.unit != "%")
    if len(floats) > SHORT:
        return ""
    shares = [float(f.value) / 100 for f in facts if f.unit == "%"][:4]
    middle = {x * s for x in floats for p in shares for s in (p, 1 + p, 1 - p)}
    for i, a in enumerate(floats):
        middle.update(r for b in floats[i + 1 :] for r in (a + b, a - b, b - a, a * b))
        middle.update(a / b for b in floats if b and b != a)
    pool, half = _Sorted(floats + [1 + p for p in shares] + [1 - p for p in shares]), float(claimed.step) / 2
    low, high = target - half, target + half
    for m in middle:
        if pool.within(low - m, high - m) or pool.within(m - high, m - low):
            return "two operations"
        if m and (pool.within(low / m, high / m) or pool.within(m / high, m / low) if low > 0 else False):
            return "two operations"
    return ""
