"""Cast and validate: what a model gave as arguments becomes what the tool's JSON Schema asks for.

Owes: `cast`, which never raises and never guesses silently; `explain`, the text that goes back
to the model; `check_result`, the same for what a tool returns. Schemas are compiled once.

A value is first read in the one evident way (casting), then checked whole (validation), and all
problems are told at once. An object's names that the schema does not declare are dropped unless
`additionalProperties` lets them in; defaults are filled in at every depth and are not repairs.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from .casting import ALONE, Casting
from .checks import Findings, TooMuch
from .outline import ONLY_OBJECT, Shapes, own_kinds
from .problems import Cast, Problem
from .sample import sample
from .trail import Trail
from .validation import Validation
from .wording import hint, problem, say, wanted
from .wrappers import unwrap

__all__ = ["Cast", "Problem", "cast", "check_result", "explain"]

CACHE_SIZE = 512
MAX_LINES = 8


class Compiled:
    """A schema ready for use: its checks and its casts."""

    def __init__(self, schema: Any, *, result: bool = False) -> None:
        self.shapes = Shapes(schema)
        self.root = self.shapes.root
        self.validation = Validation(self.shapes)
        self.casting = Casting(self.shapes, self.validation, result=result)
        self.check = self.validation.check_of(self.root)
        self.caster = self.casting.caster_of(self.root, ALONE, at_root=True)
        self.known = self.shapes.known(self.root)
        self.open = self.shapes.is_open(self.root, at_root=True)
        target = self.shapes.target(self.root)
        kinds = own_kinds(target) if isinstance(target, dict) else None
        self.wants_object = isinstance(target, dict) and (
            kinds == ONLY_OBJECT or (kinds is None and self.shapes.kinds(target) >= {"object"})
        )


_cache: OrderedDict[tuple[bytes, bool], Compiled] = OrderedDict()
_lock = Lock()


def compiled(schema: Any, *, result: bool = False) -> Compiled:
    """Compile a schema, or take it from the cache.

    The key is the schema's content, so that a schema changed in place is compiled anew; version 2
    of `marshal` writes the same bytes for the same data and is five times as fast as JSON.
    """
    try:
        key = (marshal.dumps(schema, 2), result)
    except ValueError:  # something JSON does not hold: no key, no cache
        return Compiled(schema, result=result)
    held = _cache.get(key)
    if held is None:
        # The cached copy is our own: what the caller does to the schema later cannot reach it.
        held = Compiled(marshal.loads(key[0]), result=result)
        with _lock:
            _cache[key] = held
            if len(_cache) > CACHE_SIZE:
                _cache.popitem(last=False)
    return held


def cast(schema: Mapping[str, Any], arguments: Any) -> Cast:
    """Cast arguments to a tool's JSON Schema and check them. Never raises.

    Args:
        schema: The `parameters` of a tool declaration; one that makes no sense allows everything.
        arguments: What the model sent: an object, or the text of one.

    Returns:
        The value, the repairs that led to it, and all problems that are left.
    """
    return _guarded(schema, arguments, result=False)


def check_result(schema: Any, data: Any) -> Cast:
    """Check what a tool returned against its declared type, given as a schema. Never raises.

    Text that is exactly the declared number or boolean is cast, JSON text is decoded, and one
    item is wrapped where a list is declared. Nothing is dropped, renamed, filled in or guessed.
    """
    return _guarded(schema, data, result=True)


def _guarded(schema: Any, value: Any, *, result: bool) -> Cast:
    try:
        return _cast(compiled(schema, result=result), value, result=result)
    except (TooMuch, RecursionError):
        return Cast(value, problems=(problem("", _Deep(), "depth"),))
    except Exception as error:  # the promise never to raise holds even where we are wrong
        found = problem("", _Deep(), "internal")
        return Cast(value, problems=(replace(found, hint=f"{type(error).__name__} while checking."),))


class _Deep:
    """Stands for a value that cannot be shown."""


def _cast(ready: Compiled, value: Any, *, result: bool) -> Cast:
    found = Findings()
    trail = Trail(found)
    if ready.wants_object and not result:
        value = unwrap(value, ready.known, ready.open, trail)
        if not isinstance(value, dict):
            return Cast(value, tuple(trail.repairs), (problem("", value, "arguments"),))
    value = ready.caster(value, "", trail)
    ready.check(value, "", found)
    problems = trail.problems
    if found.problems:
        told = {p.path for p in problems}
        problems = problems + [p for p in found.problems if p.path not in told]
        if trail.strangers:
            problems = [_with_strangers(p, trail.strangers) for p in problems]
    return Cast(value, tuple(trail.repairs), tuple(problems), tuple(trail.notes))


def _with_strangers(given: Problem, strangers: dict[str, tuple[str, ...]]) -> Problem:
    """Tell, with a missing argument, which unknown ones were given in its place."""
    near = strangers.get(given.path.rpartition(".")[0])
    if given.rule != "required" or not near:
        return given
    return replace(given, extra=near, hint=hint("required", given.limit, None, near))


def explain(problems: Sequence[Problem], declaration_name: str, schema: Any, language: str = "en") -> tuple[str, str]:
    """Say to a model what is wrong with its arguments.

    Args:
        problems: The problems of a `Cast`.
        declaration_name: The tool's name.
        schema: The tool's parameters; the example of a right call is built from it alone.
        language: `en` or `zh`.

    Returns:
        The reason, which names every field with what was given and what is wanted, and the hint,
        which shows the form of a right call.
    """
    lines = [_line(p, language) for p in problems[:MAX_LINES]]
    if len(problems) > MAX_LINES:
        lines.append(say("more", language, n=len(problems) - MAX_LINES))
    key = "reason_one" if len(problems) == 1 else "reason"
    gap = say("gap", language)
    reason = say(key, language, name=declaration_name, n=len(problems), lines=gap.join(lines))
    advice = say("again", language, name=declaration_name)
    example = sample(compiled(schema), {p.path.partition(".")[0].partition("[")[0] for p in problems}, language)
    if example:
        advice += gap + say("example", language, example=example)
    return reason, advice


def explain_result(problems: Sequence[Problem], language: str = "en") -> str:
    """Say what is wrong with a tool's result: the first problem, without advice, for no model can mend it."""
    found = problems[0]
    text = found.wanted if found.rule == "internal" else wanted(found.rule, found.limit, language)
    key = "line_missing" if found.rule == "required" else "line"
    return say(key, language, path=found.path or say("result", language), given=found.given, wanted=text)


def _line(given: Problem, language: str) -> str:
    path = given.path or say("path", language)
    gap = say("gap", language)
    if given.rule == "unknown" and given.limit:
        line = say("line_unknown", language, path=path, names=say("comma", language).join(map(str, given.limit)))
        return line + gap + hint("unknown", given.limit, None, given.extra, language)
    if given.rule == "internal":
        text, advice = given.wanted, given.hint
    else:
        text = wanted(given.rule, given.limit, language)
        advice = hint(given.rule, given.limit, given.given, given.extra, language)
    key = "line_missing" if given.rule == "required" else "line"
    line = say(key, language, path=path, given=given.given, wanted=text)
    return line + gap + advice if advice else line
