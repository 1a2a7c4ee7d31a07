"""`WindowMemory`: what the model sees of a run, kept inside a token budget.

The view only grows at its end. When it passes the budget, one large step brings it down to about
half, and then it grows again: rare steps, because each of them costs the server's prefix cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ..errors import ConfigurationError
from ..events import HistoryCompacted
from ..prompts import text
from ..types import Message
from .compaction import Shorter, gain, shorter
from .shrink import clip
from .tokens import measure, ratio, view_tokens

if TYPE_CHECKING:
    from ..state import State

DEFAULT_BUDGET = 6144
"""Tokens of prompt when nobody says more: three quarters of a window of 8,192."""

_SHARE_AFTER = 0.5
_SHARE_FOR_SUMMARY = 0.3
_SHARE_HARDER = 0.5
_WORTH_IT = 0.05

Summariser = Callable[[Sequence[Message]], str]


class WindowMemory:
    """Shows the whole conversation while it fits, and a compacted one with the latest rounds whole when it does not.

    Args:
        budget_tokens: Prompt tokens to stay under; leave room for the reply and for a next observation.
            None takes three quarters of the context the run's settings name, or of 8,192.
        keep_rounds: How many of the latest rounds to leave whole, as far as half the budget allows.
        summariser: `"rules"` writes each old call with its outcome in a line. A function gets the old
            messages (an earlier summary first among them) and returns the summary's text; when it fails,
            the rules write it.
    """

    def __init__(
        self,
        budget_tokens: int | None = None,
        keep_rounds: int = 3,
        summariser: Literal["rules"] | Summariser = "rules",
    ) -> None:
        if budget_tokens is not None and budget_tokens < 256:
            raise ConfigurationError(
                f"A memory budget of {budget_tokens} tokens cannot hold a question and a result: give at least 256."
            )
        if keep_rounds < 1:
            raise ConfigurationError("keep_rounds must be at least 1: the latest round is what the model works on.")
        if isinstance(summariser, str) and summariser != "rules":
            raise ConfigurationError(
                f"There is no summariser named {summariser!r}: use 'rules' or pass a function of messages to text."
            )
        self.budget_tokens = budget_tokens
        self.keep_rounds = keep_rounds
        self.summariser: Summariser | None = None if isinstance(summariser, str) else summariser

    def view(self, state: State) -> tuple[Message, ...]:
        """Return what the model sees: the last compaction's view and everything after it."""
        if state.compacted is None:
            return tuple(state.messages)
        return (*state.compacted.messages, *state.messages[state.compacted.covers :])

    def compact(self, state: State, *, harder: bool = False) -> Sequence[HistoryCompacted]:
        """Return nothing while the view fits, else the one event that replaces it by a shorter one.

        Args:
            state: The run; only read.
            harder: The server refused the view as too long, so it is halved whatever was estimated.
        """
        view = self.view(state)
        budget = self.budget(state)
        before = measure(state, view)
        if before <= budget and not harder:
            return []
        scale = ratio(state.steps)
        most = min(before, budget) * _SHARE_HARDER if harder else budget
        # Tool declarations and the template's own text are in the server's count and never shrink.
        beside = max(0.0, before - scale * view_tokens(view))

        def total(messages: Sequence[Message]) -> float:
            return beside + scale * view_tokens(messages)

        found = shorter(
            state,
            keep=1 if harder else self.keep_rounds,
            summary_tokens=int(budget * _SHARE_FOR_SUMMARY / scale),
            fits=lambda messages: total(messages) <= budget * _SHARE_AFTER and (not harder or total(messages) <= most),
            must_fit=lambda messages: total(messages) <= most,
        )
        found = self._summarised_by_model(state, found, view)
        saved = gain(view, found.messages)
        if saved < _WORTH_IT * view_tokens(view):
            return []
        how = f"harder: {found.how}" if harder else found.how
        return [
            HistoryCompacted(
                state.number,
                before=before,
                after=max(0, round(before - scale * saved)),
                messages=found.messages,
                # The view covers the whole record, so `last_prompt_messages` tells whether it was counted yet.
                covers=len(state.messages),
                how=how,
            )
        ]

    def budget(self, state: State) -> int:
        """Return the prompt tokens to stay under in this run."""
        budget = self.budget_tokens
        if budget is None:
            context = state.started_event.settings.get("context")
            budget = max(256, context * 3 // 4) if isinstance(context, int) else DEFAULT_BUDGET
        refused = state.compacted
        if refused is not None and refused.how.startswith("harder"):
            # The server has shown that its window is smaller than anybody said.
            budget = min(budget, max(256, refused.before * 4 // 5))
        return budget

    def _summarised_by_model(self, state: State, found: Shorter, view: tuple[Message, ...]) -> Shorter:
        """Put the summariser's words in the place of the rules' lines, where there is a summariser and it answers."""
        at = next((at for at, m in enumerate(found.messages) if m.kind == "summary"), None)
        if self.summariser is None or at is None:
            return found
        unseen = tuple(m for m in view if m not in found.stays)
        try:
            written = self.summariser(unseen)
        except Exception as error:  # whatever a stranger's function raises, the run goes on with the rules
            return replace(found, how=f"{found.how} by rules, because the summariser failed: {error}")
        if not written.strip():
            return found
        rules = found.messages[at]
        head = text("memory", state.language, "summary_head")
        content = f"{head}\n{clip(written.strip(), max(len(rules.content), 1200), state.language)}"
        changed = (*found.messages[:at], replace(rules, content=content), *found.messages[at + 1 :])
        return replace(found, messages=changed, how=f"{found.how} by the summariser")
