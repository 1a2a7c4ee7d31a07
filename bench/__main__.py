"""All benches, one after the other: `python -m bench [NAME…]`. Prints one table and exits 1 when a figure is missed.

Each bench is a script of its own that says what it measures and what the goal is; it runs in a process of its own,
so that none warms another up. What a script prints is kept; this table only brings its lines into one form.

`python -m bench --recall [FOLDER]` runs only the bench of recall, which wants question sets and, at first, minutes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
OPTIONS = {"reading": ["--quick"]}
ORDER = ("loop", "reading", "casting", "memory", "journal", "knowledge", "evaluation", "costs")
LONGEST = 120.0
"""Seconds one bench may take."""
ASKED_FOR = frozenset({"recall"})
"""Run only when named: they want data that is not part of the checkout."""


def names(asked: list[str]) -> list[str]:
    """Return the benches to run: those asked for, or all, the usual ones first."""
    here = {path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_")}
    unknown = sorted(set(asked) - here)
    if unknown:
        sys.exit(f"There is no bench {unknown[0]!r}: choose from {', '.join(sorted(here))}.")
    return asked or [*(n for n in ORDER if n in here), *sorted(here - set(ORDER) - ASKED_FOR)]


def run(name: str) -> tuple[int, str, float]:
    """Run one bench and return its exit code, what it printed and the seconds it took."""
    begun = time.perf_counter()
    command = [sys.executable, str(HERE / f"{name}.py"), *OPTIONS.get(name, [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired as late:
        said = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        return 1, said + f"\nstopped after {LONGEST:g} s", LONGEST
    return done.returncode, done.stdout + (done.stderr if done.returncode else ""), time.perf_counter() - begun


def rows(text: str) -> list[tuple[str, str]]:
    """Split every printed line into what was measured and its figures: at the first wide gap or colon."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        line = re.sub(r"^(?:ok|OK)\s+", "", line.rstrip())
        what, _, figures = re.sub(r"\s{2,}", "\t", line.strip()).partition("\t")
        if what:
            found.append((what, figures.replace("\t", "  ")))
    return found


def main() -> int:
    """Run the benches and print the table."""
    if sys.argv[1:2] == ["--recall"]:
        return subprocess.call([sys.executable, str(HERE / "recall.py"), *sys.argv[2:]])
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("bench", "measured", "figure"):
        table.add_column(title, overflow="fold")
    failed: list[str] = []
    for name in names(sys.argv[1:]):
        with console.status(f"measuring {name} …"):
            code, text, seconds = run(name)
        if code:
            failed.append(name)
        for number, (what, figures) in enumerate(rows(text)):
            table.add_row(f"[bold]{name}[/]" if number == 0 else "", what, figures, style="red" if code else "")
        table.add_row("", f"[dim]{'missed a goal' if code else 'done'} in {seconds:.0f} s[/]", "")
    console.print(table)
    if failed:
        console.print(f"[red]Not as it should be: {', '.join(failed)}[/]")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
