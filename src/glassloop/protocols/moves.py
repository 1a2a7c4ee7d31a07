"""From what a reply was found to say to the `Move`: names looked up, arguments decoded, guesses kept from writes.

All three readers end here, so that one rule holds for all: a move has all of its calls
right or it is a fault; a guess never lets a write through; a cut reply runs nothing.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..gears import Turn
from ..types import Declaration, Fault, Move, Repair, Reply, ToolCall
from .arguments import Decoded, decode_arguments
from .corrections import Corrections, ProtocolName
from .jsonish import MISSING
from .names import by_name, mentioned, resolve, within_one_edit
from .reason import stated_reason
from .rescue import shown
from .shapes import Draft

CUT = frozenset(
    ("length", "max_tokens", "model_length", "max_output_tokens", "incomplete", "truncated", "content_filter")
)
"""Finish reasons after which a reply is not whole."""

MOST_SAID = 600
"""Characters of a reply that was not understood that enter the history."""

IdFactory = Callable[[], str]


def new_id() -> str:
    """Return an id for a call, unique in any run."""
    return f"call_{uuid.uuid4().hex[:12]}"


@dataclass
class Reading:
    """What a reader has found out so far, and the ways to end it."""

    reply: Reply
    turn: Turn
    protocol: ProtocolName
    make_id: IdFactory = new_id
    thought: str = ""
    repairs: list[Repair] = field(default_factory=list[Repair])

    def __post_init__(self) -> None:
        self.offered = by_name(self.turn.tools)
        self.tools = self.offered or by_name(self.turn.declared)
        """The tools a call is recognised by: when only an answer is left, a call must still be seen for what it is."""
        self.corrections = Corrections(tuple(self.turn.tools), self.turn.language, self.protocol)

    @property
    def cut(self) -> bool:
        """Whether the server said that the reply is not whole."""
        return (self.reply.finish_reason or "").lower() in CUT

    def answer(self, text: str, *, said: str | None = None) -> Move:
        """End with an answer; an empty or cut one is a fault."""
        text = text.strip()
        if self.cut:
            return self.fault("cut_answer" if text else "cut", said=text)
        if not text:
            return self.fault("empty")
        return self._move(answer=text, said=text if said is None else said.strip(), content=text)

    def fault(self, key: str, tool: Declaration | None = None, *, said: str = "", **values: Any) -> Move:
        """End with a fault; `said` is what the model will see of its own reply."""
        return self.faulty(self.corrections.fault(key, tool, **values), said=said)

    def faulty(self, fault: Fault, *, said: str = "") -> Move:
        """End with a fault that is already written."""
        return self._move(fault=fault, said=_shortened(said))

    def calls(self, drafts: Sequence[Draft], *, content: str = "", said: str = "") -> Move:
        """End with these calls, or with the first fault among them."""
        written = said or content
        if self.cut:
            return self.fault("cut", said=written or _written(drafts))
        if not self.offered and drafts:
            return self.fault("no_tools", said=written or _written(drafts))
        calls: list[ToolCall] = []
        needed: list[Repair] = []
        for draft in drafts:
            made = self._call(draft, written or _written(drafts), needed)
            if isinstance(made, Move):
                return made
            calls += made
        refused = self._refuse_guess(calls, needed, written or _written(drafts))
        if refused:
            return refused
        self.repairs += needed
        return self._move(calls=tuple(self._kept(calls)), content=content.strip(), said=said.strip())

    def _kept(self, calls: list[ToolCall]) -> Iterable[ToolCall]:
        if self.turn.parallel or len(calls) < 2:
            return calls
        self.repairs.append(Repair("one call at a time", before=[c.name for c in calls], after=calls[0].name))
        return calls[:1]

    def _call(self, draft: Draft, said: str, needed: list[Repair]) -> list[ToolCall] | Move:
        named = resolve(draft.name, self.tools, near=self.protocol != "native" or not self.reply.tool_calls)
        if named is None:
            return self.unknown(draft.name, said=said)
        tool = named.tool
        decoded = (
            Decoded(problem=draft.broken, given=shown(draft.name))
            if draft.broken
            else decode_arguments(draft.arguments, tool)
        )
        if decoded.problem:
            return self.broken(decoded, tool, said)
        needed += [*named.repairs, *draft.repairs, *decoded.repairs]
        return [ToolCall(self.make_id(), tool.name, arguments) for arguments in decoded.objects]

    def unknown(self, name: str, *, said: str = "") -> Move:
        """End with the fault that no such tool exists, or that it rests; a name one letter off is asked about."""
        named = mentioned(name[:MOST_SAID], by_name(self.turn.declared))
        if len(named) == 1 and named[0] not in self.offered:
            return self.fault("resting", said=said, given=named[0])
        plain = name.strip().casefold()
        close = [n for n in self.offered if within_one_edit(plain, n.casefold())]
        near = self.corrections.near(close[0]) if len(close) == 1 else ""
        return self.fault("unknown_tool", said=said, given=name.strip() or '""', near=near)

    def broken(self, decoded: Decoded, tool: Declaration, said: str) -> Move:
        """End with the fault that arguments could not be decoded."""
        key = {"cut": "cut_arguments", "several": "several"}.get(decoded.problem, "bad_json")
        if key == "bad_json" and decoded.given[:1] not in ("{", "｛"):
            key = "not_object"
        fault = self.corrections.fault(key, tool, given=decoded.given)
        if key == "cut_arguments" and self.reply.finish_reason is not None:
            # The server holds the reply for whole, so this is the model's own slip.
            fault = Fault("bad_arguments", fault.message)
        self.repairs += decoded.repairs
        return self.faulty(fault, said=said)

    def _refuse_guess(self, calls: Sequence[ToolCall], needed: Sequence[Repair], said: str) -> Move | None:
        guess = next((r for r in (*self.repairs, *needed) if r.guessed), None)
        risky = next((c for c in calls if self.tools[c.name].risk != "read"), None)
        if guess is None or risky is None:
            return None
        return self.fault("guessed", self.tools[risky.name], said=said, repair=guess.name)

    def _move(
        self,
        *,
        calls: tuple[ToolCall, ...] = (),
        answer: str | None = None,
        fault: Fault | None = None,
        content: str = "",
        said: str = "",
    ) -> Move:
        thought = self.thought.strip()
        return Move(
            thought=thought,
            calls=calls,
            answer=answer,
            fault=fault,
            repairs=tuple(self.repairs),
            content=content,
            said=said,
            reason=stated_reason(thought) if thought else "",
        )


def _shortened(text: str) -> str:
    text = text.strip()
    return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]} …"


def _written(drafts: Sequence[Draft]) -> str:
    """Write calls as text, for a history in which they cannot stand as calls."""
    shapes = [{"name": d.name, "arguments": None if d.arguments is MISSING else d.arguments} for d in drafts[:8]]
    return "\n".join(shown(json.dumps(s, ensure_ascii=False, default=str)) for s in shapes)
