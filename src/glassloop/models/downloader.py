"""Running a foreign downloader (pip, huggingface_hub) as a child that cannot hang.

It owes two things to the fetch: how many bytes have arrived, read from the
growth of the file on disk, because no version of either tool reports it in a
stable way; and an end in any case: a child that writes nothing for too long is
stopped, and a child never outlives its parent's interest in it.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from glassloop.errors import WeightsError

_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Patience:
    """How many seconds a downloader may write nothing before it is stopped."""

    first: float
    """Before the first byte: connecting, redirects, asking the index."""
    later: float
    """Between two bytes after that."""


def run_downloader(
    command: Sequence[str],
    *,
    folder: Path,
    log: Path,
    env: Mapping[str, str],
    patience: Patience,
    report: Callable[[int], None],
) -> None:
    """Run `command` until it ends, reporting the size of the file it writes below `folder`.

    Args:
        command: Program and arguments.
        folder: Where the downloader writes; also its working directory, so that it imports nothing of the user's.
        log: File that takes its output; outside `folder`, or its growth would count as progress.
        env: Variables added to this process's environment.
        patience: When to give up.
        report: Called with the bytes of the largest file below `folder`.

    Raises:
        WeightsError: It could not start, stood still, or failed; the text is the reason without a subject.
    """
    with log.open("wb") as output:
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, **env},
            )
        except OSError as error:
            raise WeightsError(f"{command[0]} does not start ({error.strerror})") from error
        try:
            _watch(child, folder, patience, report)
        finally:
            _stop(child)
    if child.returncode != 0:
        raise WeightsError(_reason(log.read_text("utf-8", "replace"), child.returncode))


def _watch(child: subprocess.Popen[bytes], folder: Path, patience: Patience, report: Callable[[int], None]) -> None:
    seen, moved = largest_file(folder), time.monotonic()
    limit = patience.first
    while True:
        try:
            child.wait(_POLL_SECONDS)
            return
        except subprocess.TimeoutExpired:
            pass
        size, now = largest_file(folder), time.monotonic()
        report(size)  # also when nothing grew: the person's clock goes on
        if size != seen:
            seen, moved, limit = size, now, patience.later
        elif now - moved > limit:
            raise WeightsError(f"no byte came for {limit:.0f} seconds")


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(3)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def largest_file(folder: Path) -> int:
    """Return the size of the largest file below `folder`, 0 if there is none.

    The largest and not the sum: pip keeps its unpacked copy beside the finished
    wheel for a moment, which would count every byte twice.
    """
    largest = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                largest = max(largest, Path(root, name).stat().st_size)
            except OSError:  # moved or removed between listing and looking
                continue
    return largest


def _reason(output: str, code: int) -> str:
    """Return the line of a downloader's output that says most, without secrets."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    # pip has two forms: `ERROR: sentence`, and `error: name-of-it` followed by `× sentence`.
    crosses = [line for line in lines if re.match(r"[×x] ", line)]
    errors = [line for line in lines if re.match(r"(ERROR|error)\b", line)]
    line = (crosses or errors or lines or [f"it ended with code {code}"])[-1]
    line = re.sub(r"^([×x] |(ERROR|error):\s*)", "", line)
    # An index address can carry a password: `https://user:secret@host/`.
    line = re.sub(r"//[^/@\s]+@", "//***@", line)
    return line if len(line) <= 200 else line[:199] + "…"
