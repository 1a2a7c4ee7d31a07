"""Addresses of servers: as people may see them, and whether they lie on this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import unquote, urlsplit, urlunsplit

OLLAMA_PORT = 11434


def shown_url(url: str) -> str:
    """The address without a name, password or query, which may hold keys."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return urlunsplit((parts.scheme, f"{host}{port}", parts.path.rstrip("/"), "", ""))


def parted_login(url: str) -> tuple[str, tuple[str, str] | None]:
    """Take name and password out of an address: HTTP clients write addresses into their logs."""
    parts = urlsplit(url)
    if parts.username is None and parts.password is None:
        return url, None
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    return urlunsplit(bare), (unquote(parts.username or ""), unquote(parts.password or ""))


def is_loopback(url: str) -> bool:
    """Whether a server's address is on this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def ollama_url(host: str | None) -> str:
    """Complete an `OLLAMA_HOST` value as Ollama itself reads it: scheme and port may be missing.

    An address to listen on (`0.0.0.0`) becomes one to call (`127.0.0.1`).
    """
    text = (host or "").strip().strip("/") or "127.0.0.1"
    scheme, _, rest = text.rpartition("://")
    if rest.startswith(":"):
        rest = f"127.0.0.1{rest}"
    parts = urlsplit(f"{scheme or 'http'}://{rest}")
    name = parts.hostname or "127.0.0.1"
    name = "127.0.0.1" if name in ("0.0.0.0", "::") else name
    default = {"http": 80, "https": 443}.get(scheme, OLLAMA_PORT)
    shown = f"[{name}]" if ":" in name else name
    login = f"{parts.username or ''}:{parts.password or ''}@" if parts.username or parts.password else ""
    return f"{parts.scheme}://{login}{shown}:{parts.port or default}{parts.path}"
