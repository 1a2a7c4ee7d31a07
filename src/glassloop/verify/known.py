"""What a run knows: every value the user gave and the tools returned, as the verifier compares answers with it.

What the model itself wrote in this run (rejected answers, thoughts) and what it was told in corrections is
not known: a made-up figure does not become true by having been complained about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from ..prompts import LANGUAGES, load
from ..types import Observation, ToolCall
from ..values import Fact, Number, expressions, facts_in, facts_in_data, fold_id, fold_text, narrow, same
from .prose import spoken

if TYPE_CHECKING:
    from ..state import State

_MAX_DATA = 60_000
_MAX_OPERANDS = 300
_LABELS = {"n", "no", "id", "index", "rank", "page", "number", "ref", "passage", "score", "line"}
"""Keys whose figures are labels: nothing is computed from them."""


@cache
def matcher(key: str) -> re.Pattern[str]:
    """Compile a list of words from the verifier's texts, both languages together: answers mix them."""
    english, chinese = (cast("list[str]", load("verify", language)[key]) for language in ("en", "zh"))
    return re.compile(rf"\b(?:{'|'.join(english)})(?![A-Za-z])|{'|'.join(chinese)}", re.IGNORECASE)


def groups(key: str) -> dict[str, re.Pattern[str]]:
    """Compile a table of word groups from the verifier's texts, both languages together."""
    return dict(_groups(key))


@cache
def _groups(key: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    english, chinese = (cast("dict[str, str]", load("verify", language)[key]) for language in LANGUAGES)
    return tuple((name, re.compile(rf"(?<![A-Za-z])(?:{english[name]})|{chinese[name]}", re.I)) for name in english)


def soft_error(seen: Observation) -> bool:
    """Whether a result that came back well says itself that it is none: `{"error": …}`, `success: false`."""
    data = seen.data
    if data is None and seen.content.startswith("{"):
        try:
            data = json.loads(seen.content)
        except ValueError:
            return False
        if isinstance(data, dict):
            data = cast("dict[str, Any]", data).get("data", cast("Any", data))
    if isinstance(data, Mapping):
        found = cast("Mapping[str, Any]", data)
        return bool(found.get("error")) or found.get("success") is False or found.get("status") in ("error", "failed")
    return isinstance(data, str) and data[:6].lower() in ("error:", "error ")


def worked(seen: Observation) -> bool:
    """Whether an observation holds a result."""
    return seen.status == "ok" and not soft_error(seen)


def leaves(value: Any, depth: int = 0) -> Iterable[Any]:
    """Yield the plain values in arguments."""
    if depth > 20:
        return
    if isinstance(value, Mapping):
        for v in cast("Mapping[Any, Any]", value).values():
            yield from leaves(v, depth + 1)
    elif isinstance(value, (list, tuple)):
        for v in cast("Iterable[Any]", value):
            yield from leaves(v, depth + 1)
    elif value is not None and not isinstance(value, bool):
        yield value


def arguments_of(call: ToolCall, seen: Observation) -> dict[str, Any]:
    """Return the arguments a call ran with."""
    return seen.arguments if seen.arguments is not None else call.arguments


def has_tools(state: State) -> bool:
    """Whether the model may call anything: the `direct` strategy has tools declared and offers none."""
    return bool(state.started_event.tools) and state.started_event.strategy != "direct"


class Known:
    """The values of a run, read once for one verdict.

    Attributes:
        facts: All of them; what the user said first.
        counts: Numbers of things that can be counted in the run.
        operands: The facts that something may be computed from.
        observed: Whether any tool was asked and has answered, well or not.
        results: Whether any tool gave a result.
    """

    def __init__(self, state: State) -> None:
        start = state.started_event
        self.question = state.question
        self.results = [(c, o) for c, o in state.observed if worked(o)]
        self.observed = bool(state.observed) or bool(start.knowledge)
        self.operands: list[Fact] = []
        self._texts: list[str] = []
        self._distinct: dict[Any, Fact] = {}
        for text in (start.system, *(m.content for m in start.history), start.question):
            self._read(text)
        for message in state.messages:
            if message.kind == "knowledge":
                self.observed = True
                self._read(message.content)
        for passage in start.knowledge:
            self._read_data(passage)
        self._read_observations(state)
        self.computed = expressions(spoken(self.question))
        self._take([Fact("number", str(v), value=v) for _, _, v in self.computed])
        self.facts = list(self._distinct.values())
        self.counts = self._count(state)
        self._exact: dict[Any, list[Fact]] = {}
        for fact in self.facts:
            self._exact.setdefault(fact.value, []).append(fact)
        self._folded = ""
        self._compact = ""

    def _read_observations(self, state: State) -> None:
        seen_before: set[str] = set()
        for call, seen in state.observed:
            if worked(seen):
                self._read_data(arguments_of(call, seen))
            if seen.content in seen_before:
                continue
            seen_before.add(seen.content)
            # the data tells more than its text does; a figure found in both is one operand
            if seen.data is not None:
                self._read_data(seen.data)
            self._read(seen.content, operands=seen.data is None)

    def _read(self, text: str, *, operands: bool = True) -> None:
        if text:
            self._texts.append(text)
            self._take(facts_in(text), operands=operands)

    def _read_data(self, data: Any) -> None:
        try:
            text = json.dumps(data, ensure_ascii=False, default=str)
        except (ValueError, TypeError, RecursionError):
            text = str(data)
        self._texts.append(text[:_MAX_DATA])
        self._take(facts_in_data(data))

    def _take(self, facts: Sequence[Fact], *, operands: bool = True) -> None:
        for f in facts:
            self._distinct.setdefault((f.kind, f.value, f.unit, f.role, f.parts), f)
        if operands and len(self.operands) < _MAX_OPERANDS:
            self.operands += [f for f in facts if f.role == "figure" and f.key.lower() not in _LABELS]

    def _count(self, state: State) -> set[Number]:
        """Numbers of things: list lengths, calls, results of each tool, things named side by side in the question."""
        counts: set[Number] = {f.value for f in self.facts if f.role == "count"}
        names = [o.name for _, o in state.observed]
        good = [o.name for _, o in self.results]
        for group in (names, good):
            counts |= {len(group), len(set(group)), *(group.count(n) for n in set(group))}
        counts.add(len(names) - len(good))
        listed = re.findall(r"、|，|,|;|；|\band\b|\bor\b|和|与|及|或|\bvs\b", self.question)
        return counts | set(range(1, len(listed) + 2)) if listed else counts

    @property
    def folded(self) -> str:
        """All known text, folded for looking up words."""
        if not self._folded:
            self._folded = "\n".join(fold_text(t) for t in self._texts)
        return self._folded

    @property
    def compact(self) -> str:
        """All known text without separators, for looking up ids."""
        if not self._compact:
            self._compact = fold_id(narrow("\n".join(self._texts)))
        return self._compact

    def holds(self, fact: Fact) -> bool:
        """Whether a value is known as it is, or rounded, or written differently."""
        near = self._exact.get(fact.value)
        return (near is not None and any(same(fact, k) for k in near)) or any(same(fact, k) for k in self.facts)
