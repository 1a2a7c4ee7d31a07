"""The final answer worded once more, at a temperature of its own; its facts are checked again.

The steps run cold so that calls do not break. Whoever wants livelier words sets
`final_temperature`: one more request rewrites the wording, and where the verifier, or the
count of figures, finds anything else changed, the answer stays as it was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import replace

from ..errors import ModelError
from ..events import AnswerReworded, Event, ModelAsked, ModelReplied, Noted
from ..loop import Gears
from ..prompts import text
from ..state import State
from ..types import Request, Verdict

_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")


def wants_wording(state: State) -> bool:
    """Whether a checked, good answer of the model's own waits for its new wording."""
    if state.ended is not None or state.reworded or state.started_event.settings.get("final_temperature") is None:
        return False
    return state.accepted and state.checked is not None and state.checked.verdict.ok and state.ending is None


async def reword(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Ask for the new wording, or read the one that is there; whatever goes wrong, the answer stays."""
    assert state.checked is not None
    answer = state.checked.answer
    if not (state.unread and state.asked_purpose == "reword"):
        request = _request(gears, state, answer)
        yield ModelAsked(state.number, request=request, purpose="reword")
        try:
            reply = await gears.model.complete(replace(request, timeout=gears.limits.seconds_left(state)))
        except ModelError as error:
            while gears.retried:
                yield gears.retried.pop(0)
            yield AnswerReworded(state.number, answer=answer)
            yield Noted(state.number, text=_dropped(state, str(error).rstrip(".。")))
            return
        while gears.retried:
            yield gears.retried.pop(0)
        yield ModelReplied(state.number, reply=reply)
    assert state.reply is not None
    said = state.reply.text.strip()
    verdict = gears.verifier.check(said, state) if said else Verdict(False, ("it was empty",))
    if verdict.ok and _figures(said) != _figures(answer):
        verdict = Verdict(False, ("its figures were not the same",))
    if verdict.ok and state.reply.finish_reason != "length":
        yield AnswerReworded(state.number, answer=said, verdict=verdict, kept=True)
        return
    yield AnswerReworded(state.number, answer=said, verdict=verdict)
    yield Noted(state.number, text=_dropped(state, "; ".join(verdict.reasons) or "it was cut off"))


def _request(gears: Gears, state: State, answer: str) -> Request:
    task = text("strategies", state.language, "reword_task", question=state.question, answer=answer)
    return Request(
        messages=(
            {"role": "system", "content": text("strategies", state.language, "reword")},
            {"role": "user", "content": task},
        ),
        temperature=float(state.started_event.settings["final_temperature"]),
        max_tokens=1024,
        seed=gears.seed,
        purpose="reword",
    )


def _figures(answer: str) -> Counter[str]:
    return Counter(figure.replace(",", "") for figure in _FIGURE.findall(answer))


def _dropped(state: State, reason: str) -> str:
    return text("strategies", state.language, "reword_dropped", reason=reason)
