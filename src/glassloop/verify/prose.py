"""The part of an answer that makes claims: without code, list numbers, citations and the markup of formulas."""

from __future__ import annotations

import re

from ..values import narrow

_FENCE = re.compile(r"```[\s\S]*?(?:```|$)")
_CITE = re.compile(
    r"(?<![\w\])])\s?\[\d{1,3}(?:\s?[,，、]\s?\d{1,3})*\]|(?<=[^\x00-\x7f\s])\[\d{1,3}\]|(?<=[a-z.])\[\d{1,3}\]"
)
_MARKER = re.compile(
    r"(?m)^[ \t>]*(?:[-*•]\s+)?(?:#{1,4}\s+)?(?:\*\*)?[(（]?(\d{1,2})(?:[.、](?!\d)|[)）])(?=[ \t]*\S)"
    r"|[(（](\d{1,2})[)）](?=\s?[A-Za-z\u4e00-\u9fff])"
)
_STEP = re.compile(
    r"\b(?:step|option|part|example|note|tip|phase|case)s?\s+\d{1,2}\b|(?:步骤|选项|方案|示例|方法|情况)\s?\d{1,2}",
    re.I,
)
_LATEX = (
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\(?:text|mathrm|boxed|mathbf)\{([^{}]{0,80})\}"), r"\1"),
)
_SHARE_OF = re.compile(r"(\d\s?%)\s+of\s+(?=[$€£¥]?\s?\d)|(\d\s?%)的(?=\d)")


def claims_only(answer: str) -> str:
    """Return the answer without what holds no claims."""
    text = _FENCE.sub(" ", answer)
    if "**" not in re.sub(r"\*\*[^*\n]+\*\*", "", text):  # bold, and not a power
        text = re.sub(r"\*\*([^*\n]+)\*\*", r"\1", text)
    for pattern, to in _LATEX:
        text = pattern.sub(to, text)
    text = _CITE.sub(" ", _STEP.sub(" ", re.sub(r"\\[()\[\],;! ]|\\approx", " ", text)))
    seen = {0}

    def marker(m: re.Match[str]) -> str:
        number = int(m[1] or m[2])
        if number - 1 not in seen:  # no number of a list that counts up: a figure
            return m[0]
        seen.add(number)
        return " " * len(m[0])

    return _MARKER.sub(marker, text)


def spoken(text: str) -> str:
    """Write "15% of 240" and "240的15%" so that it can be computed."""
    return _SHARE_OF.sub(lambda m: (m[1] or m[2]) + " * ", narrow(text))
