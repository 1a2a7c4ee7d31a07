"""The viewer in a real browser: nothing of a run is executed, keys work, nothing is fetched from elsewhere."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

import uvicorn

from glassloop.events import RunEnded
from glassloop.journal.html import export
from glassloop.journal.rebuild import load
from glassloop.journal.record import JournalRecorder
from glassloop.journal.timeline import Timeline
from glassloop.journal.viewer import viewer

from .recorded_runs import answer, record, step

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)
BAD = "<script>document.title='TAKEN'</script><img src=x onerror=\"document.title='TAKEN'\">"


@pytest.fixture(autouse=True)
def browser_needed() -> None:
    if CHROMIUM is None:
        print("\n*** NO CHROMIUM ON THIS MACHINE: THE VIEWER WAS NOT TRIED IN A BROWSER ***")
        pytest.skip("no chromium on this machine: the viewer was NOT tried in a browser")


def dom(address: str, profile: Path, *, width: int = 1200, wait: int = 3000) -> str:
    """Return the page as it is after its scripts have run."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS.split(), f"--user-data-dir={profile}", f"--window-size={width},1000"]
    done = subprocess.run(
        [*command, f"--virtual-time-budget={wait}", "--dump-dom", address], capture_output=True, text=True, timeout=90
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    runs = tmp_path / "runs"
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    config = uvicorn.Config(
        viewer(runs), log_level="error", access_log=False, timeout_graceful_shutdown=1, lifespan="off"
    )
    app = uvicorn.Server(config)
    thread = threading.Thread(target=app.run, kwargs={"sockets": [server]}, daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread.start()
        while not app.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{server.getsockname()[1]}", runs
        app.should_exit = True
        thread.join(10)
    server.close()


def test_what_a_run_says_is_text_in_a_browser(served: tuple[str, Path], tmp_path: Path) -> None:
    address, runs = served
    replies = [step(BAD, "weather", city=BAD), answer(f"It is 12 degrees. {BAD}")]
    path = record(runs, replies, question=f"Weather? {BAD}", system=BAD)
    file = tmp_path / "run.html"
    file.write_text(export(Timeline(load(path))), encoding="utf-8")
    for page in (f"{address}/", f"{address}/runs/{path.stem}", file.as_uri()):
        seen = dom(page, tmp_path / "profile")
        assert "<title>TAKEN" not in seen and "&lt;script&gt;" in seen, page
        assert "<img" not in seen, page


def test_keys_go_through_the_runs(served: tuple[str, Path], tmp_path: Path) -> None:
    """The keys script is run in the browser against an exported page, with key presses made by a script of the test."""
    _, runs = served
    page = export(Timeline(load(record(runs))))
    press = "document.dispatchEvent(new KeyboardEvent('keydown',{key:'%s',bubbles:true}))"
    keys = (
        "document.addEventListener('DOMContentLoaded',()=>{"
        + ";".join(f"document.body.{press[9:] % key}" for key in ("j", "j", "e"))
        + "})"
    )
    file = tmp_path / "keys.html"
    file.write_text(page.replace("</body>", f"<script>{keys}</script></body>"), encoding="utf-8")
    seen = dom(file.as_uri(), tmp_path / "profile")
    assert 'class="step here" id="step-2"' in seen
    assert "<details open" in seen and "<details>" not in seen


def test_a_run_in_progress_grows_in_the_browser(served: tuple[str, Path], tmp_path: Path) -> None:
    address, runs = served
    events = load(record(tmp_path / "elsewhere"))
    path = runs / "20260101-000000-aaaa.jsonl"
    recorder = JournalRecorder(path)
    recorder.record(events[0])

    def grow() -> None:
        for _ in range(600):  # until the browser has opened the page
            if opened.wait(0.05):
                break
        for event in events[1:]:
            recorder.record(event)
            time.sleep(0.02)
        recorder.close()

    opened = threading.Event()
    thread = threading.Thread(target=grow)
    thread.start()
    threading.Timer(1.0, opened.set).start()
    seen = dom(f"{address}/runs/{path.stem}", tmp_path / "profile", wait=20_000)
    thread.join()
    assert 'id="step-3"' in seen and "It is 12 degrees in Paris" in seen
    assert isinstance(events[-1], RunEnded) and 'id="state"' not in seen


def test_nothing_is_wider_than_a_phone(served: tuple[str, Path], tmp_path: Path) -> None:
    _, runs = served
    page = export(Timeline(load(record(runs, question="Weather in " + "Llanfairpwllgwyngyll" * 8 + "?"))))
    measure = "document.title='W'+Math.max(document.documentElement.scrollWidth-document.documentElement.clientWidth,0)"
    file = tmp_path / "phone.html"
    file.write_text(
        page.replace("</body>", f"<script>addEventListener('load',()=>{{{measure}}})</script></body>"), "utf-8"
    )
    assert "<title>W0</title>" in dom(file.as_uri(), tmp_path / "profile", width=500)
