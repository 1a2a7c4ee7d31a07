"""What a model gets wrong, over many runs: every cast, problem and fault added up, with the line that would help.

Problems are not stored in a journal: they follow from the call and the tool's schema, both of
which are, so they are found again by casting the recorded arguments with today's code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from ..errors import JournalError
from ..events import CallFinished, Event, MoveRead, RunStarted
from ..prompts import language_of, text
from ..types import Declaration, Observation, Record, Repair, ToolCall
from .record import RUNS, read_events

Kind = Literal["cast", "problem", "fault"]
Casting = Callable[[Mapping[str, Any], Any], Any]

_LINE = {
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "split": "list",
    "wrapped": "list",
    "enum": "enum",
    "near_enum": "enum",
    "const": "enum",
    "format": "format",
    "pattern": "format",
    "trimmed": "text",
    "text": "text",
    "null": "null",
    "dropped": "unknown",
    "unknown": "unknown",
    "rename": "name",
    "near_name": "name",
    "required": "required",
    "no source": "source",
}
_BY_TYPE = {"integer": "integer", "number": "number", "boolean": "boolean", "array": "list", "object": "object"}
_EXAMPLES: dict[str, Any] = {"integer": 3, "number": 2.5, "array": ["a"], "object": {"key": "value"}, "string": "text"}


@dataclass(frozen=True)
class Habit(Record):
    """One thing that a model gets wrong.

    Attributes:
        model: The model.
        tool: The tool; empty for what goes wrong with replies as a whole.
        argument: Path of the argument, indexes left out; empty for the call as a whole.
        kind: `cast` was mended, `problem` went back to the model, `fault` was not understood.
        what: The cast, the rule that was broken, or the class of the fault.
        times: How often.
        runs: In how many runs.
        saved: How often the cast saved it, and the call ran.
        before: A value as it was given.
        after: The same after the cast; for a problem what was wanted.
        line: The line to add to the tool's description.
    """

    model: str
    tool: str
    argument: str
    kind: Kind
    what: str
    times: int = 0
    runs: int = 0
    saved: int = 0
    before: str = ""
    after: str = ""
    line: str = ""


@dataclass
class _Count:
    times: int = 0
    saved: int = 0
    before: str = ""
    after: str = ""
    line: str = ""
    runs: set[str] = field(default_factory=set[str])


def habits(
    casting: Casting,
    directory: Path = RUNS,
    *,
    model: str = "",
    tool: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> list[Habit]:
    """Add up what went wrong in all runs of a directory, the most frequent first.

    Args:
        casting: `glassloop.cast`, which finds the problems of a call again.
        directory: Where the runs are.
        model: Only models whose name holds this.
        tool: Only this tool.
        progress: Told how many of how many journals are read.
    """
    files = sorted(directory.glob("*.jsonl"))
    counts: dict[tuple[str, str, str, Kind, str], _Count] = {}
    for number, file in enumerate(files):
        if progress is not None:
            progress(number, len(files))
        try:
            _add(list(read_events(file)), counts, model, casting)
        except JournalError:
            continue  # a list of habits is no place to complain about a broken journal
    found = [
        Habit(*key, c.times, len(c.runs), c.saved, c.before, c.after, c.line)
        for key, c in counts.items()
        if not tool or key[1] == tool
    ]
    return sorted(found, key=lambda h: (-h.times, h.model, h.tool, h.argument, h.what))


def _add(
    events: list[Event],
    counts: dict[tuple[str, str, str, Kind, str], _Count],
    model: str,
    casting: Casting,
) -> None:
    start = events[0] if events else None
    if not isinstance(start, RunStarted) or model.casefold() not in start.model.casefold():
        return
    tools = {str(t["name"]): Declaration.of(t) for t in start.tools}
    calls: dict[str, ToolCall] = {}

    def count(
        tool: str, path: str, kind: Kind, what: str, before: Any = "", after: Any = "", saved: bool = False
    ) -> None:
        argument = re.sub(r"\[\d+\]", "[]", path)
        one = counts.setdefault((start.model, tool, argument, kind, what), _Count())
        one.times += 1
        one.saved += saved
        one.runs.add(start.run_id)
        one.before = one.before or _shown(before)
        one.after = one.after or _shown(after)
        one.line = one.line or line_for(tools.get(tool), argument, kind, what)

    for event in events:
        if isinstance(event, MoveRead):
            calls.update({call.id: call for call in event.move.calls})
            named = event.move.calls[0].name if event.move.calls else ""
            for repair in event.move.repairs:
                count(named, "", "cast", repair.name, repair.before, repair.after, saved=bool(event.move.calls))
            if event.move.fault:
                count("", "", "fault", event.move.fault.kind, event.move.said)
        elif isinstance(event, CallFinished):
            for entry in _of_call(event.observation, calls.get(event.observation.call_id), tools, casting):
                count(event.observation.name, *entry)


def _of_call(
    seen: Observation, call: ToolCall | None, tools: Mapping[str, Declaration], casting: Casting
) -> Iterable[tuple[str, Kind, str, Any, Any, bool]]:
    repairs: tuple[Repair, ...] = seen.repairs
    for repair in repairs:
        yield repair.path, "cast", repair.name, repair.before, repair.after, seen.ran and not seen.cached
    if seen.status != "error" or seen.ran or call is None:
        return
    declared = tools.get(seen.name)
    if declared is None:
        yield "", "problem", "unknown tool", call.name, ", ".join(tools), False
        return
    problems = casting(declared.parameters, call.arguments).problems
    for problem in problems:
        yield problem.path, "problem", problem.rule or "type", problem.given, problem.wanted, False
    if not problems and seen.data in ("no source", "only an example"):
        for source in seen.sources:
            if source.origin == "none":
                yield source.path, "problem", "no source", source.value, "", False


def line_for(tool: Declaration | None, argument: str, kind: str, what: str) -> str:
    """Return the line that, in the tool's description, would keep a model from this; empty when none is known."""
    if kind == "fault":
        return text("habits", "en", "fault")
    if tool is None:
        return ""
    language = language_of(tool.description)
    schema = _schema_at(tool.parameters, argument)
    kinds: Any = schema.get("type", "string")
    listed: list[Any] = cast("list[Any]", kinds) if isinstance(kinds, list) else []
    kind_of: Any = listed[0] if listed else cast("Any", kinds)
    key = _LINE.get(what) or (_BY_TYPE.get(str(kind_of)) if what in ("type", "json", "items") else None)
    if key is None or (not argument and key not in ("unknown",)):
        return ""
    example = next(iter(schema.get("examples", ())), schema.get("default") or _EXAMPLES.get(str(kind_of), "text"))
    values = {
        "argument": argument,
        "example": _shown(example),
        "choices": ", ".join(_shown(v) for v in schema.get("enum", ())) or _shown(schema.get("const", "")),
        "format": str(schema.get("format") or schema.get("pattern") or "text"),
        "names": ", ".join(cast("Mapping[str, Any]", tool.parameters.get("properties", {}))),
    }
    return text("habits", language, key, **values)


def _schema_at(schema: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """The schema of an argument, as far as it can be followed by names alone."""
    found: Any = schema
    for part in filter(None, path.replace("[]", ".[]").split(".")):
        place = found.get("items") if part == "[]" else found.get("properties", {}).get(part)
        if not isinstance(place, Mapping):
            return {}
        found = cast("Mapping[str, Any]", place)
        if "$ref" in found:
            name = str(found["$ref"]).rpartition("/")[2]
            found = cast("Mapping[str, Any]", schema.get("$defs", {}).get(name, {}))
    return found


def _shown(value: Any) -> str:
    if value in ("", None):
        return ""
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"
