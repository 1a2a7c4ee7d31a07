"""What casts leave behind: repairs, problems only a cast can see, and how much was bent to get there.

Owes: a place to try a reading without committing to it. `fork` a trail, cast on the fork,
and `adopt` it only if the outcome fits.
"""

from __future__ import annotations

from typing import Any

from ..types import Repair
from .checks import Findings
from .problems import Problem

COSTS = {"dropped": 5, "wrapped": 3, "split": 4, "text": 2, "rename": 3, "near_enum": 20, "near_name": 20}
"""How far a cast bends a value; between readings that fit, the least bent one is taken. Others cost 1."""


class Trail:
    """The record of one pass of casting."""

    __slots__ = ("cost", "found", "notes", "problems", "repairs", "strangers")

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.repairs: list[Repair] = []
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.strangers: dict[str, tuple[str, ...]] = {}
        self.cost = 0

    def mended(self, name: str, path: str, before: Any, after: Any, *, guessed: bool = False) -> Any:
        """Note a repair and return its outcome."""
        self.repairs.append(Repair(name, path, before, after, guessed))
        digit = name == "boolean" and not (isinstance(before, str) and before.strip().isalpha())
        self.cost += 2 if digit else COSTS.get(name, 1)
        return after

    def fork(self) -> Trail:
        """A trail for a reading that may not be taken."""
        return Trail(self.found)

    def adopt(self, other: Trail) -> None:
        """Take over what a fork noted."""
        self.repairs += other.repairs
        self.problems += other.problems
        self.notes += other.notes
        self.strangers.update(other.strangers)
        self.cost += other.cost

    @property
    def guessed(self) -> bool:
        """Whether any repair so far had to guess."""
        return any(r.guessed for r in self.repairs)
