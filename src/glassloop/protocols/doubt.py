"""How sure was the model that a tool is needed? Read from the probabilities of one token, at no cost.

In a constrained step the model chooses between `calls` and `answer` with a single
token, after its thought. Where the server tells probabilities, the share of the
choice not taken is known. A small model that calls something although nothing fits
takes that choice with a visibly larger doubt than one that has a reason: measured
with the embedded model, 0.1 to 2 % against less than 0.1 %.
"""

from __future__ import annotations

import math
import re
from typing import Any, cast

from ..types import Reply

TOP = 4
"""How many alternatives of each token are asked for; the choice has two."""

_BRANCH = re.compile(r'\s*\{\s*"thought"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"(?=calls")', re.DOTALL)


def doubt_of(reply: Reply) -> float | None:
    """Return the probability of answering at the token where calling was chosen.

    Args:
        reply: A reply to a constrained step, with token log-probabilities in its raw body in chat-completions form.

    Returns:
        A share between 0 and 1, or None where no call was chosen or the server told no probabilities.
    """
    branch = _BRANCH.match(reply.text)
    tokens = _tokens(reply.raw)
    if branch is None or not tokens:
        return None
    place = 0
    for token in tokens:
        text = str(token.get("token", ""))
        if place <= branch.end() < place + len(text):
            return _share(token.get("top_logprobs"), text[: branch.end() - place])
        place += len(text)
    return None


def _tokens(raw: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        found = raw["choices"][0]["logprobs"]["content"]
    except (KeyError, IndexError, TypeError):
        return []
    return cast("list[dict[str, Any]]", found) if isinstance(found, list) else []


def _share(alternatives: Any, before: str) -> float | None:
    if not isinstance(alternatives, list):
        return None
    weight = {"answer": 0.0, "calls": 0.0}
    for option in cast("list[dict[str, Any]]", alternatives):
        text = str(option.get("token", ""))
        rest = text[len(before) :] if text.startswith(before) else ""
        for key in weight:
            if rest and (key.startswith(rest) or rest.startswith(key)):
                weight[key] += math.exp(float(option.get("logprob", -99.0)))
    total = sum(weight.values())
    return weight["answer"] / total if total else None
