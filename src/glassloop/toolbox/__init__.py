"""Ready tools, each in a file of its own: time, calculator, weather, files, HTTP.

Importing this package imports none of them. `DEFAULT_TOOLS` are those that can be
used as they stand; `files.files(root)` and `http.http_tool(allow=[…])` are factories,
because what they may touch must be said first.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..tools.declare import Tool

    DEFAULT_TOOLS: list[Tool]

__all__ = ["DEFAULT_TOOLS"]

_DEFAULT = {"time": "current_time", "calculator": "calculator", "weather": "get_weather"}


def __getattr__(name: str) -> Any:
    if name == "DEFAULT_TOOLS":
        return [getattr(import_module(f".{module}", __name__), tool) for module, tool in _DEFAULT.items()]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
