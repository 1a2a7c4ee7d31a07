"""A real MCP server for tests, made with the SDK. `python mcp_server.py` speaks stdio; with a port, streamable HTTP."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

server = MCPServer("harbour")
TIDES = {"Hull": 5.25, "青岛": 3.75}


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def tide(port: str) -> dict[str, float]:
    """High tide of a port in metres."""
    if port not in TIDES:
        raise ToolError(f"no tide table for {port}")
    return {"metres": TIDES[port]}


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def berths(least_depth: float, kinds: list[str] | None = None) -> list[str]:
    """Berths at least so deep."""
    return [name for name, depth in {"A1": 4.0, "B2": 9.5, "C3": 12.0}.items() if depth >= least_depth]


@server.tool()
def book(berth: str) -> str:
    """Book a berth."""
    return f"booked {berth}"


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
def scuttle(ship: str) -> str:
    """Sink a ship."""
    return f"sank {ship}"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def collapse() -> str:
    """Ends the server's process in the middle of the call."""
    print("the pier gave way", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def slow(seconds: float) -> str:
    """Answers late."""
    import anyio

    await anyio.sleep(seconds)
    return "late"


arrived: list[str] = []


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def meet(ship: str, ships: int) -> list[str]:
    """Answers when so many ships have come, which they only do if the calls run side by side."""
    import anyio

    arrived.append(ship)
    while len(arrived) < ships:  # noqa: ASYNC110  -- an event would need the loop that the server makes later
        await anyio.sleep(0.005)
    return sorted(arrived)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        if os.environ.get("HARBOUR_MARK"):
            with Path(os.environ["HARBOUR_MARK"]).open("a") as mark:
                mark.write("started\n")
        server.run()
