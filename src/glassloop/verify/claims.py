"""Was everything that the answer says was sent, created, deleted, paid or changed really done?"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, cast

from ..prompts import load
from ..types import Declaration
from .known import Known, groups, matcher, worked

if TYPE_CHECKING:
    from ..state import State

_SATISFIES = {"send": {"send"}, "make": {"make", "change", "pay"}, "undo": {"undo"}, "pay": {"pay", "make"}}
_SATISFIES["change"] = {"change", "make", "undo"}


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    english = cast("dict[str, str]", load("verify", "en")["claims"])
    chinese = cast("dict[str, str]", load("verify", "zh")["claims"])
    adverbs = r"(?:\s+(?:now|just|already|successfully|also))*"
    out: list[tuple[str, re.Pattern[str]]] = []
    for family, done in english.items():
        words = chinese[family]
        forms = (
            rf"\b(?:I|we)(?:['’]ve|\s+have)?{adverbs}\s+(?:{done})\b",
            rf"\b(?:has|have|['’]s){adverbs}\s+been{adverbs}\s+(?:{done})\b",
            rf"\b(?:was|were){adverbs}\s+(?:{done})\b",
            rf"\bsuccessfully\s+(?:{done})\b|\b(?:{done})\s+successfully\b",
            rf"^\W*(?:the |your |an? )?(?:\w+ ){{1,3}}(?:{done})(?=[.!:,\s]*(?:$|to\b|for\b|[.!:]))",
            rf"已(?:经)?(?:成功)?(?:[为帮给向将把][^，。,；]{{1,24}}?)?(?:{words})",
            rf"成功(?:地)?(?:[为帮给向将把][^，。,；]{{1,24}}?)?(?:{words})|(?:{words})[^，。,；]{{0,12}}?(?:成功|完成|完毕|好了)",
            rf"(?:我|帮您|为您|帮你|为你)[^，。,；]{{0,20}}?(?:{words})了",
        )
        out.append((family, re.compile("|".join(forms), re.IGNORECASE)))
    return tuple(out)


def empty_claims(answer: str, known: Known, state: State) -> list[str]:
    """Return the words of every claim of a deed that no tool did."""
    done, tried = _deeds(state)
    if state.started_event.history and not state.observed and not state.started_event.tools:
        return []
    result_text = "\n".join(o.content for _, o in known.results)
    out: list[str] = []
    for clause in _clauses(answer):
        for family, pattern in _patterns():
            m = pattern.search(clause)
            if not m or done & _SATISFIES[family] or "any" in done:
                continue
            if matcher("claim_negations").search(clause[: m.end()]) or re.search(
                r"[?？]\s*$|未|没|失败|\bnot\b|n['’]t\b", clause
            ):
                continue
            words = groups("families")[family]
            stated = bool(words.search(result_text)) or bool(groups("claims")[family].search(result_text))
            told = m[0].strip().casefold() in known.folded
            if not tried & _SATISFIES[family] and (stated or told):
                continue  # the data says that somebody did it
            out.append(m[0].strip())
    return list(dict.fromkeys(out))


def _deeds(state: State) -> tuple[set[str], set[str]]:
    """Return the families of what was done, and of what was tried and not done."""
    tools = {t.name: t for t in (Declaration.of(d) for d in state.started_event.tools)}
    done: set[str] = set()
    tried: set[str] = set()
    for _, seen in state.observed:
        tool = tools.get(seen.name)
        found = {name for name, words in groups("families").items() if words.search(seen.name.replace("_", " "))}
        if not found and tool and tool.risk != "read":
            found = {name for name, words in groups("families").items() if words.search(tool.description)} or {"any"}
        (done if worked(seen) else tried).update(found)
    return done, tried


def _clauses(answer: str) -> list[str]:
    """Split into sentences; a comma splits only Chinese, where a negation reaches no further."""
    parts = re.split(r"(?<=[。！？!?\n;；，])|(?<=[.:])\s", answer)
    return [p for p in parts if p.strip()]
