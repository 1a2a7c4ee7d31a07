"""Cells of an evaluation spread over a Ray cluster: `--workers ray`, for suites of a hundred thousand cases.

The same cell gives the same result on every worker: it is run by the same function, with tools and
model made there. Results are written here, as they come, into the same file as without Ray.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError, MissingExtra
from .cases import Case
from .runner import RESULTS, Cell, Result, Settings, Toolbox, found, plan, read_results, run_cell

_MODELS: dict[str, Any] = {}
"""Models of this worker process, found once."""


def run_there(cell: Cell, case: Case, spec: Any, settings: Settings, folder: str) -> dict[str, Any]:
    """Run one cell in a worker process and return the result as plain data."""
    if isinstance(spec, str) or spec is None:
        spec = _MODELS[cell.model] = _MODELS.get(cell.model) or found(spec)
    toolbox = Toolbox(settings)
    toolbox.declared(case)  # loads the tools here
    done = asyncio.run(run_cell(cell, case, spec, settings, toolbox, Path(folder)))
    return done.to_dict()


def evaluate_on_ray(
    cases: Sequence[Case],
    settings: Settings,
    folder: Path,
    *,
    progress: Callable[[str, int, int], None] = lambda label, done, total: None,
) -> list[Result]:
    """Like `runner.evaluate`, with the cells on a Ray cluster (the one in `RAY_ADDRESS`, else a local one).

    Journals go to `folder` as the workers see it: on several machines that is a shared directory.

    Raises:
        MissingExtra: Ray is not installed.
        ConfigurationError: The settings hold tools or models that cannot be sent to a worker.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise MissingExtra("ray", "ray", "spread an evaluation over a cluster") from None
    if settings.tools is not None:
        raise ConfigurationError(
            "Tools given as objects cannot be sent to workers: name them in the cases or with --tools."
        )
    cells = plan(cases, settings, Toolbox(settings))
    done = {result.cell.key: result for result in read_results(folder)}
    left = [each for each in cells if each[0].key not in done]
    folder.mkdir(parents=True, exist_ok=True)
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False)
    task: Any = ray.remote(run_there)
    queue = iter(left)
    most = max(settings.jobs, int(ray.cluster_resources().get("CPU", 1)))
    running: list[Any] = []
    finished = len(cells) - len(left)
    with (folder / RESULTS).open("a", encoding="utf-8") as file:
        while True:
            for cell, case, spec in queue:
                running.append(task.remote(cell, case, spec, settings, str(folder.resolve())))
                if len(running) >= 2 * most:  # enough to keep every worker busy, not a hundred thousand at once
                    break
            if not running:
                break
            ready, running = ray.wait(running)
            for data in ray.get(ready):
                result = Result.from_dict(data)
                file.write(json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str) + "\n")
                file.flush()
                done[result.cell.key] = result
                finished += 1
                progress(f"{result.cell.case} · {result.cell.model} · {result.cell.strategy}", finished, len(cells))
    return [done[cell.key] for cell, _, _ in cells]
