"""An exact calculator that cannot be made to work for long.

Whole numbers, decimals and fractions are exact throughout. The size of every power,
product and factorial is known before it is computed, so `9**9**9` costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from ..tools.declare import tool
from .formula import Apply, FormulaError, Node, Number, parse

MOST_BITS = 2_600
"""Largest exact result, about 780 digits: it fits whole into one observation."""
MOST_DECIMALS = 30

Value = Fraction | float


@tool
def calculator(expression: str) -> str:
    """Compute an arithmetic expression exactly. Use it for every sum, product, division, power, percentage or average.

    Args:
        expression: The expression in numbers and signs, for example (12.5+3)*4, 4/7 or sqrt(2)*100.
    """
    return written(evaluate(parse(expression)))


def evaluate(node: Node) -> Value:
    """Compute a tree; exact unless a root, logarithm or angle makes it irrational.

    Raises:
        FormulaError: A division by zero, a value outside a function's domain, or a result too large.
    """
    values: list[Value] = []
    ahead: list[tuple[Node, bool]] = [(node, False)]
    while ahead:  # no recursion: a sum of five hundred terms is a tree five hundred deep
        here, ready = ahead.pop()
        if isinstance(here, Number):
            values.append(_small(here.value))
        elif not ready:
            ahead.append((here, True))
            ahead.extend((each, False) for each in reversed(here.arguments))
        else:
            count = len(here.arguments)
            arguments = values[len(values) - count :]
            del values[len(values) - count :]
            values.append(_applied(here, arguments))
    return values[0]


def _applied(node: Apply, arguments: Sequence[Value]) -> Value:
    try:
        return _small(_apply(node.name, arguments))
    except ZeroDivisionError:
        raise FormulaError("division by zero") from None
    except OverflowError:
        raise FormulaError("the result is too large to compute") from None


def _small(value: Value) -> Value:
    if isinstance(value, Fraction):
        if _bits(value) > MOST_BITS:
            raise _too_large()
    elif not math.isfinite(value):
        raise FormulaError("the result is too large to compute")
    return value


def _too_large() -> FormulaError:
    return FormulaError(f"the result has more than {int(MOST_BITS * 0.30103)} digits: that is too large to compute")


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _apply(name: str, arguments: Sequence[Value]) -> Value:
    if name in _SIGNS:
        return _SIGNS[name](arguments[0], arguments[1])
    if name in _FLOATS:
        return _float(name, [float(a) for a in arguments])
    return _FUNCTIONS[name](arguments)


def _times(a: Value, b: Value) -> Value:
    if isinstance(a, Fraction) and isinstance(b, Fraction) and _bits(a) + _bits(b) > MOST_BITS + 2:
        a, b = Fraction(a.numerator, b.denominator), Fraction(b.numerator, a.denominator)  # it may cancel out
        if _bits(a) + _bits(b) > MOST_BITS + 2:
            raise _too_large()
    return a * b


def _power(base: Value, exponent: Value) -> Value:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if exponent.denominator == 1:
            if base in (0, 1, -1) and exponent >= 0:
                return base ** int(exponent % 2 or 2) if exponent else Fraction(1)  # however large the exponent is
            if (_bits(base) - 1) * abs(exponent) > MOST_BITS:
                raise _too_large()
            return base ** int(exponent)
        if exponent.denominator == 2 and base >= 0:
            return _power(_root([base]), Fraction(exponent.numerator))
    if base < 0:
        raise FormulaError("a negative number has no real power with a fractional exponent")
    return float(base) ** float(exponent)


def _divide(a: Value, b: Value) -> Value:
    return _times(a, 1 / b)


_SIGNS: dict[str, Callable[[Value, Value], Value]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": _times,
    "/": _divide,
    "//": lambda a, b: Fraction(a // b) if isinstance(a, Fraction) and isinstance(b, Fraction) else a // b,
    "%": lambda a, b: a % b,
    "**": _power,
}


def _root(arguments: Sequence[Value]) -> Value:
    value = arguments[0]
    if value < 0:
        raise FormulaError("a negative number has no real square root")
    if isinstance(value, Fraction):
        above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if above * above == value.numerator and below * below == value.denominator:
            return Fraction(above, below)
    return math.sqrt(value)


def _whole(arguments: Sequence[Value], name: str) -> list[int]:
    whole: list[int] = []
    for value in arguments:
        if not isinstance(value, Fraction) or value.denominator != 1:
            raise FormulaError(f"{name} takes whole numbers, {written(value)} is none")
        whole.append(int(value))
    return whole


def _factorial(arguments: Sequence[Value]) -> Value:
    n = _whole(arguments, "factorial")[0]
    if n < 0:
        raise FormulaError("a negative number has no factorial")
    if math.lgamma(float(min(n, 10**6)) + 1) / math.log(2) > MOST_BITS:
        raise _too_large()
    return Fraction(math.factorial(n))


def _rounded(arguments: Sequence[Value]) -> Value:
    """Round half away from zero, as people and spreadsheets do, on the exact value."""
    value = Fraction(arguments[0])
    places = _whole(arguments[1:], "round")[0] if len(arguments) > 1 else 0
    if abs(places) > MOST_DECIMALS:
        raise FormulaError(f"round takes at most {MOST_DECIMALS} decimals")
    scaled = abs(value) * Fraction(10) ** places
    nearest = Fraction(math.floor(scaled + Fraction(1, 2))) / Fraction(10) ** places
    return nearest if value >= 0 else -nearest


def _lcm(arguments: Sequence[Value]) -> Value:
    whole = _whole(arguments, "lcm")
    if sum(n.bit_length() for n in whole) > MOST_BITS:
        raise _too_large()
    return Fraction(math.lcm(*whole))


def _total(arguments: Sequence[Value]) -> Value:
    total: Value = Fraction(0)
    for value in arguments:
        total = _small(total + value)
    return total


_FUNCTIONS: dict[str, Callable[[Sequence[Value]], Value]] = {
    "negative": lambda a: -a[0],
    "percent": lambda a: a[0] / 100,
    "sqrt": _root,
    "abs": lambda a: abs(a[0]),
    "floor": lambda a: Fraction(math.floor(a[0])),
    "ceil": lambda a: Fraction(math.ceil(a[0])),
    "round": _rounded,
    "factorial": _factorial,
    "min": min,
    "max": max,
    "sum": _total,
    "avg": lambda a: _total(a) / len(a),
    "gcd": lambda a: Fraction(math.gcd(*_whole(a, "gcd"))),
    "lcm": _lcm,
    "pi": lambda _: math.pi,
    "e": lambda _: math.e,
}
_FLOATS: dict[str, Callable[..., float]] = {
    "exp": math.exp,
    "ln": math.log,
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
}


def _float(name: str, arguments: Sequence[float]) -> float:
    if name == "log" and len(arguments) == 1:
        raise FormulaError("log has two readings: write ln(x), log10(x), or log(x, base)")
    try:
        return _FLOATS[name](*arguments)
    except ValueError:
        raise FormulaError(f"{name} is not defined for {', '.join(f'{a:g}' for a in arguments)}") from None


def written(value: Value) -> str:
    """Write a result so that nothing is lost silently: exact where it ends, else 15 digits and what they stand for."""
    if isinstance(value, float):
        return f"{value:.15g} (rounded)"
    if value.denominator == 1:
        return str(value.numerator)
    exact = _decimal(value)
    if exact is not None:
        return exact
    approximate = f"{float(value):.15g}"
    fraction = f"{value.numerator}/{value.denominator}"
    return f"{approximate} (exactly {fraction})" if len(fraction) <= 80 else f"{approximate} (rounded)"


def _decimal(value: Fraction) -> str | None:
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > MOST_DECIMALS:
        return None
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
