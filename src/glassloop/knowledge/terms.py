"""The words of a text as the keyword index counts them.

Owes: `Terms`, which turns a text into numbers: Chinese, Japanese and Korean as characters and character pairs (better
than a word segmenter, and no dictionary), English stemmed, part numbers, versions and error codes kept whole beside
their parts, traditional and simplified characters folded together. A term is a 64-bit number, so that an index needs
no dictionary of strings and opens without reading one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any

import numpy as np

from .stem import stem

Array = Any
"""A numpy array; numpy's generic types say nothing here that the docstrings do not."""

_WORD = re.compile(
    r"[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+"
    r"(?:[-_./:+'’][^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+)*(?:\+\+|#)?"
)
_PARTS = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)*")
_STRIPPED = str.maketrans("", "", "-_/:+ '’")
_WORD_BIT = 1 << 63
_COMBINING = re.compile("[\u0300-\u036f]+")

# Words that ask rather than name: counted in passages, left out of queries that say anything else.
_ASKING = frozenset(
    "what which who whom whose when where why how do does did is are was were be been the a an of to in on at by for "
    "and or can could should would will it its this that these those there i you me my your we our please tell".split()
)
_ASKING_ZH = re.compile(
    "请问|什么|甚么|为什么|为何|怎么样|怎么|怎样|如何|哪个|哪些|哪一|哪里|哪儿|哪|谁|几|多少|是否|有没有|吗|呢|吧|请|的|了|是|在|和|与|及|或|于"
)


@lru_cache(maxsize=1)
def _simplified() -> dict[int, int]:
    """Traditional to simplified characters, for `str.translate`."""
    lines = (files(__package__ or "glassloop.knowledge") / "simplified.txt").read_text(encoding="utf-8").splitlines()
    traditional, simplified = (line for line in lines if not line.startswith("#"))
    return {ord(a): ord(b) for a, b in zip(traditional, simplified, strict=True)}


def fold(text: str) -> str:
    """One spelling for what reads the same: width, ligatures, case, accents, traditional characters."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).lower().replace("\u00ad", "").replace("\ufffe", "")
    folded = folded.translate(_simplified())
    if _ACCENTED.search(folded):
        folded = unicodedata.normalize("NFC", _COMBINING.sub("", unicodedata.normalize("NFD", folded)))
    return folded


_ACCENTED = re.compile("[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff]")


@lru_cache(maxsize=1 << 16)
def _word_terms(word: str) -> tuple[int, ...]:
    """The terms of one written word: its stem, or for a code its whole and its parts."""
    if word.isalpha():
        return (_number(stem(word)),)
    parts = _PARTS.findall(word)
    terms: list[str] = [stem(part) if part.isalpha() else part for part in parts]
    if any(part[0].isdigit() for part in parts) or word[-1] in "+#":
        whole = word.translate(_STRIPPED) if word[-1] not in "+#" else word
        if whole not in terms:
            terms.append(whole)
    elif len(parts) > 1 and "'" not in word and "’" not in word:
        terms.append("".join(terms))
    elif len(parts) == 2 and len(parts[1]) <= 2:
        del terms[1:]  # "Schmidt's", "don't"
    return tuple(_number(term) for term in terms)


def _number(term: str) -> int:
    return int.from_bytes(blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "little") | _WORD_BIT


def _wide(points: Array) -> Array:
    """Which code points are Chinese, Japanese or Korean letters."""
    return (
        ((points >= 0x4E00) & (points <= 0x9FFF))
        | ((points >= 0x3400) & (points <= 0x4DBF))
        | ((points >= 0x3040) & (points <= 0x30FF))
        | ((points >= 0xAC00) & (points <= 0xD7AF))
        | ((points >= 0xF900) & (points <= 0xFAFF))
        | (points >= 0x20000)
    )


def terms_of(text: str) -> Array:
    """All terms of a text, with repetitions, as unsigned 64-bit numbers."""
    return _terms_of_folded(fold(text))


def query_terms(text: str) -> Array:
    """The terms of a query: like `terms_of`, without the words that only ask, unless it has no others."""
    folded = fold(text)
    kept = _ASKING_ZH.sub(" ", folded)
    kept = re.sub(r"[a-z']+", lambda m: " " if m.group() in _ASKING else m.group(), kept)
    terms = _terms_of_folded(kept)
    return terms if len(terms) else _terms_of_folded(folded)


def _terms_of_folded(folded: str) -> Array:
    words = [term for word in _WORD.findall(folded) for term in _word_terms(word)]
    numbers = np.array(words, dtype=np.uint64)
    if folded.isascii():
        return numbers
    points = np.frombuffer(folded.encode("utf-32-le", "replace"), dtype=np.uint32)
    wide = _wide(points)
    if not wide.any():
        return numbers
    singles = points[wide].astype(np.uint64)
    pairs_at = np.flatnonzero(wide[:-1] & wide[1:])
    pairs = (points[pairs_at].astype(np.uint64) << np.uint64(21)) | points[pairs_at + 1]
    return np.concatenate([numbers, singles, pairs])


def counted(terms: Array) -> tuple[Array, Array]:
    """Distinct terms in rising order, and how often each occurs."""
    return np.unique(terms, return_counts=True)


class Asked:
    """The words of a query, for telling which share of them a text has.

    Pairs of Chinese characters count fully, single ones little: nearly any text has some of them.
    """

    def __init__(self, query: str) -> None:
        self._weights = {term: _SINGLE_WEIGHT if term < 1 << 21 else 1.0 for term in set(query_terms(query).tolist())}
        self._total = sum(self._weights.values())

    def foreign_to(self, text: str) -> bool:
        """Whether the query is in Chinese and the text is not, or the other way round."""
        wide_query = sum(1 for term in self._weights if not term & _WORD_BIT) * 2 > len(self._weights)
        return wide_query != (len(_WIDE_LETTER.findall(text)) * 4 > len(text))

    def coverage(self, text: str) -> float:
        """The share of the words that a text has, 0 to 1."""
        if not self._total:
            return 0.0
        has = self._weights.keys() & terms_of(text).tolist()
        return sum(self._weights[term] for term in has) / self._total


_SINGLE_WEIGHT = 0.3
_WIDE_LETTER = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
