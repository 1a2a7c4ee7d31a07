"""Runs calls: between a model's wish and the world stands this one visible pipeline.

    resolve → cast → validate → provenance → repeat? → permission → run → validate result → clean

Each stage is a small function that can be called alone. A stage either hands the
call on or answers it with an observation; a tool's failure is an observation too,
never an exception. Read calls run side by side, everything else one at a time, and
the observations come in the order of the calls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..events import ApprovalAsked, ApprovalGiven, CallFinished, CallStarted, Event
from ..types import Declaration, Move, Observation, Repair, Source, Step, ToolCall
from . import observation as shapes
from .declare import Context, Tool, check_names
from .finality import looks_unfinished
from .names import nearest_name, resolve
from .permission import Permission, approval_hash
from .provenance import examples_taken, explain_sources, policy_verdict, sources_of
from .schema import cast, check_result, explain, explain_result
from .threads import ToolExit

if TYPE_CHECKING:
    from ..state import State


NO_SOURCE = "no source"
"""The data of an observation that sent a call back because a value came from nowhere."""

TOO_EARLY = "too early"
"""The same, where a call beside it may bring the value first."""
ONLY_EXAMPLE = "only an example"
"""The same, where the value is nothing but an example from the tool's description."""


NO_TIME = 0.05
"""Seconds a call gets when the run's deadline has passed: enough to fail as a time-out."""


DOUBTED = "doubted"
"""The same, where the model was not sure that a tool is needed and nothing in the call speaks for it."""
DOUBT = 0.001
"""Probability of answering from which a call without evidence is not run; see `protocols/doubt.py`."""
EVIDENCE = ("question", "history", "observation", "derived")
"""Origins that speak for a call: its values were given or found."""

STUCK = 3
"""Steps in a row with one and the same thought after which their common tool rests; one more, and all tools do."""


@dataclass
class Prepared:
    """A call on its way through the pipeline: either still to run, or already answered."""

    call: ToolCall
    tool: Tool | None = None
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    repairs: tuple[Repair, ...] = ()
    sources: tuple[Source, ...] = ()
    answer: Observation | None = None
    allowed_by: str = ""

    @property
    def final(self) -> ToolCall:
        """The call as it runs: our id, the tool's own name, the final arguments."""
        assert self.tool is not None
        return ToolCall(self.call.id, self.tool.name, self.arguments)

    @property
    def side_by_side(self) -> bool:
        """Whether this call may run while others do."""
        return self.tool is not None and self.tool.risk == "read" and self.tool.parallel


class ToolExecutor:
    """The default `Executor`: in process, read tools in parallel, the rest one at a time.

    Args:
        tools: The tools of the run; their names must differ.
        permission: Decides by risk who may run what.
        words: Gives the executor's few own texts: `words(state, key, **values)`.
        provenance: False switches the check of where arguments come from off.
        clock: Monotonic seconds; replaced in tests.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        permission: Permission,
        words: Callable[..., str],
        provenance: bool = True,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        check_names(tools)
        self.tools = {tool.name: tool for tool in tools}
        self.permission = permission
        self.words = words
        self.provenance = provenance
        self.clock = clock

    @property
    def declarations(self) -> Sequence[Declaration]:
        """All tools as a model is told of them."""
        return [tool.declaration for tool in self.tools.values()]

    def offered(self, state: State) -> Sequence[Declaration]:
        """The tools that may be called now: all not refused twice.

        After a step that brought nothing its tools rest for a turn; after two such steps only the answer is left.
        A tool called three times in a row for the same stated thought rests too, and after a fourth step with that
        thought only the answer is left: the model goes round in its head.
        """
        resting: set[str] = set()
        if state.steps and any(o.data == DOUBTED for o in state.steps[-1].observations):
            return []
        if state.steps and self._fruitless(state.steps[-1], state):
            if sum(self._fruitless(step, state) for step in state.steps) > 1:
                return []
            resting = {o.name for o in state.steps[-1].observations}
        if _same_thought(state.steps[-STUCK - 1 :], STUCK + 1):
            return []
        last = state.steps[-STUCK:]
        if _same_thought(last, STUCK):
            names = [{o.name for o in s.observations} for s in last]
            resting |= set.intersection(*names)
        refused = [o.name for _, o in state.observed if o.status == "denied"]
        return [
            tool.declaration
            for tool in self.tools.values()
            if refused.count(tool.name) < 2 and tool.name not in resting
        ]

    def _fruitless(self, step: Step, state: State) -> bool:
        """Whether every call of a step was answered from the record, failed as it had before, or took examples."""
        before = {c.key for s in state.steps if s.number < step.number for c, o in _pairs(s) if o.status != "ok"}
        return bool(step.observations) and all(
            o.cached or o.data == ONLY_EXAMPLE or (o.status != "ok" and c.key in before) for c, o in _pairs(step)
        )

    def barred(self, state: State) -> Sequence[ToolCall]:
        """Calls not to be offered again unchanged: answered ones whose answer is final, and failed ones tried twice."""
        out: dict[str, ToolCall] = {}
        failed: dict[str, int] = {}
        for call, seen in state.observed:
            tool = self.tools.get(seen.name)
            final = ToolCall(call.id, seen.name, seen.arguments if seen.arguments is not None else call.arguments)
            failed[final.key] = failed.get(final.key, 0) + (seen.status != "ok")
            if (seen.status == "ok" and tool and not may_repeat(tool, seen)) or failed[final.key] >= 2:
                out[final.key] = final
        return list(out.values())

    async def execute(self, move: Move, state: State) -> AsyncIterator[Event]:
        """Run the pending calls of a move in order and yield what happens.

        A call that waits for a person stays pending, and so do those after it.
        """
        waiting = list(state.pending)
        while waiting:
            group = [self.prepare(waiting.pop(0), move, state)]
            while waiting and group[-1].side_by_side:
                following = self.prepare(waiting[0], move, state, before=group)
                if following.answer is None and (not following.side_by_side or _asked_already(following, group)):
                    break
                waiting.pop(0)
                group.append(following)
            async for event in self._run_group(group, state):
                yield event
            if state.pending and state.pending[0].id == group[0].call.id:
                return  # it waits for a person

    # -- the stages -----------------------------------------------------------------------

    def prepare(self, call: ToolCall, move: Move, state: State, before: Iterable[Prepared] = ()) -> Prepared:
        """Take one call through resolve, cast, validate, provenance and the question whether it was answered."""
        item = Prepared(call)
        for stage in (self._resolve, self._interrupted, self._cast, self._mended, self._trace, self._answered):
            stage(item, move, state, tuple(before))
            if item.answer is not None:
                break
        return item

    def _resolve(self, item: Prepared, move: Move, state: State, before: tuple[Prepared, ...]) -> None:
        name = resolve(item.call.name, self.tools) or self._by_original(item.call.name)
        if name is None:
            names = ", ".join(self.tools) or self.words(state, "no_tools")
            near = nearest_name(item.call.name, self.tools)
            hint = self.words(state, "unknown_tool_near" if near else "unknown_tool_hint", near=near or "", names=names)
            self._fail(item, state, self.words(state, "unknown_tool", name=item.call.name), hint)
        else:
            item.tool = self.tools[name]

    def _by_original(self, name: str) -> str | None:
        """A tool whose name had to be made valid for servers also answers to the name its author gave it."""
        return next((t.name for t in self.tools.values() if t.original_name == name), None)

    def _interrupted(self, item: Prepared, move: Move, state: State, before: tuple[Prepared, ...]) -> None:
        """A call whose intent is recorded and whose outcome is not: its approved arguments stand as they are."""
        begun = state.started.get(item.call.id)
        if begun is not None:
            item.arguments = begun.call.arguments
            item.sources = begun.sources

    def _cast(self, item: Prepared, move: Move, state: State, before: tuple[Prepared, ...]) -> None:
        assert item.tool is not None
        if item.call.id in state.started:
            return
        schema = item.tool.declaration.parameters
        result = cast(schema, item.call.arguments)
        item.repairs = result.repairs
        if result.problems:
            item.arguments = item.call.arguments
            reason, hint = explain(result.problems, item.tool.name, schema, state.language)
            self._fail(item, state, reason, hint)
        else:
            item.arguments = result.value

    def _mended(self, item: Prepared, move: Move, state: State, before: tuple[Prepared, ...]) -> None:
        """A mending that had to guess may serve a read; it never lets a write run."""
        assert item.tool is not None
        guesses = [r for r in (*move.repairs, *item.repairs) if r.guessed]
        if guesses and item.tool.risk != "read":
            what = ", ".join(dict.fromkeys(r.name for r in guesses))
            self._fail(
                item,
                state,
                self.words(state, "guessed", what=what),
                self.words(state, "guessed_hint", name=item.tool.name),
            )

    def _trace(self, item: Prepared, move: Move, state: State, before: tuple[Prepared, ...]) -> None:
        """Where does each value come from? What has no source is recorded, sent back once, or refused."""
        assert item.tool is not None
        if not self.provenance or item.sources:
            return
        item.sources = sources_of(item.arguments, item.tool.declaration, state)
        policy = item.tool.provenance or {"read": "note", "write": "correct", "destructive": "refuse"}[item.tool.risk]
        told = any(o.name == item.tool.name and o.data == NO_SOURCE for _, o in state.observed)
        lost = not policy_verdict(item.sources, "refuse") or borrowed(item, before)
        if lost and any(p.answer is None for p in before):
            # What is missing may be just what a call beside it is about to find out.
            self._fail(item, state, self.words(state, "deferred", name=item.tool.name), data=TOO_EARLY)
            item.answer = replace(item.answer, deferred=True) if item.answer else None
        elif not policy_verdict(item.sources, policy, told=told):
            reason = explain_sources(item.sources, state.language)
            self._fail(item, state, reason, self.words(state, "no_source", name=item.tool.name), data=NO_SOURCE)
        elif doubtful(move, item, state):
            self._fail(item, state, self.words(state, "doubted"), data=DOUBTED)
            item.answer = replace(item.answer, deferred=True) if item.answer else None
        elif copied := examples_taken(item.sources, item.tool.declaration):
            # It has to call something and has nothing to call. Its own call would only hold it there.
            again = told or any(s.origin == "none" for s in copied)
            self._fail(item, state, self.words(state, "only_example"), data=ONLY_EXAMPLE if again else NO_SOURCE)
            item.answer = replace(item.answer, deferred=True) if item.answer else None

    def _answered(self, item: Prepared, move: Move, state: State, before: tuple[Prepared, ...]) -> None:
        """The same call again: a read whose answer is final comes from the record, a write is never done twice."""
        assert item.tool is not None
        key = item.final.key
        seen = state.done.get(key) or next(
            (p.answer for p in before if p.answer and p.tool and p.final.key == key and p.answer.status == "ok"), None
        )
        if seen is None or item.call.id in state.started or may_repeat(item.tool, seen):
            return
        note = self.words(state, "answered_before" if item.tool.risk == "read" else "done_before")
        item.answer = replace(
            seen,
            call_id=item.call.id,
            content=shapes.with_note(seen.content, note, item.tool.limit),
            cached=True,
            seconds=0.0,
            sources=item.sources,
            repairs=item.repairs,
        )

    def _fail(self, item: Prepared, state: State, reason: str, hint: str = "", data: Any = None) -> None:
        name = item.tool.name if item.tool else item.call.name
        limit = item.tool.limit if item.tool else 1000
        item.answer = Observation(
            item.call.id,
            name,
            "error",
            shapes.error(reason, hint, limit),
            data=data,
            repairs=item.repairs,
            sources=item.sources,
            arguments=item.arguments or None,
            ran=False,
        )

    # -- permission and running -------------------------------------------------------------

    async def _run_group(self, group: list[Prepared], state: State) -> AsyncIterator[Event]:
        for item in group:
            if item.answer is None and (item.tool is None or item.tool.risk != "read" or not item.tool.parallel):
                async for event in self._permit(item, state):
                    yield event
                if item.answer is None and not item.allowed_by and item.tool and item.tool.risk != "read":
                    return
        for item in group:
            if item.answer is None and item.tool is not None:
                yield CallStarted(state.number, call=item.final, risk=item.tool.risk, sources=item.sources)
                if state.journal_lost and item.tool.risk != "read":
                    self._fail(item, state, self.words(state, "no_journal"), self.words(state, "no_journal_hint"))
        tasks = [asyncio.ensure_future(self._answer(item, state)) for item in group]
        try:
            for item, task in zip(group, tasks, strict=True):
                seen = await task
                yield CallFinished(
                    state.number, observation=replace(seen, approved_by=item.allowed_by or seen.approved_by)
                )
        finally:
            for task in tasks:
                task.cancel()

    async def _permit(self, item: Prepared, state: State) -> AsyncIterator[Event]:
        """Ask whoever has to allow this call. An approval belongs to exactly this call and these arguments."""
        assert item.tool is not None
        unknown = item.call.id in state.started
        if item.tool.risk == "read":
            return
        mark = approval_hash(item.tool.name, item.arguments)
        given = state.approvals.get(item.call.id)
        if given is None or given.hash != mark or unknown:
            asked = ApprovalAsked(
                state.number,
                call=item.final,
                risk=item.tool.risk,
                hash=mark,
                sources=item.sources,
                preview=await item.tool.describe(item.arguments),
                unknown=unknown,
            )
            yield asked
            decision = await self.permission.decide(asked, run=state.run_id)
            if decision.allowed is None:
                return
            given = ApprovalGiven(
                state.number,
                call_id=item.call.id,
                hash=mark,
                allowed=decision.allowed,
                by=decision.by,
                reason=decision.reason,
            )
            yield given
        if given.allowed:
            item.allowed_by = given.by or "allowed"
            return
        key = "unknown_outcome" if unknown else "denied"
        reason = self.words(state, key, name=item.tool.name, why=given.reason)
        make = shapes.unknown if unknown else shapes.denied
        item.answer = Observation(
            item.call.id,
            item.tool.name,
            "unknown" if unknown else "denied",
            make(reason, self.words(state, "denied_hint"), item.tool.limit),
            repairs=item.repairs,
            sources=item.sources,
            approved_by=given.by,
            arguments=item.arguments,
        )

    async def _answer(self, item: Prepared, state: State) -> Observation:
        if item.answer is not None:
            return item.answer
        assert item.tool is not None
        begun = self.clock()
        retries = item.tool.retries if item.tool.risk == "read" or item.tool.idempotent else 0
        seen = await self.run(item, state)
        for attempt in range(2, 2 + retries):
            if seen.status == "ok" or seconds_left(state) == NO_TIME:
                break
            item.repairs = (*item.repairs, Repair("retried", before=seen.content, after=f"attempt {attempt}"))
            seen = await self.run(item, state)
        return replace(seen, seconds=self.clock() - begun)

    async def run(self, item: Prepared, state: State) -> Observation:
        """Enter the tool once, within its time, and turn whatever happens into an observation."""
        assert item.tool is not None
        tool = item.tool
        status, repairs = "ok", item.repairs
        seconds = min(filter(None, (tool.timeout, seconds_left(state))), default=None)
        try:
            data = await within(tool.invoke(item.arguments, self._context(item, state)), seconds)
        except OutOfTime:
            reason = self.words(state, "timed_out", name=tool.name, seconds=f"{seconds:.3g}")
            return self._observe(
                item, "error", shapes.error(reason, self.words(state, "failed_hint"), tool.limit), reason
            )
        except Exception as error:  # whatever a tool raises is an observation
            reason = describe_error(error)
            return self._observe(
                item, "error", shapes.error(reason, self.words(state, "failed_hint"), tool.limit), reason
            )
        data = shapes.plain(data)
        if tool.returns_schema is not None:
            result = check_result(tool.returns_schema, data)
            if result.problems:
                what = explain_result(result.problems, state.language)
                reason = self.words(state, "bad_result", name=tool.name, what=what)
                # A write has happened all the same: nothing is said of trying again.
                advice = self.words(state, "failed_hint") if tool.risk == "read" else ""
                return self._observe(item, "error", shapes.error(reason, advice, tool.limit), data)
            data, repairs = result.value, (*repairs, *result.repairs)
        content = shapes.clean(data, tool.limit, keep=tool.keep, drop=tool.drop)
        if content.startswith('{"status":"error"'):
            status = "error"
            if '"hint":""' in content or '"hint"' not in content:
                content = shapes.with_hint(content, self.words(state, "failed_hint"), tool.limit)
        direct = tool.return_direct and status == "ok"
        return replace(self._observe(item, status, content, data), repairs=repairs, direct=direct)

    def _context(self, item: Prepared, state: State) -> Context:
        return Context(
            run_id=state.run_id,
            call_id=item.call.id,
            question=state.question,
            step=state.number,
            language=state.language,
        )

    def _observe(self, item: Prepared, status: Any, content: str, data: Any) -> Observation:
        assert item.tool is not None
        return Observation(
            item.call.id,
            item.tool.name,
            status,
            content,
            data=data,
            repairs=item.repairs,
            sources=item.sources,
            arguments=item.arguments,
        )


def _same_thought(steps: Sequence[Step], count: int) -> bool:
    """Whether `count` steps state one and the same thought."""
    thoughts = {step.move.thought for step in steps}
    return len(steps) == count and len(thoughts) == 1 and thoughts != {""}


def _pairs(step: Step) -> Iterable[tuple[ToolCall, Observation]]:
    """The calls of a step with their observations; an interrupted step has fewer of these."""
    return zip(step.move.calls, step.observations, strict=False)


def doubtful(move: Move, item: Prepared, state: State) -> bool:
    """Whether the model doubted that a tool is needed, nothing is found yet, and no value speaks for the call."""
    if (move.doubt or 0.0) < DOUBT or any(o.status == "ok" for _, o in state.observed):
        return False
    return not any(s.origin in EVIDENCE for s in item.sources)


def borrowed(item: Prepared, before: Iterable[Prepared]) -> bool:
    """Whether a text stands for another thing in a call beside this one: a placeholder for a value not known yet."""
    texts = {(name, v) for name, v in item.arguments.items() if isinstance(v, str) and v}
    for other in before:
        if other.tool is None or item.tool is None or other.tool.name == item.tool.name:
            continue
        for name, value in texts:
            if any(value == v and name != n for n, v in other.arguments.items()):
                return True
    return False


def _asked_already(item: Prepared, group: Iterable[Prepared]) -> bool:
    """Whether the very same call is about to run beside this one: it waits for that result instead."""
    return any(p.answer is None and p.tool is not None and p.final.key == item.final.key for p in group)


class OutOfTime(Exception):
    """A tool's time is up. Not a `TimeoutError`, since those a tool may raise itself, about something else."""


async def within(work: Coroutine[Any, Any, Any], seconds: float | None) -> Any:
    """Await `work` for at most `seconds` (None or 0: no limit), and no longer even if it will not be cancelled.

    Raises:
        OutOfTime: The time is up; the work is cancelled and left behind.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds or None)
    finally:
        if not task.done():
            task.add_done_callback(_forget)
            task.cancel()
    if not done:
        raise OutOfTime
    if task.cancelled():
        raise ToolExit("the tool cancelled itself")
    return task.result()


def _forget(task: asyncio.Task[Any]) -> None:
    """Take note of how a task ended that nobody waits for, so that asyncio does not complain about it."""
    if not task.cancelled():
        task.exception()


def seconds_left(state: State) -> float | None:
    """Seconds until the run's deadline, never less than `NO_TIME`; None without one."""
    limit = state.started_event.limits.get("seconds")
    return max(NO_TIME, state.begun_at + limit - time.time()) if limit else None


def describe_error(error: BaseException) -> str:
    """Say what a tool raised in one line: its message and its cause, without a traceback."""
    text = str(error).strip() or type(error).__name__
    if isinstance(error, KeyError):
        text = f"KeyError: {text}"
    cause = error.__cause__
    return f"{text} (because: {str(cause).strip() or type(cause).__name__})" if cause is not None else text


def may_repeat(tool: Tool, seen: Observation) -> bool:
    """Whether an identical call may bring something new: as declared, else while its result looks unfinished."""
    if tool.repeatable is not None:
        return tool.repeatable
    return tool.risk == "read" and looks_unfinished(seen.data)
