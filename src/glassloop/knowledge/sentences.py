"""Where sentences end, in Chinese and English.

Owes: `sentence_ends(text, start, end)`, the offsets at which sentences end; they tile the text. A mark inside a
number, version, abbreviation, ellipsis, address, quotation or bracket ends nothing. `clause_ends` is the finer cut
for a sentence that is longer than a passage, and `hard_ends` the last resort.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\uac00-\ud7af\U00020000-\U0003ffff"
_CLOSERS = "\"'”’」』）)】》〉］\\]"

# Tried at every place where one of its first characters stands; whatever `skip` covers can end no sentence inside.
_MARKS = re.compile(
    rf"""
    (?P<address>(?:https?|ftp|file)://[^\s<>"'，。；！？、（）「」『』]+|www\.[^\s<>"'，。；！？、（）]+)
    |(?P<quote>「[^「」\n]{{1,160}}」|『[^『』\n]{{1,160}}』|“[^“”\n]{{1,160}}”|(?<!\w)"[^"\n]{{1,160}}"(?!\w)
      |（[^（）\n]{{1,120}}）|\([^()\n]{{1,120}}\)|《[^《》\n]{{1,60}}》|`[^`\n]{{1,160}}`)
    |(?P<wide>[。！？；]+[{_CLOSERS}]*\s*)
    |(?P<thin>[.!?;]+[{_CLOSERS}]*(?:\s+|$|(?=[{CJK}])))
    |(?P<line>\r?\n[ \t]*)
    """,
    re.VERBOSE,
)
_ABBREVIATIONS = frozenset(
    "e.g i.e etc cf vs viz al approx ca no nos fig figs eq eqs sec ch vol pp p ed eds dept est inc ltd co corp "
    "mr mrs ms dr prof sr jr st mt gen col sgt capt lt rev hon gov sen rep pres jan feb mar apr jun jul aug sep sept "
    "oct nov dec a.m p.m u.s u.k u.n ph.d m.d b.a m.a ver rev tel ext max min temp ref".split()
)
_WORD_BEFORE = re.compile(r"[A-Za-z][A-Za-z.]*$")
_NUMBER_LABEL = re.compile(r"(?:^|\n)[ \t]*(?:\d{1,3}|[A-Za-z])$")
_CLAUSES = re.compile(r"[，、：,:]+\s*|\n[ \t]*|(?<=\s)[-–—]{1,3}\s+|——")
_SPACES = re.compile(r"\s+")
_GOES_ON_AFTER_QUOTE = frozenset("，,、：:；;。.！!？?—-的地得是說说道問问答喊叫曰為为與与和及等然隨随便就）)」』”")


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets after each sentence of `text[start:end]`, its trailing white space included; the last is `end`."""
    last = start
    for mark in _MARKS.finditer(text, start, end):
        kind = mark.lastgroup
        at = mark.end()
        if at >= end:
            break
        if kind == "address":
            continue
        if kind == "quote":
            at = _end_after_quote(text, mark.start(), at, end)
        elif kind == "thin":
            if not _really_ends(text, mark.start(), at, start):
                continue
        elif kind == "line" and not _line_ends(text, last, mark.start(), at):
            continue
        if at > last and at < end:
            last = at
            yield at
    if end > last:
        yield end


def clause_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets after each comma, colon, dash or line: the cut for a sentence longer than a passage."""
    last = start
    for mark in _CLAUSES.finditer(text, start, end):
        at = mark.end()
        # 1,000 and 12:30 are one word.
        inside_number = mark.group() in ",:" and at < end and text[at].isdigit() and text[mark.start() - 1].isdigit()
        if last < at < end and not inside_number:
            last = at
            yield at
    if end > last:
        yield end


def hard_ends(text: str, start: int, end: int, step: int) -> Iterator[int]:
    """Offsets no more than `step` apart, after white space where there is some; for text without any marks."""
    at = start
    while end - at > step:
        window_end = at + step
        cut = max((space.end() for space in _SPACES.finditer(text, at + step // 2, window_end)), default=window_end)
        while cut > at + 1 and _joins(text[cut]):
            cut -= 1
        at = cut
        yield at
    if end > at:
        yield end


def _joins(character: str) -> bool:
    """Combining marks, joiners and variation selectors belong to the character before them."""
    code = ord(character)
    return 0x300 <= code <= 0x36F or code == 0x200D or 0xFE00 <= code <= 0xFE0F or 0x1F3FB <= code <= 0x1F3FF


def _really_ends(text: str, mark: int, after: int, start: int) -> bool:
    if text[mark] != ".":
        return True
    if text.startswith("..", mark):
        return False
    following = text[after]
    if following.islower():
        return False
    word = _WORD_BEFORE.search(text, max(start, mark - 12), mark)
    if word:
        plain = word.group().lower()
        if plain in _ABBREVIATIONS:
            # "No. 5" and "Dr. Li" go on; "etc. Then" may well end.
            return plain in {"etc", "a.m", "p.m"} and following.isupper()
        return not (len(plain) == 1 and word.group().isupper() and following.isupper())
    return not _NUMBER_LABEL.search(text, max(start, mark - 6), mark)


def _end_after_quote(text: str, opened: int, closed: int, end: int) -> int:
    """Where the sentence ends after a quotation that itself ended one; 0 where it goes on."""
    if text[opened] in "（(《`" or text[closed - 2] not in "。！？!?.":
        return 0
    following = closed
    while following < end and text[following].isspace():
        following += 1
    if following >= end or text[following] in _GOES_ON_AFTER_QUOTE or text[following].islower():
        return 0
    if text[closed - 1] in '"”' and following == closed and text[following].isascii():
        return 0
    return following


def _line_ends(text: str, last: int, before: int, after: int) -> bool:
    """A new line ends a sentence after a colon, a hard break, a blank line or a short line; wrapped prose goes on."""
    if text.count("\n", before, after) > 1 or text[after] == "\n" or before == last:
        return True
    if text[before - 1] in ":：\\" or text[before - 2 : before] == "  ":
        return True
    line_start = max(last, text.rfind("\n", last, before) + 1)
    return before - line_start < 40 and not text[after].islower()
