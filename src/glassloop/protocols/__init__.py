"""Ways to ask a model for a step and to understand what came back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..errors import ConfigurationError
from ..gears import ReplyProtocol, Turn
from ..types import Capabilities


class Measured(Protocol):
    """What `choose` wants to know of a model's profile."""

    @property
    def protocol(self) -> str:
        """The protocol that was measured best."""
        ...


NAMES = ("constrained", "native", "text")


def choose(name: str, capabilities: Capabilities, profile: Measured | None = None) -> ReplyProtocol:
    """Return a protocol by name; `auto` takes the most certain one the server can do.

    Args:
        name: `auto` or one of `NAMES`.
        capabilities: What the backend says it can do.
        profile: What was measured, if it was; it counts more than what is said.

    Raises:
        ConfigurationError: There is no protocol of that name.
    """
    if name == "auto" and profile is not None:
        name = profile.protocol
    elif name == "auto":
        name = "constrained" if capabilities.json_schema else "native" if capabilities.native_tools else "text"
    if name == "constrained":
        from .constrained import ConstrainedProtocol

        return ConstrainedProtocol()
    if name == "native":
        from .native import NativeProtocol

        return NativeProtocol()
    if name == "text":
        from .text import TextProtocol

        return TextProtocol()
    raise ConfigurationError(f"There is no protocol {name!r}: use auto, {', '.join(NAMES)}.")


def listen(protocol: ReplyProtocol) -> Callable[[Turn], Any]:
    """Return a maker of stream readers for a protocol: fed deltas, they give understood pieces of text."""
    from .stream import StreamReader

    return lambda turn: StreamReader(protocol.name, turn)
