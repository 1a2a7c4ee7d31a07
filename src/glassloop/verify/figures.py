"""Does every figure, date, time, id and quoted name of an answer come from somewhere?

Owes few false alarms: list numbers, places in an order, counts of things, a unit's "1", examples in a
request for more information and the wording tasks (translate, write) are not claims.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..types import Declaration
from ..values import (
    SHORT,
    Fact,
    Number,
    compatible,
    date_follows,
    derivable,
    facts_in,
    fold_id,
    fold_text,
    near,
    same,
    span_follows,
    time_follows,
)
from .known import Known, has_tools, matcher
from .prose import claims_only, spoken
from .sums import CONSTANTS, equal, expected, proven

if TYPE_CHECKING:
    from ..state import State

_WELL_KNOWN = re.compile(
    r"(?:https?|utf|iso|rfc|sha|aes|md|ipv|covid|gpt|python|windows|win|mp|html|css|x|base|utc|gmt|qwen)[-_ ]?\d+\w*",
    re.I,
)
_WORD = re.compile(r"[a-z]{3,}|[\u4e00-\u9fff]{2}")
_DULL = frozenset(
    "the get and for from with use tool when user one this that you can are not all any list find look give gives "
    "return show what does how value name text data information about current new evaluate".split()
)
_ROUND_SPANS = {(24, "h"), (7, "day"), (365, "day"), (60, "min"), (12, "month")}
_PERIODS = [Fact("number", str(n), value=n) for n in (7, 12, 24, 52, 60, 365)]
_SENTENCE_END = re.compile(r"[。！？!?\n]|\.(?=\s)(?<!e\.g\.)(?<!i\.e\.)")


def policy(known: Known, state: State) -> str:
    """Decide how strictly figures are looked at.

    `all` once a tool was asked: then what the answer says must be known. Before that `sums` when the question
    gives a calculation, `lookup` when tools are there and the question asks for something only they can know
    (without a way to call them, only what changes by the hour), and else `none`: "the capital of France" or
    "translate this" may be answered from memory.
    """
    if known.observed:
        return "all"
    if known.computed or matcher("strict_calculation_words").search(known.question):
        return "sums"
    tools = [Declaration.of(t) for t in state.started_event.tools]
    live = bool(matcher("live_words").search(known.question))
    bare = state.started_event.strategy == "direct"  # it declares none, and must say what it cannot look up
    if (live and (tools or bare)) or (tools and has_tools(state) and _touches(known.question, tools)):
        return "lookup"
    return "none"


def _touches(question: str, tools: Sequence[Declaration]) -> bool:
    """Whether the question shares a word that matters with a tool's name or first sentence."""
    asked = _words(question)
    return any(asked & _words(f"{t.name.replace('_', ' ')} {t.description.split('.')[0]}") for t in tools)


def _words(text: str) -> set[str]:
    return {w.rstrip("s") for w in _WORD.findall(text.lower()) if w not in _DULL}


class FigureCheck:
    """Finds the values of one answer that nothing in the run supports.

    Args:
        answer: The candidate answer.
        known: What the run knows.
        state: The run, for its tools.
    """

    def __init__(self, answer: str, known: Known, state: State) -> None:
        self.known = known
        self.mode = policy(known, state)
        self.text = spoken(claims_only(answer))
        around = known.question + "\n" + self.text
        spaced = matcher("next_day_words").sub(" ", known.question)
        self.wording = bool(matcher("wording_words").search(known.question))
        self.nearby = 14 if matcher("relative_day_words").search(spaced) else 2 if spaced != known.question else 0
        self.zones = bool(matcher("timezone_words").search(around))
        self.asked_to_count = bool(matcher("calculation_words").search(known.question))
        self.rates = bool(matcher("rate_words").search(known.question))
        self.proven = proven(self.text, known)
        self.facts = facts_in(self.text)
        self.operands = self._operands()

    def unsupported(self) -> list[Fact]:
        """Return the values without support, in order, each spelling once."""
        facts = self.facts
        right = expected(self.known)
        if self.mode == "sums" and right is not None:
            result = Fact("number", "", value=right)
            if any(f.kind == "number" and equal(f, result) for f in facts):
                return []  # the steps on the way are the model's own; `wrong_sums` looks at them
        elif self.mode == "none":
            return []
        unknown: dict[str, Fact] = {}
        for fact in facts:  # in order: what has been computed may be computed with
            if not self._supported(fact):
                unknown.setdefault(fact.text, fact)
        return list(unknown.values())

    def _supported(self, fact: Fact) -> bool:
        if fact.role in ("ordinal", "weak") or self._example(fact):
            return True
        if fact.kind == "number":
            return self._number(fact)
        if self.mode == "sums" or self.known.holds(fact):
            return True
        return {"id": self._id, "name": self._name, "date": self._date, "time": self._time}[fact.kind](fact)

    def _example(self, fact: Fact) -> bool:
        """Whether the value is an example in a sentence that asks the user for something."""
        return not self.known.results and bool(matcher("asking_words").search(self._sentence(fact)))

    def _sentence(self, fact: Fact) -> str:
        """The sentence that a value stands in."""
        begin = max((m.end() for m in _SENTENCE_END.finditer(self.text, 0, fact.start)), default=0)
        end = _SENTENCE_END.search(self.text, fact.end)
        return self.text[begin : end.start() if end else len(self.text)]

    def _operands(self) -> list[Fact]:
        """The figures that something in this answer may be computed from.

        Of many figures two can be found for any value, so only few count: all of them when the run knows few,
        else those that the question or the answer itself names, and the members of one column.
        """
        known = [f for f in self.known.operands if f.kind == "number"]
        if len({f.value for f in known}) <= SHORT:
            return known
        said = [f for f in (*facts_in(self.known.question), *self.facts) if f.kind == "number" and f.role == "figure"]
        named = [f for f in known if any(same(s, f) for s in said)]
        return named if len({f.value for f in named}) <= 2 * SHORT else []

    def _depth(self, fact: Fact) -> int:
        """How many operations may lie between the known figures and this one.

        Without a word of calculation beside it or in the question, a figure that merely could be computed from
        others is a made-up one.
        """
        sentence = self._sentence(fact)
        if self.asked_to_count or "=" in sentence or matcher("calculation_words").search(sentence):
            return 1 if self.known.computed else 2
        return 0

    def _number(self, fact: Fact) -> bool:
        value, known = fact.value, self.known
        if known.holds(fact) or any(equal(fact, p) for p in self.proven):
            return True
        if value in CONSTANTS and any(p.start <= fact.start < p.end for p in self.proven):
            return True  # the 9/5 of a conversion that is written out
        if fact.parts and all(known.holds(Fact("number", str(p), value=p)) for p in fact.parts):
            return True
        if value == 1 and fact.unit not in ("C", "F", "°", "USD", "CNY", "EUR", "GBP", "%"):
            return True
        if not fact.unit and isinstance(value, int):
            if value == 0 or (0 < value <= 20 and value in known.counts):
                return True
            if value >= 10**6 and str(value) in known.compact:
                return True
        if (value, fact.unit) in _ROUND_SPANS or (value == 100 and fact.unit == "%" and self.mode != "sums"):
            return True
        depth = self._depth(fact)
        operands = self.operands + (_PERIODS if self.rates else [])
        if derivable(fact, operands, depth) or (depth and self._column(fact)):
            if len(self.operands) < 2 * SHORT:
                self.operands = [*self.operands, fact]  # "come to $340, which is $40 more than 300"
            return True
        if derivable(fact, known.operands, 0):
            return True
        return bool(fact.unit or depth) and span_follows(fact, known.facts)

    def _column(self, fact: Fact) -> bool:
        """Whether a figure is the total or the mean of all that one key holds."""
        columns: dict[str, list[Number]] = {}
        for known in self.known.operands:
            if known.kind == "number" and known.key and compatible(fact.unit, known.unit):
                columns.setdefault(known.key, []).append(known.value)
        sums = [(sum(values), len(values)) for values in columns.values() if len(values) > 1]
        return any(near(fact, total) or near(fact, Fraction(total) / count) for total, count in sums)

    def _date(self, fact: Fact) -> bool:
        year, month, day = fact.value
        if year and month:  # the day from here, the year from there
            rest = Fact("date", fact.text, value=(None, month, day))
            if self.known.holds(rest) and self.known.holds(Fact("date", "", value=(year, None, None))):
                return True
        return date_follows(fact, self.known.facts, nearby=self.nearby)

    def _time(self, fact: Fact) -> bool:
        return time_follows(fact, self.known.facts, zones=self.zones)

    def _id(self, fact: Fact) -> bool:
        if fact.value in self.known.compact or fold_id(fact.text) in self.known.compact:
            return True
        if "@" in fact.text or "://" in fact.text or fact.text.startswith("www."):
            return False
        return sum(c.isdigit() for c in fact.text) < 3 or bool(_WELL_KNOWN.fullmatch(fact.text))

    def _name(self, fact: Fact) -> bool:
        """Quoted words count as a name when tools gave results and nothing was to be worded or translated."""
        name = fact.value
        if not self.known.results or self.wording or not 2 <= len(name) <= 40 or name in self.known.folded:
            return True
        latin, han = re.search("[a-z]", name), re.search("[\u4e00-\u9fff]", name)
        if not latin and not han:
            return True  # a quoted figure: judged as a figure
        words = re.findall(r"[a-z0-9]{2,}|[\u4e00-\u9fff]", name)
        if latin and han and any(w in self.known.folded for w in words if len(w) > 2):
            return True  # half translated
        if len(words) > 8 or sum(w in self.known.folded for w in words) * 2 >= len(words):
            return True
        # where no result is written in the name's script, it may be a translation
        results = re.sub(r'"[a-z_]+"\s?:', "", fold_text("\n".join(o.content for _, o in self.known.results)))
        return not re.search("[a-z]{3}" if latin else "[\u4e00-\u9fff]{2}", results)
