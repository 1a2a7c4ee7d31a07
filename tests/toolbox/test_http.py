"""`http_get` reads listed public hosts, judged by address, at every hop."""

from __future__ import annotations

import asyncio
import ipaddress
from typing import Any

import pytest
from loopback import Answer, LoopbackServer

from glassloop.errors import ConfigurationError
from glassloop.toolbox.addresses import NotAllowed, is_public, listed
from glassloop.toolbox.client import Unreachable
from glassloop.toolbox.http import http_tool, page_text


def get(url: str, allow: list[str] | None = None, **options: Any) -> Any:
    return asyncio.run(http_tool(allow or ["*"], **options).invoke({"url": url}))


def html(body: str, **more: Any) -> Answer:
    return Answer(200, (body.encode(),), content_type="text/html; charset=utf-8", **more)


def test_a_page_is_read_as_text_with_its_host_name() -> None:
    page = "<html><head><title>潮汐</title><script>x()</script></head><body><h1>Tides</h1><p>High &amp; low</p></body>"
    with LoopbackServer(lambda *_: html(page)) as server:
        got = get(f"http://localhost:{server.port}/a?b=1#part", ["localhost"], private=True)
    assert got["text"] == "潮汐\nTides\nHigh & low" and got["status"] == 200
    path, headers, _ = server.requests[0]
    assert path == "/a?b=1" and headers["host"] == f"localhost:{server.port}"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "10.0.0.8",
        "169.254.169.254",
        "192.168.1.1",
        "[fd00::1]",
        "[fe80::1]",
        "100.64.0.1",
    ],
)
def test_this_machine_and_private_networks_are_refused_in_every_notation(host: str) -> None:
    with LoopbackServer(lambda *_: html("secret")) as server:
        with pytest.raises(NotAllowed, match="private network|not an address"):
            get(f"http://{host}:{server.port}/")
    assert server.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "example.org",
        "",
        "http://",
        "javascript:alert(1)",
        "http://a:b@x.org/",
    ],
)
def test_only_plain_http_addresses(url: str) -> None:
    with pytest.raises(NotAllowed):
        get(url)


def test_the_allow_list_is_asked_before_anything_is_resolved() -> None:
    with pytest.raises(NotAllowed, match="not on the allow-list"):
        get("http://nowhere.invalid/", ["example.org"])
    with pytest.raises(NotAllowed, match="has no address"):
        get("http://nowhere.invalid/", ["*.invalid"])
    with pytest.raises(ConfigurationError, match="allow-list"):
        http_tool([])


@pytest.mark.parametrize(
    ("host", "port", "allow", "fits"),
    [
        ("a.example.org", 443, ["*.example.org"], True),
        ("example.org", 443, ["*.example.org"], True),
        ("evilexample.org", 443, ["*.example.org"], False),
        ("example.org.evil.net", 443, ["example.org"], False),
        ("EXAMPLE.org.", 443, ["example.ORG"], True),
        ("localhost", 8080, ["localhost:8080"], True),
        ("localhost", 8081, ["localhost:8080"], False),
        ("::1", 80, ["[::1]:80"], True),
    ],
)
def test_allow_list(host: str, port: int, allow: list[str], fits: bool) -> None:
    assert listed(host, port, allow) is fits


def test_redirects_are_followed_but_judged_again() -> None:
    def answer(server: LoopbackServer, path: str, body: Any) -> Answer:
        to = {
            "/near": "/end",
            "/far": "http://127.0.0.1:1/",
            "/file": "file:///etc/passwd",
            "/round": "/round",
        }.get(path)
        return Answer(302, headers={"location": to}) if to else html("there")

    with LoopbackServer(answer) as server:
        base = f"http://localhost:{server.port}"
        assert get(f"{base}/near", ["localhost"], private=True)["url"] == f"{base}/end"
        with pytest.raises(NotAllowed, match="allow-list"):
            get(f"{base}/far", ["localhost"], private=True)
        with pytest.raises(NotAllowed, match="only full http"):
            get(f"{base}/file", ["localhost"], private=True)
        with pytest.raises(Unreachable, match="redirects more than 2 times"):
            get(f"{base}/round", ["localhost"], private=True, max_redirects=2)


def test_size_and_time_are_limited() -> None:
    large = Answer(200, (b"x" * 1000,) * 100, content_type="text/plain")
    slow = Answer(200, (b"x",), content_type="text/plain", gap=0.05, endless=True)
    with LoopbackServer(lambda s, path, b: slow if path == "/slow" else large) as server:
        base = f"http://127.0.0.1:{server.port}"
        got = get(f"{base}/", private=True, max_bytes=2_500)
        assert len(got["text"]) == 2_500 and got["cut_off_at_bytes"] == 2_500
        with pytest.raises(Unreachable, match=r"within 0\.3 seconds"):  # or it reads for as long as the server stands
            get(f"{base}/slow", private=True, timeout=0.3)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(404, (b"no",)), "status 404"),
        (Answer(200, (b"\x89PNG",), content_type="image/png"), "image/png, not text"),
        (html("x", headers={"content-encoding": "gzip"}), "compressed"),
        (html("x", cut=True), "cannot be read"),
    ],
)
def test_bad_answers_are_one_sentence(answer: Answer, said: str) -> None:
    with LoopbackServer(lambda *_: answer) as server, pytest.raises(Unreachable, match=said):
        get(f"http://127.0.0.1:{server.port}/", private=True)


def test_charsets() -> None:
    body = "<meta charset=gbk><p>汉字</p>".encode("gbk")
    with LoopbackServer(lambda *_: Answer(200, (body,), content_type="text/html")) as server:
        assert get(f"http://127.0.0.1:{server.port}/", private=True)["text"] == "汉字"


@pytest.mark.parametrize(
    ("address", "public"),
    [("8.8.8.8", True), ("2606:4700::1111", True), ("224.0.0.1", False), ("::", False), ("2002:7f00:1::", False)],
)
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is public


@pytest.mark.parametrize("broken", ["<p>a<script>b", "</script>a", "<<<>>>", "<title>x", "a<style>b</p></style>c"])
def test_broken_pages_never_raise(broken: str) -> None:
    assert "b" not in page_text(broken)
