"""`Agent` puts the gears together; `run`, `arun` and `stream` are bridges over the one loop.

Nothing is decided here. The agent introduces the gears to each other and hands out a
`RunStream`, which stamps and records every event before the loop goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .bridge import wait_for
from .errors import ConfigurationError, JournalError
from .events import ModelRetried, RunEnded, RunStarted
from .gears import Memory, Model, Recorder, ReplyProtocol, Verifier
from .journal.conditions import settings_record, tool_record
from .journal.record import KEYS_HIDDEN, RUNS, JournalRecorder, find_run, new_run_id, read_events
from .limits import LimitKeeper, Limits
from .loop import Gears
from .memory.view import WindowMemory
from .models.profile import load_profile
from .prompts import language_of, text
from .protocols import choose, listen
from .state import State
from .strategies import StrategyName, check_strategy
from .stream import RunStream
from .tools.declare import Tool, as_tool
from .tools.executor import ToolExecutor
from .tools.permission import AuditLog, Permission, default_approver
from .types import Message, Run, Usage
from .verify import HonestVerifier, OffVerifier
from .verify.citations import numbered_passages

if TYPE_CHECKING:
    from .chat import Session
    from .knowledge.shelf import Shelf
    from .memory.sessions import SessionStore

__all__ = ["RESUMABLE", "Agent", "ProtocolName", "RunStream", "wait_for"]

ProtocolName = Literal["auto", "constrained", "native", "text"]
RESUMABLE = ("cancelled", "approval_needed", "model_failed")
"""Ends that are only pauses: `resume` takes the run up again there."""


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
        self.redact = getattr(journal, "redact", KEYS_HIDDEN)
        """What hides keys in everything that is written: journal, audit file, sessions and notes."""
        where = Path(audit) if audit else runs.parent / "audit.jsonl" if journal else None
        log = AuditLog(where, redact=self.redact) if where else None
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
            JournalError: There is no such run, or the call it waits for was masked in the journal.
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
        from .journal.fork import masked_calls

        path = find_run(run_id, self.runs)
        if masked := masked_calls(path):
            raise JournalError(
                f"The call of {masked[0]} that comes next has values that were masked in the journal, so it cannot be "
                "run as it was meant: ask the question again."
            )
        state = State()
        for event in read_events(path):
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
