"""Finding JSON-like values in text, in time that grows with the text and no faster.

A `Scanner` owes two things: where a bracket that opens here closes again, with strings
and escapes respected, and whether a strict JSON value begins here. It keeps an account
of the characters it has looked at in vain: past a small multiple of the text's length it
finds nothing more, so that a megabyte of braces, of empty objects or of quotes costs no more
than one reading.
"""

from __future__ import annotations

import json
import re
from typing import Any

MAX_DEPTH = 200
"""Deeper nesting than this is no call any model meant."""

MOST_MENDED = 20_000
"""Characters after an unclosed bracket that are still worth mending."""

MOST_TOKENS = 50_000
"""Brackets and strings that one bracket may hold and still be looked through piece by piece."""

MOST_VALUES = 5_000
"""More values than this that were no calls, and none that follow is looked at."""

OPENERS = "{[｛［"
_PARTNER = {"}": "{", "]": "[", ")": "("}
_PLAIN = str.maketrans("｛｝［］（）", "{}[]()")

_DOUBLE = r'"(?:[^"\\]+|\\.)*(?:"|\\?\Z)'
_CURLY = r"[“”][^“”]*(?:[“”]|\Z)"
_SINGLE = r"(?<=[\[{(,:=\s])'(?:[^'\\]+|\\.|'(?!\s{0,8}(?:[,}\]):]|\Z)))*(?:'|\\?\Z)"
_BRACKETS = r"[{}\[\]()｛｝［］]"
_TOKEN = re.compile(f"{_DOUBLE}|{_CURLY}|{_BRACKETS}", re.DOTALL)
_TOKEN_SINGLE = re.compile(f"{_DOUBLE}|{_CURLY}|{_SINGLE}|{_BRACKETS}", re.DOTALL)
_SINGLE_STYLE = re.compile(r"[{\[(｛][\s{\[(]{0,40}(?:[\w.-]{1,60}\s{0,4}[:=(]\s{0,4}[\[{(]?\s{0,4})?'")

TOKEN_COST = 8
"""Characters that could be skipped in the time one bracket takes."""

MISSING: Any = object()
"""No value; `None` is one."""


class DoubledKeys(dict[str, Any]):
    """A JSON object in which a key stood more than once; `pairs` holds all of it in order."""

    pairs: list[tuple[str, Any]]

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    first: dict[str, Any] = {}
    if all(first.setdefault(key, value) == value for key, value in pairs):
        return first
    return DoubledKeys(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant)
_LENIENT = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant, strict=False)


def decode(text: str, *, strict: bool = True) -> Any:
    """Return the JSON value that `text` is, or `MISSING`. Without `strict`, raw control characters in strings pass."""
    try:
        return (_STRICT if strict else _LENIENT).decode(text)
    except (ValueError, RecursionError):
        return MISSING


class Scanner:
    """Looks for values in one text and never does more work than the text is worth.

    Args:
        text: The text to look through.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.looked_at = 0
        """Characters looked at in vain so far."""
        self._limit = 2 * len(text) + 4096
        self._values = 0
        self._to_mend = 4 * MOST_MENDED
        self._ends: dict[int, int | None] = {}

    @property
    def spent(self) -> bool:
        """Whether nothing more will be found: the account is used up."""
        return (self.looked_at > self._limit and self._to_mend < 0) or self._values > MOST_VALUES

    def pass_over(self) -> None:
        """Take a value that was read and is no call off the account."""
        self._values += 1

    @property
    def hopeful(self) -> bool:
        """Whether mending is still worth while after all that was mended in vain."""
        return self._to_mend >= 0

    def charge(self, length: int) -> None:
        """Take a mending that came to nothing off the account: its text, and what it costs to begin."""
        self._to_mend -= length + 100

    def may_mend(self, length: int) -> bool:
        """Whether so much text without an end may still be mended; charged, so that many openings cost no more."""
        self._to_mend -= length
        return length <= MOST_MENDED and self._to_mend >= 0

    def value(self, start: int) -> tuple[Any, int]:
        """Return the strict JSON value that begins at `start` and where it ends, or `(MISSING, start)`."""
        if self.looked_at > self._limit:
            return MISSING, start
        try:
            return _STRICT.raw_decode(self.text, start)
        except json.JSONDecodeError as e:
            self.looked_at += max(16, e.pos - start)
        except (ValueError, RecursionError):
            self.looked_at += 1024
        return MISSING, start

    def end(self, start: int) -> int | None:
        """Return where the bracket at `start` has closed, or None when it never does."""
        if start not in self._ends:
            self._ends[start] = self._find_end(start)
        return self._ends[start]

    def _find_end(self, start: int) -> int | None:
        if self.looked_at > self._limit:
            return None
        tokens = _TOKEN_SINGLE if _SINGLE_STYLE.match(self.text, start) else _TOKEN
        stack: list[str] = []
        at = start
        count = 0
        for count, found in enumerate(tokens.finditer(self.text, start)):
            token, at = found.group(), found.end()
            if count > MOST_TOKENS:
                # So much is data that a program wrote, and then it is strict; or it is nothing.
                value, end = self.value(start)
                return None if value is MISSING else end
            if len(token) > 1 or token in "\"'“”":
                continue
            token = token.translate(_PLAIN)
            opener = _PARTNER.get(token)
            if opener is None:
                stack.append(token)
                if len(stack) > MAX_DEPTH:
                    break
            elif opener in stack:
                while stack.pop() != opener:
                    pass
                if not stack:
                    return at
        self.looked_at += max(16, at - start) + TOKEN_COST * count
        return None
