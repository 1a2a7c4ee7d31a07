"""`Agent` puts the gears together; `run`, `arun` and `stream` are bridges over the one loop.

Nothing is decided here. The agent introduces the gears to each other, stamps and
records every event before the loop goes on, and hands the finished `Run` out.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from .errors import ConfigurationError
from .events import Event, ModelRetried, Noted, RunEnded, RunStarted
from .gears import Memory, Model, Recorder, ReplyProtocol, Verifier
from .journal.conditions import settings_record, tool_record
from .journal.record import RUNS, JournalRecorder, find_run, new_run_id, read_events
from .limits import LimitKeeper, Limits
from .loop import Gears
from .memory.view import WindowMemory
from .models.profile import load_profile
from .prompts import language_of, text
from .protocols import choose, listen
from .state import State
from .strategies import StrategyName, check_strategy, drive
from .tools.declare import Tool, as_tool
from .tools.executor import ToolExecutor
from .tools.permission import AuditLog, Permission, default_approver
from .types import Message, Run, Usage
from .verify import HonestVerifier, OffVerifier
from .verify.citations import cited_sources, numbered_passages

if TYPE_CHECKING:
    from .chat import Session
    from .knowledge.shelf import Shelf
    from .memory.sessions import SessionStore

T = TypeVar("T")
ProtocolName = Literal["auto", "constrained", "native", "text"]
RESUMABLE = ("cancelled", "approval_needed", "model_failed")
"""Ends that are only pauses: `resume` takes the run up again there."""

PRICE_UNKNOWN = "The price of this model is not known, so the cost budget cannot be held: pass price= to Agent."


class Agent:
    """A ReAct agent: a model, tools, and the gears between them.

    Args:
        model: A `Model`, a name such as `"ollama:qwen3:4b"` or a path to a GGUF file; None takes what is found
            (see `glassloop doctor`).
        tools: Functions, `@tool`s or `Tool`s.
        system: Instructions of your own, before the protocol's.
        protocol: How steps are asked for and read; `auto` takes the best the server can do, or pass your own.
        strategy: How to think: `react`, a `plan` first, or `direct` without tools; see `strategies/`.
        language: Language of prompts and corrections; `auto` follows the question.
        limits: When a run must end.
        approver: Who is asked before a write: see `tools/permission.py`; None asks on a terminal or refuses.
        allow: Names of destructive tools that may run, after a yes.
        verifier: True checks answers against what was observed, False does not, or pass your own.
        memory: What the model sees; None keeps the whole history inside the model's context.
        provenance: Whether arguments must come from somewhere.
        temperature: Sampling temperature of the steps.
        final_temperature: The final answer is worded once more at this temperature, its facts checked again.
        seed: Sampling seed handed to the server.
        knowledge: A `KnowledgeBase`, or where one is: the agent gets the tool `search_knowledge`.
        knowledge_first: Passages are put before the question as well.
        journal: The directory of run journals, False for none, or a `Recorder`.
        audit: The file of who allowed what; None puts it beside the runs' directory.
        price: Money for a `Usage`, for `Limits.cost` and `Run.cost`.

    Raises:
        ConfigurationError: The parts do not fit together.
    """

    def __init__(
        self,
        model: Model | str | Path | None = None,
        tools: Iterable[Any] = (),
        *,
        system: str = "",
        protocol: ProtocolName | ReplyProtocol = "auto",
        strategy: StrategyName = "react",
        language: Literal["auto", "en", "zh"] = "auto",
        limits: Limits | None = None,
        approver: Any = None,
        allow: Sequence[str] = (),
        verifier: bool | Verifier = True,
        memory: Memory | None = None,
        provenance: bool = True,
        temperature: float = 0.1,
        final_temperature: float | None = None,
        seed: int | None = None,
        knowledge: Any = None,
        knowledge_first: bool = False,
        journal: bool | str | Path | Recorder = True,
        audit: str | Path | None = None,
        price: Callable[[Usage], float | None] | None = None,
    ) -> None:
        self.shelf = _shelf(knowledge, first=knowledge_first)
        self.tools: list[Tool] = [as_tool(t) for t in (*tools, *([self.shelf.function] if self.shelf else ()))]
        self.system = system
        self.language = language
        self.limits = limits or Limits()
        self.temperature = temperature
        self.final_temperature = final_temperature
        self.strategy = check_strategy(strategy)
        self.seed = seed
        self.price = price
        self._model = model
        self._protocol = protocol
        self._memory = memory
        self._journal = journal
        runs = Path(journal) if isinstance(journal, (str, Path)) else RUNS
        self.runs = runs
        log = AuditLog(Path(audit)) if audit else AuditLog(runs.parent / "audit.jsonl") if journal else None
        self.permission = Permission(approver or default_approver(), allow=allow, audit=log)
        self.executor = ToolExecutor(
            self.tools, permission=self.permission, words=_words("executor"), provenance=provenance
        )
        self.verifier: Verifier = (
            (HonestVerifier() if verifier else OffVerifier()) if isinstance(verifier, bool) else verifier
        )

    # -- the three ways to run ---------------------------------------------------------------

    def run(self, question: str, **options: Any) -> Run:
        """Answer a question and return the finished run. Works inside a running event loop too (Jupyter)."""
        return wait_for(self.arun(question, **options))

    async def arun(self, question: str, *, history: Sequence[Message] = (), run_id: str | None = None) -> Run:
        """Answer a question.

        Args:
            question: What the user wants to know or have done.
            history: Earlier messages of a conversation.
            run_id: The run's id; a new one by default.

        Returns:
            The run: answer, why it stopped, every step, and what it cost.
        """
        stream = self.stream(question, history=history, run_id=run_id, live=False)
        async for _ in stream:
            pass
        return stream.run

    def stream(
        self, question: str, *, history: Sequence[Message] = (), run_id: str | None = None, live: bool = True
    ) -> RunStream:
        """Answer a question and yield every event as it happens; `.run` of what is returned is the finished run.

        Args:
            question: What the user wants to know or have done.
            history: Earlier messages of a conversation.
            run_id: The run's id; a new one by default.
            live: Whether text is streamed from the model and yielded while it is written.
        """
        if not question.strip():
            raise ConfigurationError("The question is empty: say what you want to know or have done.")
        begin = RunStarted(
            run_id=run_id or new_run_id(),
            question=question,
            system=self.system,
            language=self._prompt_language(question),
            model=self.model.name,
            protocol=self.protocol.name,
            strategy=self.strategy,
            tools=tuple(tool_record(tool) for tool in self.tools) if self.strategy != "direct" else (),
            limits=self.limits.to_dict(),
            settings=settings_record(
                temperature=self.temperature,
                seed=self.seed,
                verifier="off" if isinstance(self.verifier, OffVerifier) else "on",
                provenance=self.executor.provenance,
                capabilities=self.model.capabilities,
                allow=tuple(self.permission.allow),
                answer_in=language_of(question),
                final_temperature=self.final_temperature,
            ),
            knowledge=self.shelf.before(question, keep=bool(history)) if self.shelf else (),
            history=tuple(history),
            version=_version(),
        )
        return RunStream(self, State(), begin, live=live)

    def resume(self, run_id: str) -> Run:
        """Go on with a run that was killed, cancelled, or waits for an approval.

        What is recorded is not asked for again; a write whose outcome nobody knows goes to the approver.

        A run that has ended for good is returned as it is.

        Raises:
            JournalError: There is no such run.
        """
        return wait_for(self.aresume(run_id))

    async def aresume(self, run_id: str) -> Run:
        """Like `resume`, as a coroutine."""
        stream = self.resume_stream(run_id, live=False)
        async for _ in stream:
            pass
        return stream.run

    def resume_stream(self, run_id: str, *, live: bool = True) -> RunStream:
        """Like `resume`, yielding the events from there on."""
        state = State()
        for event in read_events(find_run(run_id, self.runs)):
            if not (isinstance(event, RunEnded) and event.stop in RESUMABLE):
                state.apply(event)
        if self.shelf is not None:
            self.shelf.recall(numbered_passages(state))
        return RunStream(self, state, None, live=live)

    def session(self, name: str = "default", store: SessionStore | str | Path | None = None) -> Session:
        """Return a conversation by name: its turns are kept, and every question knows the ones before it.

        Args:
            name: The session; the same name goes on with it, in this process or another.
            store: Where sessions are kept; None puts them beside the runs' directory.
        """
        from .chat import Session

        return Session(self, name, store)

    # -- the parts ----------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        """The model, found at first use when none was given."""
        if self._model is None or isinstance(self._model, (str, Path)):
            from .models.discover import find

            self._model = find(str(self._model) if self._model is not None else None).model
        return self._model

    def _prompt_language(self, question: str) -> str:
        """The language of prompts: as told, else the one that was measured to serve this model, else the question's."""
        if self.language != "auto":
            return self.language
        profile = load_profile(self.model.name)
        measured = profile.prompt_language if profile else "auto"
        return language_of(question) if measured == "auto" else measured

    @property
    def protocol(self) -> ReplyProtocol:
        """The protocol in use; `auto` is decided by what the model can do."""
        if isinstance(self._protocol, str):
            self._protocol = choose(self._protocol, self.model.capabilities, load_profile(self.model.name))
        return self._protocol

    @property
    def memory(self) -> Memory:
        """What the model sees; sized to the model's context unless one was given."""
        if self._memory is None:
            self._memory = WindowMemory(budget_tokens=int(self.model.capabilities.context * 0.75))
        return self._memory

    def gears(self, *, live: bool) -> Gears:
        """Put the gears of one run together."""
        from .models.retry import retrying

        notes: list[ModelRetried] = []
        model = retrying(
            self.model, on_retry=lambda reason, delay: notes.append(ModelRetried(reason=reason, delay=delay))
        )
        return Gears(
            model=model,
            protocol=self.protocol,
            executor=self.executor,
            memory=self.memory,
            limits=LimitKeeper(self.limits, _words("loop"), self.price),
            verifier=self.verifier,
            words=_words("loop"),
            listen=listen(self.protocol) if live and self.model.capabilities.streaming else None,
            retried=notes,
            seed=self.seed,
            temperature=self.temperature,
        )

    def recorder(self, run_id: str) -> Recorder | None:
        """Make the recorder of one run."""
        if self._journal is False:
            return None
        if isinstance(self._journal, (bool, str, Path)):
            return JournalRecorder(self.runs / f"{run_id}.jsonl")
        return self._journal


class RunStream:
    """The events of a run as an async iterator; afterwards `.run` is the finished run.

    Every event is stamped, recorded and applied to the state before the loop goes on: that is what
    makes the journal a write-ahead log.
    """

    def __init__(self, agent: Agent, state: State, begin: RunStarted | None, *, live: bool) -> None:
        self.state = state
        self.recorder = agent.recorder(begin.run_id if begin else state.run_id)
        self._gears = agent.gears(live=live)
        self._begin = begin
        self._events = self._narrate()
        self._price = agent.price
        self._shelf = agent.shelf

    @property
    def run(self) -> Run:
        """The run as far as it has come."""
        run = self.state.to_run()
        path = getattr(self.recorder, "path", None)
        return replace(run, journal=str(path)) if path is not None and not self.state.journal_lost else run

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events

    async def aclose(self) -> None:
        """Stop the run; it is recorded as cancelled and can be resumed."""
        await self._events.aclose()

    async def _narrate(self) -> AsyncGenerator[Event, None]:
        if self._shelf is not None:
            self._shelf.enter()
        try:
            if self._begin is not None:
                for event in self._take(self._begin):
                    yield event
                if self._begin.limits.get("cost") and (self._price is None or self._price(Usage()) is None):
                    for event in self._take(Noted(text=PRICE_UNKNOWN)):
                        yield event
            async with aclosing(drive(self._gears, self.state)) as events:
                async for event in events:
                    for taken in self._take(event):
                        yield taken
        except (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt):
            if self.state.ended is None:
                self._take(RunEnded(self.state.number, stop="cancelled", usage=self.state.usage, detail="interrupted"))
            raise
        finally:
            if self._shelf is not None:
                self._shelf.leave()
            if self.recorder is not None:
                self.recorder.close()

    def _take(self, event: Event) -> list[Event]:
        """Stamp, record and apply an event; a journal that cannot be written is said once and the run goes on."""
        if isinstance(event, RunEnded):
            cost = self._price(event.usage) if self._price is not None else None
            event = replace(event, cost=cost, sources=cited_sources(event.answer, self.state))
        event = replace(event, seq=self.state.seq + 1, at=time.time())
        out = [event]
        if self.recorder is not None and not self.state.journal_lost:
            try:
                self.recorder.record(event)
            except OSError as error:
                self.state.journal_lost = f"The run is not recorded: {error.strerror or error}."
                out.append(Noted(event.step, seq=event.seq + 1, at=event.at, text=self.state.journal_lost))
        for each in out:
            self.state.apply(each)
        return out


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from synchronous code, also where an event loop is already running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    result: list[T] = []
    failure: list[BaseException] = []
    task: list[Any] = []

    async def noted() -> T:
        task.append(asyncio.current_task())
        return await work

    def target() -> None:
        try:
            result.append(asyncio.run(noted()))
        except BaseException as error:  # handed to the caller's thread below
            failure.append(error)

    thread = threading.Thread(target=target, name="glassloop-run")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:  # the run is told, so that it is recorded as cancelled
        if task:
            task[0].get_loop().call_soon_threadsafe(task[0].cancel)
        thread.join()
        raise
    if failure:
        raise failure[0]
    return result[0]


def _shelf(knowledge: Any, *, first: bool) -> Shelf | None:
    if knowledge is None:
        return None
    from .knowledge.base import KnowledgeBase
    from .knowledge.shelf import Shelf

    return Shelf(KnowledgeBase.open(knowledge) if isinstance(knowledge, (str, Path)) else knowledge, first=first)


def _words(group: str) -> Callable[..., str]:
    def words(state: State, key: str, **values: Any) -> str:
        return text(group, state.language, key, **values)

    return words


def _version() -> str:
    from . import __version__

    return __version__
