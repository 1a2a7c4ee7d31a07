"""glassloop: a ReAct agent you can see through.

Importing this package reads no file, opens no connection, prints nothing, and loads
no model and no numpy: every name below is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Agent": "agent",
    "KnowledgeBase": "knowledge.base",
    "Limits": "limits",
    "Move": "types",
    "Observation": "types",
    "Run": "types",
    "ScriptedModel": "models.scripted",
    "Step": "types",
    "Tool": "tools.declare",
    "cast": "tools.schema",
    "chunk": "knowledge.chunk",
    "clean": "tools.observation",
    "join": "protocols.stream",
    "prepare_messages": "memory.history",
    "read": "reading",
    "tool": "tools.declare",
}

__all__ = [
    "Agent",
    "KnowledgeBase",
    "Limits",
    "Move",
    "Observation",
    "Run",
    "ScriptedModel",
    "Step",
    "Tool",
    "cast",
    "chunk",
    "clean",
    "join",
    "prepare_messages",
    "read",
    "tool",
]

if TYPE_CHECKING:
    from .agent import Agent
    from .knowledge.base import KnowledgeBase
    from .knowledge.chunk import chunk
    from .limits import Limits
    from .memory.history import prepare_messages
    from .models.scripted import ScriptedModel
    from .protocols.stream import join
    from .reading import read
    from .tools.declare import Tool, tool
    from .tools.observation import clean
    from .tools.schema import cast
    from .types import Move, Observation, Run, Step


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'glassloop' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
