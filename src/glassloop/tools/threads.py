"""Running functions that block, without blocking the loop and without holding up the end of the program.

The default executor of asyncio joins its threads when the program ends, so one
tool that never returns would keep the program alive for ever. Here each call has
a daemon thread of its own: whoever stops waiting for it leaves it behind.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypeVar, cast

T = TypeVar("T")

MOST_ITEMS = 1_000
"""How many items of a generator are read; an endless one must end somewhere."""


class ToolExit(RuntimeError):
    """A tool tried to end the program or the loop (exit, Ctrl-C, cancellation of its own making)."""


async def run_in_thread(f: Callable[[], T], *, name: str = "tool") -> T:
    """Run `f` in a daemon thread of its own with the caller's context variables; cancelling leaves it behind."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():  # nobody waits any more
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(cast("T", result))

    def work() -> None:
        result, error = None, None
        try:
            result = context.run(f)
        except BaseException as caught:
            error = tame(caught)
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop was closed while the thread was left behind
            pass

    threading.Thread(target=work, name=f"glassloop-{name}", daemon=True).start()
    return await future


def tame(error: BaseException) -> BaseException:
    """Return the error itself, or an ordinary one for those that would end the loop or the program."""
    if isinstance(error, Exception) and not isinstance(error, (StopIteration, StopAsyncIteration)):
        return error
    plain = ToolExit(f"the tool raised {type(error).__name__}: {error}".rstrip(": "))
    plain.__cause__ = error
    return plain


def collect(result: Any) -> Any:
    """Return the items of a generator as a list, at most `MOST_ITEMS` of them and a note; anything else as it is."""
    if not inspect.isgenerator(result):
        return result
    generator = cast("Iterator[Any]", result)
    items: list[Any] = []
    for item in generator:
        if len(items) == MOST_ITEMS:
            items.append(_stopped())
            result.close()
            break
        items.append(item)
    return items


async def collect_async(result: AsyncIterator[Any]) -> list[Any]:
    """The same for an asynchronous generator."""
    items: list[Any] = []
    async for item in result:
        if len(items) == MOST_ITEMS:
            items.append(_stopped())
            close = getattr(result, "aclose", None)
            if close is not None:
                await close()
            break
        items.append(item)
    return items


def _stopped() -> str:
    return f"(stopped reading after {MOST_ITEMS:,} items)"
