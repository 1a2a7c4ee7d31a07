"""No invented arguments: each value of a call is traced to where it comes from.

Sources are the question, the conversation, observations, and what the schema lists.
`sources_of` says for each string, number and date where it comes from; `policy_verdict` whether the call may go
on; `tainted` which values only an observation gave, which is how an instruction hidden in a page shows.
A value may be written differently than where it was found, follow by simple arithmetic, or be a name in the
other script; what is found nowhere has the origin `none`.
"""

from __future__ import annotations

import datetime as dt
import enum
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ..prompts import text as words
from ..types import Declaration, Source
from ..values import Fact, as_number, date_parts, derivable, facts_in, fold_id, near, same
from .leaves import leaves_of, listed
from .origins import Origin, folded_text, origins_of

_HAN, _LATIN = re.compile(r"[\u3400-\u9fff]"), re.compile(r"[A-Za-z]")
_EXPRESSION = re.compile(r"(?:[\d\s.,+\-*/×÷·−%^()$€£¥]|\b[xX]\b|sqrt|round|abs|min|max|sum|pow|log|ln|sin|cos|pi)+")
_OPERATOR = re.compile(r"[+*/×÷·−%^(]|\d\s*-|\b[xX]\b")
_ADDRESS = re.compile(r"@|://|^www\.")
_SUFFIX = re.compile(r"(?:特别行政区|自治区|市|省|县|区|镇)$|\s+(?:city|county|province)$")
_RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|next|last|this|in \w+ days?|weeks?|days?)"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|今天|今晚|明天|后天|昨天|前天|周|星期|礼拜|天后|日后|下个?月|月底|月初",
    re.I,
)
_STOP = frozenset(
    "the and for with that this from have has are was were will would can could should please dear hello hey "
    "regards best thanks thank sincerely you your yours our their his her its all any not but about into just let know "
    "hope well there here then them they she him who what when where which also been being did does done some".split()
)
_STOP_HAN = "的了吗呢吧啊我你您他她它们在是和与及给请把将就也都要会能可以一下这那有对为到从并且或者您好谢"
_PLURAL = ((re.compile(r"ies$"), "y"), (re.compile(r"(?<=[sxzh])es$"), ""), (re.compile(r"(?<=[a-z])s$"), ""))


def sources_of(arguments: Mapping[str, Any], declaration: Declaration, state: Any) -> tuple[Source, ...]:
    """Trace every string, number and date of a call's arguments.

    Args:
        arguments: The final arguments, after casting.
        declaration: The tool's declaration; what its schema lists needs no other source.
        state: The run so far: anything with `question`, `messages` and `observed`.

    Returns:
        One source for each leaf, in order: `origin` is `question`, `history`, `observation`, `schema`, `derived`,
        `translated` or `none`; `where` and `span` say which text and which characters.
    """
    trace = _Trace(origins_of(state))
    return tuple(
        trace.source(path, value, schema) for path, value, schema in leaves_of(arguments, declaration.parameters)
    )


def tainted(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the values that come only from observations, and not from the user."""
    return tuple(
        s
        for s in sources
        if s.origin == "observation"
        or (s.origin == "derived" and s.where.startswith(("observation", "passage", "knowledge")))
    )


def policy_verdict(sources: Iterable[Source], policy: str, *, told: bool = False) -> bool:
    """Say whether a call may go on.

    Args:
        sources: From `sources_of`.
        policy: `note` lets everything pass, `correct` sends values without a source back once, any other
            word refuses them.
        told: Whether the model has been told already.
    """
    if policy == "note" or not any(s.origin == "none" for s in sources):
        return True
    return policy == "correct" and told


def examples_taken(sources: Iterable[Source], declaration: Declaration) -> tuple[Source, ...]:
    """Return the values that come from nowhere but an example in the argument's own description."""
    properties = declaration.parameters.get("properties", {})
    out: list[Source] = []
    for source in sources:
        described = properties.get(source.path.split(".")[0].split("[")[0], {})
        shown = (
            str(cast("Mapping[str, Any]", described).get("description", "")) if isinstance(described, Mapping) else ""
        )
        if source.origin in ("none", "translated") and str(source.value) and str(source.value) in shown:
            out.append(source)
    return tuple(out)


def explain_sources(sources: Iterable[Source], language: str) -> str:
    """Name the values that have no source, for the model."""
    lost = [s for s in sources if s.origin == "none"]
    items = [words("provenance", language, "item", path=s.path, value=_short(s.value)) for s in lost[:4]]
    if len(lost) > 4:
        items.append(words("provenance", language, "more", count=len(lost) - 4))
    return words("provenance", language, "no_source", items=", ".join(items))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + '…"'


class _Trace:
    """The origins of one run, asked for one value after the other."""

    def __init__(self, origins: Sequence[Origin]) -> None:
        self.origins = origins
        self.question = origins[0].text if origins else ""

    def source(self, path: str, value: Any, schema: Mapping[str, Any]) -> Source:
        """Find where a value comes from."""
        plain = _plain(value)
        if isinstance(value, (bool, enum.Enum)) or listed(plain, schema):
            return Source(path, plain, "schema")
        number = as_number(plain)
        found = self._number(number) if number is not None else self._text(str(plain))
        kind, where, span = found or ("none", "", ())
        return Source(path, plain, kind, where, span)

    # -- numbers ---------------------------------------------------------------------------------

    def _number(self, value: Any, *, written: bool = False) -> _Found | None:
        """Find a figure; `written` when the argument is a text, where "420" is not the id "00420"."""
        claimed = Fact("number", str(value), value=value, step=0)
        for origin in self.origins:
            for fact in origin.facts:
                if fact.kind == "number" and fact.value == value or value in fact.parts:
                    return _place(origin, fact, origin.kind)
                if fact.kind == "date" and value in fact.value:
                    return _place(origin, fact, "derived")
        for origin in self.origins:
            for fact in origin.facts:
                if not written and fact.kind == "id" and fact.value.isdigit() and int(fact.value) == value:
                    return _place(origin, fact, "derived")
                if fact.kind == "number" and (fact.value == -value or _rounded(value, fact) or _share(value, fact)):
                    return _place(origin, fact, "derived")
                if fact.kind == "time" and value in (fact.value, fact.value // 60, fact.value % 60):
                    return _place(origin, fact, "derived")
        if value == 1 and self.question:  # "a", "an", one named thing
            return "derived", "question", ()
        if isinstance(value, int) and abs(value) < 10:
            return None  # too small to tell arithmetic from chance
        return self._computed(claimed)

    def _computed(self, claimed: Fact) -> _Found | None:
        known: list[Fact] = []
        for origin in self.origins:
            known += [f for f in origin.facts if f.kind == "number"]
            if known and (derivable(claimed, known, 1) or _converted(claimed, known)):
                return "derived", origin.where, ()
        return None

    # -- texts -----------------------------------------------------------------------------------

    def _text(self, value: str) -> _Found | None:
        stripped = value.strip()
        if not stripped:
            return "schema", "", ()
        return (
            self._verbatim(stripped)
            or self._respelled(stripped)
            or self._expression(stripped)
            or self._figures_only(stripped)
            or self._prose(stripped)
            or self._translated(stripped)
        )

    def _verbatim(self, value: str) -> _Found | None:
        folded = folded_text(value)
        for origin in self.origins:
            if span := origin.find(folded):
                return origin.kind, origin.where, span
        return None

    def _respelled(self, value: str) -> _Found | None:
        """The same with another ending, other separators, or only its first part."""
        folded = folded_text(value)
        forms = [_SUFFIX.sub("", folded)]
        forms += [pattern.sub(to, folded) for pattern, to in _PLURAL]
        forms += [folded + "s", re.sub(r"[\s_-]+", " ", folded), re.sub(r"[\s_-]+", "-", folded)]
        if not _ADDRESS.search(value):
            forms += [p.strip().replace("_", " ") for p in re.split(r"[,/，]", folded) if len(p.strip()) > 2][:4]
        forms = [f for f in dict.fromkeys(forms) if f != folded and len(f) > 1]
        for origin in self.origins:
            for form in forms:
                if span := origin.find(form):
                    return "derived" if origin.kind != "observation" else "observation", origin.where, span
        compact = fold_id(value)
        if len(compact) >= 3 and re.search(r"\d", compact):
            for origin in self.origins:
                for fact in origin.facts:
                    written = fact.text if fact.kind in ("id", "number") else ""
                    known = fold_id(written)
                    # a phone number may be given with or without its country code
                    if known == compact or (compact.isdigit() and len(compact) >= 8 and known.endswith(compact)):
                        return _place(origin, fact, origin.kind)
        return None

    def _expression(self, value: str) -> _Found | None:
        if not _EXPRESSION.fullmatch(value) or not _OPERATOR.search(value) or not re.search(r"\d", value):
            return None
        numbers = [
            f for f in facts_in(re.sub(r"(?<=\d)[-−](?=\d)", " - ", value)) if f.kind in ("number", "date", "id")
        ]
        found = [self._number(f.value) if f.kind == "number" else self._verbatim(f.text) for f in numbers]
        if not numbers or not all(found):
            return None
        last = next((f for f in found if f and f[0] == "observation"), found[0])
        return ("derived", last[1], last[2]) if last else None

    def _figures_only(self, value: str) -> _Found | None:
        """A text that is nothing but a figure, a date or a time, written differently."""
        facts = [f for f in facts_in(value) if f.kind in ("number", "date", "time")]
        rest = value
        for fact in facts:
            rest = rest.replace(fact.text, " ", 1)
        if not facts or re.search(r"[A-Za-z0-9\u3400-\u9fff]", re.sub(r"[TZ]|[+-]\d\d:?\d\d|:00", " ", rest)):
            return None
        places = [self._fact(f) for f in facts]
        if not all(places):
            return None
        return next((p for p in places if p and p[1].startswith("observation")), places[0])

    def _fact(self, fact: Fact) -> _Found | None:
        if fact.kind == "number":
            return self._number(fact.value, written=True)
        for origin in self.origins:
            for known in origin.facts:
                if same(fact, known):
                    return _place(origin, known, "derived")
        if fact.kind == "date" and _RELATIVE.search(self.question) and None not in fact.value:
            return self._near_day(fact)
        if fact.kind == "time":
            return ("derived", "question", ()) if fact.value == 0 else None
        return self._partial_date(fact)

    def _near_day(self, fact: Fact) -> _Found | None:
        for origin in self.origins:
            for day in date_parts(origin.facts):
                for shift in range(-35, 36):
                    try:
                        moved = day + dt.timedelta(shift)
                    except OverflowError:
                        continue
                    if (moved.year, moved.month, moved.day) == fact.value:
                        return "derived", origin.where, ()
        return self._partial_date(fact)

    def _partial_date(self, fact: Fact) -> _Found | None:
        """Day and month as the user gave them, the year from anywhere."""
        if fact.kind != "date" or fact.value[0] is None or fact.value[1] is None:
            return None
        year = fact.value[0]
        years = {
            f.value[0] if f.kind == "date" else f.value
            for o in self.origins
            for f in o.facts
            if f.kind in ("date", "number")
        }
        for origin in self.origins:
            for known in origin.facts:
                if (
                    known.kind == "date"
                    and known.value[0] is None
                    and known.value[1:] == fact.value[1:]
                    and year in years
                ):
                    return _place(origin, known, "derived")
        return None

    def _prose(self, value: str) -> _Found | None:
        """Free text: most of its words are found, or all its figures and names are, and no figure is made up."""
        tokens = _content(value)
        facts = [f for f in facts_in(value) if f.kind != "name" and f.role == "figure"]
        if len(tokens) < 2 and not facts:
            return None
        if not all(self._fact(f) if f.kind in ("number", "date", "time") else self._id(f.text) for f in facts):
            return None
        best: tuple[float, Origin] | None = None
        total: set[str] = set()
        for origin in self.origins:
            body = folded_text(origin.text)
            hits = {t for t in tokens if t in body}
            total |= hits
            share = len(hits) / len(tokens) if tokens else 0.0
            if best is None or share > best[0] + 0.25:  # the user's words first, unless another text fits far better
                best = (share, origin)
        if best is None:
            return None
        named = re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}", value)
        names_found = bool(facts or named) and all(self._verbatim(n) for n in named)
        if len(total) * 2 >= len(tokens) or (names_found and len(total) * 4 >= len(tokens)):
            kind = "observation" if best[1].kind == "observation" else "derived"
            return kind, best[1].where, ()
        return None

    def _id(self, text: str) -> _Found | None:
        return self._verbatim(text) or self._respelled(text)

    def _translated(self, value: str) -> _Found | None:
        """A name or a phrase in the other script than the user's words; ids and addresses have no translation."""
        if _ADDRESS.search(value) or re.search(r"\d", value):
            return None
        said = " ".join(o.text for o in self.origins if o.kind in ("question", "history") and o.where != "system")
        if _HAN.search(value):
            other = not _HAN.search(said) and bool(_LATIN.search(said))
        else:
            other = bool(_HAN.search(said) and _LATIN.search(value))
        return ("translated", "question", ()) if other else None


_Found = tuple[str, str, tuple[int, ...]]


def _place(origin: Origin, fact: Fact, kind: str) -> _Found:
    span = (fact.start, fact.end) if origin.text[fact.start : fact.end] and fact.end else ()
    return kind, origin.where, span


def _rounded(value: Any, known: Fact) -> bool:
    """Whether a figure with decimals is a known longer one, rounded."""
    text = str(float(value))
    digits = len(text.partition(".")[2])
    return value != int(value) and near(
        Fact("number", text, value=value, step=as_number(10.0**-digits) or 1), known.value
    )


def _share(value: Any, known: Fact) -> bool:
    return known.unit == "%" and value * 100 == known.value


def _converted(claimed: Fact, known: Sequence[Fact]) -> bool:
    """Whether a figure is a known one in another unit; arguments name no unit, so every way is tried."""
    for fact in known:
        for unit in (
            ("C", "F", "km", "mi", "m", "kg", "lb", "h", "min", "s", "day", "week", "month") if fact.unit else ()
        ):
            if derivable(Fact("number", "", value=claimed.value, unit=unit, step=as_number(0.01) or 1), [fact], 0):
                return True
    return False


def _content(text: str) -> list[str]:
    """Return the words of a text that carry its meaning: Latin stems and pairs of Chinese characters."""
    folded = folded_text(text)
    latin = [w[: max(4, len(w) - 3)] for w in re.findall(r"[a-z][a-z']{2,}", folded) if w not in _STOP]
    han: list[str] = []
    for run in re.findall(r"[\u3400-\u9fff]+", folded):
        for piece in re.split(f"[{_STOP_HAN}]", run):
            han += [piece[i : i + 2] for i in range(len(piece) - 1)]
    return list(dict.fromkeys(latin + han))


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    return value if isinstance(value, (str, int, float)) or as_number(value) is not None else str(value)
