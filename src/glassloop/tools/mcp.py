"""Tools of an MCP server, over standard input and output or over streamable HTTP.

A server that dies in the middle of a call is an error of that call, and is started
once more, for the next one. The call itself is not made again: what it did before
the server died is unknown.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout  # its own class before Python 3.11
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import Self

from ..errors import ConfigurationError, MissingExtra
from ..types import Risk
from .definition import Tool
from .mcp_session import Home, Session, every_tool
from .shape import tidy

if TYPE_CHECKING:
    import mcp_types

RESTARTS = 1


class McpError(RuntimeError):
    """An MCP server answered with an error, or not at all; one sentence, fit for the model."""


class McpServer:
    """One MCP server and its tools.

    ```python
    with McpServer("python weather_server.py") as server:
        Agent(tools=server.tools).run("…")
    ```

    Args:
        target: A command line, a list of its parts, or an `http(s)://` address.
        timeout: Seconds for opening and for each call.
        env: Environment variables for the command; without them it gets only harmless ones (PATH, HOME, …).
        risk: Risk of all its tools, or of each by name. What is not named here is taken from the server's hints:
            `read` when it says read-only, `destructive` when it says so, else `write`.
        prefix: Put before each tool's name, to tell two servers apart.
    """

    def __init__(
        self,
        target: str | Sequence[str],
        *,
        timeout: float = 30.0,
        env: Mapping[str, str] | None = None,
        risk: Risk | Mapping[str, Risk] | None = None,
        prefix: str = "",
    ) -> None:
        self.target = target if isinstance(target, str) else shlex.join(target)
        self.is_url = self.target.startswith(("http://", "https://"))
        self._command = [] if self.is_url else shlex.split(target) if isinstance(target, str) else list(target)
        if not self.is_url and not self._command:
            raise ConfigurationError("An MCP server needs a command line or an http(s) address.")
        self.timeout = timeout
        self.env = dict(env) if env is not None else None
        self.risk = risk
        self.prefix = prefix
        self.restarts = 0
        self.tools: list[Tool] = []
        self._home: Home | None = None
        self._session: Session | None = None
        self._lock: asyncio.Lock | None = None

    # -- opening and closing ---------------------------------------------------------------

    def open(self) -> list[Tool]:
        """Start or reach the server and return its tools.

        Raises:
            MissingExtra: The package mcp is not installed.
            ConfigurationError: The server does not start, or cannot be reached.
        """
        if self._home is not None:
            return self.tools
        _check_installed()
        self._home = Home(f"glassloop-mcp {self.target[:40]}")
        try:
            listed = self._home.run(self._open()).result(2 * self.timeout + 20)
            self.tools = [self._tool(each) for each in listed]
        except BaseException:
            self.close()
            raise
        return self.tools

    def close(self) -> None:
        """End the session and the server. Closing twice does nothing."""
        home, self._home = self._home, None
        if home is None:
            return
        try:
            home.run(self._close()).result(15)
        except (FutureTimeout, RuntimeError):
            pass  # the thread is a daemon; the server sees its input end when the program does
        finally:
            home.stop()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    async def _open(self) -> list[mcp_types.Tool]:
        self._lock = asyncio.Lock()
        self._session = await self._start()
        try:
            return await asyncio.wait_for(every_tool(self._session.client), self.timeout)
        except asyncio.TimeoutError:
            raise ConfigurationError(
                f"The MCP server {self.target!r} did not list its tools within {self.timeout:g} s: try it by hand."
            ) from None

    async def _start(self) -> Session:
        session = Session(self.target, self._command, self.env, self.timeout)
        await session.start()
        return session

    async def _close(self) -> None:
        if self._session is not None:
            await self._session.stop()
            self._session = None

    # -- one tool --------------------------------------------------------------------------

    def _tool(self, listed: mcp_types.Tool) -> Tool:
        name = listed.name

        async def call(**arguments: Any) -> Any:
            if self._home is None:
                raise McpError(f"the MCP server of {name} is closed")
            return await asyncio.wrap_future(self._home.run(self._call(name, arguments)))

        hints = listed.annotations
        made = Tool.from_schema(
            self.prefix + name,
            listed.description or listed.title or "",
            tidy(listed.input_schema),
            call,
            risk=self._risk(listed),
            timeout=self.timeout + 5,
            idempotent=bool(hints and (hints.idempotent_hint or hints.read_only_hint)),
        )
        return made

    def _risk(self, listed: mcp_types.Tool) -> Risk:
        if isinstance(self.risk, Mapping):
            if listed.name in self.risk:
                return self.risk[listed.name]
        elif self.risk is not None:
            return cast("Risk", self.risk)
        hints = listed.annotations
        if hints is not None and hints.read_only_hint:
            return "read"
        return "destructive" if hints is not None and hints.destructive_hint else "write"

    async def _call(self, name: str, arguments: dict[str, Any]) -> Any:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        session = await self._living()
        try:
            result = await session.client.call_tool(name, arguments, read_timeout_seconds=self.timeout)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or session.ended:
                raise McpError(self._died(session, name)) from None
            if error.code == REQUEST_TIMEOUT:
                raise McpError(f"the MCP server did not answer the call of {name} in {self.timeout:g} s") from None
            raise McpError(f"the MCP server refused the call of {name}: {error.message}") from None
        except Exception as error:  # the transport's own errors: a broken pipe, a lost connection
            raise McpError(f"{self._died(session, name)} ({type(error).__name__})") from error
        return _plain_result(name, result)

    def _died(self, session: Session, name: str) -> str:
        session.ended = True
        again = "it is started again for the next call" if self.restarts < RESTARTS else "it is not started again"
        what = f"the MCP server ended during the call of {name}, what the call did is unknown; {again}"
        return what + session.last_words()

    async def _living(self) -> Session:
        assert self._lock is not None
        async with self._lock:
            session = self._session
            if session is None or session.ended:
                if self.restarts >= RESTARTS:
                    raise McpError("the MCP server has ended twice and is not started again")
                self.restarts += 1
                if session is not None:
                    await session.stop()
                try:
                    session = self._session = await self._start()
                except ConfigurationError as error:
                    raise McpError(f"the MCP server has ended and could not be started again: {error}") from None
            return session


def _check_installed() -> None:
    try:
        import mcp

        mcp.Client  # noqa: B018  # the client of version 2
    except (ImportError, AttributeError):
        raise MissingExtra("mcp", "mcp", "use the tools of an MCP server") from None


def _plain_result(name: str, result: mcp_types.CallToolResult) -> Any:
    """Turn a result into plain data: the structured form where there is one, else the text, parsed if it is JSON.

    Raises:
        McpError: The server says that the call failed.
    """
    blocks = [_block(block) for block in result.content]
    if result.is_error:
        said = " ".join(b if isinstance(b, str) else json.dumps(b, ensure_ascii=False) for b in blocks)
        raise McpError(said or f"the MCP server says that {name} failed, without a reason")
    structured = cast("dict[str, Any] | None", result.structured_content)
    if structured is not None:
        return structured["result"] if list(structured) == ["result"] else structured  # scalars and lists come wrapped
    if all(isinstance(b, str) for b in blocks):
        return _maybe_json("\n".join(cast("list[str]", blocks)))
    return blocks[0] if len(blocks) == 1 else blocks


def _block(block: Any) -> Any:
    kind = block.type
    if kind == "text":
        return block.text
    if kind in ("image", "audio"):
        return {"type": kind, "mime_type": block.mime_type, "bytes": len(block.data) * 3 // 4}
    if kind == "resource":
        inner = block.resource
        text = getattr(inner, "text", None)
        return text if text is not None else {"type": "resource", "uri": str(inner.uri)}
    if kind == "resource_link":
        return {"type": "link", "name": block.name, "uri": str(block.uri)}
    return {"type": str(kind)}


def _maybe_json(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
