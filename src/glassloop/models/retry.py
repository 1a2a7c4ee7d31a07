"""Trying again what may heal: connections that fail, servers that are busy, 5xx.

It owes growing delays with jitter, the server's own wish (Retry-After) before
ours, a word to whoever listens before each wait, and an end. A refused request,
one that was too long and a reply that broke off are not tried again here: the
first two would fail the same way, and of the third somebody may have seen a part.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast

from glassloop.errors import ModelError, ModelOverloaded, ModelUnavailable
from glassloop.gears import Model
from glassloop.types import Capabilities, Delta, Reply, Request

OnRetry = Callable[[str, float], None]
"""Told before each wait: the reason, and the seconds until the next attempt."""


@dataclass(frozen=True)
class Retry:
    """How often and how patiently a request is tried again.

    Attributes:
        attempts: Attempts in all; 1 never tries again.
        first: Seconds before the second attempt; each further wait doubles.
        longest: No wait is longer, not even one the server asks for: then the error is told at once.
        on_retry: Told before each wait.
        sleep: Waits; replaced in tests.
        clock: Reads seconds; replaced in tests.
        dice: Gives a number from 0 to 1 for the jitter; replaced in tests.
    """

    attempts: int = 4
    first: float = 0.5
    longest: float = 30.0
    on_retry: OnRetry | None = None
    sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    dice: Callable[[], float] = field(default=random.random)

    async def complete(self, once: Callable[[Request], Awaitable[Reply]], request: Request) -> Reply:
        """Ask until there is a reply or no hope; the request's time-out covers all attempts together."""
        began, attempt = self.clock(), 1
        while True:
            try:
                return await once(self._remaining(request, began))
            except ModelError as error:
                await self._wait(error, attempt, request, began)
            attempt += 1

    async def stream(
        self, once: Callable[[Request], AsyncIterator[Delta | Reply]], request: Request
    ) -> AsyncGenerator[Delta | Reply, None]:
        """The same for a stream, which is tried again only while nothing of it has been seen."""
        began, attempt, seen = self.clock(), 1, False
        while True:
            try:
                async with aclosing(
                    cast("AsyncGenerator[Delta | Reply, None]", once(self._remaining(request, began)))
                ) as s:
                    async for item in s:
                        seen = True
                        yield item
                return
            except ModelError as error:
                if seen:
                    raise
                await self._wait(error, attempt, request, began)
            attempt += 1

    def _remaining(self, request: Request, began: float) -> Request:
        if request.timeout is None:
            return request
        return replace(request, timeout=max(0.001, request.timeout - (self.clock() - began)))

    async def _wait(self, error: ModelError, attempt: int, request: Request, began: float) -> None:
        """Wait before the next attempt, or raise the error if there should be none."""
        if attempt >= self.attempts or not isinstance(error, (ModelUnavailable, ModelOverloaded)):
            raise error
        asked = error.retry_after
        # Half of the delay is certain and half is chance, so that many clients do not come back at once.
        delay = asked if asked is not None else self.first * 2 ** (attempt - 1) * (0.5 + 0.5 * self.dice())
        if delay > self.longest:
            if asked is not None:
                raise error
            delay = self.longest
        if request.timeout is not None and self.clock() - began + delay >= request.timeout:
            raise error
        if self.on_retry is not None:
            self.on_retry(str(error), delay)
        await self.sleep(delay)


class Attempts:
    """Base of models that try again: `complete` and `stream` over one attempt, as their `retry` says.

    A subclass gives `attempt` and `attempt_stream`, which try exactly once.
    """

    retry: Retry = Retry()

    async def attempt(self, request: Request) -> Reply:
        """Ask once."""
        raise NotImplementedError

    def attempt_stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Ask once, streaming."""
        raise NotImplementedError

    async def complete(self, request: Request) -> Reply:
        """Ask and wait for the whole reply, trying again what may heal."""
        return await self.retry.complete(self.attempt, request)

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Ask and yield `Delta`s, then the whole `Reply`; tried again only while nothing has been seen."""
        return self.retry.stream(self.attempt_stream, request)


class Retrying:
    """A model that tries again; made by `retrying`."""

    def __init__(self, model: Model, retry: Retry) -> None:
        self.model = model
        self.retry = retry

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self.model.name

    @property
    def capabilities(self) -> Capabilities:
        """The inner model's capabilities."""
        return self.model.capabilities

    def __repr__(self) -> str:
        return f"Retrying({self.model!r})"

    async def complete(self, request: Request) -> Reply:
        """Ask and wait for the whole reply, trying again what may heal."""
        # A model that tries again by itself is asked for single attempts, so that retries do not multiply.
        once = self.model.attempt if isinstance(self.model, Attempts) else self.model.complete
        return await self.retry.complete(once, request)

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Ask and yield `Delta`s, then the whole `Reply`; tried again only while nothing has been seen."""
        once = self.model.attempt_stream if isinstance(self.model, Attempts) else self.model.stream
        return self.retry.stream(once, request)


def retrying(model: Model, retry: Retry | None = None, *, on_retry: OnRetry | None = None) -> Retrying:
    """Wrap a model so that it tries again, with a listener of this caller's own.

    Args:
        model: Any model. One that tries again by itself keeps its own policy and does not do it twice.
        retry: The policy; the model's own, else the default, if None.
        on_retry: Told before each wait, with the reason and the delay: two runs on one model each hear only theirs.
    """
    policy = retry or (model.retry if isinstance(model, Attempts) else Retry())
    return Retrying(model, replace(policy, on_retry=on_retry) if on_retry is not None else policy)
