"""May this answer be given? Plain rules compare a candidate answer with the run; no second model is asked.

Figures, dates, ids and quoted names must appear in the question, the conversation or an observation, or follow
from them by simple arithmetic or formatting. A failure that was not overcome must be told. A claim that
something was done needs the tool that did it. The answer is in the run's language and repeats no order that was
meant for the model. A complaint costs the model a step and may wreck a right answer, so every rule would rather
stay silent than be wrong; and it never asks for a tool where none can be called.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ..prompts import text
from ..types import Declaration, Verdict
from .citations import lost_citations
from .claims import empty_claims
from .failures import reason_of, subject_of, untold
from .figures import FigureCheck
from .known import Known, has_tools
from .language import other_language
from .leaks import leaked
from .prose import claims_only, spoken
from .sums import expected, shown, wrong_sums
from .whole import is_half, is_placeholder

if TYPE_CHECKING:
    from ..state import State

__all__ = ["HonestVerifier", "OffVerifier"]

_EMPTY = re.compile(r"(?:[\s.…。\"'`{}\[\]]|\b(?:null|none|n/a|undefined|nan)\b)*", re.I)
_MARKUP = re.compile(
    r"</?tool_(?:call|response)>|<tools>|<function=|<\|(?:python_tag|tool_call|im_start|im_end)[^|]{0,20}\|>|\[TOOL_CALLS\]"
)
_CALL_SHAPE = r"[\"']name[\"']\s*:\s*[\"'](?:{names})[\"']|^\s*(?:Action|行动|动作)\s*[:：]\s*(?:{names})\b"
_MOST = 4


class OffVerifier:
    """Lets every answer pass."""

    def check(self, answer: str, state: State) -> Verdict:
        """Return a good verdict."""
        return Verdict(True)


class HonestVerifier:
    """The default `Verifier`: the answer may claim only what was observed, and must tell what failed."""

    def check(self, answer: str, state: State) -> Verdict:
        """Compare an answer with the run.

        Args:
            answer: The candidate answer, as the protocol read it.
            state: The run so far.

        Returns:
            The verdict; when it is bad, `complaint` tells the model exactly what to change.
        """
        language = state.language

        def say(key: str, **values: Any) -> str:
            return text("verify", language, key, **values)

        if _EMPTY.fullmatch(answer):
            return _verdict([say("empty")])
        if _is_markup(answer, state):
            return _verdict([say("markup")])
        if is_placeholder(answer):
            return _verdict([say("empty")])
        known = Known(state)
        if is_half(answer, known):
            return _verdict([say("half", question=state.question_line, known=_digest(known))])
        complaints: list[str] = []
        for call, seen in untold(answer, known, state)[:_MOST]:
            key = {"denied": "denied", "unknown": "unsettled"}.get(seen.status, "failed")
            values = {"name": seen.name, "subject": subject_of(call, seen), "why": reason_of(seen)}
            complaints.append(say(key, **values))
        key = "claim" if has_tools(state) else "claim_alone"
        complaints += [say(key, claim=claim) for claim in empty_claims(answer, known, state)[:_MOST]]
        complaints += _figure_complaints(answer, known, state, say)
        complaints += _citation_complaints(answer, state, say)
        complaints += [say("leak", part=part) for part in leaked(answer, known, state)[:1]]
        if wanted := other_language(answer, known, state):
            complaints.append(text("verify", wanted, "language"))
        return _verdict(complaints)


def _verdict(complaints: list[str]) -> Verdict:
    reasons = tuple(dict.fromkeys(complaints))
    return Verdict(not reasons, reasons, "\n".join(reasons))


def _is_markup(answer: str, state: State) -> bool:
    if _MARKUP.search(answer) and not _MARKUP.search(state.question):
        return True
    names = "|".join(re.escape(Declaration.of(t).name) for t in state.started_event.tools)
    return bool(names) and re.search(_CALL_SHAPE.format(names=names), answer, re.M) is not None


def _figure_complaints(answer: str, known: Known, state: State, say: Any) -> list[str]:
    out = [
        say("wrong_sum", given=given, right=shown(right)) for given, right in wrong_sums(claims_only(answer))[:_MOST]
    ]
    unknown = FigureCheck(answer, known, state).unsupported()
    if not unknown or out:
        return out
    right = expected(known)
    if right is not None and any(f.kind == "number" for f in unknown) and not known.results:
        start, end, _ = known.computed[0]
        return [say("wrong_sum", given=spoken(known.question)[start:end].strip(), right=shown(right))]
    items = say("and").join(f.text if f.kind != "name" else f"“{f.text}”" for f in unknown[:_MOST])
    tools = has_tools(state)
    if known.results:
        advice = say("use_known" if tools else "use_known_alone", known=_digest(known))
    else:
        advice = say("say_unknown" if state.observed else "use_tool" if tools else "not_known")
    return [f"{say('unknown_figures', items=items)} {advice}"]


def _digest(known: Known) -> str:
    """Return the latest results in one short line, so that a small model has them before its eyes."""
    parts: list[str] = []
    for call, seen in known.results[-3:]:
        found: Any = seen.data if seen.data is not None else seen.content
        body = json.dumps(found, ensure_ascii=False, default=str) if not isinstance(found, str) else found
        about = subject_of(call, seen)
        parts.append(f"{seen.name}({about}) → {body[:200]}")
    return "; ".join(parts)


def _citation_complaints(answer: str, state: State, say: Any) -> list[str]:
    lost, valid = lost_citations(answer, state)
    if not lost:
        return []
    items = ", ".join(f"[{n}]" for n in lost[:_MOST])
    if not valid:
        return [say("no_passages", items=items)]
    return [say("citation", items=items, known=", ".join(f"[{n}]" for n in sorted(valid)[:20]))]
