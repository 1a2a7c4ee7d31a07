"""Documents that an agent can search: loaded, cut, indexed, found and cited.

Owes: the public names of the gear. Importing it loads neither numpy nor a model.
"""

from __future__ import annotations

from .base import KnowledgeBase
from .chunk import chunk
from .cite import Citations
from .passage import Document, Passage
from .reports import EmbedReport, IndexReport, Progress, Status

__all__ = [
    "Citations",
    "Document",
    "EmbedReport",
    "IndexReport",
    "KnowledgeBase",
    "Passage",
    "Progress",
    "Status",
    "chunk",
]
