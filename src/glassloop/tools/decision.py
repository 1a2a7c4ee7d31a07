"""The word of an approver on one call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Decision:
    """What was decided on exactly one call.

    Attributes:
        allowed: Yes, no, or None: not decided yet, the run pauses.
        by: Who or what decided.
        reason: Why, as one sentence; told to the model when it is a no.
    """

    allowed: bool | None
    by: str = ""
    reason: str = ""
