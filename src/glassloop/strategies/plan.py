"""`plan`: a complete plan first, then its steps one after the other, one new plan when a step fails.

Plan-and-execute (Wang et al., 2023, arXiv:2305.04091) over the gears of the ReAct loop: the
plan is one more request under a schema of its own, a step of it is a turn of the loop with
the step's words at the end, and after the last step only an answer may be given.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from ..errors import ModelError
from ..events import Event, ModelAsked, ModelReplied, PlanMade
from ..loop import Gears, failed, next_turn, react
from ..prompts import text
from ..state import State
from .guided import Guided

MOST_STEPS = 8
MOST_PLANS = 2
SCHEMA = {
    "type": "object",
    "properties": {"plan": {"type": "array", "maxItems": MOST_STEPS, "items": {"type": "string", "maxLength": 160}}},
    "required": ["plan"],
    "additionalProperties": False,
}
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}\s*[.)、:：]|[-*•]|第\s*\S{1,3}\s*步\s*[:：]?)\s*(\S.*)$", re.M)


async def plan_and_execute(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Drive a run to its end: plan, carry out, plan anew at most once, answer."""
    guided = replace(gears, protocol=Guided(gears.protocol, lambda: guide(state)))
    while state.ended is None:
        if state.unread and state.asked_purpose == "plan":
            yield read_plan(state)
        elif wants_plan(state) and gears.limits.check(state) is None:
            async for event in ask_for_plan(gears, state):
                yield event
        else:
            async with aclosing(react(guided, state)) as events:
                async for event in events:
                    yield event
                    if wants_plan(state):
                        break


def wants_plan(state: State) -> bool:
    """Whether a plan is to be made now: at the beginning, and once more after a step that failed."""
    busy = state.pending or state.unread or state.candidate is not None or state.accepted or state.ending or state.ended
    if busy or len(state.plans) >= MOST_PLANS:
        return False
    if not state.plans:
        return True
    acted = state.steps[state.plans[-1].step :]
    return bool(acted) and any(seen.status == "error" and not seen.deferred for seen in acted[-1].observations)


def guide(state: State) -> tuple[str, bool]:
    """Say what this turn is for: the next step of the plan, or, after the last one, the answer alone."""
    plan = state.plans[-1] if state.plans else PlanMade()
    done = sum(bool(step.move.calls) for step in state.steps[plan.step :])
    if done < len(plan.steps):
        values = {"number": done + 1, "count": len(plan.steps), "step": plan.steps[done]}
        return text("strategies", state.language, "step", **values), False
    return text("strategies", state.language, "finish" if plan.steps else "finish_empty"), True


async def ask_for_plan(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Ask for a complete plan under a schema; a model that fails here fails the run."""
    wanted = text("strategies", state.language, "replan" if state.plans else "plan")
    request = gears.protocol.ask(replace(next_turn(gears, state), instruction=wanted))
    request = replace(request, schema=SCHEMA, tools=(), stop=(), seed=gears.seed)
    kept = request.shared_with(state.request)
    asked = replace(request, messages=request.messages[kept:])
    yield ModelAsked(state.number + 1, request=asked, kept=kept, purpose="plan")
    try:
        limited = replace(request, timeout=gears.limits.seconds_left(state), purpose="plan")
        reply = await gears.model.complete(limited)
    except ModelError as error:
        while gears.retried:
            yield gears.retried.pop(0)
        yield failed(gears, state, error)
        return
    while gears.retried:
        yield gears.retried.pop(0)
    yield ModelReplied(state.number + 1, reply=reply)


def read_plan(state: State) -> PlanMade:
    """Read the plan out of the reply: the object that was asked for, else numbered lines."""
    written = state.reply.text if state.reply else ""
    steps = _from_json(written)
    if steps is None:
        steps = _NUMBERED.findall(written)
    short = tuple(" ".join(step.split())[:160] for step in steps if step.strip())
    return PlanMade(state.number, steps=short[:MOST_STEPS])


def _from_json(written: str) -> list[str] | None:
    start, end = written.find("{"), written.rfind("}")
    try:
        value: Any = json.loads(written[start : end + 1])
    except ValueError:
        return None
    plan = cast("dict[str, Any]", value).get("plan") if isinstance(value, dict) else None
    return [str(step) for step in cast("list[Any]", plan)] if isinstance(plan, list) else None
