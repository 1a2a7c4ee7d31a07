"""English words without their endings.

Owes: `stem(word)`, the first steps of Porter's algorithm (plural, -ed, -ing, -ly, -y) and its commonest suffixes:
enough that `install`, `installs`, `installed`, `installing` and `installation` meet. Words that are not plain a-z
letters come back unchanged.
"""

from __future__ import annotations

import re

_PLAIN = re.compile("[a-z]{4,}$")
_VOWEL = re.compile("[aeiouy]")
_SYLLABLE = re.compile("[aeiouy][^aeiouy]")
_SUFFIXES = (
    ("ational", "ate"), ("ization", "ize"), ("isation", "ize"), ("fulness", "ful"), ("ousness", "ous"),
    ("iveness", "ive"), ("tional", "tion"), ("biliti", "ble"), ("entli", "ent"), ("ousli", "ous"), ("alli", "al"),
    ("ation", "ate"), ("ator", "ate"), ("aliti", "al"), ("iviti", "ive"), ("izer", "ize"), ("isers", "ize"),
    ("fulli", "ful"), ("lessli", "less"), ("bli", "ble"), ("eli", "e"), ("ise", "ize"), ("yse", "yze"),
)  # fmt: skip
_LONG_SUFFIXES = (
    "ement", "ance", "ence", "able", "ible", "ment", "icate", "ative", "alize", "iciti", "ical", "ness", "ant", "ent",
    "ism", "iti", "ous", "ive", "ize", "ate", "ful", "ion", "al", "er", "ic",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a lower-case English word."""
    if not _PLAIN.match(word):
        return word
    word = _verb(_plural(word))
    if word.endswith("y") and len(word) > 2 and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    for suffix, shorter in _SUFFIXES:
        if word.endswith(suffix) and _measure(word[: -len(suffix)]) > 0:
            word = word[: -len(suffix)] + shorter
            break
    for suffix in _LONG_SUFFIXES:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if _measure(rest) > 1 and not (suffix == "ion" and rest[-1] not in "st"):
                word = rest
            break
    if word.endswith("e") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _measure(part: str) -> int:
    """How many times a vowel is followed by a consonant: Porter's measure of length."""
    return len(_SYLLABLE.findall(part))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _verb(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) > 1 and _VOWEL.search(rest):
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if rest[-1] == rest[-2] and rest[-1] not in "lsz":
                return rest[:-1]
            return rest
    return word
