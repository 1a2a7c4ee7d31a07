"""llama.cpp inside this process: loaded once, asked from one thread, let go cleanly.

It owes one loaded model per file and settings however many `LlamaCppModel`s
use it, silence on the terminal, a request that ends soon after it is cancelled,
and memory given back on `close()` or at exit.

Engines are kept in a weak cache: two agents with the same settings share one
gigabyte of weights, and when the last of them is gone so is the engine. Each
engine has a single worker thread, which is also its queue, because the server
has one slot: two requests at once would push each other out of the prompt cache.
"""

from __future__ import annotations

import importlib
import os
import secrets
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassloop.errors import MissingExtra, ModelUnavailable

_THREAD = "glassloop-llamacpp"

_BATCH = 256
"""Prompt tokens read at a time. A cancelled request ends between two batches, so this is how long that can take."""

_CACHE_MIB = 1024
"""Memory for prompts that were pushed out of the slot: a question asked in between does not cost the run its prefix."""


@dataclass(frozen=True)
class EngineSettings:
    """All that makes two engines different."""

    path: Path
    n_ctx: int = 8192
    n_threads: int | None = None
    n_gpu_layers: int = -1
    """Layers to put on a GPU if the wheel and the machine have one; -1 leaves it to llama.cpp."""


class Engine:
    """One loaded model file. Make it with `shared_engine`."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix=_THREAD)
        self._server: list[Any] = []
        # Runs when the engine is collected or the interpreter exits, whichever is first; holds no reference to self.
        self._release = weakref.finalize(self, _release, self._worker, self._server)

    def load(self) -> Future[None]:
        """Begin to load the model; the future is done at once if it is loaded."""
        return self._worker.submit(self._load)

    def ask(self, body: Mapping[str, Any], take: Callable[[dict[str, Any]], bool]) -> Future[None]:
        """Queue a streaming chat-completions request.

        Args:
            body: The request as the HTTP server would take it.
            take: Called in the worker thread with each chunk (an error comes as `{"error": …}`); a true result
                stops the generation.
        """
        return self._worker.submit(self._ask, body, take)

    def close(self) -> None:
        """Wait for the running request, then free the model."""
        self._release()

    def _load(self) -> None:
        if not self._server:
            self._server.append(_start(self.settings))

    def _ask(self, body: Mapping[str, Any], take: Callable[[dict[str, Any]], bool]) -> None:
        self._load()
        try:
            self._server[0].handle_chat_completions(dict(body), take)
        except (ValueError, RuntimeError) as error:
            # The server throws what it finds wrong before it has a stream to say it in.
            take({"error": {"code": 400, "message": str(error), "type": "invalid_request_error"}})


def shared_engine(settings: EngineSettings) -> Engine:
    """Return this process's engine for these settings, making it (not loading it) if there is none."""
    with _lock:
        engine = _engines.get(settings)
        if engine is None:
            engine = _engines[settings] = Engine(settings)
        return engine


def forget_engine(engine: Engine) -> None:
    """Let the next `shared_engine` make a new one: this one is closed."""
    with _lock:
        if _engines.get(engine.settings) is engine:
            del _engines[engine.settings]


def physical_cores() -> int:
    """Count the cores this process may use, without hyper-threads: more threads than that make llama.cpp slower."""
    allowed = _allowed_cpus()
    cores: set[str] = set()
    for cpu in allowed:
        with suppress(OSError):
            cores.add(Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text().strip())
    if cores:
        return len(cores)
    if sys.platform == "darwin":
        with suppress(OSError, ValueError, subprocess.SubprocessError):
            # Efficiency cores slow all others down; perflevel0 are the fast ones.
            found = subprocess.run(
                ["sysctl", "-n", "hw.perflevel0.physicalcpu"], capture_output=True, text=True, timeout=5, check=True
            )
            return max(1, int(found.stdout))
    return max(1, len(allowed) // 2 if sys.platform == "win32" else len(allowed))


_lock = threading.Lock()
_engines: weakref.WeakValueDictionary[EngineSettings, Engine] = weakref.WeakValueDictionary()


def _allowed_cpus() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _start(settings: EngineSettings) -> Any:
    try:
        library: Any = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise MissingExtra("xllamacpp", "llamacpp", "run a model inside this process") from error
    params = library.CommonParams()
    params.model.path = str(settings.path)
    params.model_alias = {settings.path.name}  # else bodies, and with them journals, name the whole path
    params.n_ctx = settings.n_ctx
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = _BATCH
    threads = settings.n_threads or physical_cores()
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.n_gpu_layers = settings.n_gpu_layers
    params.use_jinja = True
    params.cache_ram_mib = _CACHE_MIB
    params.warmup = False
    params.verbosity = 0
    # The server object cannot be had without its HTTP listener. Nobody is to use that: it sits on a free
    # port of the loopback address and wants a key which is never told.
    params.api_keys = [secrets.token_hex(32)]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.endpoint_slots = False
    try:
        return library.Server(params)
    except (RuntimeError, ValueError) as error:
        raise ModelUnavailable(
            f"llama.cpp cannot load {settings.path}: check that it is a complete GGUF file of a model it supports "
            f"and that a context of {settings.n_ctx} tokens fits into memory."
        ) from error


def _release(worker: ThreadPoolExecutor, server: list[Any]) -> None:
    # The last reference may have died in the worker itself, at the end of a request; it cannot wait for itself.
    inside = threading.current_thread().name.startswith(_THREAD)
    worker.shutdown(wait=not inside, cancel_futures=True)
    server.clear()
