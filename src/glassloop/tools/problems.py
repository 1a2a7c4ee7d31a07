"""What casting hands back: the value, what was mended to get it, and everything that is still wrong.

Owes: plain frozen values only. A problem carries the rule it breaks and that rule's
limit, so that its text can be made again in another language.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ..types import Record, Repair

GIVEN_CHARS = 80
NOTHING = "nothing"


@dataclass(frozen=True)
class Problem(Record):
    """One thing that is wrong with a value.

    Attributes:
        path: Where, such as `edits[0].old`; empty for the arguments as a whole.
        given: What was given, as short JSON text, or `nothing`.
        wanted: What the schema wants there.
        hint: What to do about it; may be empty.
        rule: The schema keyword that is broken, or `unknown`, `object`, `depth`.
        limit: What that keyword says in the schema.
        extra: Names that help to mend it: a near name, or unknown arguments that were given.
    """

    path: str
    given: str
    wanted: str
    hint: str = ""
    rule: str = ""
    limit: Any = None
    extra: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.path or 'arguments'}: given {self.given}, wanted {self.wanted}"
        return f"{text}. {self.hint}" if self.hint else text


@dataclass(frozen=True)
class Cast:
    """Arguments after casting.

    Attributes:
        value: The value as far as it could be cast; only to be used when `ok`.
        repairs: Every change that was made, in order. Filled defaults are not repairs.
        problems: Everything that is still wrong, all at once.
        notes: What the model may be told although nothing is wrong, such as a near name of a dropped argument.
    """

    value: Any
    repairs: tuple[Repair, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the value fits the schema."""
        return not self.problems

    @property
    def guessed(self) -> bool:
        """Whether a repair had to guess; then no write may run."""
        return any(repair.guessed for repair in self.repairs)


def shown(value: Any, chars: int = GIVEN_CHARS) -> str:
    """Return `value` as JSON text of at most `chars` characters, for people and models to read."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=lambda o: f"<{type(o).__name__}>")
    except (TypeError, ValueError, RecursionError):
        text = f"<{type(value).__name__}>"
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= chars else text[: chars - 1] + "…"


def join(path: str, name: object) -> str:
    """Return the path of the member `name` of the object at `path`."""
    return f"{path}.{name}" if path else f"{name}"
