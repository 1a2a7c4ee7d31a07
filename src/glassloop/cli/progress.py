"""Progress on the terminal: one bar, on standard error, silent where nobody looks."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typing_extensions import Self


class Bar:
    """One progress bar over bytes; lines said meanwhile stand above it."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=32),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
            transient=True,
        )
        self._task: Any = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self._console.print(line, style="dim")

    def weights(self, progress: Any) -> None:
        """Draw a `models.weights.Progress`."""
        if self._task is None:
            self._task = self._bar.add_task(progress.phase, total=progress.total)
        self._bar.update(self._task, description=progress.phase, completed=progress.done, total=progress.total)


class Steps:
    """A count of things done, for work that is not measured in bytes."""

    def __init__(self, label: str = "") -> None:
        console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task(label, total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def __call__(self, label: str, done: int, total: int) -> None:
        """Show that `done` of `total` are finished and what comes now."""
        self._bar.update(self._task, description=label, completed=done, total=total)
