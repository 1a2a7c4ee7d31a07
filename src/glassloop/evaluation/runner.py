"""Runs a matrix of cases × models × strategies × repeats, and goes on where it was stopped.

Owes: a finished cell is on disk before the next begins and is never run again in the same folder;
every run has fresh tools; what a run is worth is read from its events, never from the agent.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from ..errors import CaseError, GlassloopError
from ..events import ApprovalAsked, Event
from ..journal.record import JournalRecorder
from ..tools.declare import Tool, load_tools
from ..types import Record, digest
from .cases import Case
from .faults import faulty
from .metrics import Score, failed_to_run, score

if TYPE_CHECKING:
    from ..agent import Agent

EVALS = Path(".glassloop") / "evals"
RESULTS = "results.jsonl"
ModelSpec = Any
"""A model's name, a `Model`, or a function that makes one for a case (for scripted models)."""


@dataclass(frozen=True)
class Cell(Record):
    """One run to make: a case, the names of model and strategy, and which repeat it is."""

    case: str
    model: str
    strategy: str
    repeat: int
    key: str = ""


@dataclass(frozen=True)
class Result(Record):
    """A finished cell: its score, and the journal of its run beside the results."""

    cell: Cell
    score: Score
    run: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """How the agents of an evaluation are made; `agent` holds further keyword arguments of `Agent`."""

    models: tuple[ModelSpec, ...] = (None,)
    strategies: tuple[str, ...] = ("react",)
    repeat: int = 0
    """Repeats of every case; 0 takes each case's own."""
    jobs: int = 1
    toolset: str = ""
    """Tools for the cases that name none."""
    tools: tuple[Tool, ...] | None = None
    """Tools for all cases, instead of those they name."""
    agent: dict[str, Any] = field(default_factory=dict[str, Any])
    descriptions: dict[str, str] = field(default_factory=dict[str, str])
    """Other descriptions for some tools, to measure a change of words."""


def model_name(spec: ModelSpec) -> str:
    """What a model is called in results."""
    if spec is None:
        return "default"
    return spec if isinstance(spec, str) else str(getattr(spec, "name", None) or getattr(spec, "__name__", "model"))


class Toolbox:
    """The tools of the cases: loaded once, and made anew for every run where the module has a `make_tools()`.

    Args:
        settings: What is used where a case names no tools.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._loaded: dict[str, list[Tool]] = {}

    def declared(self, case: Case) -> list[Tool]:
        """The tools as declared, the same objects each time."""
        if self.settings.tools is not None:
            return self._offered(case, list(self.settings.tools))
        spec = case.toolset or self.settings.toolset
        if spec and spec not in self._loaded:
            self._loaded[spec] = load_tools(spec)
        return self._offered(case, self._loaded[spec] if spec else [])

    def fresh(self, case: Case) -> list[Tool]:
        """The tools for one run."""
        tools = self.declared(case)
        spec = case.toolset or self.settings.toolset
        if self.settings.tools is None and spec:
            module = sys.modules.get(getattr(self._loaded[spec][0].call, "__module__", ""))
            make = getattr(module, "make_tools", None)
            if callable(make):
                made = {t.name: t for t in cast("Iterable[Tool]", make())}
                return self._described([made.get(t.name, t) for t in tools])
        return tools

    def _offered(self, case: Case, tools: list[Tool]) -> list[Tool]:
        names = {t.name for t in tools}
        wanted = [*case.tools, *case.forbid, *(c.tool for c in case.calls or ())]
        for name in wanted:
            if name not in names:
                have = ", ".join(sorted(names)) or "none: name the tools with `tools:` or --tools"
                raise CaseError(f"{case.file}:{case.line}: there is no tool {name!r} (there is {have}).")
        return self._described([t for t in tools if not case.tools or t.name in case.tools])

    def _described(self, tools: list[Tool]) -> list[Tool]:
        words = self.settings.descriptions
        return [t.changed(description=words[t.name]) if t.name in words else t for t in tools]


def plan(cases: Sequence[Case], settings: Settings, toolbox: Toolbox) -> list[tuple[Cell, Case, ModelSpec]]:
    """All cells of the matrix, repeats outermost: a stopped evaluation has seen every case about equally often."""
    names = [model_name(m) for m in settings.models]
    if len(set(names)) < len(names):
        raise CaseError(f"A model is named twice ({', '.join(names)}): name each once.")
    marks = {c.id: digest([c.key, [t.declaration.to_dict() for t in toolbox.declared(c)]]) for c in cases}
    out: list[tuple[Cell, Case, ModelSpec]] = []
    most = max((settings.repeat or c.repeat for c in cases), default=0)
    for repeat in range(1, most + 1):
        for spec, name in zip(settings.models, names, strict=True):
            for strategy in settings.strategies:
                for case in cases:
                    if repeat <= (settings.repeat or case.repeat):
                        key = digest([marks[case.id], name, strategy, repeat, _plain_settings(settings)])
                        out.append((Cell(case.id, name, strategy, repeat, key), case, spec))
    return out


def _plain_settings(settings: Settings) -> dict[str, Any]:
    return {k: v for k, v in settings.agent.items() if isinstance(v, (str, int, float, bool))}


async def evaluate(
    cases: Sequence[Case],
    settings: Settings,
    folder: Path,
    *,
    progress: Callable[[str, int, int], None] = lambda label, done, total: None,
) -> list[Result]:
    """Run every cell that is not finished yet, and return all results in the order of the matrix.

    Args:
        cases: The cases.
        settings: Models, strategies, repeats, and how many run at once.
        folder: Where results and journals are kept; what it holds already is not run again.
        progress: Called as cells finish, with a label, how many are done, and how many there are.

    Raises:
        CaseError: A case names a tool that is not there.
    """
    toolbox = Toolbox(settings)
    cells = plan(cases, settings, toolbox)
    done = {result.cell.key: result for result in read_results(folder)}
    left = [each for each in cells if each[0].key not in done]
    models = {name: found(spec) for name, spec in {cell.model: spec for cell, _, spec in left}.items()}
    finished = len(cells) - len(left)
    progress("", finished, len(cells))
    with _appending(folder) as file:

        async def one(cell: Cell, case: Case) -> None:
            nonlocal finished
            result = await run_cell(cell, case, models[cell.model], settings, toolbox, folder)
            file.write(json.dumps(result.to_dict(), ensure_ascii=False, separators=(",", ":"), default=str) + "\n")
            file.flush()
            done[cell.key] = result
            finished += 1
            progress(f"{cell.case} · {cell.model} · {cell.strategy}", finished, len(cells))

        await in_turn([lambda c=cell, k=case: one(c, k) for cell, case, _ in left], settings.jobs)
    return [done[cell.key] for cell, _, _ in cells]


def _appending(folder: Path) -> TextIO:
    folder.mkdir(parents=True, exist_ok=True)
    return (folder / RESULTS).open("a", encoding="utf-8")


def found(spec: ModelSpec) -> ModelSpec:
    """Find a model by name, once for all runs; a function that makes models, or a model, stays as it is."""
    if spec is not None and not isinstance(spec, (str, Path)):
        return spec
    from ..models.discover import find

    return find(str(spec) if spec is not None else None).model


async def in_turn(work: Sequence[Callable[[], Awaitable[None]]], jobs: int) -> None:
    """Run pieces of work in order, up to `jobs` at once; the first error stops the rest."""
    waiting = iter(work)

    async def worker() -> None:
        for piece in waiting:
            await piece()

    workers = [asyncio.ensure_future(worker()) for _ in range(max(1, min(jobs, len(work))))]
    try:
        await asyncio.gather(*workers)
    finally:
        for each in workers:
            each.cancel()


async def run_cell(
    cell: Cell, case: Case, spec: ModelSpec, settings: Settings, toolbox: Toolbox, folder: Path | None
) -> Result:
    """Make one run and score it. An agent that cannot be made is a failed run, not a failed evaluation."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{cell.key[:12]}"
    run = f"runs/{name}.jsonl" if folder is not None else ""
    recorder = JournalRecorder(folder / run) if folder is not None else False
    try:
        agent = make_agent(case, spec, cell.strategy, settings, toolbox.fresh(case), recorder)
        events = [event async for event in agent.stream(case.question, history=case.history, run_id=name, live=False)]
        return Result(cell, score(case, events), run, case.tags)
    except GlassloopError as error:
        return Result(cell, failed_to_run(error), "", case.tags)


def make_agent(
    case: Case, spec: ModelSpec, strategy: str, settings: Settings, tools: list[Tool], recorder: Any
) -> Agent:
    """The agent for one run of a case."""
    from ..agent import Agent
    from ..prompts import language_of

    language = case.language if case.language != "auto" else language_of(case.question)
    bait = case.forbid[0] if case.forbid else ""
    model = spec(case) if inspect.isfunction(spec) or inspect.ismethod(spec) else spec
    options: dict[str, Any] = {"system": case.system, "temperature": 0.0} | settings.agent
    agent = Agent(
        model,
        faulty(tools, case.faults, language=language, bait=bait),
        strategy=cast("Any", strategy),
        language=cast("Any", case.language),
        limits=case.limits,
        approver=approver(case),
        allow=[t.name for t in tools if t.risk == "destructive" and approves(case, t.name)],
        journal=recorder,
        **options,
    )
    agent.permission.audit = None  # nobody was asked: the case has decided
    return agent


def approves(case: Case, tool: str) -> bool:
    """Whether a case says yes to a tool."""
    return case.approve if isinstance(case.approve, bool) else tool in case.approve


def approver(case: Case) -> Callable[[ApprovalAsked], bool]:
    """Who is asked in a run of a case: the case itself."""
    return lambda asked: approves(case, asked.call.name)


async def run_case(case: Case, agent: Agent) -> tuple[Score, list[Event]]:
    """Run a case on an agent of your own, with the case's faults built into a copy of its tools."""
    import copy

    agent = copy.copy(agent)
    agent.executor = copy.copy(agent.executor)
    tools = faulty(list(agent.executor.tools.values()), case.faults, bait=case.forbid[0] if case.forbid else "")
    agent.executor.tools = {tool.name: tool for tool in tools}
    if case.limits != type(case.limits)():
        agent.limits = case.limits
    events = [event async for event in agent.stream(case.question, history=case.history, live=False)]
    return score(case, events), events


def read_results(folder: Path) -> list[Result]:
    """The finished cells of a folder; a half-written last line is cut off, so that the next one stands alone."""
    from ..journal.record import mend_tail

    path = folder / RESULTS
    if not path.exists():
        return []
    mend_tail(path)
    try:
        return [Result.from_dict(json.loads(line)) for line in path.read_bytes().split(b"\n") if line.strip()]
    except (ValueError, KeyError, TypeError) as error:
        raise CaseError(
            f"{path} holds something that is no result ({error}): choose another folder with --out."
        ) from None


def fresh(directory: Path = EVALS) -> Path:
    """Make a new folder, named by the time; two evaluations begun in one second get two."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for name in (stamp, *(f"{stamp}-{n}" for n in range(2, 1_000))):
        try:
            (directory / name).mkdir(parents=True)
        except FileExistsError:
            continue
        return directory / name
    raise CaseError(f"{directory} takes no new folder: give one with --out.")


def latest(directory: Path = EVALS) -> Path:
    """The folder of the newest evaluation.

    Raises:
        CaseError: There is none.
    """
    folders = [f.parent for f in directory.glob(f"*/{RESULTS}")]
    if not folders:
        raise CaseError(f"There is no evaluation in {directory} to go on with: leave --resume away.")
    return max(folders, key=lambda f: (f / RESULTS).stat().st_mtime)
