"""What is left of a conversation that no longer fits, and in which order things give way.

    1  long observations and arguments of older rounds shrink
    2  the oldest rounds become one summary: each call with its outcome in a line
    3  fewer of the latest rounds stay whole
    4  the very latest observations shrink

System text and the question always stay, and a call always stays with its results. Everything is
computed anew from the record, so that a shrunk round or a summary line looks the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from ..types import Declaration, Message, Observation
from .shrink import clip, shrink
from .summary import Entry, call_entry, fault_entry, said_entry, write
from .tokens import estimate, view_tokens

if TYPE_CHECKING:
    from ..state import State

_OLD_CHARS = 400
_LATEST_CHARS = (6000, 4000, 2800, 2000, 1400, 1000, 700, 500, 350, 250, 160)


@dataclass(frozen=True)
class Group:
    """Messages that stay or go together: a call with its results, a fault with its correction, a single turn."""

    kind: Literal["system", "question", "round", "said", "fault", "summary"]
    messages: tuple[Message, ...]


def grouped(messages: Sequence[Message]) -> list[Group]:
    """Take a conversation apart. The last message marked as a question is the one that is never given up."""
    question = max((at for at, m in enumerate(messages) if m.kind == "question"), default=-1)
    groups: list[Group] = []
    open_calls: set[str] = set()
    for at, message in enumerate(messages):
        last = groups[-1] if groups else None
        if message.role == "tool" and last and last.kind == "round" and message.call_id in open_calls:
            groups[-1] = replace(last, messages=(*last.messages, message))
        elif message.role == "system":
            groups.append(Group("system", (message,)))
        elif at == question:
            groups.append(Group("question", (message,)))
        elif message.calls:
            open_calls = {call.id for call in message.calls}
            groups.append(Group("round", (message,)))
        elif message.kind == "correction":
            told = last is not None and last.kind == "said" and last.messages[0].role == "assistant"
            if last is not None and told:
                groups[-1] = Group("fault", (*last.messages, message))
            else:
                groups.append(Group("fault", (message,)))
        else:
            groups.append(Group("summary" if message.kind == "summary" else "said", (message,)))
    return groups


@dataclass(frozen=True)
class Shorter:
    """A shorter view and how it came about."""

    messages: tuple[Message, ...]
    how: str
    stays: tuple[Message, ...] = ()
    """The messages of the record that a summary in it does not stand for."""


def shorter(
    state: State,
    *,
    keep: int,
    summary_tokens: int,
    fits: Callable[[Sequence[Message]], bool],
    must_fit: Callable[[Sequence[Message]], bool],
) -> Shorter:
    """Return the gentlest shorter view that is small enough.

    Args:
        state: The run; only read.
        keep: Rounds to leave whole at most.
        summary_tokens: Room for the summary.
        fits: Whether a view is as small as a compaction should make it.
        must_fit: Whether a view may be sent at all; decides about what shrinks the latest round.
    """
    groups = grouped(state.messages)
    steps = _steps(state, groups, max(1, keep), summary_tokens)
    best = Shorter(tuple(state.messages), "")
    for candidate in steps:
        best = candidate
        enough = must_fit if candidate.how == "one round" or candidate.how == "cut" else fits
        if enough(candidate.messages):
            break
    return replace(best, how=best.how.replace("one round", "summarised"))


def _steps(state: State, groups: list[Group], keep: int, summary_tokens: int) -> Iterator[Shorter]:
    if not any(m.kind == "summary" for m in (state.compacted.messages if state.compacted else ())):
        yield Shorter(_flat(_with_old_shrunk(groups, keep, state.language)), "shrunk")
    rounds = min(keep, sum(_goes(g) for g in groups))
    last = Shorter(tuple(state.messages), "")
    for count in range(rounds, 0, -1):
        last = _summarised(state, groups, count, summary_tokens)
        yield replace(last, how="summarised" if count > 1 else "one round")
    for limit in _LATEST_CHARS:
        cut = tuple(_less(m, limit, state.language) for m in last.messages)
        yield replace(last, messages=cut, how="cut")


def _goes(group: Group) -> bool:
    return group.kind not in ("system", "question")


def _flat(groups: Sequence[Group]) -> tuple[Message, ...]:
    return tuple(m for group in groups for m in group.messages)


def _with_old_shrunk(groups: list[Group], keep: int, language: str) -> list[Group]:
    latest = {id(group) for group in [g for g in groups if _goes(g)][-keep:]}
    return [
        replace(group, messages=tuple(_less(m, _OLD_CHARS, language) for m in group.messages))
        if _goes(group) and id(group) not in latest
        else group
        for group in groups
    ]


def _less(message: Message, limit: int, language: str) -> Message:
    """Shorten what a tool gave, what a tool was given, and passages; never what a person said or a summary."""
    if message.role == "tool" or message.kind == "knowledge":
        return replace(message, content=shrink(message.content, limit, language))
    if message.calls:
        calls = tuple(replace(c, arguments=_less_arguments(c.arguments, limit, language)) for c in message.calls)
        said, thought = (clip(part, 2 * limit, language) for part in (message.content, message.thought))
        return replace(message, calls=calls, content=said, thought=thought)
    return message


def _less_arguments(value: Any, limit: int, language: str) -> Any:
    if isinstance(value, str):
        return clip(value, limit, language)
    if isinstance(value, list):
        return [_less_arguments(v, limit, language) for v in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {k: _less_arguments(v, limit, language) for k, v in cast("dict[str, Any]", value).items()}
    return value


def _summarised(state: State, groups: list[Group], count: int, summary_tokens: int) -> Shorter:
    moving = [at for at, group in enumerate(groups) if _goes(group)]
    gone = set(moving[:-count])
    kept = [group for at, group in enumerate(groups) if at not in gone]
    older = [groups[at] for at in sorted(gone)]
    if not older:
        return Shorter(_flat(kept), "summarised")
    text = write(_entries(state, older), state.language, summary_tokens, estimate)
    summary = Group("summary", (Message("user", text, kind="summary"),))
    question = next((at for at, group in enumerate(groups) if group.kind == "question"), -1)
    # What came before the question is told before it; once its own rounds are summarised, all is told after it.
    before = "system" if max(gone) < question else "question"
    place = max((at + 1 for at, group in enumerate(kept) if group.kind in ("system", before)), default=0)
    return Shorter(_flat([*kept[:place], summary, *kept[place:]]), "summarised", _flat(kept))


def _entries(state: State, older: Sequence[Group]) -> Iterator[Entry]:
    seen = {call.id: observation for call, observation in state.observed}
    risks = _risks(state)
    for group in older:
        first = group.messages[0]
        if group.kind == "fault":
            yield fault_entry()
        elif group.kind == "round":
            yield from _round_entries(group, seen, risks, state.language)
        elif first.kind == "knowledge":
            yield said_entry("knowledge", first.content, state.language)
        elif first.content.strip():
            yield said_entry("assistant" if first.role == "assistant" else "user", first.content, state.language)


def _round_entries(
    group: Group, seen: Mapping[str, Observation], risks: Mapping[str, str], language: str
) -> Iterator[Entry]:
    results = {m.call_id: m.content for m in group.messages[1:]}
    for call in group.messages[0].calls:
        observation = seen.get(call.id)
        weighty = risks.get(call.name, "read") != "read" or bool(observation and observation.approved_by)
        arguments = observation.arguments if observation and observation.arguments is not None else call.arguments
        content = results.get(call.id)
        status = "unknown" if content is None else observation.status if observation else ""
        yield call_entry(call.name, arguments, content or "", status, language, weighty)


def _risks(state: State) -> dict[str, str]:
    declared = [Declaration.of(tool) for tool in state.started_event.tools if "name" in tool or "function" in tool]
    return {d.name: d.risk for d in declared}


def gain(before: Sequence[Message], after: Sequence[Message]) -> int:
    """Return the estimated tokens a shorter view saves."""
    return view_tokens(before) - view_tokens(after)
