"""Does every figure, date, time, id and quoted name of an answer come from somewhere?

Owes few false alarms: list numbers, places in an order, counts of things, a unit's "1", examples in a
request for more information and the wording tasks (translate, write) are not claims.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..types import Declaration
from ..values import Fact, date_follows, derivable, facts_in, fold_id, fold_text, span_follows, time_follows
from .known import Known, matcher
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
_SENTENCE_ENDS = "。！？!?\n"


def policy(known: Known, state: State) -> str:
    """Decide how strictly figures are looked at.

    `all` once a tool was asked: then what the answer says must be known. Before that `sums` when the question
    gives a calculation, `lookup` when tools are there and the question asks for something only they can know,
    and else `none`: "the capital of France" or "translate this" may be answered from memory.
    """
    if known.observed:
        return "all"
    if known.computed or matcher("strict_calculation_words").search(known.question):
        return "sums"
    tools = [Declaration.of(t) for t in state.started_event.tools]
    if tools and (matcher("live_words").search(known.question) or _touches(known.question, tools)):
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
        self.wording = bool(matcher("wording_words").search(known.question))
        self.nearby = 14 if matcher("relative_day_words").search(known.question) else 0
        self.zones = bool(matcher("timezone_words").search(around))
        # without a word of calculation a figure that merely could be computed from others is a made-up one
        counting = matcher("calculation_words").search(around) or "=" in self.text
        self.depth = (1 if known.computed else 2) if counting else 0
        self.rates = bool(matcher("rate_words").search(known.question))
        self.proven = proven(self.text, known)

    def unsupported(self) -> list[Fact]:
        """Return the values without support, in order, each spelling once."""
        facts = facts_in(self.text)
        right = expected(self.known)
        if self.mode == "sums" and right is not None:
            result = Fact("number", "", value=right)
            if any(f.kind == "number" and equal(f, result) for f in facts):
                return []  # the steps on the way are the model's own; `wrong_sums` looks at them
        elif self.mode == "none":
            return []
        return list({f.text: f for f in reversed(facts) if not self._supported(f)}.values())[::-1]

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
        begin = max(self.text.rfind(c, 0, fact.start) for c in _SENTENCE_ENDS) + 1
        ends = [i for c in _SENTENCE_ENDS if (i := self.text.find(c, fact.end)) >= 0]
        sentence = self.text[begin : min(ends, default=len(self.text))]
        return not self.known.results and bool(matcher("asking_words").search(sentence))

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
        operands = known.operands + (_PERIODS if self.rates else [])
        return bool(derivable(fact, operands, self.depth)) or span_follows(fact, known.facts)

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
