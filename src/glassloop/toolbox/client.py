"""The one way in which ready tools use HTTP: no surprise proxies, one time limit, errors a model can pass on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

AGENT = "glassloop (+a tool call)"


class Unreachable(ConnectionError):
    """A service did not answer, or not with what it promises; one sentence, fit to be told to the user."""


async def get_json(url: str, params: Mapping[str, Any], *, service: str, timeout: float) -> dict[str, Any]:
    """GET a JSON object.

    Raises:
        Unreachable: No network, no server, an error status, or something that is not a JSON object.
    """
    import httpx

    try:
        async with httpx.AsyncClient(timeout=timeout, headers={"User-Agent": AGENT}) as client:
            response = await client.get(url, params=dict(params))
    except httpx.TimeoutException:
        raise Unreachable(f"{service} did not answer within {timeout:g} seconds") from None
    except httpx.HTTPError as error:
        raise Unreachable(f"{service} cannot be reached ({type(error).__name__}); the network may be off") from None
    if response.status_code >= 400:
        raise Unreachable(f"{service} answered with status {response.status_code}{_reason(response.text)}")
    try:
        data: Any = response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        data = None
    if not isinstance(data, dict):
        raise Unreachable(f"{service} answered with something that is not a JSON object")
    return data  # pyright: ignore[reportUnknownVariableType]


def _reason(text: str) -> str:
    try:
        reason: Any = json.loads(text).get("reason")
    except (ValueError, AttributeError):
        return ""
    return f": {reason}" if isinstance(reason, str) else ""
