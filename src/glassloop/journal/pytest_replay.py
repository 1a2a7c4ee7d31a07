"""Recorded runs as regression tests: `pytest_plugins = ["glassloop.journal.pytest_replay"]` in a `conftest.py`.

A test then replays a run, or a folder of them, with today's code:

    def test_yesterdays_run(glassloop_replay):
        glassloop_replay("runs/20260301-101500-3f9a.jsonl", agent=make_agent())

and fails with the first difference, readably.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .replay import Replay, replay

if TYPE_CHECKING:
    from ..agent import Agent


class Replayer:
    """Replays runs given by their path, seen from the test's own folder; what is not the same fails the test.

    Args:
        here: The folder of the test.
    """

    def __init__(self, here: Path) -> None:
        self.here = here

    def __call__(
        self, run: str | Path, *, agent: Agent | Callable[[], Agent] | None = None, tools: Iterable[Any] | None = None
    ) -> list[Replay]:
        """Replay one journal, or every journal of a folder.

        Args:
            run: The journal, or the folder.
            agent: The agent to try, or a function that makes one for each run; None makes it from the journal.
            tools: Today's declarations of the tools, when there is no agent.
        """
        path = self.here / run
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not files:
            pytest.fail(f"There is no recorded run in {path}: record one with glassloop ask.", pytrace=False)
        given = list(tools) if tools is not None else None
        found = [replay(file, agent=self._agent(agent), tools=given) for file in files]
        parted = [f"{one.run_id}: {one.difference.text()}" for one in found if one.difference is not None]
        if parted:
            pytest.fail("\n\n".join(parted), pytrace=False)
        return found

    def _agent(self, agent: Any) -> Any:
        from ..agent import Agent

        return agent if agent is None or isinstance(agent, Agent) else agent()


@pytest.fixture
def glassloop_replay(request: pytest.FixtureRequest) -> Replayer:
    """Replay recorded runs with today's code: `glassloop_replay("runs/")`."""
    return Replayer(request.path.parent)
