"""One client per event loop, closed with it.

An HTTP client keeps connections that belong to the loop they were opened in.
`Agent.run` makes a new loop each time, so a client kept on the model would be
dead at the second run, and one made per request would pay for its set-up every
step. It owes a living client in every loop and no connection left open behind.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

C = TypeVar("C")


class LoopClients(Generic[C]):
    """Makes a client the first time one is wanted in a loop.

    Args:
        make: Makes a client.
        close: Closes one.
    """

    def __init__(self, make: Callable[[], C], close: Callable[[C], Awaitable[None]]) -> None:
        self._make = make
        self._close = close
        self._keepers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[AsyncGenerator[C, None], C]]
        self._keepers = weakref.WeakKeyDictionary()

    async def get(self) -> C:
        """Return the running loop's client."""
        loop = asyncio.get_running_loop()
        kept = self._keepers.get(loop)
        if kept is None:
            keeper = self._keep()
            # A loop that ends closes its unfinished generators (asyncio.run does), and with this one the client.
            kept = self._keepers[loop] = (keeper, await anext(keeper))
        return kept[1]

    async def aclose(self) -> None:
        """Close the running loop's client, if there is one."""
        kept = self._keepers.pop(asyncio.get_running_loop(), None)
        if kept is not None:
            await kept[0].aclose()

    async def _keep(self) -> AsyncGenerator[C, None]:
        client = self._make()
        try:
            yield client
        finally:
            await self._close(client)
