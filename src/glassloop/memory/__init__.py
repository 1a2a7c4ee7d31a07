"""Memory: what the model sees of a run, what of it fits, and what is kept between runs.

`history.py` puts a conversation into the form a strict server takes, `view.py` and `compaction.py`
decide what of a long run is shown, `sessions.py` keeps chats and long-term notes.
"""

from __future__ import annotations

from .history import prepare_messages
from .notes import Note, notes_tools
from .profiles import PROFILES, Profile
from .sessions import ChatTurn, SessionInfo, SessionStore
from .view import WindowMemory

__all__ = [
    "PROFILES",
    "ChatTurn",
    "Note",
    "Profile",
    "SessionInfo",
    "SessionStore",
    "WindowMemory",
    "notes_tools",
    "prepare_messages",
]
