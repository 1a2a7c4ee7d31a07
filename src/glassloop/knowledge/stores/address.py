"""The address of a PostgreSQL server.

Owes: `connection_options`, from `postgresql://user:password@host:port/database?option=value` to what the driver wants.
What an address leaves out is taken from PGUSER, PGPASSWORD, PGHOST, PGPORT and PGDATABASE, as everywhere else.
"""

from __future__ import annotations

import getpass
import os
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ...errors import KnowledgeError

_KNOWN = ("host", "port", "user", "password", "dbname", "connect_timeout", "sslmode", "sslrootcert", "application_name")


def connection_options(url: str) -> dict[str, Any]:
    """The driver's arguments for an address.

    Options after the `?`: `host` (a folder is a Unix socket's), `port`, `user`, `password`, `dbname`,
    `connect_timeout` in seconds, `sslmode` (`prefer`, `disable`, `require`, `verify-ca`, `verify-full`),
    `sslrootcert`, `application_name`.

    Raises:
        KnowledgeError: The address cannot be read, or names an option that is not known here.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise KnowledgeError("The address of the PostgreSQL server cannot be read; check its port.") from error
    given = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    for key in given:
        if key not in _KNOWN:
            raise KnowledgeError(f"The address names the option {key!r}; known are {', '.join(_KNOWN)}.")
    user = given.get("user") or unquote(parts.username or "") or os.environ.get("PGUSER") or getpass.getuser()
    host = given.get("host") or unquote(parts.hostname or "") or os.environ.get("PGHOST") or "localhost"
    number = _number(given.get("port") or port or os.environ.get("PGPORT") or 5432, "port")
    options: dict[str, Any] = {
        "user": user,
        "password": given.get("password") or unquote(parts.password or "") or os.environ.get("PGPASSWORD"),
        "database": given.get("dbname") or unquote(parts.path.strip("/")) or os.environ.get("PGDATABASE") or user,
        "application_name": given.get("application_name", "glassloop"),
    }
    if host.startswith("/"):
        options["unix_sock"] = str(Path(host) / f".s.PGSQL.{number}")
        return options
    options |= {"host": host, "port": number, "tcp_keepalive": True}
    if "connect_timeout" in given:
        options["timeout"] = _number(given["connect_timeout"], "connect_timeout")
    return options | _encryption(given.get("sslmode", "prefer"), given.get("sslrootcert"))


def _encryption(mode: str, root: str | None) -> dict[str, Any]:
    """What `ssl_context` means to the driver: absent tries it, `False` never, an object insists."""
    if mode in ("prefer", "allow"):
        return {}
    if mode == "disable":
        return {"ssl_context": False}
    if mode not in ("require", "verify-ca", "verify-full"):
        raise KnowledgeError(f"There is no sslmode {mode!r}; use disable, prefer, require, verify-ca or verify-full.")
    try:
        context = ssl.create_default_context(cafile=root)
    except OSError as error:
        raise KnowledgeError(f"The certificate {root} cannot be read ({error}); check sslrootcert.") from error
    context.check_hostname = mode == "verify-full"
    if mode == "require" and not root:
        context.verify_mode = ssl.CERT_NONE  # as libpq: encrypted, with whoever answers
    return {"ssl_context": context}


def _number(value: object, name: str) -> int:
    try:
        return int(str(value))
    except ValueError as error:
        raise KnowledgeError(f"The address's {name} {value!r} is no whole number.") from error
