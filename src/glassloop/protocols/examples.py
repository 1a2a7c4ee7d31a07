"""Whether a call in a text is only shown: as an example, a format, a quotation.

The words that announce an example are data (`prompts/labels.*.json`); they count only in the
sentence right before the call, or right after its fence.
"""

from __future__ import annotations

import re
from functools import cache

from .labels import words

REACH = 160
"""Characters before a call in which an example is announced."""


@cache
def _pattern() -> re.Pattern[str]:
    listed = sorted(words("example"), key=len, reverse=True)
    return re.compile("|".join(rf"\b{re.escape(w)}\b" if w.isascii() else re.escape(w) for w in listed), re.IGNORECASE)


_BREAK = re.compile(r"[.!?](?:\s|\Z)|[。！？]|\n\s*\n")


def is_example(before: str, after: str = "") -> bool:
    """Whether the text around a call says that it is only an example.

    Args:
        before: All text before the call.
        after: The text behind it, if it stood in a fence.
    """
    near = before[-REACH:].rstrip()
    breaks = [m.end() for m in _BREAK.finditer(near) if m.end() < len(near)]
    if _pattern().search(near, breaks[-1] if breaks else 0):
        return True
    first = _BREAK.split(after.strip()[:REACH], maxsplit=1)[0]
    return bool(re.search(r"\bwould (?:return|give|look)\b|\bexample\b|示例|例子", first, re.IGNORECASE))
