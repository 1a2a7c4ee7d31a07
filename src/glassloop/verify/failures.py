"""Is every failure that was not overcome told, and told of the right thing?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, cast

from ..prompts import load
from ..types import Declaration, Observation, ToolCall
from ..values import evaluate, facts_in, fold_text, near
from .known import Known, arguments_of, leaves, matcher, worked

if TYPE_CHECKING:
    from ..state import State

_SENTENCE_END = re.compile(r"[。！？!?\n;；]|\.(?=\s|$)|(?<=[a-z]), (?:but|while|whereas) |，(?:但是?|不过|而)")
_CANNED = re.compile(
    "|".join(cast("str", load("verify", language)["canned_refusal"]) for language in ("en", "zh")), re.I
)
_BARE_NUMBER = re.compile(r"[-+]?[\d.,]+")
_WORDED = frozenset("query q search text keywords keyword expression question prompt sql code pattern formula".split())
"""Arguments that hold the model's own words: another value of one is the same wish put differently."""
_ALIKE = 0.7
_COMMON = frozenset(
    "get set find search look fetch query list check show read send create delete make add update remove run do the of "
    "by for latest current".split()
)


def untold(answer: str, known: Known, state: State) -> list[tuple[ToolCall, Observation]]:
    """Return the calls that failed, were denied or stayed unknown, were not overcome, and are not told as such."""
    offered = {Declaration.of(t).name for t in state.started_event.tools}
    failed: dict[str, tuple[int, ToolCall, Observation]] = {}
    for place, (call, seen) in enumerate(state.observed):
        if seen.status == "error" and not seen.ran:
            continue  # it was sent back before it reached the tool: nothing failed
        if not worked(seen) and (seen.name in offered or not offered):
            failed[f"{seen.name}{sorted(_subject(call, seen))}"] = (place, call, seen)
    out: list[tuple[ToolCall, Observation]] = []
    sentences = [s for s in _SENTENCE_END.split(_CANNED.sub(" ", answer).replace("’", "'")) if s.strip()]
    telling = [s for s in sentences if matcher("failure_words").search(s)]
    asking = bool(re.search(r"[?？]\s*$", answer.strip())) or bool(matcher("asking_words").search(answer))
    for place, call, seen in failed.values():
        if _overcome(place, call, seen, known, state, answer):
            continue
        if seen.status == "error" and asking:
            continue  # it asks the user for what was missing
        if not any(_tells(s, call, seen, known) for s in telling):
            out.append((call, seen))
    return out


def subject_of(call: ToolCall, seen: Observation) -> str:
    """Return what a call was about, for a sentence: its arguments, shortened."""
    return ", ".join(str(v)[:40] for v in leaves(arguments_of(call, seen)))[:80]


def reason_of(seen: Observation) -> str:
    """Return why a call failed, in one short line."""
    try:
        content: Any = json.loads(seen.content)
    except ValueError:
        content = seen.content
    if isinstance(content, dict):
        found = cast("dict[str, Any]", content)
        inner: Any = found.get("data")
        inner = cast("dict[str, Any]", inner).get("error") if isinstance(inner, dict) else inner
        content = found.get("reason") or found.get("error") or inner
    return re.sub(r"\s+", " ", str(content or seen.status)).strip(" .。")[:140]


def _subject(call: ToolCall, seen: Observation) -> set[str]:
    return {fold_text(str(v)) for v in leaves(arguments_of(call, seen))}


def _overcome(place: int, call: ToolCall, seen: Observation, known: Known, state: State, answer: str) -> bool:
    """Whether something made up for a failure.

    That is a later success of the same tool with the same subject, the same call that had worked before, or a
    later success of another tool that gives the same thing (its name, its description or its result names what
    the failed tool is called after) for the same subject. `stock(cable)` says nothing about `price(cable)`.
    """
    question = fold_text(known.question)
    subject = _subject(call, seen)
    wanted = {s for s in subject if s and s in question and not matcher("relative_day_words").search(s)}
    if not wanted:
        wanted = {s for s in subject if s and s in question}
    for other, (later, result) in enumerate(state.observed):
        if not worked(result) or other == place:
            continue
        if result.name == seen.name:
            if later.key == call.key or (other > place and _same_subject(call, seen, later, result, wanted, question)):
                return True
        elif other > place and wanted and _covers(_subject(later, result), wanted) and _gives(seen, result, state):
            return True
    if seen.status == "error":  # a calculator that failed, and a calculation that is right all the same
        for text in subject:
            value = None if _BARE_NUMBER.fullmatch(text.strip()) else evaluate(text)  # alone it calculates nothing
            if value is not None and any(f.kind == "number" and near(f, value) for f in facts_in(answer)):
                return True
    return False


def _same_subject(
    call: ToolCall, seen: Observation, later: ToolCall, result: Observation, wanted: set[str], question: str
) -> bool:
    """Whether a later call of one tool asks for what an earlier one asked for in vain."""
    done, asked = _subject(later, result), arguments_of(call, seen)
    if wanted and _covers(done, wanted):
        return True
    # the model's own slip or wording, which a later try made good: a query put in other words (and not the user's
    # words for something else), a name spelt right, the name as the user wrote it
    if _WORDED & {k.lower() for k in asked}:
        return not wanted or not any(d in question for d in done)
    if wanted:
        return False
    if not asked or set(asked) != set(arguments_of(later, result)):
        return True
    failed = _subject(call, seen)
    return any(d in question for d in done if len(d) > 1) or all(
        any(f in d or d in f or SequenceMatcher(None, f, d).ratio() >= _ALIKE for d in done) for f in failed
    )


def _gives(seen: Observation, result: Observation, state: State) -> bool:
    """Whether another tool's result is what the failed tool was to give."""
    things = {w.rstrip("s") for w in _words(seen.name)}
    described = next(
        (d.description for d in map(Declaration.of, state.started_event.tools) if d.name == result.name), ""
    )
    keys = re.findall(r'"([A-Za-z_]+)"\s*:', result.content)
    told = {w.rstrip("s") for text in (result.name, described.split(".")[0], *keys) for w in _words(text)}
    return bool(things & told)


def _covers(done: Iterable[str], wanted: set[str]) -> bool:
    have = list(done)
    return all(any(w in d or (d and d in w) or _figures(w) & _figures(d) for d in have) for w in wanted)


def _figures(text: str) -> set[Any]:
    return {f.value for f in facts_in(text) if f.kind == "number" and f.role == "figure"}


def _tells(sentence: str, call: ToolCall, seen: Observation, known: Known) -> bool:
    """Whether a sentence with a word of failure speaks of this call, or at least of no call that worked."""
    if not known.results:
        return True
    folded = fold_text(sentence)
    if any(_mentions(folded, s) for s in _subject(call, seen) | _words(seen.name)):
        return True
    return not any(
        _mentions(folded, s)
        for other, result in known.results
        for s in _subject(other, result) | (_words(result.name) if result.name != seen.name else set[str]())
    )


def _words(name: str) -> set[str]:
    return {w for w in re.findall(r"[a-z]{3,}", name.lower()) if w not in _COMMON}


def _mentions(folded: str, subject: str) -> bool:
    if len(subject) < 2:
        return False
    if subject in folded or subject.removesuffix("市") in folded:
        return True
    words = re.findall(r"[a-z]{4,}", subject)
    return bool(words) and sum(w in folded for w in words) * 2 > len(words)
