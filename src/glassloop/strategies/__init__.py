"""Ways to think over the same gears and events: the ReAct loop, a plan first, or thought alone.

It owes `drive`, which takes everything from the state: which strategy the run was begun
with, and whether its final answer is to be worded once more. So a run of any strategy is
recorded, resumed and replayed like any other.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Literal, get_args

from ..errors import ConfigurationError
from ..events import Event
from ..loop import Gears, react
from ..state import State
from .direct import direct
from .plan import plan_and_execute
from .wording import reword, wants_wording

StrategyName = Literal["react", "plan", "direct"]
STRATEGIES: dict[str, Callable[[Gears, State], AsyncGenerator[Event, None]]] = {
    "react": react,
    "plan": plan_and_execute,
    "direct": direct,
}


def check_strategy(name: str) -> str:
    """Return the name of a strategy.

    Raises:
        ConfigurationError: There is none of that name.
    """
    if name not in STRATEGIES:
        raise ConfigurationError(f"There is no strategy {name!r}: use {', '.join(get_args(StrategyName))}.")
    return name


async def drive(gears: Gears, state: State) -> AsyncGenerator[Event, None]:
    """Drive a run from wherever it is to its end, by the strategy it was begun with.

    The caller applies every event to `state` (and records it) before asking for the next one.
    """
    strategy = STRATEGIES[check_strategy(state.started_event.strategy)]
    while state.ended is None:
        # A strategy keeps nothing but the state, so it can be left after any event and begun again.
        wording = wants_wording(state)
        stage = reword(gears, state) if wording else strategy(gears, state)
        async with aclosing(stage) as events:
            async for event in events:
                yield event
                if not wording and wants_wording(state):
                    break
