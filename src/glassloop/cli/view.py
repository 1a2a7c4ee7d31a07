"""`glassloop view`: the recorded runs in a browser, on this machine only."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import click


@click.command("view")
@click.argument("run", required=False)
@click.option("--port", "-p", type=click.IntRange(0, 65535), default=8420, show_default=True, help="0: a free one.")
@click.option("--open/--no-open", "open_browser", default=True, help="Open the browser.")
@click.option("--json", "as_json", is_flag=True, help="Print the address as JSON when it is ready.")
@click.option("--runs", "directory", type=click.Path(file_okay=False, path_type=Path), help="Where the runs are.")
def command(run: str | None, port: int, open_browser: bool, as_json: bool, directory: Path | None) -> int:
    """Serve the runs on loopback, a run in progress live; stop with Ctrl-C. RUN opens that one."""
    from ..errors import GlassloopError, MissingExtra
    from ..journal.record import RUNS, find_run

    where = directory or RUNS
    page = f"/runs/{find_run(run, where).stem}" if run else "/"
    try:
        import uvicorn

        from ..journal.viewer import viewer
    except ImportError as error:
        raise MissingExtra(error.name or "starlette", "view", "show runs in a browser") from error
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind(("127.0.0.1", port))
    except OSError as error:
        raise GlassloopError(f"Port {port} is taken ({error.strerror}): give another one with --port.") from error
    address = f"http://127.0.0.1:{server.getsockname()[1]}{page}"
    click.echo(json.dumps({"address": address}) if as_json else f"{address}  (stop with Ctrl-C)")
    if open_browser and not as_json:
        click.launch(address)
    with server:
        config = uvicorn.Config(viewer(where), log_level="warning", access_log=False, timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[server])
    return 0
