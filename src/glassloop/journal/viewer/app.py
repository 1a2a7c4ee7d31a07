"""The viewer's pages: the list of runs, one run (live while it goes on), two runs side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ...errors import GlassloopError, JournalError
from ..compare import Change
from ..diff import diff
from ..html import asset, esc, export, page, run_body, side_by_side
from ..listing import Filter, Listing
from ..rebuild import load
from ..record import RUNS, find_run
from ..timeline import Timeline
from .guard import Guard
from .lists import list_body
from .live import Follower, stream_of

PAGE = 100
_HEAD = (
    '<link rel="stylesheet" href="/style.css">\n<script src="/keys.js" defer></script>\n'
    '<script src="/live.js" defer></script>'
)
_ASSETS = {"style.css": "text/css", "keys.js": "text/javascript", "live.js": "text/javascript"}
_HELP = (
    '<dialog aria-label="Keys"><b>Keys</b><dl>'
    "<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous</dd><dt><kbd>Enter</kbd></dt><dd>open</dd>"
    "<dt><kbd>/</kbd></dt><dd>search</dd><dt><kbd>x</kbd></dt><dd>pick a run to compare</dd>"
    "<dt><kbd>c</kbd></dt><dd>compare the two picked</dd><dt><kbd>e</kbd></dt><dd>unfold everything, fold it again</dd>"
    "<dt><kbd>u</kbd></dt><dd>back to the list</dd><dt><kbd>?</kbd></dt><dd>this help</dd></dl>"
    '<form method="dialog"><button>Close</button></form></dialog>'
)


def viewer(directory: Path = RUNS) -> Starlette:
    """Make the app for the runs of a directory.

    Args:
        directory: Where the runs are.
    """
    pages = Pages(directory)
    routes = [
        Route("/", pages.list),
        Route("/runs/{run}", pages.run),
        Route("/runs/{run}/live", pages.live),
        Route("/runs/{run}/export", pages.export),
        Route("/diff", pages.diff),
        Route("/api/runs", pages.api_list),
        Route("/api/runs/{run}", pages.api_run),
        *(Route(f"/{name}", _asset) for name in _ASSETS),
    ]
    errors: dict[Any, Any] = {GlassloopError: _failed, 404: _missing}
    return Starlette(routes=routes, middleware=[Middleware(Guard)], exception_handlers=errors)


class Pages:
    """The pages over one directory of runs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.listing = Listing(directory)

    async def list(self, request: Request) -> Response:
        """The runs, newest first, a hundred a page."""
        asked = request.query_params
        number = max(0, _number(asked.get("page", "0")))
        entries = await run_in_threadpool(self.listing.entries, wanted(request), PAGE + 1, number * PAGE)
        body = list_body(entries[:PAGE], dict(asked), self.listing.count())
        links: list[str] = []
        for there, name, shown in ((number - 1, "Newer", number > 0), (number + 1, "Older", len(entries) > PAGE)):
            if shown:
                query = urlencode({**dict(asked), "page": there})
                links.append(f'<a href="/?{esc(query)}">{name}</a>')
        body += f'<nav aria-label="Pages">{" · ".join(links)}</nav>'
        return HTMLResponse(framed("Runs", body, up=False, wide=True))

    async def run(self, request: Request) -> Response:
        """One run; while it has no end, what happens is added as it happens."""
        path = self._path(request)
        follower = await run_in_threadpool(Follower, path)
        going = follower.timeline.end is None
        live = f' data-live="/runs/{esc(path.stem)}/live?after={follower.timeline.seq}"' if going else ""
        state = '<span class="live" id="state" role="status">in progress</span>' if going else ""
        links = f'<a href="/runs/{esc(path.stem)}/export" download="{esc(path.stem)}.html">Save as one file</a>'
        title = follower.timeline.start.question[:80] if follower.timeline.start else path.stem
        return HTMLResponse(
            framed(title, run_body(follower.timeline, links=True), more=f"{links} {state}", attributes=live)
        )

    async def live(self, request: Request) -> Response:
        """What happens in a run, as server-sent events."""
        after = _number(request.query_params.get("after", "0"))
        return StreamingResponse(stream_of(self._path(request), after), media_type="text/event-stream")

    async def export(self, request: Request) -> Response:
        """One run as one file."""
        return HTMLResponse(export(Timeline(load(self._path(request)))))

    async def diff(self, request: Request) -> Response:
        """Two runs side by side."""
        paths = [self._named(request.query_params.get(key, "")) for key in ("a", "b")]
        events = [load(path) for path in paths]
        found = diff(*events)
        where = f"They part in step {found.step}: {found.what}. " if found.what else ""
        names = "".join(f'<h2><a href="/runs/{esc(p.stem)}">{esc(p.stem)}</a></h2>' for p in paths)
        body = f"<h1>{esc(where + found.why)}</h1>{_changes(found.beginning)}{_changes(found.changes)}"
        body += f'<div class="pair">{names}</div>' + side_by_side(Timeline(events[0]), Timeline(events[1]), found.step)
        return HTMLResponse(framed("Two runs", body, wide=True))

    async def api_list(self, request: Request) -> Response:
        """The list as JSON."""
        limit = _number(request.query_params.get("limit", str(PAGE)))
        entries = await run_in_threadpool(self.listing.entries, wanted(request), limit)
        return JSONResponse([entry.to_dict() for entry in entries])

    async def api_run(self, request: Request) -> Response:
        """The rows of a run as JSON."""
        timeline = Timeline(load(self._path(request)))
        rows = [row.to_dict() for row in timeline.rows]
        return Response(
            json.dumps(rows, ensure_ascii=False, default=str).encode("utf-8", "replace"), 200, None, "application/json"
        )

    def _path(self, request: Request) -> Path:
        return self._named(request.path_params["run"])

    def _named(self, run: str) -> Path:
        """Return a run's journal; only ids of this directory, never a path."""
        if run.endswith(".jsonl") or not run.strip():
            raise JournalError(f"{run!r} is no run's id: see the list.")
        return find_run(run, self.directory)


def wanted(request: Request) -> Filter:
    """Return the filter a query asks for."""
    asked = request.query_params
    return Filter(
        model=asked.get("model", ""),
        tool=asked.get("tool", ""),
        stop=asked.get("stop", ""),
        text=asked.get("q", ""),
        everywhere=asked.get("everywhere", "") == "on",
    )


def framed(title: str, body: str, *, up: bool = True, wide: bool = False, more: str = "", attributes: str = "") -> str:
    """Return a whole page with the bar at its top."""
    back = '<a href="/" rel="up">Runs</a>' if up else ""
    skip = '<a class="skip" href="#main">Skip to content</a>'
    bar = f'{skip}<nav class="top" aria-label="Top"><b>glassloop</b> {back} {more}</nav>'
    kind = ' class="wide"' if wide else ""
    return page(f"{title} · glassloop", f'{bar}<main id="main"{kind}{attributes}>{body}</main>{_HELP}', head=_HEAD)


def _changes(changes: tuple[Change, ...]) -> str:
    items: list[str] = []
    for change in changes:
        path, before, after = change.lines()
        items.append(
            f"<div><b>{esc(path)}</b><pre><del>{esc(before[4:])}</del>\n<ins>{esc(after[4:])}</ins></pre></div>"
        )
    return "".join(items)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else 0


async def _asset(request: Request) -> Response:
    name = request.url.path.lstrip("/")
    return Response(asset(name), media_type=_ASSETS[name])


async def _failed(request: Request, error: Exception) -> Response:
    return HTMLResponse(framed("Not found", f'<p role="alert">{esc(str(error))}</p>'), status_code=404)


async def _missing(request: Request, error: Exception) -> Response:
    return HTMLResponse(framed("Not found", '<p role="alert">There is no such page.</p>'), status_code=404)
