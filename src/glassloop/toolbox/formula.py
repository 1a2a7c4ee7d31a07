"""Arithmetic as people and models write it, read into a small tree.

`1,234 × (2+3)`, `（4783×926）÷2`, `√16`, `2³`, `15% of 200`, `3.5万` and `5!` are all
arithmetic. What can be read in two ways is refused with both readings, not guessed:
an exact tool that answers another question than the one asked is worse than none.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from typing import Union

LONGEST = 1_000
MOST_DIGITS = 400
DEEPEST = 40
FUNCTIONS = {
    "sqrt": 1,
    "abs": 1,
    "factorial": 1,
    "floor": 1,
    "ceil": 1,
    "percent": 1,
    "exp": 1,
    "ln": 1,
    "log10": 1,
    "log2": 1,
    "sin": 1,
    "cos": 1,
    "tan": 1,
    "log": 2,
    "round": 2,
    "min": 99,
    "max": 99,
    "sum": 99,
    "avg": 99,
    "gcd": 99,
    "lcm": 99,
}
"""Every function and how many arguments it takes at most."""
CONSTANTS = ("pi", "e")

_SIGNS = str.maketrans({"×": "*", "✕": "*", "✖": "*", "⋅": "*", "·": "*", "∙": "*", "÷": "/", "∕": "/", "⁄": "/"})
_MINUS = str.maketrans(dict.fromkeys("−–—﹣", "-"))
_BRACKETS = str.maketrans(
    {"[": "(", "]": ")", "{": "(", "}": ")", "【": "(", "】": ")", "〔": "(", "〕": ")", "、": ","}
)
_WORDS = (
    (r"乘以|乘", "*"),
    (r"除以", "/"),
    (r"加上|加", "+"),
    (r"减去|减", "-"),
    (r"的平方根", "**0.5"),
    (r"的平方", "**2"),
    (r"的立方", "**3"),
    (r"圆周率|π", " pi "),
    (r"(?<=[\d)])\s*[xX]\s*(?=[\d(.])", "*"),
    (r"\bsquare root of\b|√", " sqrt "),
    (r"\bplus\b", "+"),
    (r"\bminus\b", "-"),
    (r"\btimes\b|\bmultiplied by\b", "*"),
    (r"\bdivided by\b", "/"),
    (r"%\s*(?:of\b|的)", "percent_of"),
    (r"[$¥€£]", ""),
    (r"\bmath\.", ""),
    (r"\^", "**"),
)
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
_MYRIADS = {"万": 10**4, "亿": 10**8}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*(?:,\d{3}(?!\d))*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?P<unit>[万亿]?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<sign>\*\*|//|[-+*/%!(),]))"
)


class FormulaError(ValueError):
    """The expression is not arithmetic, has two readings, or is too large to compute; one sentence for the model."""


@dataclass(frozen=True)
class Number:
    """A number, exact."""

    value: Fraction


@dataclass(frozen=True)
class Apply:
    """An operation or function on other nodes; `name` is the sign or the function's name."""

    name: str
    arguments: tuple[Node, ...]


Node = Union[Number, Apply]  # noqa: UP007  # Apply refers to Node, on 3.10 too


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int
    spaced: bool


def parse(expression: str) -> Node:
    """Read an expression.

    Raises:
        FormulaError: It is empty, too long, not arithmetic, or has two readings.
    """
    if len(expression) > LONGEST:
        raise FormulaError(f"the expression has {len(expression):,} characters, at most {LONGEST:,} are allowed")
    text = _normal(expression)
    if not text:
        raise FormulaError("the expression is empty: give numbers and signs, for example (2+3)*4")
    return _Parser(_tokens(text), text).whole()


def _normal(text: str) -> str:
    if re.search(r"\d[¼-¾⅐-⅞]", text):
        raise FormulaError("a mixed number like 2½ has two readings: write 2.5 or (2+1/2)")
    text = re.sub(r"[¼-¾⅐-⅞]", lambda m: f"({unicodedata.normalize('NFKC', m[0])})", text)
    text = re.sub(f"[{''.join(_SUPERSCRIPTS)}]+", lambda m: "**(" + "".join(_SUPERSCRIPTS[c] for c in m[0]) + ")", text)
    text = unicodedata.normalize("NFKC", text.translate(_MINUS)).translate(_SIGNS).translate(_BRACKETS)
    text = re.sub(r"(=|等于|是多少|是|多少|[?\s。])+$", "", text).strip()
    for pattern, sign in _WORDS:
        text = re.sub(pattern, sign, text, flags=re.IGNORECASE)
    return text.strip()


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if not text[at:].strip():
                break
            raise FormulaError(
                f"{text[at:].strip()[:20]!r} is not arithmetic: use numbers, + - * / // % ** ( ) and sqrt, round, …"
            )
        kind = str(match.lastgroup if match.lastgroup != "unit" else "number")
        token = match["number"] + match["unit"] if kind == "number" else match[kind]
        start = match.start(kind)
        tokens.append(_Token(kind, token, start, start > at or at == 0))
        at = match.end()
    return tokens


class _Parser:
    """Recursive descent with a bounded depth; binding as in Python, `%` and `!` after a value as on paper."""

    def __init__(self, tokens: list[_Token], text: str) -> None:
        self.tokens = tokens
        self.text = text
        self.at = 0
        self.depth = 0

    def whole(self) -> Node:
        node = self.sum()
        if self.at < len(self.tokens):
            raise FormulaError(self._unexpected())
        return node

    def _unexpected(self) -> str:
        if self.at >= len(self.tokens):
            return "the expression ends too early: something is missing after the last sign"
        token = self.tokens[self.at]
        if token.kind in ("number", "name") or token.text == "(":
            return f"a sign is missing before {token.text!r}: write * for a product"
        if token.text == ",":
            return "a comma is only for thousands (1,234) and between the arguments of a function"
        return f"{token.text!r} is not expected there"

    def _peek(self, *texts: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].text in texts

    def _take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1].text

    def sum(self) -> Node:
        node = self.product()
        while self._peek("+", "-"):
            sign = self._take()
            right = self.product()
            if _is_percent(right) and not _is_percent(node):
                raise FormulaError(
                    f"adding or subtracting a percentage has two readings: write 200 * 1.15 or 200 {sign} 0.15"
                )
            node = Apply(sign, (node, right))
        return node

    def product(self) -> Node:
        node = self.signed()
        while self._peek("*", "/", "//", "%", "percent_of"):
            sign = self._take()
            if sign == "percent_of":
                node = Apply("*", (Apply("percent", (node,)), self.signed()))
            else:
                node = Apply(sign, (node, self.signed()))
        return node

    def signed(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormulaError(f"the expression is nested more than {DEEPEST} deep: compute it in parts")
        if self._peek("+", "-"):
            node: Node = Apply("negative", (self.signed(),)) if self._take() == "-" else self.signed()
        else:
            node = self.power()
        self.depth -= 1
        return node

    def power(self) -> Node:
        node = self.marked()
        if self._peek("**"):
            self._take()
            node = Apply("**", (node, self.signed()))
        return node

    def marked(self) -> Node:
        node = self.value()
        while True:
            if self._peek("!"):
                self._take()
                node = Apply("factorial", (node,))
            elif self._peek("%") and self._percent_follows():
                self._take()
                node = Apply("percent", (node,))
            else:
                return node

    def _percent_follows(self) -> bool:
        """Whether the `%` here is a percentage: nothing to divide by comes after it, or it clings to its number."""
        after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        if after is None or after.text in ("*", "/", "//", "**", ")", ",", "%", "percent_of"):
            return True
        return after.text in ("+", "-") and not self.tokens[self.at].spaced

    def value(self) -> Node:
        if self.at >= len(self.tokens):
            raise FormulaError(self._unexpected())
        token = self.tokens[self.at]
        if token.kind == "number":
            self.at += 1
            return Number(number(token.text))
        if token.text == "(":
            self.at += 1
            node = self.sum()
            self._close()
            return node
        if token.kind == "name":
            return self.named(token.text.lower())
        raise FormulaError(self._unexpected())

    def named(self, name: str) -> Node:
        if name in CONSTANTS:
            self.at += 1
            return Apply(name, ())
        if name not in FUNCTIONS:
            raise FormulaError(f"{name!r} is not known: the functions are {', '.join(FUNCTIONS)}")
        self.at += 1
        if not self._peek("("):
            if name == "sqrt":  # √16
                return Apply(name, (self.marked(),))
            raise FormulaError(f"{name} needs its argument in parentheses, for example {name}(9)")
        self._split_thousands(FUNCTIONS[name])
        self._take()
        arguments = [self.sum()]
        while self._peek(","):
            self._take()
            arguments.append(self.sum())
        self._close()
        if len(arguments) > FUNCTIONS[name]:
            raise FormulaError(f"{name} takes at most {FUNCTIONS[name]} argument(s), {len(arguments)} were given")
        return Apply(name, tuple(arguments))

    def _split_thousands(self, most: int) -> None:
        """Between arguments a comma separates: `max(100,200)` has two, `sqrt(1,600)` one; refuse `max(1,200, 9)`."""
        if most == 1:
            return
        end, depth = self.at, 0
        while end < len(self.tokens):
            depth += {"(": 1, ")": -1}.get(self.tokens[end].text, 0)
            if depth == 0:
                break
            end += 1
        inside = self.tokens[self.at : end]
        joined = [t for t in inside if t.kind == "number" and "," in t.text]
        if not joined:
            return
        if any(t.text == "," for t in inside):
            raise FormulaError(f"{joined[0].text!r} has two readings inside a function: write numbers without commas")
        split: list[_Token] = []
        for token in inside:
            if token not in joined:
                split.append(token)
                continue
            for place, part in enumerate(token.text.split(",")):
                if place:
                    split.append(_Token("sign", ",", token.at, False))
                split.append(_Token("number", part, token.at, False))
        self.tokens[self.at : end] = split

    def _close(self) -> None:
        if not self._peek(")"):
            at_end = self.at >= len(self.tokens)
            raise FormulaError("a closing parenthesis is missing" if at_end else self._unexpected())
        self._take()


def _is_percent(node: Node) -> bool:
    return isinstance(node, Apply) and node.name == "percent"


def number(text: str) -> Fraction:
    """Read one number exactly: thousands separators, a decimal point, an exponent, 万 and 亿."""
    unit = _MYRIADS.get(text[-1], 1)
    plain = text.rstrip("万亿").replace(",", "").replace("_", "")
    mantissa, _, exponent = plain.lower().partition("e")
    if len(mantissa) > MOST_DIGITS or abs(int(exponent or 0)) > MOST_DIGITS:
        raise FormulaError(f"a number has more than {MOST_DIGITS} digits: that is too large to compute")
    return Fraction(plain) * unit
