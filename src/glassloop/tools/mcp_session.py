"""Where an MCP session lives: one task, of one loop, in a thread of its own.

A session belongs to the task that opened it, while runs come and go, each in a loop
of its own. So the session stays at home, and the calls come to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast

from ..errors import ConfigurationError

if TYPE_CHECKING:
    import mcp_types
    from mcp import Client

MOST_PAGES = 100


class Home:
    """A thread with a loop in which a session lives."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._work, name=name, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()

    def run(self, work: Any) -> Future[Any]:
        """Run a coroutine at home, from any thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def stop(self) -> None:
        """End the loop and its thread."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)


class Session:
    """One start of a server: a task that opens the client, keeps it, and closes it where it was opened."""

    def __init__(self, target: str, command: list[str], env: dict[str, str] | None, timeout: float) -> None:
        self.target = target
        self.command = command
        self.env = env
        self.timeout = timeout
        self.ended = False
        self.client: Client = cast("Client", None)
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")

    async def start(self) -> None:
        """Open the client.

        Raises:
            ConfigurationError: The server does not start, does not answer, or speaks something else.
        """
        self._task = asyncio.create_task(self._keep())
        try:
            await asyncio.wait_for(asyncio.shield(self._opened), self.timeout)
        except asyncio.TimeoutError:
            await self.stop()
            raise ConfigurationError(
                f"The MCP server {self.target!r} did not answer within {self.timeout:g} s: try it by hand."
            ) from None
        except BaseException as error:
            words = self.last_words()
            await self.stop()
            said = _innermost(error)
            why = f"{type(said).__name__}: {said}"
            raise ConfigurationError(
                f"The MCP server {self.target!r} cannot be opened ({why}){words}: try it by hand."
            ) from error

    async def _keep(self) -> None:
        from mcp import Client

        try:
            async with Client(self._transport(), read_timeout_seconds=self.timeout) as client:
                self.client = client
                if not self._opened.done():
                    self._opened.set_result(None)
                await self._closing.wait()
        except BaseException as error:
            if not self._opened.done():
                self._opened.set_exception(error)
            elif isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
        finally:
            self.ended = True

    def _transport(self) -> Any:
        if not self.command:
            return self.target
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client

        server = StdioServerParameters(command=self.command[0], args=self.command[1:], env=self.env)
        return stdio_client(server, errlog=self._complaints)

    async def stop(self) -> None:
        """Close the client and end the server."""
        self._closing.set()
        if self._task is not None:
            if not self._opened.done():
                self._task.cancel()  # it waits for a server that does not answer, not for us
            done, _ = await asyncio.wait([self._task], timeout=10)
            if not done:
                self._task.cancel()
                await asyncio.wait([self._task], timeout=2)
        if self._opened.done() and not self._opened.cancelled():
            self._opened.exception()  # seen: asyncio would complain about an error nobody asked for
        self._complaints.close()

    def last_words(self) -> str:
        """The last line the server wrote to its error output, if it wrote any."""
        with contextlib.suppress(OSError, ValueError):
            self._complaints.flush()
            self._complaints.seek(0)
            lines = [line.strip() for line in self._complaints.read()[-4000:].splitlines() if line.strip()]
            return f"; it said: {lines[-1][:200]}" if lines else ""
        return ""


def _innermost(error: BaseException) -> BaseException:
    while True:
        inner: Any = getattr(error, "exceptions", None)
        if not inner:
            return error
        error = inner[0]


async def every_tool(client: Client) -> list[mcp_types.Tool]:
    """List the tools of a server, page by page."""
    found: list[mcp_types.Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found.extend(page.tools)
        cursor = page.next_cursor
        if not cursor:
            break
    return found
