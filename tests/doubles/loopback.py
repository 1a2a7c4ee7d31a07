"""A small threaded HTTP server on this machine that answers as a script says: the base of the model servers."""

from __future__ import annotations

import itertools
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One scripted HTTP answer.

    `chunks` are sent one by one; `cut` closes the connection in the middle, before the chunked body is finished;
    `held` sends nothing before the server is left; `endless` sends the chunks again and again until then; `gap` is
    the seconds before every chunk.
    """

    status: int = 200
    chunks: tuple[bytes, ...] = ()
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    held: bool = False
    endless: bool = False
    gap: float = 0.0


def as_json(data: Any, status: int = 200, **headers: str) -> Answer:
    named = {k.replace("_", "-"): v for k, v in headers.items()}
    return Answer(status, (json.dumps(data, ensure_ascii=False).encode(),), headers=named)


class LoopbackServer:
    """Use as a context manager. `requests` holds (path, headers, body) of what came."""

    def __init__(self, answer: Callable[[LoopbackServer, str, dict[str, Any]], Answer]) -> None:
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self._left = threading.Event()
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else every small chunk waits 40 ms for an acknowledgement

            def do_GET(self) -> None:
                self._answer({})

            def do_POST(self) -> None:
                self._answer(json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}"))

            def _answer(self, body: dict[str, Any]) -> None:
                double.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                told = answer(double, self.path, body)
                try:
                    self._send(told)
                except OSError:
                    self.close_connection = True  # the client has gone

            def _send(self, told: Answer) -> None:
                if told.held:
                    double._left.wait()
                self.send_response(told.status)
                self.send_header("content-type", told.content_type)
                self.send_header("transfer-encoding", "chunked")
                for name, value in told.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                again = itertools.takewhile(lambda _: not double._left.is_set(), itertools.cycle(told.chunks))
                for chunk in again if told.endless else told.chunks:
                    time.sleep(told.gap)
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                    self.wfile.flush()
                if told.cut:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Any:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._server.shutdown()
        self._server.server_close()


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
