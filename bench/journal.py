"""Measures the journal's figures: `PYTHONPATH=src python bench/journal.py`. Exits 1 if one is missed.

show of a 200-step, 20 MB run, the whole command         < 1 s
the viewer's first page over 10,000 runs, on loopback    < 300 ms   (cold: no index; warm: with it)
replay of a 10-step run                                  < 50 ms
cost of an event without fsync, keys hidden              < 0.3 ms
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from glassloop.journal.rebuild import load
from glassloop.journal.record import JournalRecorder
from glassloop.journal.replay import replay
from glassloop.limits import Limits
from journal.recorded_runs import answer, record, step, write_bulk

MISSED: list[str] = []


def told(name: str, value: float, limit: float, unit: str = "ms") -> None:
    """Print one figure beside its limit."""
    good = value < limit
    print(f"{'ok  ' if good else 'MISS'}  {name:<58} {value:9.3f} {unit}  (limit {limit:g} {unit})")
    if not good:
        MISSED.append(name)


def show(folder: Path) -> None:
    path = folder / "20260101-000000-aaaa.jsonl"
    write_bulk(path, 200, 100_000)
    print(f"      the run: {path.stat().st_size / 1e6:.1f} MB, 200 steps")
    code = f"import sys; from glassloop.cli.show import command; command([{str(path)!r}], standalone_mode=False)"
    seconds: list[float] = []
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - begun)
    told("show, process and all (median of 5)", statistics.median(seconds), 1.0, "s")


def listing(folder: Path) -> None:
    import socket
    import threading

    import httpx
    import uvicorn

    from glassloop.journal.viewer import viewer

    runs = folder / "many"
    runs.mkdir()
    start: dict[str, Any] = {"type": "run_started", "seq": 1, "model": "m", "question": "What is it? " * 5}
    start["tools"] = [{"name": f"tool{i}", "description": "d" * 200} for i in range(5)]
    end = {"type": "run_ended", "seq": 9, "step": 3, "stop": "answered", "answer": "It is that. " * 10, "seconds": 2.0}
    middle = json.dumps({"type": "noted", "text": "x" * 3000}) + "\n"
    for n in range(10_000):
        at = 1_700_000_000.0 + n
        first = json.dumps({**start, "run_id": str(n), "at": at})
        last = json.dumps({**end, "at": at + 2})
        name = time.strftime("%Y%m%d-%H%M%S", time.gmtime(at))
        (runs / f"{name}-{n:04x}.jsonl").write_text(f"{first}\n{middle}{last}\n")
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    app = uvicorn.Server(uvicorn.Config(viewer(runs), log_level="error", access_log=False))
    threading.Thread(target=app.run, kwargs={"sockets": [server]}, daemon=True).start()
    while not app.started:
        time.sleep(0.01)
    address = f"http://127.0.0.1:{server.getsockname()[1]}"
    with httpx.Client(trust_env=False) as client:
        client.get(f"{address}/style.css")
        for name, query in (
            ("view, first page of 10,000 runs, no index", ""),
            ("view, the same again", ""),
            ("view, search in all of them, no index (for information)", "?q=nothing-like-it"),
            ("view, search in all of them, with the index", "?q=nothing-like-that"),
        ):
            begun = time.perf_counter()
            answered = client.get(f"{address}/{query}")
            took = (time.perf_counter() - begun) * 1000
            assert answered.status_code == 200 and "10,000" in answered.text
            told(name, took, 10_000 if "information" in name else 300)
    app.should_exit = True
    from glassloop.journal.listing import Filter, Listing

    begun = time.perf_counter()
    assert len(Listing(runs).entries(Filter(model="m"))) == 10_000
    told("runs, all 10,000 from a fresh index", (time.perf_counter() - begun) * 1000, 1000)


def replaying(folder: Path) -> None:
    cities = ["Paris", "Oslo", "Rome", "Bern", "Bonn", "Lima", "Kyiv", "Riga", "Baku"]
    replies: list[Any] = [step(f"look at {c}", "weather", city=c) for c in cities]
    question = f"Weather in {', '.join(cities)}?"
    path = record(folder / "ten", [*replies, answer("It is 12 degrees in all.")], question, limits=Limits(steps=20))
    replay(path).check()  # imports
    times: list[float] = []
    for _ in range(20):
        begun = time.perf_counter()
        found = replay(path).check()
        times.append((time.perf_counter() - begun) * 1000)
        assert found.matched == found.events == len(load(path))
    told(f"replay of a 10-step run, {len(load(path))} events (median of 20)", statistics.median(times), 50)


def recording(folder: Path) -> None:
    events = [e for e in load(next((folder / "ten").iterdir())) if e.type != "run_ended"]
    path = folder / "cost.jsonl"
    recorder = JournalRecorder(path)
    recorder.record(events[0])
    begun = time.perf_counter()
    count = 0
    for _ in range(40):
        for event in events:
            recorder.record(event)
            count += 1
    took = (time.perf_counter() - begun) * 1000 / count
    recorder.close()
    told(f"an event written, {path.stat().st_size / count:,.0f} bytes on average, keys hidden", took, 0.3)


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        show(folder)
        replaying(folder)
        recording(folder)
        listing(folder)
    return 1 if MISSED else 0


if __name__ == "__main__":
    sys.exit(main())
