"""Does every figure, date, time, id and quoted name of an answer come from somewhere?

Owes few false alarms: list numbers, places in an order, counts of things, units' "1", quoted examples in a
request for more information and the wording tasks (translate, write) are not claims.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..types import Declaration
from ..values import Fact, Number, date_parts, derivable, evaluate, facts_in, fold_id, fold_text, narrow
from .known import Known, matcher

if TYPE_CHECKING:
    from ..state import State

_FENCE = re.compile(r"```[\s\S]*?(?:```|$)")
_CITE = re.compile(
    r"(?<![\w\])])\s?\[\d{1,3}(?:\s?[,，、]\s?\d{1,3})*\]|(?<=[^\x00-\x7f\s])\[\d{1,3}\]|(?<=[a-z.])\[\d{1,3}\]"
)
_MARKER = re.compile(
    r"(?m)^[ \t>]*(?:[-*•]\s+)?(?:#{1,4}\s+)?(?:\*\*)?[(（]?(\d{1,2})(?:[.、](?!\d)|[)）])(?=[ \t]*\S)|[(（](\d{1,2})[)）](?=\s?[A-Za-z\u4e00-\u9fff])"
)
_STEP = re.compile(
    r"\b(?:step|option|part|example|note|tip|phase|case)s?\s+\d{1,2}\b|(?:步骤|选项|方案|示例|方法|情况)\s?\d{1,2}",
    re.I,
)
_LATEX = (
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\(?:text|mathrm|boxed|mathbf)\{([^{}]{0,80})\}"), r"\1"),
    (re.compile(r"\\[()\[\],;! ]|\\approx"), " "),
)
_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?\n]|\.(?=\s)|$)")
_WELL_KNOWN = re.compile(
    r"(?:https?|utf|iso|rfc|sha|aes|md|ipv|covid|gpt|python|windows|win|mp|html|css|x|base|utc|gmt|http|qwen|wd|a|b)[-_ ]?\d+\w*",
    re.I,
)
_EQUATION = re.compile(r"(?<![=<>!])(?:=|＝|等于|是|\bis\b|\bequals\b|≈)(?!=)\s*\**\s*(?:about\s|约\s?)?")
_WORD = re.compile(r"[a-z]{3,}|[\u4e00-\u9fff]{2}")
_DULL = set(
    "get the and for from with use tool when user one this that you can are not all any list find look give return show what does how value name text data information about current new".split()
)
_EQUATION_CONSTANTS = {2, 7, 12, 24, 30, 32, 52, 60, 100, 365, 1000, 1024, 3600}


def cleaned(answer: str) -> str:
    """Return the answer without what holds no claims: code blocks, list numbers, citations, formula markup."""
    text = _FENCE.sub(" ", answer)
    for pattern, to in _LATEX:
        text = pattern.sub(to, text)
    text = _CITE.sub(" ", _STEP.sub(" ", text))
    seen = {0}

    def marker(m: re.Match[str]) -> str:
        number = int(m[1] or m[2])
        if number - 1 not in seen:
            return m[0]
        seen.add(number)
        return " " * len(m[0])

    return _MARKER.sub(marker, text)


def wrong_sums(answer: str) -> list[tuple[str, Number]]:
    """Return the equations of an answer that do not hold, each with the right value."""
    from ..values import expressions

    out: list[tuple[str, Number]] = []
    text = re.sub(
        r"(\d\s?%)\s+of\s+(?=[$€£¥]?\s?\d)|(\d\s?[%％])的(?=\d)", lambda m: (m[1] or m[2]) + " * ", narrow(answer)
    )
    for start, end, value in expressions(text):
        m = (
            _EQUATION.match(text, end + len(text[end:]) - len(text[end:].lstrip(" *)`（(")))
            if end < len(text)
            else None
        )
        if not m or re.match(r"\d{4}-\d{1,2}-\d{1,2}", text[start:]):
            continue
        after = next((f for f in facts_in(text[m.end() : m.end() + 60]) if f.kind == "number"), None)
        if (
            after is None
            or after.start > 2
            or re.match(r"\s*(?:[-+*/×÷^%(]\s?\d|r\s?\d|remainder|余|\.{3}|…)", text[m.end() + after.end :])
        ):
            continue
        ratios = (1, 100) if after.unit == "%" else (1,)
        allowed = (
            after.step
            if after.step != 1 or "." in text[start:end] or "/" in text[start:end] or "÷" in text[start:end]
            else 0
        )
        if not any(
            abs(after.value - value * r) <= (allowed or 0)
            or (after.about and abs(after.value - value * r) * 20 <= abs(value * r))
            for r in ratios
        ):
            out.append((f"{text[start:end].strip()}", value))
    return out


def policy(known: Known, state: State) -> str:
    """Decide how strictly figures are looked at.

    `all` once a tool was asked: then what the answer says must be known. Before that `lookup`, when tools are
    there and the question asks for something only they can know, `sums` when the question gives a calculation,
    and else `none`: "the capital of France" or "translate this" may be answered from memory.
    """
    if known.observed:
        return "all"
    tools = [Declaration.of(t) for t in state.started_event.tools]
    if known.computed or matcher("strict_calculation_words").search(known.question):
        return "sums"
    if tools and (matcher("live_words").search(known.question) or _touches(known.question, tools)):
        return "lookup"
    return "none"


def _touches(question: str, tools: Sequence[Declaration]) -> bool:
    words = {w.rstrip("s") for w in _WORD.findall(question.lower())} - _DULL
    return any(
        words
        & (
            {w.rstrip("s") for w in _WORD.findall(f"{t.name.replace('_', ' ')} {t.description.split('.')[0]}".lower())}
            - _DULL
        )
        for t in tools
    )


class FigureCheck:
    """Finds the values of one answer that nothing in the run supports."""

    def __init__(self, known: Known, state: State) -> None:
        self.known = known
        self.mode = policy(known, state)
        question = known.question
        self.wording = bool(matcher("wording_words").search(question))
        self.relative = bool(matcher("relative_day_words").search(question))
        self.strict_sums = bool(matcher("strict_calculation_words").search(question))

    def unsupported(self, answer: str) -> list[Fact]:
        """Return the values without support, in order, each spelling once."""
        text = cleaned(answer)
        right = expected(self.known)
        if self.mode == "sums" and right is not None:
            if any(f.kind == "number" and _equal(f, Fact("number", "", value=right)) for f in facts_in(text)):
                return []  # the steps on the way are the model's own; `wrong_sums` looks at them
        elif self.mode == "none":
            return []
        # without a word of calculation a figure that merely could be computed from others is a made-up one
        counting = matcher("calculation_words").search(self.known.question + "\n" + text) or "=" in text
        self._depth = (1 if self.known.computed else 2) if counting else 0
        self._shifted = bool(matcher("timezone_words").search(self.known.question + "\n" + text))
        self._ours = self._equations(text)
        out: dict[str, Fact] = {}
        for fact in facts_in(text):
            if not self._supported(fact, text):
                out.setdefault(fact.text, fact)
        return list(out.values())

    def _equations(self, text: str) -> list[Fact]:
        """Right results of calculations that the answer itself writes out from known figures."""
        from ..values import expressions

        flat = re.sub(r"(\d\s?%)\s+of\s+(?=[$€£¥]?\s?\d)", r"\1 * ", narrow(text))
        out: list[Fact] = []
        for start, end, value in expressions(flat):
            operands = [f for f in facts_in(flat[start:end]) if f.kind == "number"]
            if all(f.value in _EQUATION_CONSTANTS or f.value == 1 or self._known(f) for f in operands):
                out.append(Fact("number", flat[start:end], value=value, step=0))
        return out

    def _supported(self, fact: Fact, text: str) -> bool:
        if fact.role in ("ordinal", "weak") or self._asks(fact, text):
            return True
        if fact.kind == "number":
            return self._number(fact, text)
        if self.mode == "sums":
            return True
        if fact.kind == "id":
            return self._id(fact)
        if fact.kind == "name":
            return self._name(fact)
        return self._date(fact) if fact.kind == "date" else self._time(fact)

    def _asks(self, fact: Fact, text: str) -> bool:
        """Whether the value is an example in a sentence that asks the user for something."""
        begin = max(text.rfind(c, 0, fact.start) for c in "。！？!?\n") + 1
        end = min((i for c in "。！？!?\n" if (i := text.find(c, fact.end)) >= 0), default=len(text))
        return bool(matcher("asking_words").search(text[begin:end])) and not self.known.results

    def _known(self, fact: Fact) -> bool:
        if self.known.holds(fact):
            return True
        return bool(fact.parts) and all(self.known.holds(Fact("number", str(p), value=p)) for p in fact.parts)

    def _number(self, fact: Fact, text: str) -> bool:
        value, bare = fact.value, not fact.unit
        if self._known(fact) or any(_equal(fact, f) for f in self._ours):
            return True
        if value == 1 and fact.unit not in ("C", "F", "°", "USD", "CNY", "EUR", "%"):
            return True
        if isinstance(value, int) and bare and (value == 0 or (0 < value <= 20 and value in self.known.counts)):
            return True
        if fact.unit == "%" and value == 100 and self.mode != "sums":
            return True
        if fact.unit in ("h", "day", "min") and (value, fact.unit) in (
            (24, "h"),
            (7, "day"),
            (365, "day"),
            (60, "min"),
        ):
            return True
        if len(str(value)) >= 7 and bare and str(value) in self.known.compact:
            return True
        return bool(derivable(fact, self.known.operands, self._depth)) or self._span(fact)

    def _span(self, fact: Fact) -> bool:
        """Whether a number is the time between two known dates or clock times."""
        if fact.unit in ("", "day", "week"):
            days = sorted(set(date_parts(self.known.facts)))[:40]
            scale = 7 if fact.unit == "week" else 1
            if any(abs(abs((a - b).days) - fact.value * scale) < scale for a in days for b in days if a != b):
                return True
        if fact.unit in ("h", "min"):
            clocks = [f.value for f in self.known.facts if f.kind == "time"][:40]
            minutes = {(a - b) % 720 for a in clocks for b in clocks} | {(a - b) % 1440 for a in clocks for b in clocks}
            return (
                any(
                    _equal(fact, Fact("number", "", value=m if fact.unit == "min" else m / 60, step=0))
                    for m in minutes - {0}
                )
                if False
                else any(
                    abs(fact.value * (60 if fact.unit == "h" else 1) - m) < 1
                    or (fact.unit == "min" and m % 60 == fact.value)
                    or (fact.unit == "h" and m // 60 == fact.value)
                    for m in minutes - {0}
                )
            )
        return False

    def _date(self, fact: Fact) -> bool:
        if self.known.holds(fact):
            return True
        year, month, day = fact.value
        without = Fact("date", fact.text, value=(None, month, day))
        if (
            year
            and month
            and self.known.holds(without)
            and self.known.holds(Fact("date", "", value=(year, None, None)))
        ):
            return True
        days = date_parts(self.known.facts)[:40]
        shifts = {
            int(f.value)
            for f in self.known.facts
            if f.kind == "number" and f.unit in ("day", "") and f.value == int(f.value) and 0 < f.value <= 1000
        }
        shifts |= {
            7 * int(f.value) for f in self.known.facts if f.kind == "number" and f.unit == "week" and 0 < f.value <= 200
        }
        if self.relative:
            shifts |= set(range(1, 15))
        for base in days:
            for shift in list(shifts)[:200]:
                for there in (base + dt.timedelta(shift), base - dt.timedelta(shift)):
                    if all(
                        a is None or a == b
                        for a, b in zip(fact.value, (there.year, there.month, there.day), strict=True)
                    ):
                        return True
            for f in self.known.facts:
                if f.unit in ("month", "year") and isinstance(f.value, int) and 0 < f.value <= 600 and month:
                    moved = base.year * 12 + base.month - 1 + f.value * (12 if f.unit == "year" else 1)
                    if (year is None or year == moved // 12) and month == moved % 12 + 1:
                        return True
        return False

    def _time(self, fact: Fact) -> bool:
        if self.known.holds(fact):
            return True
        clocks = [f.value for f in self.known.facts if f.kind == "time"][:40]
        if self._shifted and any((fact.value - c) % 30 == 0 for c in clocks):
            return True
        spans = [
            f.value * (60 if f.unit == "h" else 1)
            for f in self.known.facts
            if f.kind == "number" and f.unit in ("h", "min")
        ][:40]
        return any((fact.value - c - s) % 720 == 0 or (fact.value - c + s) % 720 == 0 for c in clocks for s in spans)

    def _id(self, fact: Fact) -> bool:
        if fact.value in self.known.compact or fold_id(fact.text) in self.known.compact:
            return True
        digits = sum(c.isdigit() for c in fact.text)
        if "@" in fact.text or "://" in fact.text or fact.text.startswith("www."):
            return self.mode == "lookup" and False
        return digits < 3 or bool(_WELL_KNOWN.fullmatch(fact.text)) or self.known.holds(fact)

    def _name(self, fact: Fact) -> bool:
        """Quoted words count as a name when tools gave results and nothing was to be worded or translated."""
        name = fact.value
        if not self.known.results or self.wording or len(name) < 2 or len(name) > 40 or name in self.known.folded:
            return True
        latin, han = bool(re.search("[a-z]", name)), bool(re.search("[\u4e00-\u9fff]", name))
        if not latin and not han:
            return True  # a quoted figure: judged as a figure
        words = re.findall(r"[a-z0-9]{2,}|[\u4e00-\u9fff]", name)
        if len(words) > 8 or sum(w in self.known.folded for w in words) * 2 >= len(words):
            return True
        same_script = "[a-z]{3}" if latin else "[\u4e00-\u9fff]{2}"
        results = fold_text("\n".join(o.content for _, o in self.known.results))
        body = re.sub(r'"[a-z_]+"\s?:', "", results)
        return not re.search(same_script, body)  # in the other script it may be a translation


def _equal(claimed: Fact, known: Fact) -> bool:
    from ..values import near

    return near(claimed, known.value) or (claimed.unit == "%" and near(claimed, known.value * 100))


def expected(known: Known) -> Number | None:
    """Return the value of the one calculation that the question asks for, if it is one."""
    values = {v for _, _, v in known.computed}
    return values.pop() if len(values) == 1 else None


def shown(value: Number) -> str:
    """Write an exact number for a model: whole numbers in full, others to six decimals at most."""
    return str(value) if isinstance(value, int) else f"{float(value):.6f}".rstrip("0").rstrip(".")


__all__ = ["FigureCheck", "cleaned", "evaluate", "expected", "policy", "shown", "wrong_sums"]
