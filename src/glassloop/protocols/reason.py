"""The reason a thought gives for its step, when it gives one.

`because …`, `since …`, `so that …`, 因为……, 为了……: the clause is kept word for word, so that it can be
shown, stored and counted.
"""

from __future__ import annotations

import re

_END = r"[^.!?\n。！？；;]{2,300}"
_STATED = re.compile(
    rf"\b(?:because|since|so that|so as to|in order to|due to|given that|as a result of|therefore)\b\s+{_END}"
    rf"|\b(?:so|which means)\s+(?:i|we)\s+(?:need|must|should|have|can|will)\b{_END}"
    rf"|\b(?:need|have|must|want|use|call|look|search|check|find)\b[^.!?\n]{{0,120}}?\b(?:to|before)\s+(?:\w+){_END}"
    rf"|(?:因为|由于|为了|以便|鉴于|之所以){_END}"
    rf"|(?:需要|必须|先)[^。！？\n]{{1,120}}?(?:才能|以便|来|再){_END}"
    rf"|(?:所以|因此){_END}",
    re.IGNORECASE,
)


def stated_reason(thought: str) -> str:
    """Return the clause of a thought that states a reason, the empty string if there is none."""
    found = _STATED.search(thought[:8000])
    return found.group().strip(" ,，") if found else ""
