"""Any server that speaks OpenAI's chat completions, through the official SDK.

It owes requests in that form and nothing a compatible server would choke on, the
whole body kept in `Reply.raw`, errors of the library's own tree, and a key that is
sent to the server and shown to nobody.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from glassloop.errors import MissingExtra, ModelError, ModelRefused
from glassloop.models.addresses import is_loopback, parted_login, shown_url
from glassloop.models.assembly import Assembler, reply_from
from glassloop.models.clients import LoopClients
from glassloop.models.dialect import Backend, adapt
from glassloop.models.failures import Place, broken, from_status, is_too_long, timed_out, unreachable
from glassloop.models.retry import Attempts, Retry
from glassloop.models.waiting import retry_after
from glassloop.types import Capabilities, Delta, Reply, Request

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"
"""Where requests go when no address is named."""


class OpenAIModel(Attempts):
    """A model behind an OpenAI-compatible server: OpenAI, vLLM, llama-server, LM Studio and many others.

    Args:
        model: The model's name at the server.
        base_url: The server's address, usually ending in /v1; `OPENAI_BASE_URL`, else OpenAI's own, if None.
        api_key: The key; `OPENAI_API_KEY` if None. Most local servers want none.
        capabilities: What the server can do, if it is not the usual (tools, schemas, stop sequences, logprobs).
        dialect: How schemas are written: `openai` (strict mode) or `plain`; found from the address if None.
        retry: How often to try again what may heal.
        timeout: Seconds for requests that bring no limit of their own.
        extra: Fields added to every request body, for what a server knows beyond the standard.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        capabilities: Capabilities | None = None,
        dialect: Backend | None = None,
        retry: Retry | None = None,
        timeout: float = 600.0,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        address = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
        self.base_url, self._login = parted_login(address)
        self._key = api_key or os.environ.get("OPENAI_API_KEY") or ""
        host = urlsplit(self.base_url).hostname or ""
        self._own = host == "api.openai.com" or host.endswith(".openai.azure.com")
        self._dialect: Backend = dialect or ("openai" if self._own else "plain")
        self._timeout = timeout
        self._extra = dict(extra or {})
        self.retry = retry or Retry()
        self.name = f"openai:{model}"
        self.capabilities = capabilities or Capabilities(native_tools=True, json_schema=True, logprobs=True)
        self._place = Place(shown_url(self.base_url), model, secrets=_secrets(self._key, address))
        self._clients = LoopClients(self._connect, _close)

    def __repr__(self) -> str:
        return f"OpenAIModel({self.model!r}, base_url={self._place.server!r})"

    async def attempt(self, request: Request) -> Reply:
        """Ask once and wait for the whole reply."""
        started = time.perf_counter()
        limit = self._limit(request)
        with self._translated(limit):
            client = await self._clients.get()
            # The raw text, because compatible servers send fields and mistakes that the SDK's types would lose.
            call = cast("Any", client).chat.completions.with_raw_response.create(**self.body(request), timeout=limit)
            # The SDK's limit is for each read; a server that trickles would never meet it.
            answer = await asyncio.wait_for(call, limit)
            body = self._decoded(answer.text)
        self._check(body)
        return reply_from(body, seconds=time.perf_counter() - started, model=self.model)

    async def attempt_stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Ask once, yielding `Delta`s and then the `Reply`."""
        started = time.perf_counter()
        assembler = Assembler()
        limit = self._limit(request)
        deadline = time.monotonic() + limit
        with self._translated(limit, assembler):
            client = await self._clients.get()
            options = {"stream": True, "stream_options": {"include_usage": True}}
            call = cast("Any", client).chat.completions.create(**self.body(request), **options, timeout=limit)
            stream = await asyncio.wait_for(call, limit)
            async with stream:
                chunks = aiter(stream)
                while True:
                    try:
                        chunk = await asyncio.wait_for(anext(chunks), max(0.0, deadline - time.monotonic()))
                    except StopAsyncIteration:
                        break
                    data = cast("dict[str, Any]", chunk.to_dict(warnings=False))
                    if data.get("error"):
                        raise self._told(data["error"], assembler.text)
                    if delta := assembler.add(data):
                        yield delta
        if assembler.finish_reason is None:
            raise broken(self._place, "ended in the middle", assembler.text)
        yield assembler.reply(seconds=time.perf_counter() - started, model=self.model)

    async def models(self) -> list[str]:
        """List the names the server offers."""
        limit = min(self._timeout, 10.0)
        with self._translated(limit):
            client = await self._clients.get()
            page = await asyncio.wait_for(client.models.list(timeout=limit), limit)
            return [model.id for model in page.data]

    def body(self, request: Request) -> dict[str, Any]:
        """The request's fields, as the SDK takes them."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [dict(m) for m in request.messages],
            "temperature": request.temperature,
        }
        if request.max_tokens is not None:
            # OpenAI's newer models refuse the old name, most other servers do not know the new one.
            body["max_completion_tokens" if self._own else "max_tokens"] = request.max_tokens
        if request.seed is not None:
            body["seed"] = request.seed
        if request.tools:
            body["tools"] = list(request.tools)
        if request.stop:
            body["stop"] = list(request.stop)
        if request.schema is not None:
            adapted = adapt(request.schema, self._dialect)
            held = {"name": "reply", "schema": adapted.schema, "strict": adapted.strict}
            body["response_format"] = {"type": "json_schema", "json_schema": held}
        if request.logprobs:
            body |= {"logprobs": True, "top_logprobs": request.logprobs}
        if self._extra:
            body["extra_body"] = self._extra
        return body

    async def aclose(self) -> None:
        """Close the connections of the running event loop; they close by themselves when it ends."""
        await self._clients.aclose()

    def _connect(self) -> AsyncOpenAI:
        sdk = _sdk()
        if not self._key and self._own:
            raise ModelRefused("OpenAI's server needs a key: set OPENAI_API_KEY, or name a local model with --model.")
        # The SDK insists on a key; servers that want none ignore it. Retries are ours, where they are told and limited.
        # Proxies from the environment are for the world outside, never for a server on this machine.
        http = sdk.DefaultAsyncHttpxClient(trust_env=not is_loopback(self.base_url), auth=self._login)
        return sdk.AsyncOpenAI(base_url=self.base_url, api_key=self._key or "none", max_retries=0, http_client=http)

    def _limit(self, request: Request) -> float:
        return request.timeout if request.timeout is not None else self._timeout

    def _decoded(self, text: str) -> dict[str, Any]:
        if not text.strip():
            raise broken(self._place, "is empty")
        try:
            body = json.loads(text)
        except ValueError:
            raise broken(self._place, f"is not JSON ({text[:80]})", text) from None
        if not isinstance(body, dict):
            raise broken(self._place, f"is not a chat completion ({text[:80]})", text)
        return cast("dict[str, Any]", body)

    def _check(self, body: Mapping[str, Any]) -> None:
        if body.get("error"):
            raise self._told(body["error"], "")
        if not body.get("choices"):
            raise broken(self._place, "holds no choices")

    def _told(self, error: Any, partial: str) -> ModelError:
        """An error told inside a body or stream with status 200."""
        if is_too_long(error):
            return from_status(self._place, 400, error)
        code = cast("Mapping[str, Any]", error).get("code") if isinstance(error, Mapping) else None
        if not partial and isinstance(code, int) and 400 <= code < 600:
            return from_status(self._place, code, error)
        return broken(self._place, f"broke off ({error})", partial)

    @contextmanager
    def _translated(self, limit: float, assembler: Assembler | None = None) -> Generator[None]:
        """Turn the SDK's exceptions into the library's; nothing of the original is chained, for it holds headers."""
        openai = _sdk()
        try:
            yield
        except ModelError:
            raise
        except (asyncio.TimeoutError, TimeoutError, openai.APITimeoutError):
            raise timed_out(self._place, limit) from None
        except openai.APIStatusError as error:
            wait = retry_after(error.response.headers)
            body = error.body if error.body is not None else error.message
            raise from_status(self._place, error.status_code, body, retry_after=wait) from None
        except openai.APIConnectionError as error:
            partial = assembler.text if assembler else ""
            if partial or _cut(error):
                raise broken(self._place, "ended in the middle", partial) from None
            raise unreachable(self._place) from None
        except openai.APIError as error:
            # The SDK raises this for an error event inside a stream.
            raise self._told(error.body or error.message, assembler.text if assembler else "") from None
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise broken(self._place, "holds a piece that is not JSON", assembler.text if assembler else "") from None
        except Exception as error:
            if type(error).__module__.split(".")[0] not in ("httpx", "httpx2", "httpcore", "httpcore2"):
                raise
            partial = assembler.text if assembler else ""
            raise broken(self._place, f"ended in the middle ({type(error).__name__})", partial) from None


async def _close(client: AsyncOpenAI) -> None:
    await client.close()


def _sdk() -> Any:
    try:
        import openai
    except ImportError as error:
        raise MissingExtra("openai", "openai", "talk to an OpenAI-compatible server") from error
    return openai


def _secrets(key: str, url: str) -> tuple[str, ...]:
    parts = urlsplit(url)
    return tuple(s for s in (key, parts.password or "", parts.query) if s)


def _cut(error: BaseException) -> bool:
    """Whether a connection error came after the server had begun to answer."""
    cause = error.__cause__
    return type(cause).__name__ in ("RemoteProtocolError", "ReadError", "StreamError", "DecodingError")
