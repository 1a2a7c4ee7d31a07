"""Is the answer in the language of the run? Only an answer wholly in the other one is complained about.

Names, figures, code, quoted words and whatever the question or a result already holds belong to no language. A
question, a conversation or a system prompt that speaks of a language decides for itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .known import Known, matcher
from .prose import claims_only

if TYPE_CHECKING:
    from ..state import State

_QUOTED = re.compile(r"`[^`\n]*`|“[^”\n]*”|\"[^\"\n]*\"|《[^》\n]*》|「[^」\n]*」|https?://\S+|\S+@\S+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_KANA = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_WORD = re.compile(r"(?<![\w./\\-])[A-Za-z][A-Za-z'’]+(?![\w/\\])")
_ENGLISH = frozenset(
    "the is are was were be been it its this that there you your of in on at to for and or but not no with from has "
    "have had will would can could an as by than so if do does did he she they we".split()
)
_CHINESE = re.compile("[的是了在有没不和也我您你这那为对与]")
_FEW_HAN = 4
_FEW_WORDS = 3


def other_language(answer: str, known: Known, state: State) -> str:
    """Return the language the answer should be in when it is wholly in the other one, else "".

    Args:
        answer: The candidate answer.
        known: What the run knows.
        state: The run, for its language.
    """
    wanted = state.answer_in or state.language
    start = state.started_event
    said = "\n".join((start.question, start.system, *(m.content for m in start.history if m.role == "user")))
    if wanted not in ("en", "zh") or _KANA.search(start.question + answer) or matcher("language_words").search(said):
        return ""
    text = _QUOTED.sub(" ", claims_only(answer))
    han = sum(len(run) for run in _HAN.findall(text) if run not in known.folded)
    words = [w.lower() for w in _WORD.findall(text)]
    small = sum(w in _ENGLISH for w in words)
    if wanted == "zh":
        fresh = sum(w not in known.folded for w in words)
        return "zh" if han < _FEW_HAN and small >= 2 and (fresh >= 2 or len(words) > _FEW_WORDS) else ""
    own = sum(w not in known.folded for w in words if len(w) > 2)
    chinese = han >= _FEW_HAN and bool(_CHINESE.search(text) or han >= 2 * _FEW_HAN)
    return "en" if chinese and not small and own < _FEW_WORDS else ""
