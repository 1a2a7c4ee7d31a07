"""Is this an answer at all? A bare value is none where several tools were asked, nor is a placeholder of the prompt.

Both are shapes of a small model that stops thinking when it writes. The rules are narrow on purpose: a question
that one call answers may well be answered by a number.
"""

from __future__ import annotations

import re

from .known import Known

_PLACEHOLDER = re.compile(r"\s*[<＜][^<>＜＞]{3,200}[>＞]\s*")
_SIGNS = r"[\s\d.,。:：/%+\-×*=°$€£¥()\[\]{}\"'_]*"
_VALUE_ONLY = re.compile(rf"{_SIGNS}(?:[A-Za-z_]{{1,12}}|[\u4e00-\u9fff]{{1,2}})?{_SIGNS}")


def is_placeholder(answer: str) -> bool:
    """Whether an answer is the prompt's own placeholder, given back."""
    return _PLACEHOLDER.fullmatch(answer) is not None


def is_half(answer: str, known: Known) -> bool:
    """Whether an answer is one bare value although several tools were asked: the rest of the question is lost.

    Args:
        answer: The candidate answer.
        known: What the run knows.
    """
    if len({seen.name for _, seen in known.results}) < 2 or not any(c.isdigit() for c in answer):
        return False
    return len(answer) <= 40 and _VALUE_ONLY.fullmatch(answer) is not None
