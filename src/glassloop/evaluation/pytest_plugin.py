"""Golden cases as tests: `pytest_plugins = ["glassloop.evaluation.pytest_plugin"]` in a `conftest.py`.

A test then runs a case on an agent of its own and fails with what was wanted and what there was:

    def test_tides(glassloop_case):
        glassloop_case("harbour.cases.yaml::high-water", agent=make_agent())

Every `*.cases.yaml` that pytest comes upon is a set of tests too, as soon as it is said what to run them on:
`--glassloop-model NAME`, `glassloop_model = NAME` in the ini file, or a function
`pytest_glassloop_agent(case)` in `conftest.py` that returns an `Agent`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .cases import SUFFIX, Case, load_cases, read_cases
from .metrics import Score

if TYPE_CHECKING:
    from ..agent import Agent


class Hooks:
    """The hook a `conftest.py` may implement."""

    @pytest.hookspec(firstresult=True)
    def pytest_glassloop_agent(self, case: Case) -> Agent | None:
        """Return the agent that a golden case is run on."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Make the hook known."""
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that say what collected cases run on."""
    group = parser.getgroup("glassloop", "golden cases of glassloop")
    group.addoption("--glassloop-model", default=None, help="The model that collected *.cases.yaml are run on.")
    group.addoption("--glassloop-strategy", default="react", help="Their strategy: react, plan or direct.")
    parser.addini("glassloop_model", "The model that collected *.cases.yaml are run on.", default="")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect `*.cases.yaml` when it is known what to run them on."""
    if not file_path.name.endswith(SUFFIX):
        return None
    hooks = parent.config.pluginmanager.hook.pytest_glassloop_agent.get_hookimpls()
    return CaseFile.from_parent(parent, path=file_path) if hooks or _model(parent.config) else None


def _model(config: pytest.Config) -> str:
    return config.getoption("--glassloop-model") or config.getini("glassloop_model")


class CaseFile(pytest.File):
    """A file of golden cases."""

    def collect(self) -> Iterable[pytest.Item]:
        """Make a test of every repeat of every case."""
        from ..errors import GlassloopError

        try:
            cases = read_cases(self.path)
        except GlassloopError as error:
            raise self.CollectError(str(error)) from None
        for case in cases:
            for repeat in range(1, case.repeat + 1):
                name = case.id if case.repeat == 1 else f"{case.id}[{repeat}]"
                yield CaseItem.from_parent(self, name=name, case=case)


class CaseItem(pytest.Item):
    """One run of a golden case as a test."""

    def __init__(self, *, case: Case, **more: Any) -> None:
        super().__init__(**more)
        self.case = case

    def runtest(self) -> None:
        """Run the case and fail with its problems."""
        made = self.config.pluginmanager.hook.pytest_glassloop_agent(case=self.case)
        if made is None:
            made = _agent_for(self.case, _model(self.config), str(self.config.getoption("--glassloop-strategy")))
        _fail(self.case, run_on(self.case, made))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case is written."""
        return self.path, self.case.line - 1, self.name


def _agent_for(case: Case, model: str, strategy: str) -> Agent:
    from .runner import Settings, Toolbox, found, make_agent

    settings = Settings(models=(model,))
    bare = Case.from_dict(case.to_dict() | {"faults": []})  # `run_on` builds them in
    return make_agent(bare, found(model), strategy, settings, Toolbox(settings).fresh(case), False)


def run_on(case: Case, agent: Agent) -> Score:
    """Run a case on an agent and return its score."""
    from ..agent import wait_for
    from .runner import run_case

    return wait_for(run_case(case, agent))[0]


def _fail(case: Case, score: Score) -> None:
    if not score.passed:
        lines = [
            f"{case.file}:{case.line}: {case.id}",
            *(f"  {p}" for p in score.problems),
            f"  answer: {score.answer}",
        ]
        pytest.fail("\n".join(lines), pytrace=False)


class CaseRunner:
    """Runs golden cases inside a test.

    Args:
        here: The folder of the test, from which files are named.
    """

    def __init__(self, here: Path) -> None:
        self.here = here

    def __call__(self, case: str | Case, *, agent: Agent | Callable[[], Agent]) -> Score:
        """Run a case on an agent; the test fails when the run does not pass.

        Args:
            case: `file.cases.yaml::id`, a `Case`, or the YAML of one case.
            agent: The agent, or a function that makes one.
        """
        from ..agent import Agent

        chosen = case if isinstance(case, Case) else self._find(case)
        score = run_on(chosen, agent if isinstance(agent, Agent) else agent())
        _fail(chosen, score)
        return score

    def _find(self, spec: str) -> Case:
        if "\n" in spec:
            body = "".join(f"    {line}\n" for line in spec.strip("\n").splitlines())
            return read_cases(f"cases:\n  -\n{body}", name="this case")[0]
        file, _, name = spec.partition("::")
        cases = load_cases(self.here / file)
        found = [c for c in cases if c.id == name] if name else cases
        if len(found) != 1:
            names = ", ".join(c.id for c in cases)
            pytest.fail(f"Say which case of {file} is meant, as {file}::ID: it holds {names}.", pytrace=False)
        return found[0]


@pytest.fixture
def glassloop_case(request: pytest.FixtureRequest) -> CaseRunner:
    """Run a golden case on an agent: `glassloop_case("a.cases.yaml::id", agent=agent)`."""
    return CaseRunner(request.path.parent)
