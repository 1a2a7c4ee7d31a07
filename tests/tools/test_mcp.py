"""Tools from real MCP servers: a process over stdio, and a server on a loopback port."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from glassloop.errors import ConfigurationError
from glassloop.tools.declare import Tool, check_names
from glassloop.tools.mcp import McpError, McpServer

SERVER = str(Path(__file__).parent.parent / "doubles" / "mcp_server.py")
COMMAND = [sys.executable, SERVER]


def call(tools: list[Tool], name: str, /, **arguments: Any) -> Any:
    made = next(t for t in tools if t.name == name)
    return asyncio.run(made.invoke(arguments))  # a new loop for each call, as each run has one


@pytest.fixture(scope="module")
def harbour() -> Iterator[list[Tool]]:
    with McpServer(COMMAND, timeout=120) as server:
        yield server.tools


def test_declarations_come_with_risk_from_the_hints(harbour: list[Tool]) -> None:
    by_name = {t.name: t for t in harbour}
    assert by_name["tide"].description == "High tide of a port in metres."
    assert by_name["tide"].parameters["required"] == ["port"]
    assert by_name["tide"].parameters["properties"] == {"port": {"type": "string"}}
    assert (by_name["tide"].risk, by_name["book"].risk, by_name["scuttle"].risk) == ("read", "write", "destructive")
    check_names(harbour)


def test_results_are_plain_data(harbour: list[Tool]) -> None:
    assert call(harbour, "tide", port="青岛") == {"metres": 3.75}
    assert call(harbour, "berths", least_depth=9) == ["B2", "C3"]
    assert call(harbour, "book", berth="A1") == "booked A1"


def test_an_error_of_the_tool_is_an_error_of_the_call_only(harbour: list[Tool]) -> None:
    with pytest.raises(McpError, match="no tide table for Atlantis"):
        call(harbour, "tide", port="Atlantis")
    assert call(harbour, "tide", port="Hull") == {"metres": 5.25}


def test_calls_run_side_by_side(harbour: list[Tool]) -> None:
    meet = next(t for t in harbour if t.name == "meet")

    async def both() -> list[Any]:
        return await asyncio.gather(*(meet.invoke({"ship": ship, "ships": 2}) for ship in ("Ara", "Bo")))

    assert asyncio.run(both()) == [["Ara", "Bo"], ["Ara", "Bo"]]


def test_cancelling_a_call_leaves_the_server_usable(harbour: list[Tool]) -> None:
    slow = next(t for t in harbour if t.name == "slow")

    async def hasty() -> None:
        await asyncio.wait_for(slow.invoke({"seconds": 30}), 0.2)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(hasty())
    assert call(harbour, "tide", port="Hull") == {"metres": 5.25}


def test_a_server_that_dies_is_an_error_and_is_started_once_more(tmp_path: Path) -> None:
    mark = tmp_path / "starts"
    with McpServer(COMMAND, timeout=120, env={"HARBOUR_MARK": str(mark)}) as server:
        with pytest.raises(McpError, match=r"ended during the call of collapse.*started again.*the pier gave way"):
            call(server.tools, "collapse")
        assert call(server.tools, "tide", port="Hull") == {"metres": 5.25}
        with pytest.raises(McpError, match="not started again"):
            call(server.tools, "collapse")
        with pytest.raises(McpError, match="ended twice"):
            call(server.tools, "tide", port="Hull")
    assert mark.read_text().count("started") == 2


def test_two_servers_apart_by_prefix_and_risk_by_name() -> None:
    with McpServer(COMMAND, prefix="east_", risk={"book": "read"}) as server:
        by_name = {t.name: t for t in server.tools}
        assert by_name["east_book"].risk == "read" and by_name["east_scuttle"].risk == "destructive"
        assert call(server.tools, "east_tide", port="Hull") == {"metres": 5.25}


def test_closing_ends_the_process_and_its_tools() -> None:
    server = McpServer(COMMAND)
    tools = server.open()
    assert server.open() is tools
    server.close()
    server.close()
    with pytest.raises(McpError, match="closed"):
        call(tools, "tide", port="Hull")


def test_the_asynchronous_form() -> None:
    async def main() -> Any:
        async with McpServer(COMMAND) as server:
            return await next(t for t in server.tools if t.name == "tide").invoke({"port": "Hull"})

    assert asyncio.run(main()) == {"metres": 5.25}


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no-such-command-anywhere --x", "cannot be opened.*FileNotFoundError"),
        ([sys.executable, "-c", "import sys; sys.exit('out of coal')"], "cannot be opened.*out of coal"),
        ("http://127.0.0.1:9/mcp", "cannot be opened"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], "did not answer within 1 s"),
    ],
)
def test_a_server_that_cannot_be_opened_is_one_sentence(target: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        McpServer(target, timeout=1 if "within 1 s" in said else 120).open()
    assert "\n" not in str(caught.value)


def test_an_empty_command_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="command line"):
        McpServer("  ")


@pytest.fixture
def address() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*COMMAND, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ)
    )
    try:
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        process.kill()
        process.wait()


def test_streamable_http_and_its_death(address: tuple[str, subprocess.Popen[bytes]]) -> None:
    url, process = address
    with McpServer(url, timeout=120) as server:
        assert call(server.tools, "tide", port="青岛") == {"metres": 3.75}
        with pytest.raises(McpError, match="no tide table"):
            call(server.tools, "tide", port="Atlantis")
        process.kill()
        process.wait()
        with pytest.raises(McpError, match="MCP server"):
            call(server.tools, "tide", port="Hull")
        with pytest.raises(McpError, match="MCP server"):
            call(server.tools, "tide", port="Hull")
