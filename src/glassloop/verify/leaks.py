"""Does the answer pass on to the user what was meant for the model: the hint of an error, a correction's order?

A hint that a person can use ("known towns: Oslo, Lima", "try again in 5 minutes") may be repeated; an order that
speaks of tools, arguments or "the user" may not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from ..values import fold_text
from .known import Known, matcher

if TYPE_CHECKING:
    from ..state import State

_PART = re.compile(r"[.;:,!?\n。；：，！？]+\s*")
_LEAST_WORDS = 4
_LEAST_HAN = 6


def leaked(answer: str, known: Known, state: State) -> list[str]:
    """Return every piece of a hint or a correction that the answer repeats word for word."""
    said = fold_text(answer)
    asked = fold_text(known.question)
    out: list[str] = []
    for hint in _hints(state):
        for part in _PART.split(hint):
            folded = fold_text(part)
            if _long(folded) and folded in said and folded not in asked and matcher("inner_words").search(part):
                out.append(part.strip())
    return list(dict.fromkeys(out))


def _long(part: str) -> bool:
    han = len(re.findall("[\u4e00-\u9fff]", part))
    return han >= _LEAST_HAN or len(part.split()) >= _LEAST_WORDS


def _hints(state: State) -> Iterator[str]:
    for _, seen in state.observed:
        if seen.status != "ok":
            try:
                content: Any = json.loads(seen.content)
            except ValueError:
                continue
            if isinstance(content, dict) and (hint := cast("dict[str, Any]", content).get("hint")):
                yield str(hint)
    for message in state.messages:
        if message.kind == "correction":
            yield message.content
