"""What is left of rounds that no longer fit: each call with its outcome in a line, the oldest lines as a tally.

Lines are only ever added at the end; when they become too many, the older half becomes one tally
line in a single step. So the text keeps its beginning from one compaction to the next, and a server
keeps its cache.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from ..prompts import LANGUAGES, language_of, text
from ..types import canonical
from .shrink import clip, one_line, parse

Kind = Literal["call", "user", "assistant", "knowledge", "fault"]
_OUTCOME_CHARS = 140
_ARGUMENT_CHARS = 160
_VALUE_CHARS = 80
_SAID_CHARS = 160


@dataclass(frozen=True)
class Entry:
    """One thing that happened. `weighty` marks what must not be forgotten: a call that changed something."""

    kind: Kind
    line: str
    name: str = ""
    weighty: bool = False
    count: int = 1


def call_entry(
    name: str, arguments: Mapping[str, Any], content: str, status: str, language: str, weighty: bool = False
) -> Entry:
    """Return the line of a call: name, arguments, and what came of it.

    `status` is the observation's where it is known; else it is read from the content's uniform shape.
    """
    data = parse(content) if '"status"' in content and '"reason"' in content else None
    said = content
    if isinstance(data, dict):
        shape = cast("dict[str, Any]", data)
        if "status" in shape and "reason" in shape:
            status = status or str(shape["status"])
            said = str(shape["reason"] or content)
    outcome = text("memory", language, f"outcome_{_status(status)}", text=_brief(said, _OUTCOME_CHARS))
    given = ", ".join(f"{key}={clip(canonical(value), _VALUE_CHARS, language)}" for key, value in arguments.items())
    shown = one_line(given, _ARGUMENT_CHARS)
    line = text("memory", language, "summary_call", name=name, arguments=shown, outcome=outcome)
    return Entry("call", line, name, weighty)


def _status(given: str) -> str:
    return given if given in ("ok", "error", "denied", "unknown") else "ok"


def _brief(said: str, limit: int) -> str:
    """A Chinese character says about as much as a few letters, and costs as many tokens."""
    return one_line(said, limit // 2 if language_of(said[:limit]) == "zh" else limit)


def said_entry(kind: Kind, content: str, language: str) -> Entry:
    """Return the line of something the user or the model said, or of passages that were shown."""
    line = text("memory", language, f"summary_{kind}", text=_brief(content, _SAID_CHARS))
    return Entry(kind, line, "" if kind == "call" else kind)


def fault_entry() -> Entry:
    """Return the entry of a reply that could not be used; these are only counted."""
    return Entry("fault", "")


def write(entries: Iterable[Entry], language: str, room: int, cost: Callable[[str], int]) -> str:
    """Return the summary's text within about `room` by `cost`.

    The same entries followed by more give the same text followed by more, except where the room is full.
    """
    tally: Counter[str] = Counter()
    lines: list[Entry] = []
    faults = 0
    used = 0
    for entry in entries:
        if entry.kind == "fault":
            faults += 1
            continue
        if lines and lines[-1].line == entry.line:
            lines[-1] = replace(lines[-1], count=lines[-1].count + 1)
            continue
        lines.append(entry)
        used += cost(entry.line)
        if used > room:
            lines, gone = _halve(lines, room // 2, cost)
            tally.update({entry.name: 0 for entry in gone})
            for entry_gone in gone:
                tally[entry_gone.name] += entry_gone.count
            used = sum(cost(line.line) for line in lines)
    return "\n".join(
        [
            text("memory", language, "summary_head"),
            *([_tally_line(tally, language)] if tally else []),
            *(_counted(entry, language) for entry in lines),
            *([text("memory", language, "summary_faults", count=faults)] if faults else []),
        ]
    )


def _halve(lines: list[Entry], room: int, cost: Callable[[str], int]) -> tuple[list[Entry], list[Entry]]:
    """Keep the latest lines that fit into `room`; of the older ones keep those that changed something, if they fit."""
    kept: set[int] = set()
    used = 0
    order = sorted(range(len(lines)), key=lambda at: (lines[at].weighty, at), reverse=True)
    weighty_room = room // 2
    for at in order:
        price = cost(lines[at].line)
        limit = weighty_room if lines[at].weighty else room
        if used + price <= limit:
            kept.add(at)
            used += price
        elif not lines[at].weighty:
            break
    if not kept:
        kept.add(len(lines) - 1)
    return [e for at, e in enumerate(lines) if at in kept], [e for at, e in enumerate(lines) if at not in kept]


def _tally_line(tally: Counter[str], language: str) -> str:
    times = (name + (text("memory", language, "repeated", count=n) if n > 1 else "") for name, n in tally.items())
    names = text("memory", language, "listed").join(times)
    return text("memory", language, "summary_tally", count=tally.total(), names=names)


def _counted(entry: Entry, language: str) -> str:
    return entry.line + (text("memory", language, "repeated", count=entry.count) if entry.count > 1 else "")


def is_summary(content: Any) -> bool:
    """Whether a message's content is a summary written here, in either language."""
    heads = tuple(text("memory", language, "summary_head") for language in LANGUAGES)
    return isinstance(content, str) and content.startswith(heads)
