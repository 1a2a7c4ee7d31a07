"""Lets only this machine's own browser in, and tells it to load nothing from anywhere else.

A page on the internet can make a browser send requests to a loopback port under a name of its own
(DNS rebinding); the Host header gives that away. The content policy keeps anything that a run might
smuggle into a page from being executed or from calling home.
"""

from __future__ import annotations

from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse

HOSTS = frozenset(("127.0.0.1", "localhost", "[::1]"))
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """ASGI middleware: checks who is asking, and marks every answer.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        if not allowed(headers):
            refusal = PlainTextResponse("This viewer answers only to 127.0.0.1, localhost and [::1].", status_code=421)
            await refusal(scope, receive, send)
            return

        async def marked(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, marked)


def allowed(headers: dict[str, str]) -> bool:
    """Whether a request comes under a name of this machine and not from another site's page."""
    host = headers.get("host", "")
    name = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
    return name in HOSTS and headers.get("sec-fetch-site", "none") in ("none", "same-origin")
