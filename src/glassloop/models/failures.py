"""From what went wrong at a server to the exception tree of the library.

It owes one sentence that says what happened and what to do, a decision whether
trying again may help, and silence about secrets: whatever a server echoes is
cleaned of the key before it enters a message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from glassloop.errors import (
    ContextTooLong,
    ModelBroken,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from glassloop.models.names import suggest

_SAID = 300
"""Characters of a server's own words that are quoted."""

_TOO_LONG = re.compile(
    r"exceed_context_size|exceeds? the (?:available )?context|context[ _]length|context_window|maximum context"
    r"|max_model_len|maximum model length|prompt is too long|input (?:is )?too long|longer than the (?:model|maximum)"
    r"|exceed(?:ed|s) (?:the )?max(?:imum)? context|too many (?:input )?tokens"
    r"|input length .{0,40}exceeds|exceeds? (?:the )?(?:model's |maximum )?context"
    r"|larger than the context|context size (?:has been )?exceeded|reduce the length of (?:the )?(?:input|messages)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model[^.\n]{0,120}(?:not found|does ?n[o']t exist|unknown|not loaded)|unknown model|no such model", re.I
)
_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|xai|hf|key|Bearer)[-_ ][A-Za-z0-9._*\-]{8,}", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """Where a request went, as far as people may read it, and what must never be read."""

    server: str
    model: str
    secrets: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    """Models the server has, if that is known."""

    def __repr__(self) -> str:
        return f"Place({self.server!r}, {self.model!r})"

    def without_secrets(self, text: str) -> str:
        """Return the text with every key replaced by dots."""
        for secret in self.secrets:
            if secret:
                text = text.replace(secret, "•••")
        return text

    def clean(self, text: str) -> str:
        """Return the text without keys, on one line and not longer than a few hundred characters."""
        # A server that masks a key itself ("sk-abc***xyz") still shows some of it.
        text = " ".join(_KEY_LIKE.sub("•••", self.without_secrets(text)).split())
        return text if len(text) <= _SAID else text[: _SAID - 1] + "…"


def unreachable(place: Place, reason: str = "") -> ModelUnavailable:
    """Nothing answers at the address."""
    why = f" ({place.clean(reason)})" if reason else ""
    return ModelUnavailable(
        f"No model server answers at {place.server}{why}: start it, or name another model with --model."
    )


def timed_out(place: Place, seconds: float | None) -> ModelTimeout:
    """The reply did not come in time."""
    after = f" within {seconds:g} seconds" if seconds is not None else " in time"
    return ModelTimeout(
        f"{place.model} at {place.server} gave no reply{after}: allow more time, or use a smaller model or prompt."
    )


def broken(place: Place, reason: str, partial: str = "") -> ModelBroken:
    """The reply could not be decoded or ended in the middle; `partial` keeps the text that came."""
    return ModelBroken(
        f"The reply of {place.model} at {place.server} {place.clean(reason)}: try again, "
        "and look at the server's own log if it happens every time.",
        place.without_secrets(partial),
    )


def from_status(place: Place, status: int, body: Any, *, retry_after: float | None = None) -> ModelError:
    """Turn an HTTP status and body into the exception that says what to do.

    Args:
        place: Where the request went.
        status: The HTTP status, or the code inside an error body.
        body: The decoded error body, or its text.
        retry_after: Seconds the server asked to wait, kept on the error for `Retry`.
    """
    said = place.clean(words_of(body))
    quoted = f" ({said})" if said else ""
    if is_too_long(body) and status not in (401, 403, 429):
        return ContextTooLong(
            f"The prompt does not fit into the context of {place.model}{quoted}: "
            "shorten it, use fewer tools, or give the model a larger context."
        )
    if status in (401, 403):
        return ModelRefused(
            f"{place.server} did not accept the key{quoted}: set OPENAI_API_KEY or api_key to one that may use "
            f"{place.model}."
        )
    if status == 404:
        return _not_found(place, quoted, words_of(body))
    if status == 408 or status == 504:
        return ModelTimeout(
            f"{place.server} gave up waiting for {place.model}{quoted}: try again or use a smaller model."
        )
    if status == 429 or status >= 500:
        busy = "is asked too often" if status == 429 else f"failed with status {status}"
        error = ModelOverloaded(f"{place.server} {busy}{quoted}: wait a little and try again, or use another model.")
        error.retry_after = retry_after
        return error
    if _NO_MODEL.search(words_of(body)):
        return _not_found(place, quoted, words_of(body))
    return ModelRefused(
        f"{place.server} refused the request with status {status}{quoted}: "
        "change what it names, or use another protocol or model."
    )


def is_too_long(body: Any) -> bool:
    """Whether an error body says that the prompt does not fit; every server says it its own way."""
    if isinstance(body, Mapping):
        body = json.dumps(body, ensure_ascii=False, default=str)
    return bool(_TOO_LONG.search(str(body)))


def words_of(body: Any) -> str:
    """The server's own words in an error body, whatever its shape."""
    if isinstance(body, Mapping):
        error = cast("Mapping[str, Any]", body)
        for key in ("error", "message", "detail", "msg"):
            value = error.get(key)
            if value:
                return words_of(value)
        return json.dumps(body, ensure_ascii=False, default=str)
    if isinstance(body, (bytes, bytearray)):
        return bytes(body).decode("utf-8", "replace")
    return "" if body is None else str(body)


def _not_found(place: Place, quoted: str, words: str) -> ModelError:
    if words and not _NO_MODEL.search(words) and "model" not in words.lower():
        return ModelRefused(
            f"{place.server} has no chat completions at this address{quoted}: "
            "check the base URL, it usually ends in /v1."
        )
    return ModelRefused(
        f"{place.server} has no model called {place.model!r}{quoted}: {suggest(place.model, place.known)}"
    )
