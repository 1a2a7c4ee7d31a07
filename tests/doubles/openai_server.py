"""A server that speaks chat completions and server-sent events, scripted to behave or to fail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from loopback import Answer, LoopbackServer, as_json

Script = Answer | str | dict[str, Any]

USAGE = {
    "prompt_tokens": 40,
    "completion_tokens": 9,
    "total_tokens": 49,
    "prompt_tokens_details": {"cached_tokens": 32},
}


def refusal(status: int, said: str, code: str) -> Answer:
    return as_json({"error": {"message": said, "type": "invalid_request_error", "code": code}}, status)


class OpenAIServer(LoopbackServer):
    """Plays `script` on /v1/chat/completions, the last entry again and again.

    A text or an assistant message is sent whole or streamed, as the request asks; an `Answer` is sent as it is.
    """

    def __init__(
        self, script: Sequence[Script] = ("Hello",), *, models: Sequence[str] = ("tiny-chat",), key: str = ""
    ) -> None:
        super().__init__(self._reply)
        self.script, self.models, self.key = list(script), list(models), key
        self.played = 0
        self.usage: dict[str, Any] | None = USAGE
        self.extra: dict[str, Any] = {}

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def _reply(self, _: LoopbackServer, path: str, body: dict[str, Any]) -> Answer:
        sent = self.requests[-1][1].get("authorization", "")
        if self.key and sent != f"Bearer {self.key}":
            said = f"Incorrect API key provided: {sent.removeprefix('Bearer ')}. Find yours at the usual place."
            return as_json(
                {"error": {"message": said, "type": "invalid_request_error", "code": "invalid_api_key"}}, 401
            )
        if path == "/v1/models":
            return as_json({"object": "list", "data": [{"id": m, "object": "model"} for m in self.models]})
        if path != "/v1/chat/completions":
            return as_json({"detail": "Not Found"}, 404)
        if body["model"] not in self.models:
            said = f"The model `{body['model']}` does not exist."
            return as_json(
                {"error": {"message": said, "type": "invalid_request_error", "code": "model_not_found"}}, 404
            )
        line = self.script[min(self.played, len(self.script) - 1)]
        self.played += 1
        if isinstance(line, Answer):
            return line
        message = {"role": "assistant", "content": line} if isinstance(line, str) else line
        return self.streamed(message, body) if body.get("stream") else self.whole(message, body)

    def whole(self, message: dict[str, Any], body: dict[str, Any]) -> Answer:
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
        data = {"id": "c1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
        return as_json({**data, **({"usage": self.usage} if self.usage else {}), **self.extra})

    def streamed(self, message: dict[str, Any], body: dict[str, Any], *, cut: bool = False) -> Answer:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
        deltas += [{"reasoning_content": c} for c in message.get("reasoning_content") or ""]
        deltas += [{"content": c} for c in message.get("content") or ""]
        for index, call in enumerate(message.get("tool_calls") or ()):
            function = call["function"]
            head = {k: v for k, v in call.items() if k != "function"}
            deltas.append({"tool_calls": [{"index": index, **head, "function": {"name": function["name"]}}]})
            deltas += [{"tool_calls": [{"index": index, "function": {"arguments": c}}]} for c in function["arguments"]]
        chunks = [self._chunk(body, [{"index": 0, "delta": d, "finish_reason": None}]) for d in deltas]
        if cut:
            return Answer(chunks=tuple(chunks), content_type="text/event-stream", cut=True)
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        chunks.append(self._chunk(body, [{"index": 0, "delta": {}, "finish_reason": finish}]))
        if self.usage or self.extra:
            last = {**({"usage": self.usage} if self.usage else {}), **self.extra}
            chunks.append(self._chunk(body, [], **last))
        return Answer(chunks=(*chunks, b"data: [DONE]\n\n"), content_type="text/event-stream")

    def _chunk(self, body: dict[str, Any], choices: list[Any], **more: Any) -> bytes:
        data = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"], "choices": choices}
        return f"data: {json.dumps({**data, **more}, ensure_ascii=False)}\n\n".encode()
