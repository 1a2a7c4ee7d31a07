"""May this call run? Decided by the tool's risk, and for everything but a read by whoever is asked.

`read` runs. `write` asks. `destructive` is refused unless the tool is named in `allow=`, and then asks too.
An approval belongs to exactly one call, by its id and by the hash of its final arguments.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..events import ApprovalAsked
from ..types import digest
from .approvers import (
    AlwaysNo,
    AlwaysYes,
    Approver,
    PatternPolicy,
    Pause,
    TerminalApprover,
    ask_approver,
    question_text,
)
from .audit import AUDIT, AuditLog
from .decision import Decision

__all__ = [
    "AUDIT",
    "AlwaysNo",
    "AlwaysYes",
    "Approver",
    "AuditLog",
    "Decision",
    "PatternPolicy",
    "Pause",
    "Permission",
    "TerminalApprover",
    "approval_hash",
    "default_approver",
    "question_text",
]


def approval_hash(name: str, arguments: Mapping[str, Any]) -> str:
    """Return the mark of a call's final arguments; an approval is void for any other."""
    return digest([name, dict(arguments)])


def default_approver() -> Approver:
    """Return who is asked when nobody is named: the terminal, or always no where there is none."""
    stdin = sys.stdin
    return TerminalApprover() if stdin is not None and not stdin.closed and stdin.isatty() else AlwaysNo()


class Permission:
    """Decides on each call, and writes every decision but those on reads into the audit file.

    Args:
        approver: Any callable or coroutine that takes an `ApprovalAsked` and gives a `Decision`, True, False,
            or None to pause the run; None refuses.
        allow: Names of the destructive tools that may be asked about at all.
        audit: Where decisions are written; None for nowhere.
    """

    def __init__(
        self, approver: Approver | None = None, *, allow: Sequence[str] = (), audit: AuditLog | None = None
    ) -> None:
        self.approver: Approver = approver or AlwaysNo()
        self.allow = frozenset([allow] if isinstance(allow, str) else allow)
        self.audit = audit

    async def decide(self, asked: ApprovalAsked, *, run: str = "") -> Decision:
        """Decide on one call.

        Args:
            asked: The call with its final arguments, their hash and sources.
            run: The run's id, for the audit file.
        """
        if asked.risk == "read":
            return Decision(True, "risk", "Reading needs no approval.")
        if asked.hash and asked.hash != approval_hash(asked.call.name, asked.call.arguments):
            decision = Decision(False, "permission", "The arguments are not those the approval was asked for.")
        elif asked.risk == "destructive" and asked.call.name not in self.allow:
            decision = Decision(False, "permission", f"{asked.call.name} is destructive and not in the allowed tools.")
        else:
            decision = await ask_approver(self.approver, asked)
        return self._written(asked, decision, run)

    def _written(self, asked: ApprovalAsked, decision: Decision, run: str) -> Decision:
        if self.audit is None:
            return decision
        try:
            self.audit.record(asked, decision, run)
        except OSError as error:
            # what cannot be accounted for must not happen
            if decision.allowed:
                return Decision(False, "audit", f"The audit file cannot be written: {error.strerror or error}.")
        return decision
