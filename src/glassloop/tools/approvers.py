"""Who is asked: the ready approvers. Each is a callable `ApprovalAsked -> Decision` (or a coroutine of one).

A write whose outcome is unknown is never allowed by a rule, only by a person: allowing it means doing it again.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TextIO, cast

from ..errors import ConfigurationError
from ..events import ApprovalAsked
from ..types import Source
from .decision import Decision
from .provenance import tainted

Approver = Callable[[ApprovalAsked], "Decision | bool | None | Awaitable[Decision | bool | None]"]

_YES = {"y", "yes", "是", "好", "可以", "同意", "允许"}
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_UNKNOWN = "The outcome of an earlier attempt is unknown; a rule never repeats it."


async def ask_approver(approver: Approver, asked: ApprovalAsked) -> Decision:
    """Ask any callable or coroutine and bring its word into one form; whatever goes wrong is a no."""
    name = getattr(approver, "__name__", type(approver).__name__)
    try:
        said = approver(asked)
        if inspect.isawaitable(said):
            said = await said
    except Exception as error:  # an approver that breaks must not let anything through
        return Decision(False, name, f"The approver failed: {error or type(error).__name__}")
    if isinstance(said, Decision):
        return said
    return Decision(said if said is None or said is True else False, name)


class AlwaysNo:
    """Refuses everything: the default where nobody can be asked."""

    def __init__(self, reason: str = "Nobody can be asked here.") -> None:
        self.reason = reason

    def __call__(self, asked: ApprovalAsked) -> Decision:
        """Refuse."""
        return Decision(False, "always-no", self.reason)


class AlwaysYes:
    """Allows everything but a write whose outcome is unknown."""

    def __call__(self, asked: ApprovalAsked) -> Decision:
        """Allow, unless the call may have happened already."""
        return Decision(False, "always-yes", _UNKNOWN) if asked.unknown else Decision(True, "always-yes")


class Pause:
    """Decides nothing: the run stops with `approval_needed`, is saved, and is decided later, elsewhere."""

    def __call__(self, asked: ApprovalAsked) -> Decision:
        """Leave the call waiting."""
        return Decision(None, "pause", "It waits for an approval.")


class PatternPolicy:
    """Allows calls that fit a pattern and hands the rest on.

    A pattern is a tool's name, or a name with argument patterns: `send_message(to=*@example.com)`. `*` and `?`
    stand for characters other than white space, quotes, commas and semicolons, and `*` beside an `@` never for
    another `@`, so that no second address slips through. Every item of a list must fit.

    Args:
        allow: The patterns.
        then: Who decides about calls that fit none; refuses by default.

    Raises:
        ConfigurationError: A pattern is not written like the examples.
    """

    def __init__(self, allow: Sequence[str], then: Approver | None = None) -> None:
        self.rules = [_parsed(pattern) for pattern in allow]
        self.then: Approver = then or AlwaysNo("No pattern allows it.")

    async def __call__(self, asked: ApprovalAsked) -> Decision:
        """Allow a call that fits a pattern, else ask on."""
        if not asked.unknown:
            for pattern, name, arguments in self.rules:
                if name.fullmatch(asked.call.name) and all(
                    key in asked.call.arguments and _fits(rule, asked.call.arguments[key]) for key, rule in arguments
                ):
                    return Decision(True, f"pattern {pattern}")
        return await ask_approver(self.then, asked)


_PATTERN = re.compile(r"\s*([\w*?.:-]+)\s*(?:\((.*)\))?\s*", re.S)
_PAIR = re.compile(r"\s*([\w-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^,\"']*?)\s*(?:,|$)")
_Rule = tuple[str, "re.Pattern[str]", "list[tuple[str, re.Pattern[str]]]"]


def _parsed(pattern: str) -> _Rule:
    m = _PATTERN.fullmatch(pattern)
    arguments: list[tuple[str, re.Pattern[str]]] = []
    at = 0
    inner = (m[2] or "").strip() if m else ""
    while m and at < len(inner):
        pair = _PAIR.match(inner, at)
        if not pair or not pair[2]:
            m = None
            break
        arguments.append((pair[1], _glob(pair[2].strip("\"'"))))
        at = pair.end()
    if not m:
        raise ConfigurationError(
            f"The permission pattern {pattern!r} cannot be read: write it like send_message(to=*@example.com)."
        )
    return pattern.strip(), _glob(m[1]), arguments


def _glob(pattern: str) -> re.Pattern[str]:
    none_of = r"\s,;<>\"'" + ("@" if "@" in pattern else "")
    forms = {"*": f"[^{none_of}]*", "?": f"[^{none_of}]"}
    return re.compile("".join(forms.get(c, re.escape(c)) for c in pattern))


def _fits(rule: re.Pattern[str], value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return bool(items) and all(_fits(rule, item) for item in items)
    if isinstance(value, Mapping) or value is None:
        return False
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return rule.fullmatch(text) is not None


class TerminalApprover:
    """Asks on the terminal: shows the tool, its final arguments with their sources, and what it says it will do.

    Refuses when there is no terminal to ask on. What is shown is made harmless first: control characters in an
    argument could otherwise repaint the question.

    Args:
        source: Where the answer is read from; standard input by default.
        target: Where the question is written; standard error by default.
    """

    def __init__(self, source: TextIO | None = None, target: TextIO | None = None) -> None:
        self._source = source
        self._target = target

    async def __call__(self, asked: ApprovalAsked) -> Decision:
        """Show the call and take a yes; everything else is a no."""
        source, target = self._source or sys.stdin, self._target or sys.stderr
        if source is None or not source.isatty():
            return Decision(False, "terminal", "Nobody can be asked here.")
        target.write(question_text(asked) + "\nAllow this? [y/N] ")
        target.flush()
        answer = await _read_line(source)
        if answer is None:
            return Decision(False, "terminal", "The question was not answered.")
        allowed = answer.strip().lower() in _YES
        return Decision(allowed, "terminal", "" if allowed else "The user said no.")


async def _read_line(source: TextIO) -> str | None:
    """Read a line without stopping the event loop, in a thread that never keeps the program from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[str | None] = loop.create_future()

    def deliver(line: str | None) -> None:
        if not future.done():
            future.set_result(line)

    def read() -> None:
        try:
            line = source.readline() or None
        except (OSError, ValueError):
            line = None
        try:
            loop.call_soon_threadsafe(deliver, line)
        except RuntimeError:  # the loop is closed: nobody waits any more
            pass

    threading.Thread(target=read, name="glassloop-approval", daemon=True).start()
    return await future


def question_text(asked: ApprovalAsked) -> str:
    """Write out what a person needs to decide on a call, safe to print."""
    lines = [f"{asked.call.name} ({asked.risk}) wants to run:"]
    if asked.unknown:
        lines.append("  ! UNKNOWN: it was started before and nobody knows whether it happened. Yes means: do it again.")
    bad = {s.path for s in tainted(asked.sources)}
    shown = {s.path: s for s in asked.sources}
    for path, value in _flat(asked.call.arguments):
        source = shown.get(path)
        lines.append(f"  {_safe(path)} = {_safe(json.dumps(value, ensure_ascii=False, default=str))}{_origin(source)}")
        if path in bad and source is not None:
            lines.append(f"    ! only from {_safe(source.where or 'an observation')}, not from you")
    if asked.preview:
        lines += ["  It says it will:", *(f"    {_safe(line)}" for line in asked.preview.splitlines()[:20])]
    return "\n".join(lines)


def _origin(source: Source | None) -> str:
    if source is None:
        return ""
    if source.origin == "none":
        return "   (! no source: made up by the model)"
    return f"   ({source.origin}{', ' + _safe(source.where) if source.where not in ('', source.origin) else ''})"


def _flat(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        items = cast("Mapping[Any, Any]", value).items()
        return [leaf for k, v in items for leaf in _flat(v, f"{path}.{k}" if path else str(k))]
    if isinstance(value, (list, tuple)) and value:
        members = cast("Sequence[Any]", value)
        return [leaf for i, v in enumerate(members) for leaf in _flat(v, f"{path}[{i}]")]
    return [(path, value)]


def _safe(text: str) -> str:
    return _UNSAFE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)
