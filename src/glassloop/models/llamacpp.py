"""The embedded model: llama.cpp in this process, no server to start and no port to choose.

It owes verified weights (a catalogue model is loaded only when its hash is right),
loading at the first request, an event loop that is never blocked, and a request
that stops when its task is cancelled or its time is up. What cannot be stopped is
the batch of prompt tokens being read at that moment (256 tokens, about a second
on a slow machine) and the loading of the file.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

from glassloop.errors import ModelUnavailable, WeightsError
from glassloop.models.assembly import Assembler
from glassloop.models.catalogue import CATALOGUE, DEFAULT_MODEL, ModelEntry, find_entry
from glassloop.models.dialect import adapt
from glassloop.models.engine import Engine, EngineSettings, forget_engine, shared_engine
from glassloop.models.failures import Place, broken, from_status, timed_out
from glassloop.models.weights import locate
from glassloop.types import Capabilities, Delta, Reply, Request


class LlamaCppModel:
    """A GGUF model run by llama.cpp inside this process.

    Args:
        model: A name in the catalogue, or the path of a GGUF file.
        n_ctx: Context in tokens.
        n_threads: Threads; the number of physical cores if None.
        n_gpu_layers: Layers put on a GPU; -1 leaves it to llama.cpp.
        seed: Used for requests that bring no seed of their own; llama.cpp chooses one if None.
        max_tokens: Limit for requests that bring none, because a small model can repeat itself to the end of the
            context.
        cache_prompt: Keep what was read of the last prompt. With it, equal requests at temperature 0 can differ in
            rare cases, because numbers are added up in another order; without it, every step reads everything anew.
    """

    def __init__(
        self,
        model: str | Path = DEFAULT_MODEL,
        *,
        n_ctx: int = 8192,
        n_threads: int | None = None,
        n_gpu_layers: int = -1,
        seed: int | None = None,
        max_tokens: int = 2048,
        cache_prompt: bool = True,
    ) -> None:
        self._entry, self._path = _resolve(model)
        self._settings: dict[str, Any] = {"n_ctx": n_ctx, "n_threads": n_threads, "n_gpu_layers": n_gpu_layers}
        self._seed = seed
        self._max_tokens = max_tokens
        self._cache_prompt = cache_prompt
        self._engine: Engine | None = None
        self.name = f"llamacpp:{self._entry.name if self._entry else cast('Path', self._path).name}"
        self.capabilities = Capabilities(native_tools=True, json_schema=True, stop=True, logprobs=True, context=n_ctx)

    def __repr__(self) -> str:
        return f"LlamaCppModel({self.name!r})"

    async def complete(self, request: Request) -> Reply:
        """Ask and wait for the whole reply."""
        reply = Reply()
        # Always streamed inside: only a stream can be stopped.
        async with aclosing(self.stream(request)) as items:
            async for item in items:
                if isinstance(item, Reply):
                    reply = item
        return reply

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Ask and yield `Delta`s while the reply is written, then the whole `Reply`."""
        engine = await self._ready()
        started = time.perf_counter()
        assembler = Assembler()
        async with aclosing(_chunks(engine, self.body(request), request.timeout, self._place)) as chunks:
            async for chunk in chunks:
                if error := chunk.get("error"):
                    raise self._failure(error, assembler.text)
                if delta := assembler.add(chunk):
                    yield delta
        if assembler.finish_reason is None:
            raise broken(self._place, "ended in the middle", assembler.text)
        yield assembler.reply(seconds=time.perf_counter() - started, model=self.name)

    def body(self, request: Request) -> dict[str, Any]:
        """The request in llama.cpp's form."""
        body: dict[str, Any] = {
            "messages": [dict(m) for m in request.messages],
            "temperature": request.temperature,
            "max_tokens": request.max_tokens or self._max_tokens,
            "cache_prompt": self._cache_prompt,
            "stream": True,
            "stream_options": {"include_usage": True},
            # Says how far the prompt is read, which is also a chance to stop.
            "return_progress": True,
        }
        seed = request.seed if request.seed is not None else self._seed
        if seed is not None:
            body["seed"] = seed
        if request.tools:
            body["tools"] = list(request.tools)
        if request.stop:
            body["stop"] = list(request.stop)
        if request.schema is not None:
            schema = adapt(request.schema, "llamacpp").schema
            if request.tools:  # a grammar of our own is refused beside tools
                body["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
            else:
                body["grammar"] = _grammar(schema)
        if request.logprobs:
            body |= {"logprobs": True, "top_logprobs": request.logprobs}
        return body

    def close(self) -> None:
        """Free the model, once no request runs. Other models on the same file load it again; so does this one."""
        engine, self._engine = self._engine, None
        if engine is not None:
            forget_engine(engine)
            engine.close()

    def __enter__(self) -> LlamaCppModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _place(self) -> Place:
        return Place("the embedded llama.cpp", self.name)

    async def _ready(self) -> Engine:
        while True:
            if self._engine is None:
                path = await asyncio.to_thread(_verified, self._entry, self._path)
                self._engine = shared_engine(EngineSettings(path, **self._settings))
            engine = self._engine
            try:
                await asyncio.wrap_future(engine.load())
            except RuntimeError:
                # Closed by another model that shared it: take a new one.
                if self._engine is engine:
                    self._engine = None
                continue
            return engine

    def _failure(self, error: Any, partial: str) -> Exception:
        detail = cast("Mapping[str, Any]", error) if isinstance(error, Mapping) else {"message": str(error)}
        if partial:
            return broken(self._place, f"broke off ({detail.get('message')})", partial)
        code = detail.get("code")
        return from_status(self._place, code if isinstance(code, int) else 500, {"error": detail})


def _grammar(schema: Mapping[str, Any]) -> str:
    """Write a schema as an llguidance grammar without free white space.

    The tokens a model would spend on indenting are saved, and because the reply then reads as the history
    will show it, its own tokens come from the prefix cache in the next step.
    """
    compact = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return "%llguidance {}\nstart: %json " + json.dumps({**schema, "x-guidance": compact}, ensure_ascii=False)


async def _chunks(
    engine: Engine, body: dict[str, Any], timeout: float | None, place: Place
) -> AsyncGenerator[dict[str, Any], None]:
    """Carry chunks from the worker thread into the event loop; leaving this generator stops the worker."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    left = threading.Event()

    def take(chunk: dict[str, Any]) -> bool:
        if not left.is_set():
            try:
                loop.call_soon_threadsafe(queue.put_nowait, chunk)
            except RuntimeError:  # the loop is closed
                left.set()
        return left.is_set()

    def finish(_: object) -> None:
        if not left.is_set():
            try:
                loop.call_soon_threadsafe(queue.put_nowait, None)
            except RuntimeError:
                left.set()

    deadline = None if timeout is None else loop.time() + timeout
    future = engine.ask(body, take)
    future.add_done_callback(finish)
    try:
        while True:
            try:
                chunk = await asyncio.wait_for(
                    queue.get(), None if deadline is None else max(0, deadline - loop.time())
                )
            except (TimeoutError, asyncio.TimeoutError) as error:
                raise timed_out(place, timeout) from error
            if chunk is None:
                break
            yield chunk
        if (failure := future.exception()) is not None:
            raise broken(place, f"failed inside llama.cpp ({failure})") from failure
    finally:
        left.set()
        future.cancel()


def _resolve(model: str | Path) -> tuple[ModelEntry | None, Path | None]:
    """Tell a catalogue name from a file."""
    text = str(model)
    if isinstance(model, Path) or text.lower().endswith(".gguf") or "/" in text or "\\" in text:
        path = Path(model).expanduser()
        entry = next((e for e in CATALOGUE.values() if e.file_name == path.name), None)
        return entry, path
    try:
        return find_entry(text), None
    except WeightsError as error:
        raise ModelUnavailable(str(error)) from error


def _verified(entry: ModelEntry | None, path: Path | None) -> Path:
    """Return the file to load, after its hash (catalogue) or at least its first bytes (any other file) are right."""
    if path is not None and not path.is_file():
        raise ModelUnavailable(f"There is no model file at {path}: check the path.")
    if entry is not None:
        found = locate(entry, directory=path.parent if path else None)
        if found is not None:
            return found
        if path is not None:
            raise ModelUnavailable(
                f"{path} bears the name of {entry.name} and is not that file: "
                f"run glassloop model fetch {entry.name}, or rename it if it is another model."
            )
        raise ModelUnavailable(
            f"The weights of {entry.name} are not on this machine: run glassloop model fetch {entry.name}."
        )
    assert path is not None
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ModelUnavailable(
                f"{path} is not a GGUF file: give the path of one, or a name from glassloop model list."
            )
    return path
