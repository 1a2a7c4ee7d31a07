"""Which network addresses a tool may speak to: the judgement behind `http_get`.

A host is judged by the address it stands for, not by its looks: `2130706433`,
`0177.0.0.1`, `[::ffff:127.0.0.1]` and a public name that resolves to 127.0.0.1 are
all this machine.
"""

from __future__ import annotations

import asyncio
import fnmatch
import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Union

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]  # noqa: UP007  # evaluated on 3.10 too

_NUMERIC = re.compile(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+)){0,3}\.?", re.IGNORECASE)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class NotAllowed(PermissionError):
    """An address that the tool may not speak to; the sentence says why."""


def literal(host: str) -> Address | None:
    """Return the address a host is, in any notation a resolver would take, or None for a name."""
    bare = host.strip("[]").partition("%")[0]
    try:
        return ipaddress.ip_address(bare)
    except ValueError:
        pass
    if _NUMERIC.fullmatch(bare):
        try:
            return ipaddress.IPv4Address(socket.inet_aton(bare.rstrip(".")))
        except OSError:
            raise NotAllowed(f"{host!r} is not an address") from None
    return None


def is_public(address: Address) -> bool:
    """Whether an address is on the open network, also when it is wrapped in an IPv6 one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address.teredo is not None:
            inner = address.teredo[1]
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast and not address.is_reserved


def listed(host: str, port: int, allow: Sequence[str]) -> bool:
    """Whether an allow-list names a host: exactly, as `*.example.org` (with the bare domain), or with a port."""
    name = host.lower().rstrip(".")
    for entry in allow:
        pattern = entry.lower().rstrip(".")
        wanted_port: str | None = None
        if re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:]+):\d+", pattern):
            pattern, _, wanted_port = pattern.rpartition(":")
        pattern = pattern.strip("[]")
        if wanted_port is not None and int(wanted_port) != port:
            continue
        if pattern.startswith("*.") and name == pattern[2:]:
            return True
        if fnmatch.fnmatchcase(name, pattern):
            return True
    return False


async def resolve(host: str, port: int, *, private: bool) -> str:
    """Return one address of a host to connect to, after all of them have been judged.

    Raises:
        NotAllowed: The host has no address, or one that is not public while `private` is False.
    """
    found = literal(host)
    if found is not None:
        addresses: list[Address] = [found]
    else:
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise NotAllowed(f"the host {host!r} has no address; the name may be wrong or the network off") from None
        addresses = [ipaddress.ip_address(str(a[4][0]).partition("%")[0]) for a in answers]
    for address in addresses:
        if not private and not is_public(address):
            raise NotAllowed(f"the host {host!r} is on this machine or a private network, which is not allowed")
    return str(addresses[0])
