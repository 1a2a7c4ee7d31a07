"""The labels of a Thought/Action reply, in every spelling that models give them, in both languages.

The words are data (`prompts/labels.en.json`, `labels.zh.json`, equal keys); this module owes the
places where they stand as labels: at the start of a line, with any decoration around them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ..prompts import LANGUAGES, load

Part = Literal[
    "thought", "action", "input", "input_after_action", "observation", "observation_after_action", "answer", "question"
]
PARTS: tuple[Part, ...] = (
    "thought",
    "action",
    "input",
    "input_after_action",
    "observation",
    "observation_after_action",
    "answer",
    "question",
)


@dataclass(frozen=True)
class Label:
    """A label in a text: its part, its place, where its value begins, and whether it says so with a colon."""

    part: str
    start: int
    end: int
    strong: bool
    own_line: bool
    final: bool
    decoration: str


@cache
def words(key: str) -> tuple[str, ...]:
    """Return the words of one key of the label files, of all languages."""
    return tuple(word for language in LANGUAGES for word in load("labels", language)[key])


@cache
def _part_of() -> dict[str, Part]:
    return {_plain(word): part for part in PARTS for word in words(part)}


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]+", "", word).casefold()


@cache
def _finals() -> frozenset[str]:
    return frozenset(_plain(word) for word in words("final"))


@cache
def listed(key: str) -> frozenset[str]:
    """Return the words of one key without case and separators, for a look-up."""
    return frozenset(_plain(word) for word in words(key))


def is_listed(key: str, text: str) -> bool:
    """Whether a text is one of the words of a key, apart from case, marks and brackets around it."""
    return len(text) < 60 and _plain(text.strip().strip("`'\"*_.。!！()（）[]【】<>").strip()) in listed(key)


def _alternatives(parts: tuple[Part, ...]) -> str:
    every = sorted({word for part in parts for word in words(part)}, key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\ ", r"[ \t_-]?") for word in every)


_MARKS = r"[^\w\n{}\"'`(]"
"""What may decorate a label: emoji, hashes, asterisks, bullets; no quote or bracket, which would make it a JSON key."""


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A label right here, and a label after a line break: the break is what the engine finds fast."""
    here = (
        rf"(?P<decoration>{_MARKS}{{0,16}}(?:(?:step|步骤|第)?[ \t]*\d{{1,3}}[ \t]*[步.)、:：-]*[ \t]*)?"
        rf"{_MARKS}{{0,8}})(?P<word>{_alternatives(PARTS)})"
        r"(?P<tail>[ \t]*#?\d{0,3}[ \t]*[*_\]】>`)]{0,4}[ \t]*(?P<colon>[:：﹕∶]|=>|->)?[*_`]{0,3})"
        r"(?P<rest>[ \t]*(?=\n|\Z))?"
    )
    return re.compile(f"^{here}", re.MULTILINE | re.IGNORECASE), re.compile(rf"\n{here}", re.IGNORECASE)


@cache
def _inline() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w\"'])(?P<word>{_alternatives(('thought', 'action', 'input', 'observation'))})\s*\d{{0,3}}\s*[:：]",
        re.IGNORECASE,
    )


@cache
def inline_observation() -> re.Pattern[str]:
    """Return the pattern of an observation label in the middle of a line."""
    english = "|".join(re.escape(w) for w in load("labels", "en")["observation"])
    chinese = "|".join(re.escape(w) for w in load("labels", "zh")["observation"])
    return re.compile(rf"(?<=[\s\])）}}.。])(?:(?:{english})\s*\d{{0,3}}\s*[:：]|(?:{chinese})\s*\d{{0,3}}\s*[:：])")


def next_label(text: str, at: int) -> Label | None:
    """Return the next label from `at` on that begins a line."""
    here, below = _patterns()
    while found := here.match(text, at) or below.search(text, at):
        decoration = found.group("decoration")
        own_line = found.group("rest") is not None
        colon = found.group("colon") is not None
        tagged = decoration.rstrip().endswith("<") and ">" in found.group("tail")
        marked = "#" in decoration or "*" in decoration or "【" in decoration or "[" in decoration or "_" in decoration
        # A label without a colon needs something else that makes it one; `"Action"` or `Actions speak` is a word.
        if not decoration.rstrip().endswith("/") and (colon or tagged or own_line or (marked and _closed(found))):
            plain = _plain(found.group("word"))
            return Label(
                part=_part_of()[plain],
                start=found.start("decoration"),
                end=found.end("tail"),
                strong=colon or tagged,
                own_line=own_line,
                final=plain in _finals(),
                decoration=decoration.strip(),
            )
        at = found.end("word")
    return None


@cache
def _step_words() -> tuple[str, ...]:
    return tuple(sorted({w.casefold() for key in ("thought", "action") for w in words(key)}, key=len, reverse=True))


_TO_COLON = re.compile(r"[ \t]*#?\d{0,3}[ \t]*[*_\]】>`)]{0,4}[ \t]*(?P<colon>[:：])?")


def begins_step(start: str) -> bool | None:
    """Whether a reply that begins so begins with a thought or action label; None while more of it must be seen."""
    bare = start.lstrip("*#_->【 \t\n").casefold()
    word = next((w for w in _step_words() if bare.startswith(w)), "")
    if not word:
        return None if any(w.startswith(bare) for w in _step_words()) else False
    tail = _TO_COLON.match(bare, len(word))
    if tail is not None and tail.group("colon"):
        return True
    return None if tail is not None and tail.end() == len(bare) and len(bare) < len(word) + 8 else False


_COLON = re.compile("[:：]")


def _closed(found: re.Match[str]) -> bool:
    return any(c in found.group("tail") for c in "*_]】")


def inline_labels(text: str) -> list[Label]:
    """Return labels anywhere in a text, for a reply that runs them together on one line."""
    found: list[Label] = []
    at = 0
    # A label ends in a colon, and has none before it: only what stands before each colon is searched.
    for colon in _COLON.finditer(text, 0, 20_000):
        m = _inline().search(text, max(at, colon.start() - 80), colon.end())
        at = colon.end()
        if m:
            found.append(Label(_part_of()[_plain(m.group("word"))], m.start(), m.end(), True, False, False, ""))
    return found
