"""Reading web pages within bounds: listed hosts, public addresses, a size, a time.

Every hop is judged anew, and the connection goes to the very address that was
judged, so that a name cannot change its mind between the check and the call.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError
from ..tools.declare import Tool, tool
from .addresses import NotAllowed, listed, resolve
from .client import AGENT, Unreachable

if TYPE_CHECKING:
    import httpx

_TEXTUAL = re.compile(r"text/|[/+](json|xml|yaml|javascript)\b", re.IGNORECASE)
_REDIRECTS = (301, 302, 303, 307, 308)


def http_tool(
    allow: Sequence[str],
    *,
    private: bool = False,
    timeout: float = 15.0,
    max_bytes: int = 500_000,
    max_redirects: int = 3,
) -> Tool:
    """Make the tool `http_get` for the hosts of an allow-list.

    Args:
        allow: Hosts that may be read: `en.wikipedia.org`, `*.example.org`, `localhost:8080`; `*` for all public ones.
        private: Whether loopback and private addresses may be spoken to.
        timeout: Seconds for the whole call, redirects included.
        max_bytes: Most bytes read of one page; the rest is cut off and the result says so.
        max_redirects: Most redirects followed, each checked like the first address.

    Raises:
        ConfigurationError: The allow-list is empty.
    """
    hosts = [allow] if isinstance(allow, str) else list(allow)
    if not hosts:
        raise ConfigurationError("http_tool needs an allow-list: name hosts, or say allow=['*'] for any public one.")

    @tool(timeout=timeout + 5, limit=4_000)
    async def http_get(url: str) -> dict[str, Any]:
        """Text of a web page or JSON of a web service. Use it when an address is given or known that holds the answer.

        Args:
            url: Full address, for example https://en.wikipedia.org/wiki/Tea.
        """
        try:
            return await asyncio.wait_for(_fetch(url, hosts, private, max_bytes, max_redirects), timeout)
        except asyncio.TimeoutError:
            raise Unreachable(f"{url} did not answer within {timeout:g} seconds") from None

    return http_get


async def _fetch(url: str, allow: Sequence[str], private: bool, max_bytes: int, max_redirects: int) -> dict[str, Any]:
    import httpx

    # No environment proxies: a proxy would resolve the name again, out of our sight.
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=None) as client:
        address = _parsed(url)
        for _ in range(max_redirects + 1):
            request = await _pinned(client, address, allow, private)
            try:
                response = await client.send(request, stream=True)
                try:
                    if response.status_code in _REDIRECTS and response.headers.get("location"):
                        address = _parsed(str(address.join(response.headers["location"])))
                        continue
                    return await _result(address, response, max_bytes)
                finally:
                    await response.aclose()
            except httpx.HTTPError as error:
                raise Unreachable(f"{address.host} cannot be read ({type(error).__name__})") from None
    raise Unreachable(f"{url} redirects more than {max_redirects} times")


def _parsed(url: str) -> httpx.URL:
    import httpx

    try:
        address = httpx.URL(url.strip())
    except (httpx.InvalidURL, ValueError):
        raise NotAllowed(f"{url!r:.200} is not an address: give one like https://en.wikipedia.org/wiki/Tea") from None
    if address.scheme not in ("http", "https") or not address.host:
        raise NotAllowed(f"{url!r:.200} cannot be read: only full http and https addresses are allowed")
    if address.userinfo:
        raise NotAllowed("addresses with a user name or password are not allowed")
    return address.copy_with(fragment=None)


async def _pinned(client: httpx.AsyncClient, address: httpx.URL, allow: Sequence[str], private: bool) -> httpx.Request:
    """Build the request that goes to the judged address and still asks for the host by its name."""
    port = address.port or (443 if address.scheme == "https" else 80)
    host = address.raw_host.decode("ascii")  # the name in its wire form, xn--… included
    if not (listed(host, port, allow) or listed(address.host, port, allow)):
        raise NotAllowed(f"the host {address.host!r} is not on the allow-list: {', '.join(allow)}")
    target = await resolve(host, port, private=private)
    request = client.build_request(
        "GET",
        address.copy_with(host=target),
        headers={"Host": address.netloc.decode("ascii"), "User-Agent": AGENT, "Accept-Encoding": "identity"},
    )
    request.extensions = {**request.extensions, "sni_hostname": host}
    return request


async def _result(address: httpx.URL, response: httpx.Response, max_bytes: int) -> dict[str, Any]:
    if response.status_code >= 400:
        raise Unreachable(f"{address} answered with status {response.status_code} {response.reason_phrase}".strip())
    kind = response.headers.get("content-type", "text/plain")
    if not _TEXTUAL.search(kind):
        raise Unreachable(f"{address} is {kind}, not text")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise Unreachable(f"{address} answered in a compressed form that was not asked for")
    data = b""
    async for chunk in response.aiter_raw():
        data += chunk
        if len(data) > max_bytes:
            break
    text = data[:max_bytes].decode(_charset(kind, data), errors="replace")
    cut = {"cut_off_at_bytes": max_bytes} if len(data) > max_bytes else {}
    text = page_text(text) if "html" in kind.lower() else text
    return {"url": str(address), "status": response.status_code, "content_type": kind, **cut, "text": text}


def _charset(kind: str, data: bytes) -> str:
    declared = re.search(r"charset=[\"']?([\w-]+)", kind, re.IGNORECASE)
    inside = re.search(rb"<meta[^>]+charset=[\"']?([\w-]+)", data[:2048], re.IGNORECASE)
    name = declared[1] if declared else inside[1].decode("ascii") if inside else "utf-8"
    try:
        "".encode(name)
    except LookupError:
        return "utf-8"
    return name


class _Page(HTMLParser):
    _HIDDEN = ("script", "style", "noscript", "template", "svg", "head")
    _BLOCKS = ("p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "table")

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden: list[str] = []
        self.in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_title = self.in_title or tag == "title"
        if tag in self._HIDDEN:
            self.hidden.append(tag)
        elif tag in self._BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self.in_title = False
            self.parts.append("\n")
        if tag in self.hidden:
            while self.hidden.pop() != tag:
                continue
        elif tag in self._BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self.in_title or not self.hidden:
            self.parts.append(data)


def page_text(html: str) -> str:
    """Return what a reader would see of a page: title and text, one line a block."""
    page = _Page()
    page.feed(html)
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.parts).split("\n"))
    return "\n".join(line for line in lines if line)
