"""Does a result say that it will be different later? Then the same call may be made again.

Most repeated calls of a small model are a loop. Some are right: polling a job that
is still running. The result itself tells the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

_WORDS = re.compile(
    r"\b(running|pending|queued|queueing|waiting|in[ _-]?progress|processing"
    r"|starting|started|scheduled|not (yet )?(ready|done|finished)"
    r"|busy|loading|uploading|downloading|building|retry|try again|wait)\b"
    r"|进行中|处理中|运行中|等待|排队|尚未|未完成|加载中|稍后|正在",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"(?<![\d.])(\d{1,2}(?:\.\d+)?)\s*[%％]")
_STATE_KEYS = re.compile(r"state|status|phase|stage|progress|ready|done|finished|complete|状态|进度", re.IGNORECASE)


def looks_unfinished(data: Any) -> bool:
    """Whether a result reports work that goes on: a state word, a percentage below 100, a `done` that is false.

    Args:
        data: The tool's plain result. In an object only fields whose name speaks of a state count; a bare text
            counts when it is short, because a long one merely mentions things.
    """
    if isinstance(data, str):
        return len(data) <= 80 and bool(_WORDS.search(data) or _PERCENT.search(data))
    if isinstance(data, Mapping):
        fields = cast("Mapping[Any, Any]", data)
        return any(_field(str(key), value) for key, value in fields.items() if _STATE_KEYS.search(str(key)))
    return False


def _field(key: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value is False and re.search(r"ready|done|finished|complete", key, re.IGNORECASE) is not None
    if isinstance(value, (int, float)):
        return "progress" in key.lower() and 0 <= value < 100 and value != 1
    return isinstance(value, str) and bool(_WORDS.search(value) or _PERCENT.search(value))
