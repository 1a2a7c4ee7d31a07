"""The ReAct loop: reason, act, observe, until an answer stands or a limit is reached.

    ┌────────────────────────── State (a fold over the events) ◄──────────────────────┐
    │                                                                                 │
    ▼                                                                                 │
  calls without an observation?  ──► act         Executor runs them                   │
  a reply nobody has read?       ──► understand  Protocol reads it into a Move        │ every
  an answer nobody has checked?  ──► judge       Verifier compares it with the record │ event
  a limit reached?               ──► close       one last request, only an answer     │
  none of these                  ──► ask         Memory shows, Model replies          │
    │                                                                                 │
    └────────────────────────────── yields events ────────────────────────────────────┘

What comes next is decided by the state alone. That is why a run that was killed,
loaded from its journal and put back into `react` simply goes on: there is no other
place where the loop keeps anything.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from .errors import ContextTooLong, ModelError
from .events import (
    AnswerChecked,
    Event,
    LimitReached,
    ModelAsked,
    ModelReplied,
    ModelRetried,
    MoveRead,
    RunEnded,
    TextStreamed,
)
from .gears import Executor, Limiter, Memory, Model, ReplyProtocol, Turn, Verifier
from .state import State
from .types import Delta, Reply, Stop, Verdict


@dataclass
class Gears:
    """The gears one loop runs on, each replaceable by any object with the same methods."""

    model: Model
    protocol: ReplyProtocol
    executor: Executor
    memory: Memory
    limits: Limiter
    verifier: Verifier
    words: Callable[..., str]
    """Gives the loop's few own texts in the run's language: `words(state, key, **values)`."""
    listen: Callable[[Turn], Any] | None = None
    """Makes a stream reader for a turn when somebody watches live, else None."""
    retried: list[ModelRetried] = field(default_factory=list[ModelRetried])
    """Retries the model backend has reported and nobody has told yet."""
    seed: int | None = None
    temperature: float = 0.1
    allowed_corrections: int = 1


async def react(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Drive a run from wherever `state` is to its end.

    The caller applies every event to `state` (and records it) before asking for the next one.

    Args:
        gears: The gears to run on.
        state: The run so far; with `RunStarted` applied at least.

    Yields:
        Events in order; the last one is `RunEnded`.
    """
    while state.ended is None:
        if state.pending:
            stage = act(gears, state)
        elif state.unread:
            stage = understand(gears, state)
        elif state.candidate is not None or state.accepted:
            stage = judge(gears, state)
        else:
            stage = ask(gears, state)
        async with aclosing(stage):
            async for event in stage:
                yield event


async def act(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Have the calls of the current move run; a call that waits for a person ends the run here."""
    assert state.move is not None
    async for event in gears.executor.execute(state.move, state):
        yield event
    if state.pending:
        yield end(state, "approval_needed", gears.words(state, "approval_needed", call=state.pending[0].name))


async def understand(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Read the model's reply. What could not be understood becomes a correction in the history."""
    assert state.reply is not None
    yield MoveRead(state.number + 1, move=gears.protocol.read(state.reply, next_turn(gears, state)))


async def judge(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Check a candidate answer; ask for one correction, then give it as it is, marked."""
    if not state.accepted:
        answer = state.candidate or ""
        verdict = gears.verifier.check(answer, state)
        again = not verdict.ok and state.ending is None and state.corrections < gears.allowed_corrections
        yield AnswerChecked(state.number, answer=answer, verdict=verdict, corrected=again)
    if state.accepted and state.checked is not None:
        stop, detail = (state.ending.stop, state.ending.detail) if state.ending else ("answered", "")
        yield end(state, stop, detail, answer=state.checked.answer, verdict=state.checked.verdict)


async def ask(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Ask the model for the next step, or, past a limit, for one last answer from what is known."""
    if state.ending is None and (ending := gears.limits.check(state)):
        yield LimitReached(state.number, stop=ending.stop, detail=ending.detail)
    elif state.wrap_up_failed:
        yield failed(gears, state)
        return
    for event in gears.memory.compact(state):
        yield event
    try:
        async for event in exchange(gears, state):
            yield event
    except ModelError as error:
        while gears.retried:
            yield gears.retried.pop(0)
        too_long = isinstance(error, ContextTooLong) and not state.squeezed
        squeezed = gears.memory.compact(state, harder=True) if too_long else ()
        for event in squeezed:
            yield event
        late = state.ending is None and gears.limits.check(state) is not None  # the next turn says which limit it is
        if not squeezed and not late:
            yield failed(gears, state, error)


def failed(gears: Gears, state: State, error: ModelError | None = None) -> RunEnded:
    """Make the end of a run whose model gives no answer: the engine says why, and what is known."""
    stop, why = (state.ending.stop, state.ending.detail) if state.ending else ("model_failed", str(error))
    answer = gears.words(state, "stopped", reason=why.rstrip(".。"), known=state.known())
    return end(state, stop, f"{why} ({error})" if error and state.ending else why, answer=answer.strip())


async def exchange(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Send one request and yield its reply, with understood pieces on the way when somebody listens."""
    turn = next_turn(gears, state)
    request = replace(gears.protocol.ask(turn), seed=gears.seed)
    kept = request.shared_with(state.request)
    number, purpose = state.number + 1, "wrap_up" if state.ending else "step"
    yield ModelAsked(number, request=replace(request, messages=request.messages[kept:]), kept=kept, purpose=purpose)
    request = replace(request, timeout=gears.limits.seconds_left(state), purpose=purpose)
    if gears.listen is None:
        reply = await gears.model.complete(request)
    else:
        reply, ear = Reply(), gears.listen(turn)
        async for item in gears.model.stream(request):
            if isinstance(item, Delta):
                for part, text in ear.feed(item):
                    yield TextStreamed(number, part=part, text=text)
            else:
                reply = item
    while gears.retried:
        yield gears.retried.pop(0)
    yield ModelReplied(number, reply=reply)


def next_turn(gears: Gears, state: State) -> Turn:
    """Show the protocol where the run is: what may be said next follows from it."""
    final, reason = state.ending is not None, state.ending.detail if state.ending else ""
    tools = () if final else tuple(gears.executor.offered(state))
    key = "wrap_up" if final else "answer_now" if state.done and not tools else ""
    return Turn(
        messages=gears.memory.view(state),
        declared=tuple(gears.executor.declarations),
        tools=tools,
        language=state.language,
        answer_in=state.answer_in,
        barred=() if final else tuple(gears.executor.barred(state)),
        answer_only=final,
        instruction=gears.words(state, key, reason=reason, question=state.question_line) if key else "",
        temperature=gears.temperature,
    )


def end(state: State, stop: Stop, detail: str, *, answer: str = "", verdict: Verdict | None = None) -> RunEnded:
    """Make the last event of a run; an answer without a verdict is the engine's own and states only the record."""
    return RunEnded(
        state.number,
        stop=stop,
        answer=answer,
        answer_checked=verdict.ok if verdict else bool(answer),
        reasons=verdict.reasons if verdict else (),
        detail=detail,
        usage=state.usage,
        seconds=state.seconds,
    )
