"""Answers from a recording: the same request gets the same reply, without any model.

The file is JSON Lines. Lines written here hold `{"key", "request", "reply"}`; a
run's journal works as well, whose `model_asked` events hold only the messages that
were new. It owes the recorded reply for an equal request, and for any other one an
error that names what differs from the nearest recorded request.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

from glassloop.errors import ModelError, ModelUnavailable
from glassloop.gears import Model
from glassloop.types import Capabilities, Delta, Reply, Request, canonical


class RecordedModel:
    """Plays what was recorded; with `record`, asks another model for what is missing and keeps it.

    Args:
        path: The recording, or a run's journal.
        record: A model to ask for requests that are not in the recording; their replies are added to the file.
        capabilities: What the model claims to be able to do; the recording model's if None.
    """

    def __init__(
        self, path: str | Path, *, record: Model | None = None, capabilities: Capabilities | None = None
    ) -> None:
        self.path = Path(path)
        self.name = f"recorded:{self.path.name}"
        self._record = record
        own = Capabilities(native_tools=True, json_schema=True, logprobs=True)
        self.capabilities = capabilities or (record.capabilities if record else own)
        self._replies: defaultdict[str, list[Reply]] = defaultdict(list)
        self._requests: list[Request] = []
        self._asked: defaultdict[str, int] = defaultdict(int)
        self._lock = threading.Lock()
        if self.path.exists():
            for request, reply in _read(self.path):
                self._keep(request, reply)
        elif record is None:
            raise ModelUnavailable(f"There is no recording at {self.path}: check the path, or record one first.")

    def __repr__(self) -> str:
        return f"RecordedModel({str(self.path)!r}, {len(self._requests)} replies)"

    async def complete(self, request: Request) -> Reply:
        """Return the recorded reply; the nth time a request comes, its nth reply, and then always the last."""
        with self._lock:
            replies = self._replies.get(request.key)
            if replies:
                number = self._asked[request.key]
                self._asked[request.key] = number + 1
                return replies[min(number, len(replies) - 1)]
        if self._record is None:
            raise ModelError(self._difference(request))
        reply = await self._record.complete(request)
        self._write(request, reply)
        return reply

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Yield the recorded reply in one piece, then whole."""
        reply = await self.complete(request)
        calls = tuple({"index": n, **call} for n, call in enumerate(reply.tool_calls))
        if reply.text or reply.reasoning or calls:
            yield Delta(reply.text, reply.reasoning, calls)
        yield reply

    def _keep(self, request: Request, reply: Reply) -> None:
        self._replies[request.key].append(reply)
        self._requests.append(request)

    def _write(self, request: Request, reply: Reply) -> None:
        line = {"key": request.key, "request": request.to_dict(), "reply": reply.to_dict()}
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._keep(request, reply)
            self._asked[request.key] += 1

    def _difference(self, request: Request) -> str:
        again = "record it again with this version, or replay it with the settings it was made with."
        if not self._requests:
            return f"The recording {self.path.name} holds no replies: {again}"
        nearest = max(self._requests, key=lambda r: (request.shared_with(r), -len(_different(request, r))))
        what = ", ".join(_different(request, nearest))
        return (
            f"The recording {self.path.name} has no reply to this request, the nearest one differs in {what}: {again}"
        )


def _different(request: Request, other: Request) -> list[str]:
    """Name what two requests differ in."""
    out: list[str] = []
    for f in fields(Request):
        mine, theirs = getattr(request, f.name), getattr(other, f.name)
        if f.name in ("timeout", "purpose") or canonical(mine) == canonical(theirs):
            continue
        if f.name == "messages":
            shared = request.shared_with(other)
            if shared < min(len(mine), len(theirs)):
                out.append(f"message {shared + 1} ({mine[shared].get('role')}: {_glimpse(mine[shared])})")
            else:
                out.append(f"the number of messages ({len(mine)} instead of {len(theirs)})")
        elif f.name in ("tools", "schema"):
            out.append(f"the {f.name}")
        else:
            out.append(f"{f.name} ({mine!r} instead of {theirs!r})")
    return out


def _glimpse(message: dict[str, Any]) -> str:
    text = " ".join(str(message.get("content") or message.get("tool_calls") or "").split())
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _read(path: Path) -> Iterator[tuple[Request, Reply]]:
    """Read pairs from a recording or a journal; a last line that was cut off by a crash is left out."""
    asked: Request | None = None
    before: tuple[dict[str, Any], ...] = ()
    for line in path.read_bytes().split(b"\n"):  # str.splitlines would also cut at U+2028 inside a text
        try:
            data = json.loads(line)
        except ValueError:
            continue
        if not isinstance(data, dict):
            continue
        record = cast("dict[str, Any]", data)
        if "reply" in record and "request" in record:
            yield Request.from_dict(record["request"]), Reply.from_dict(record["reply"])
        elif record.get("type") == "model_asked":
            fresh = Request.from_dict(record.get("request") or {"messages": []})
            asked = replace(fresh, messages=before[: record.get("kept", 0)] + fresh.messages)
            before = asked.messages
        elif record.get("type") == "model_replied" and asked is not None:
            yield asked, Reply.from_dict(record.get("reply") or {})
