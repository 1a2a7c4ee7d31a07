"""The knowledge base as a tool for agents.

Owes: `knowledge_tool`, a plain function with a docstring that any tool registry can take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .cite import Citations, numbered

if TYPE_CHECKING:
    from .base import KnowledgeBase


def knowledge_tool(
    base: KnowledgeBase, *, k: int = 5, where: Mapping[str, Any] | None = None, min_score: float | None = None
) -> Callable[[str], dict[str, Any]]:
    """A function `search_knowledge(query)`; its attribute `citations` resolves the numbers it gives."""
    citations = Citations()

    def search_knowledge(query: str) -> dict[str, Any]:
        """Search the user's documents; cite what you use as [1], [2].

        Args:
            query: What to look for, in a few words or as a question.
        """
        passages = base.search(query, k, where=where, min_score=min_score)
        if not passages:
            return {"passages": [], "note": "Nothing found. Say so, or search with other words."}
        return {"passages": numbered(passages, citations)}

    search_knowledge.citations = citations  # type: ignore[attr-defined]
    return search_knowledge
