"""Addresses of PostgreSQL servers mean to the driver what they mean elsewhere."""

from __future__ import annotations

import ssl
from typing import Any

import pytest

from glassloop.errors import KnowledgeError
from glassloop.knowledge.stores.address import connection_options


@pytest.fixture(autouse=True)
def no_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGUSER", "PGPASSWORD", "PGHOST", "PGPORT", "PGDATABASE"):
        monkeypatch.delenv(name, raising=False)


def test_everything_in_its_place() -> None:
    assert connection_options("postgresql://me:p%40ss@db.example:6000/manuals?connect_timeout=3") == {
        "user": "me",
        "password": "p@ss",
        "database": "manuals",
        "application_name": "glassloop",
        "host": "db.example",
        "port": 6000,
        "tcp_keepalive": True,
        "timeout": 3,
    }


def test_a_folder_as_host_is_a_socket() -> None:
    options = connection_options("postgresql://me@/manuals?host=/run/postgresql&port=5433")
    assert options["unix_sock"] == "/run/postgresql/.s.PGSQL.5433"
    assert "host" not in options


def test_what_is_left_out_comes_from_the_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGUSER", "someone")
    monkeypatch.setenv("PGPASSWORD", "secret")
    monkeypatch.setenv("PGPORT", "7000")
    options = connection_options("postgresql:///")
    assert (options["user"], options["password"], options["database"]) == ("someone", "secret", "someone")
    assert (options["host"], options["port"]) == ("localhost", 7000)


@pytest.mark.parametrize(
    ("mode", "checks_host", "verifies"),
    [
        ("require", False, ssl.CERT_NONE),
        ("verify-ca", False, ssl.CERT_REQUIRED),
        ("verify-full", True, ssl.CERT_REQUIRED),
    ],
)
def test_encryption_that_is_asked_for_is_insisted_on(mode: str, checks_host: bool, verifies: Any) -> None:
    context = connection_options(f"postgresql://me@db/x?sslmode={mode}")["ssl_context"]
    assert (context.check_hostname, context.verify_mode) == (checks_host, verifies)


def test_encryption_is_tried_unless_it_is_switched_off() -> None:
    assert "ssl_context" not in connection_options("postgresql://me@db/x")
    assert connection_options("postgresql://me@db/x?sslmode=disable")["ssl_context"] is False


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://me@db:port/x", "check its port"),
        ("postgresql://me@db/x?colour=red", "names the option 'colour'"),
        ("postgresql://me@db/x?sslmode=maybe", "no sslmode 'maybe'"),
        ("postgresql://me@db/x?connect_timeout=soon", "connect_timeout 'soon' is no whole number"),
        ("postgresql://me@db/x?sslmode=verify-full&sslrootcert=nowhere.pem", "nowhere.pem cannot be read"),
    ],
)
def test_what_cannot_be_meant_is_said(url: str, message: str) -> None:
    with pytest.raises(KnowledgeError, match=message):
        connection_options(url)
