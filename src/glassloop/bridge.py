"""The bridge from ordinary code to the loop, which is a coroutine: a run in the thread that asks, or in one beside it.

It owes the result or the exception of the coroutine, whether or not an event loop is already
running (Jupyter), and an interrupted run that knows it was interrupted.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from synchronous code, also where an event loop is already running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    result: list[T] = []
    failure: list[BaseException] = []
    task: list[Any] = []

    async def noted() -> T:
        task.append(asyncio.current_task())
        return await work

    def target() -> None:
        try:
            result.append(asyncio.run(noted()))
        except BaseException as error:  # handed to the caller's thread below
            failure.append(error)

    thread = threading.Thread(target=target, name="glassloop-run")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:  # the run is told, so that it is recorded as cancelled
        if task:
            task[0].get_loop().call_soon_threadsafe(task[0].cancel)
        thread.join()
        raise
    if failure:
        raise failure[0]
    return result[0]
