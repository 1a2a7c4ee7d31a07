"""Rules that hide keys and personal data before an event is written down.

Every rule finds its values by shape. A found value is masked in place, letter by letter,
so that the text keeps its length: places that other fields point at (provenance spans,
character counts) stay true, JSON inside a text stays JSON, and masking twice changes nothing.
Keys are hidden by default; personal data when asked for: `Redactor(KEYS + PERSONAL)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

MASK = "*"
MARK = "redacted"
"""The key a masked event carries in the journal: the names of the rules that found something."""

_KEEP_ESCAPES = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|\s|(.)", re.DOTALL)


@dataclass(frozen=True)
class Rule:
    """One kind of value to hide.

    Attributes:
        name: What it is called in the journal.
        pattern: Finds the value; a group named `secret` limits what is masked to a part of the match.
        hints: Short literals of which one is in every such value; without one of them in a text, the slower pattern is
            not tried. Empty: always tried.
        keep: Leading characters that stay readable, to tell what it was.
        check: Says whether a match is really one (a checksum, for example).
    """

    name: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...] = ()
    keep: int = 4
    check: Callable[[str], bool] | None = None

    def hinted(self, text: str) -> bool:
        """Whether a text may hold such a value; cheap."""
        return not self.hints or any(hint in text for hint in self.hints)

    def mask(self, text: str) -> str:
        """Return the text with every such value masked."""
        return self.pattern.sub(self._masked, text) if self.hinted(text) else text

    def _masked(self, match: re.Match[str]) -> str:
        group = "secret" if "secret" in self.pattern.groupindex else 0
        secret = match.group(group)
        if secret is None or (self.check is not None and not self.check(secret)):
            return match.group()
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        whole = match.group()
        return whole[:start] + secret[: self.keep] + _hide(secret[self.keep :]) + whole[end:]


def _hide(secret: str) -> str:
    """Mask all but white space and JSON escapes, which a text inside JSON inside a text still needs."""
    return _KEEP_ESCAPES.sub(lambda m: MASK if m.group(1) is not None else m.group(), secret)


def _luhn(text: str) -> bool:
    digits = [int(c) for c in text if c.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = sum(sum(divmod(2 * d, 10)) for d in digits[-2::-2])
    return (doubled + sum(digits[-1::-2])) % 10 == 0


def _resident_id(text: str) -> bool:
    """Check the last digit of a Chinese resident identity number (GB 11643)."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(d) * w for d, w in zip(text, weights, strict=False))
    return "10X98765432"[total % 11] == text[-1].upper()


def _rule(name: str, pattern: str, *hints: str, keep: int = 4, check: Callable[[str], bool] | None = None) -> Rule:
    return Rule(name, re.compile(pattern), hints, keep, check)


_NOT_INSIDE = r"(?<![A-Za-z0-9_*-])"

KEYS: tuple[Rule, ...] = (
    _rule("api key", _NOT_INSIDE + r"sk-(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{16,}", "sk-", keep=3),
    _rule("aws key", _NOT_INSIDE + r"A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])", "AKIA", "ASIA"),
    _rule("github token", _NOT_INSIDE + r"gh[pousr]_[A-Za-z0-9]{20,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _rule("github token", _NOT_INSIDE + r"github_pat_[A-Za-z0-9_]{20,}", "github_pat_", keep=11),
    _rule("gitlab token", _NOT_INSIDE + r"glpat-[A-Za-z0-9_-]{16,}", "glpat-", keep=6),
    _rule("slack token", _NOT_INSIDE + r"xox[abeoprs]-[A-Za-z0-9-]{10,}", "xox", keep=5),
    _rule("google key", _NOT_INSIDE + r"AIza[0-9A-Za-z_-]{35}", "AIza"),
    _rule("hugging face token", _NOT_INSIDE + r"hf_[A-Za-z0-9]{24,}", "hf_", keep=3),
    _rule("stripe key", _NOT_INSIDE + r"[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}", "k_live_", "k_test_", keep=8),
    _rule("bearer token", r"(?i:\bbearer)\s+(?P<secret>[A-Za-z0-9._~+/=-]{12,})", "earer ", "EARER ", keep=0),
    _rule("password in url", r"(?<=://)[^\s/:@\"'\\]{1,80}:(?P<secret>[^\s/@\"'\\]{1,200})@", "://", keep=0),
    _rule(
        "private key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?P<secret>.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)".replace(
            ".*?", r"[\s\S]*?"
        ),
        "PRIVATE KEY-----",
        keep=0,
    ),
    _rule("json web token", _NOT_INSIDE + r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}", "eyJ", keep=3),
)
"""Keys and tokens by their known shapes; hidden by default."""

PERSONAL: tuple[Rule, ...] = (
    _rule("email", r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}", "@", keep=1),
    _rule("resident id", r"(?<![0-9])[1-9]\d{5}(?:19|20)\d{9}[0-9Xx](?![0-9])", keep=0, check=_resident_id),
    _rule("social security number", r"(?<![0-9-])\d{3}-\d{2}-\d{4}(?![0-9]|-[0-9])", "-", keep=0),
    _rule("card number", r"(?<![0-9.-])\d(?:[ -]?\d){12,18}(?![0-9])", keep=0, check=_luhn),
    _rule("phone", r"(?<![0-9.+-])(?:\+?86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}(?![0-9]|[.-][0-9])", keep=0),
    _rule("phone", r"(?<![0-9])\+[1-9]\d{0,2}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?![0-9])", "+", keep=1),
    _rule("phone", r"(?<![0-9(])\(?\d{3}\)?[ .-]\d{3}[.-]\d{4}(?![0-9]|-[0-9])", keep=0),
)
"""Emails, phone, identity and card numbers; hidden when asked for."""


class Redactor:
    """Masks an event's data: `JournalRecorder(path, redact=Redactor(KEYS + PERSONAL))`.

    Args:
        rules: What to hide; add rules of your own to `KEYS`.
    """

    def __init__(self, rules: Iterable[Rule] = KEYS) -> None:
        self.rules = tuple(rules)

    def suspects(self, line: str) -> bool:
        """Whether an event, as the line to be written, may hold something to hide; cheap, and never wrong on no."""
        return any(rule.hinted(line) for rule in self.rules)

    def __call__(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data with everything masked; `redacted` then names the rules that found something."""
        found: dict[str, None] = {}
        clean = cast("dict[str, Any]", self._clean(data, found))
        return {**clean, MARK: list(found)} if found else data

    def text(self, text: str) -> str:
        """Return one text with everything masked."""
        return cast("str", self._clean(text, {}))

    def _clean(self, value: Any, found: dict[str, None]) -> Any:
        if isinstance(value, str):
            for rule in self.rules:
                masked = rule.mask(value)
                if masked != value:
                    found[rule.name] = None
                    value = masked
            return value
        if isinstance(value, dict):
            items = cast("dict[Any, Any]", value).items()
            return {self._clean(str(k), found): self._clean(v, found) for k, v in items}
        if isinstance(value, (list, tuple)):
            return [self._clean(v, found) for v in cast("list[Any]", value)]
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**9:
            text = self._clean(str(value), found)  # an identity or phone number kept as a number
            return value if text == str(value) else text
        return value


def is_masked(value: Any) -> bool:
    """Whether a value, anywhere in it, was masked when it was written: it must not be used as if it were real."""
    if isinstance(value, str):
        return MASK * 4 in value
    if isinstance(value, dict):
        return any(is_masked(v) for v in cast("dict[str, Any]", value).values())
    return isinstance(value, (list, tuple)) and any(is_masked(v) for v in cast("list[Any]", value))
