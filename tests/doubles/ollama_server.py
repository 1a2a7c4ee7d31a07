"""A server that speaks Ollama's /api/chat and NDJSON, scripted to behave or to fail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from loopback import Answer, LoopbackServer, as_json

Script = Answer | str | dict[str, Any]

END = {"done": True, "done_reason": "stop", "total_duration": 5, "prompt_eval_count": 40, "eval_count": 9}


class OllamaServer(LoopbackServer):
    """Plays `script` on /api/chat, the last entry again and again; texts and messages whole or streamed, as asked."""

    def __init__(self, script: Sequence[Script] = ("Hello",), *, models: Sequence[str] = ("tiny:1b",)) -> None:
        super().__init__(self._reply)
        self.script, self.models = list(script), list(models)
        self.played = 0
        self.abilities = ["completion", "tools"]

    def _reply(self, _: LoopbackServer, path: str, body: dict[str, Any]) -> Answer:
        if path == "/api/tags":
            return as_json({"models": [{"name": m, "model": m} for m in self.models]})
        if path not in ("/api/chat", "/api/show"):
            return Answer(404, (b"404 page not found",), "text/plain")
        if body["model"] not in self.models:
            return as_json({"error": f"model '{body['model']}' not found"}, 404)
        if path == "/api/show":
            return as_json({"capabilities": self.abilities})
        line = self.script[min(self.played, len(self.script) - 1)]
        self.played += 1
        if isinstance(line, Answer):
            return line
        message = {"role": "assistant", "content": line} if isinstance(line, str) else line
        if not body.get("stream"):
            return as_json({"model": body["model"], "created_at": "t", "message": message, **END})
        return self.streamed(message, body["model"])

    def streamed(self, message: dict[str, Any], model: str, *, cut: bool = False) -> Answer:
        parts = [{"thinking": c, "content": ""} for c in message.get("thinking") or ""]
        parts += [{"content": c} for c in message.get("content") or ""]
        parts += [{"content": "", "tool_calls": [c]} for c in message.get("tool_calls") or ()]
        told = [{"message": {"role": "assistant", **p}, "done": False} for p in parts]
        if not cut:
            told.append({"message": {"role": "assistant", "content": ""}, **END})
        lines = tuple(
            json.dumps({"model": model, "created_at": "t", **t}, ensure_ascii=False).encode() + b"\n" for t in told
        )
        return Answer(chunks=lines, content_type="application/x-ndjson", cut=cut)
