"""The viewer: everything is escaped, only this machine gets in, a run in progress is shown as it goes."""

from __future__ import annotations

import asyncio
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from starlette.testclient import TestClient

from glassloop.events import Event, RunEnded
from glassloop.journal.html import export
from glassloop.journal.rebuild import load
from glassloop.journal.record import JournalRecorder
from glassloop.journal.timeline import Timeline
from glassloop.journal.viewer import viewer
from glassloop.journal.viewer.live import Follower, stream_of

from .recorded_runs import GOOD, answer, record, step

EVIL = '</pre><script>alert(1)</script><img src=x onerror="alert(2)">\'"<!-- '


class Tags(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.problems: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(tag)


def client(directory: Path) -> TestClient:
    return TestClient(viewer(directory), base_url="http://127.0.0.1:8420")


def evil_run(directory: Path) -> Path:
    replies = [step(EVIL, "weather", city=EVIL), step("x", EVIL, to=EVIL), answer(EVIL)]
    return record(directory, replies, question=f"Weather in {EVIL}?", system=EVIL)


def all_pages(directory: Path) -> dict[str, str]:
    path, other = evil_run(directory), evil_run(directory)
    with client(directory) as browser:
        pages = {
            "list": browser.get("/", params={"q": ""}).text,
            "search": browser.get("/", params={"q": EVIL, "model": EVIL, "tool": EVIL, "stop": EVIL, "page": "3"}).text,
            "run": browser.get(f"/runs/{path.stem}").text,
            "diff": browser.get("/diff", params={"a": path.stem, "b": other.stem}).text,
            "missing": browser.get("/runs/" + "%3Cscript%3Ealert(1)%3C%2Fscript%3E").text,
            "nowhere": browser.get("/nowhere").text,
        }
    return {**pages, "export": export(Timeline(load(path)))}


def test_everything_from_a_run_is_escaped_and_pages_are_well_formed(tmp_path: Path) -> None:
    for name, page in all_pages(tmp_path).items():
        tags = Tags(page)
        assert not tags.problems and tags.open == [], (name, tags.problems, tags.open)
        scripts = [a for tag, a in tags.tags if tag == "script"]
        assert all(a.get("src") in ("/keys.js", "/live.js") or (name == "export" and not a) for a in scripts), name
        assert len(scripts) == (1 if name == "export" else 2), name
        assert not [t for t, _ in tags.tags if t in ("img", "iframe", "object", "style") and name != "export"], name
        assert not [k for _, a in tags.tags for k in a if k.startswith("on")], name
    assert "&lt;script&gt;alert(1)" in all_pages(tmp_path)["run"]


def test_an_export_needs_nothing_else(tmp_path: Path) -> None:
    page = export(Timeline(load(record(tmp_path))))
    for _, attributes in Tags(page).tags:
        for key in ("src", "href"):
            value = attributes.get(key) or "#"
            assert value.startswith(("#", "data:")), value
    assert "url(" not in page and "@import" not in page and "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page and "default-src 'none'" in page


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8420", "127.0.0.1.evil.example", "", "[::2]", "localhost.evil:1"]
)
def test_other_hosts_are_refused(host: str, tmp_path: Path) -> None:
    record(tmp_path)
    with client(tmp_path) as browser:
        for page in ("/", "/api/runs", "/style.css"):
            refused = browser.get(page, headers={"host": host})
            assert refused.status_code == 421 and "weather" not in refused.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:99", "[::1]:8420"])
def test_this_machine_gets_in_with_a_strict_policy(host: str, tmp_path: Path) -> None:
    with client(tmp_path) as browser:
        page = browser.get("/", headers={"host": host})
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe-inline" not in policy and "frame-ancestors 'none'" in policy
    assert page.headers["x-content-type-options"] == "nosniff" and page.headers["cache-control"] == "no-store"


def test_pages_of_other_sites_are_refused(tmp_path: Path) -> None:
    with client(tmp_path) as browser:
        assert browser.get("/api/runs", headers={"sec-fetch-site": "cross-site"}).status_code == 421
        assert browser.get("/api/runs", headers={"sec-fetch-site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("run", ["..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "x.jsonl", "..", "*"])
def test_no_path_leads_out_of_the_directory(run: str, tmp_path: Path) -> None:
    outside = tmp_path / "x.jsonl"
    outside.write_text("secret outside")
    inside = tmp_path / "runs"
    record(inside)
    with client(inside) as browser:
        page = browser.get(f"/runs/{run}")
        other = browser.get("/diff", params={"a": str(outside), "b": str(outside)})
        nothing = browser.get("/diff")
    assert page.status_code in (404, 200) and "secret" not in page.text
    assert other.status_code == nothing.status_code == 404


def test_the_list_filters_and_pages(tmp_path: Path) -> None:
    record(tmp_path)
    record(
        tmp_path, [step("w", "weather", city="Oslo"), answer("It is 12 degrees in Oslo.")], question="Weather in Oslo?"
    )
    with client(tmp_path) as browser:
        assert len(browser.get("/api/runs").json()) == 2
        assert [r["question"] for r in browser.get("/api/runs", params={"q": "oslo"}).json()] == ["Weather in Oslo?"]
        assert len(browser.get("/api/runs", params={"tool": "send"}).json()) == 1
        page = browser.get("/", params={"q": "oslo"}).text
        assert "Weather in Oslo?" in page and "Send it to Bob" not in page and 'value="oslo"' in page
        assert "None of the 2 runs fits" in browser.get("/", params={"stop": "deadline"}).text


def test_every_control_has_an_accessible_name(tmp_path: Path) -> None:
    for name, page in all_pages(tmp_path).items():
        for tag, attributes in Tags(page).tags:
            if tag in ("input", "select", "nav", "dialog", "section") and attributes.get("name") != "everywhere":
                assert attributes.get("aria-label"), (name, tag, attributes)
        assert re.search(r"<main[ >]", page) and "<h1" in page or name in ("missing", "nowhere"), name


def test_rows_as_json_and_side_by_side(tmp_path: Path) -> None:
    one, two = record(tmp_path), record(tmp_path, [GOOD[0], answer("It is 12 degrees.")])
    with client(tmp_path) as browser:
        assert browser.get(f"/api/runs/{one.stem}").json()[0]["kind"] == "start"
        page = browser.get("/diff", params={"a": one.stem, "b": two.stem}).text
    assert "They part in step 2" in page and page.count('class="pair parted"') == 1


# -- live ------------------------------------------------------------------------------------


def test_a_run_in_progress_is_followed_to_its_end(tmp_path: Path) -> None:
    events = load(record(tmp_path / "whole"))
    path = tmp_path / "20260101-000000-aaaa.jsonl"
    recorder = JournalRecorder(path)
    recorder.record(events[0])
    with client(tmp_path) as browser:
        page = browser.get(f"/runs/{path.stem}").text
        assert f'data-live="/runs/{path.stem}/live?after=1"' in page

    async def grow() -> None:
        for event in events[1:]:
            recorder.record(event)
            await asyncio.sleep(0.01)
        recorder.close()

    async def follow() -> list[str]:
        growing = asyncio.ensure_future(grow())
        said = [piece async for piece in stream_of(path, 1, every=0.01)]
        await growing
        return said

    said = asyncio.run(follow())
    assert said[-1].startswith("event: done")
    shown: dict[str, str] = {}
    for piece in said:
        if piece.startswith("event: piece"):
            assert piece.count("\n") == 3, "a piece is one line of data"
            data: dict[str, Any] = json.loads(piece.split("data: ", 1)[1])
            shown[data["id"]] = data["html"]
    assert list(shown) == ["head", "end", "step-1", "step-2", "step-3"]
    with client(tmp_path) as browser:
        whole = browser.get(f"/runs/{path.stem}").text
    assert "data-live" not in whole
    for html in shown.values():
        assert html in whole, "what was sent live is what the page shows"


def test_half_a_line_is_waited_for(tmp_path: Path) -> None:
    events = load(record(tmp_path))
    path = tmp_path / "x.jsonl"
    lines = [json.dumps(e.to_dict(), ensure_ascii=False).encode() + b"\n" for e in events]
    path.write_bytes(lines[0] + lines[1][:20])
    follower = Follower(path)
    assert follower.timeline.steps == []
    with path.open("ab") as file:
        file.write(lines[1][20:])
    assert follower.read() == [1] and follower.read() == []


def test_the_stream_over_http_ends_with_the_run(tmp_path: Path) -> None:
    path = record(tmp_path)
    with client(tmp_path) as browser:
        answered = browser.get(f"/runs/{path.stem}/live")
    assert answered.headers["content-type"].startswith("text/event-stream")
    assert answered.text.rstrip().endswith("event: done\ndata: {}")


def test_a_failed_end_is_shown(tmp_path: Path) -> None:
    events: list[Event] = load(record(tmp_path))
    page = export(
        Timeline([*events[:5], RunEnded(1, stop="model_failed", detail="The model is gone.", at=events[4].at)])
    )
    assert "model_failed" in page and "The model is gone." in page
