"""Ollama, through its official client and its native `/api/chat`.

It owes Ollama's own forms: arguments as objects without ids, results by tool
name, `num_ctx` said in every request (the default silently cuts long prompts),
schemas as `format`, and a `Reply` in the same form as every other backend's.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any, cast

from glassloop.errors import MissingExtra, ModelError
from glassloop.models.addresses import is_loopback, ollama_url, parted_login, shown_url
from glassloop.models.clients import LoopClients
from glassloop.models.dialect import adapt
from glassloop.models.failures import Place, broken, from_status, is_too_long, timed_out, unreachable
from glassloop.models.retry import Attempts, Retry
from glassloop.models.waiting import retry_after
from glassloop.types import Capabilities, Delta, Reply, Request, Usage

if TYPE_CHECKING:
    from ollama import AsyncClient

_LOST = ("properties", "anyOf", "oneOf", "allOf", "$ref", "additionalProperties", "pattern", "minimum", "maximum")
"""What the client's own tool type drops from an argument's schema."""


class OllamaModel(Attempts):
    """A model served by Ollama.

    Args:
        model: Its name there, for example `qwen3:4b`.
        host: Address of the server; `OLLAMA_HOST`, else this machine, if None.
        num_ctx: Context in tokens, said in every request.
        think: Whether a thinking model thinks (or how hard); the model's own default if None.
        keep_alive: How long the server keeps the model loaded, for example `"10m"`.
        capabilities: What the model can do, if it is not the usual.
        known: Models the server is known to have, for "did you mean".
        retry: How often to try again what may heal.
        timeout: Seconds for requests that bring no limit of their own.
    """

    def __init__(
        self,
        model: str,
        host: str | None = None,
        *,
        num_ctx: int = 8192,
        think: bool | str | None = None,
        keep_alive: float | str | None = None,
        capabilities: Capabilities | None = None,
        known: tuple[str, ...] = (),
        retry: Retry | None = None,
        timeout: float = 600.0,
    ) -> None:
        self.model = model
        self.host, self._login = parted_login(ollama_url(host or os.environ.get("OLLAMA_HOST")))
        self.num_ctx = num_ctx
        self.retry = retry or Retry()
        self.name = f"ollama:{model}"
        self.capabilities = capabilities or Capabilities(
            native_tools=True, json_schema=True, logprobs=True, context=num_ctx
        )
        self._think = think
        self._keep_alive = keep_alive
        self._timeout = timeout
        key = os.environ.get("OLLAMA_API_KEY", "")
        self._place = Place(shown_url(self.host), model, secrets=(key, *(self._login or ())[1:]), known=known)
        self._clients = LoopClients(self._connect, _close)

    def __repr__(self) -> str:
        return f"OllamaModel({self.model!r}, host={self._place.server!r})"

    async def attempt(self, request: Request) -> Reply:
        """Ask once and wait for the whole reply."""
        started = time.perf_counter()
        limit = request.timeout if request.timeout is not None else self._timeout
        with self._translated(limit):
            client = cast("Any", await self._clients.get())
            answer = await asyncio.wait_for(client.chat(**self.body(request), stream=False), limit)
            body = cast("dict[str, Any]", answer.model_dump(exclude_none=True))
        return self._reply(body, started)

    async def attempt_stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Ask once, yielding `Delta`s and then the `Reply`."""
        started = time.perf_counter()
        limit = request.timeout if request.timeout is not None else self._timeout
        deadline = time.monotonic() + limit
        whole = _Whole()
        with self._translated(limit, whole):
            client = cast("Any", await self._clients.get())
            parts = await client.chat(**self.body(request), stream=True)
            async with aclosing(parts):
                while True:
                    try:
                        part = await asyncio.wait_for(anext(parts), max(0.0, deadline - time.monotonic()))
                    except StopAsyncIteration:
                        break
                    if delta := whole.add(part.model_dump(exclude_none=True)):
                        yield delta
        yield self._reply(whole.body(), started)

    async def models(self) -> list[str]:
        """List the names the server has."""
        limit = min(self._timeout, 10.0)
        with self._translated(limit):
            client = await self._clients.get()
            found = await asyncio.wait_for(client.list(), limit)
            return [m.model for m in found.models if m.model]

    def body(self, request: Request) -> dict[str, Any]:
        """The request's fields, as the client takes them."""
        options: dict[str, Any] = {"num_ctx": self.num_ctx, "temperature": request.temperature}
        if request.max_tokens is not None:
            options["num_predict"] = request.max_tokens
        if request.seed is not None:
            options["seed"] = request.seed
        if request.stop:
            options["stop"] = list(request.stop)
        body: dict[str, Any] = {"model": self.model, "messages": native_messages(request.messages), "options": options}
        if request.tools:
            body["tools"] = [_native_tool(t) for t in request.tools]
        if request.schema is not None:
            body["format"] = adapt(request.schema, "ollama").schema
        if request.logprobs:
            body |= {"logprobs": True, "top_logprobs": request.logprobs}
        if self._think is not None:
            body["think"] = self._think
        if self._keep_alive is not None:
            body["keep_alive"] = self._keep_alive
        return body

    async def aclose(self) -> None:
        """Close the connections of the running event loop; they close by themselves when it ends."""
        await self._clients.aclose()

    def _connect(self) -> AsyncClient:
        try:
            from ollama import AsyncClient
        except ImportError as error:
            raise MissingExtra("ollama", "ollama", "talk to Ollama") from error

        async def inspect(response: Any) -> None:
            # The client's own error keeps neither the headers nor, in a stream, the status.
            if response.status_code >= 400:
                await response.aread()
                wait = retry_after(response.headers)
                raise from_status(self._place, response.status_code, _decoded(response.text), retry_after=wait)

        # Proxies from the environment are for the world outside, never for a server on this machine.
        outside = not is_loopback(self.host)
        return AsyncClient(host=self.host, trust_env=outside, auth=self._login, event_hooks={"response": [inspect]})

    def _reply(self, body: dict[str, Any], started: float) -> Reply:
        message = cast("dict[str, Any]", body.get("message") or {})
        if not body.get("done"):
            raise broken(self._place, "ended in the middle", message.get("content") or "")
        reason = cast("str | None", body.get("done_reason"))
        return Reply(
            text=message.get("content") or "",
            tool_calls=tuple(_chat_call(c) for c in message.get("tool_calls") or ()),
            usage=Usage(prompt=body.get("prompt_eval_count") or 0, completion=body.get("eval_count") or 0, requests=1),
            finish_reason=reason,
            reasoning=message.get("thinking") or "",
            raw=body,
            seconds=time.perf_counter() - started,
            model=body.get("model") or self.model,
        )

    @contextmanager
    def _translated(self, limit: float, whole: _Whole | None = None) -> Generator[None]:
        """Turn the client's exceptions into the library's."""
        try:
            yield
        except ModelError:
            raise
        except (asyncio.TimeoutError, TimeoutError):
            raise timed_out(self._place, limit) from None
        except ConnectionError:
            raise unreachable(self._place) from None
        except ValueError:
            # Not JSON, or JSON that is no chat reply (pydantic's errors are ValueErrors).
            raise broken(self._place, "is not a chat reply", whole.text if whole else "") from None
        except Exception as error:
            partial = whole.text if whole else ""
            name = type(error).__name__
            if name in ("ConnectError", "ConnectTimeout"):
                raise unreachable(self._place) from None
            if name.endswith("Timeout"):
                raise timed_out(self._place, limit) from None
            if name == "ResponseError":
                words = str(getattr(error, "error", error))
                if is_too_long(words):
                    raise from_status(self._place, 400, words) from None
                raise broken(self._place, f"broke off ({words})", partial) from None
            if type(error).__module__.split(".")[0] in ("httpx", "httpcore"):
                raise broken(self._place, f"ended in the middle ({name})", partial) from None
            raise


async def _close(client: AsyncClient) -> None:
    await cast("Any", client).close()


class _Whole:
    """Folds the parts of a stream into the body that would have come whole."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self._content: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._logprobs: list[Any] = []

    @property
    def text(self) -> str:
        return "".join(self._content)

    def add(self, part: dict[str, Any]) -> Delta | None:
        self._last |= {k: v for k, v in part.items() if k not in ("message", "logprobs")}
        self._logprobs.extend(part.get("logprobs") or ())
        message = cast("dict[str, Any]", part.get("message") or {})
        text, thinking = message.get("content") or "", message.get("thinking") or ""
        calls = cast("list[dict[str, Any]]", message.get("tool_calls") or [])
        first = len(self._calls)
        self._content.append(text)
        self._thinking.append(thinking)
        self._calls.extend(calls)
        if not (text or thinking or calls):
            return None
        return Delta(text, thinking, tuple({"index": first + n, **_chat_call(c)} for n, c in enumerate(calls)))

    def body(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if thinking := "".join(self._thinking):
            message["thinking"] = thinking
        if self._calls:
            message["tool_calls"] = self._calls
        body = {**self._last, "message": message}
        if self._logprobs:
            body["logprobs"] = self._logprobs
        return body


def native_messages(messages: tuple[Mapping[str, Any], ...]) -> list[dict[str, Any]]:
    """Put chat-completions messages into Ollama's form: arguments as objects, no ids, results named by their tool."""
    names: dict[str, str] = {}
    out: list[dict[str, Any]] = []
    for message in messages:
        native: dict[str, Any] = {"role": message["role"], "content": _flat(message.get("content"))}
        calls = cast("list[dict[str, Any]]", message.get("tool_calls") or [])
        for call in calls:
            names[str(call.get("id"))] = call["function"]["name"]
        if calls:
            native["tool_calls"] = [
                {"function": {"name": c["function"]["name"], "arguments": _as_object(c["function"].get("arguments"))}}
                for c in calls
            ]
        if message["role"] == "tool":
            native["tool_name"] = message.get("name") or names.get(str(message.get("tool_call_id")), "")
        out.append(native)
    return out


def _native_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The tool, with what the client's type would drop from an argument's schema told in its description instead."""
    function = dict(cast("Mapping[str, Any]", tool["function"]))
    parameters = dict(cast("Mapping[str, Any]", function.get("parameters") or {}))
    properties: dict[str, Any] = {}
    for name, schema in cast("Mapping[str, Any]", parameters.get("properties") or {}).items():
        property_ = dict(cast("Mapping[str, Any]", schema)) if isinstance(schema, Mapping) else {}
        lost = {k: v for k, v in property_.items() if k in _LOST}
        if lost:
            told = json.dumps(lost, ensure_ascii=False, separators=(",", ":"))
            property_["description"] = f"{property_.get('description') or ''} {told}".strip()
        properties[name] = property_
    function["parameters"] = {**parameters, "type": "object", "properties": properties}
    return {"type": "function", "function": function}


def _chat_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = cast("Mapping[str, Any]", call.get("function") or {})
    arguments = json.dumps(function.get("arguments") or {}, ensure_ascii=False)
    return {"type": "function", "function": {"name": function.get("name", ""), "arguments": arguments}}


def _as_object(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return {}
    return cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}


def _flat(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(p.get("text") or "") for p in cast("list[dict[str, Any]]", content))
    return content or ""


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
