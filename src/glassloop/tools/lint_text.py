"""Reading declarations as a small model does: the words that trigger a tool, how alike two are, what they cost."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_WORD = re.compile(r"[A-Za-z]+|\d+|[\u3400-\u4dbf\u4e00-\u9fff]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_STOP = frozenset(
    "a an the of to in on at by for from with and or not is are be it its this that these those as if when use used"
    " using user users ask asks asked question questions about can will may which what who how any all each one given"
    " return returns returned tool function call current only example get gets do does into out your you their they"
    " them value values result results information data based want wants need needs something".split()
)
_STOP_CJK = frozenset("的了和与或在是用于当时对为从到把被将及等一个这那其中请问")
_SAME = dict.fromkeys(["search", "find", "lookup", "look", "query", "retrieve", "fetch", "obtain", "read"], "find")
"""Verbs that set no two tools apart: they all mean that something is looked up."""
_VERBS_CJK = re.compile("查询|搜索|查找|检索|获取|查看|查|询问|用户|使用|返回|某个|情况")
"""The same for Chinese: what stands between two words, and parts them."""


def is_chinese(text: str) -> bool:
    """Whether a text is mostly Chinese, so that a proposal for it should be."""
    wide = len(CJK.findall(text))
    return wide > 0 and wide * 2 >= len(re.findall(r"[A-Za-z]+", text))


def name_words(name: str) -> list[str]:
    """The words of a name, whether it is written_so, writtenSo or 中文."""
    return [w.lower() for w in _WORD.findall(_CAMEL.sub(" ", name).replace("_", " "))]


def trigger_words(text: str) -> list[str]:
    """The content words of a text: stemmed English words and Chinese pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(_CAMEL.sub(" ", text)):
        if CJK.match(word):
            found.extend(_pairs(word))
            continue
        low = word.lower()
        if low not in _STOP and len(low) > 1:
            found.append(_SAME.get(low, _stem(low)))
    return found


def _pairs(run: str) -> Iterator[str]:
    for part in _VERBS_CJK.split(run):
        for pair in (part[at : at + 2] for at in range(len(part) - 1)):
            if pair[0] not in _STOP_CJK and pair[1] not in _STOP_CJK:
                yield pair


def _stem(word: str) -> str:
    for ending, least in (("ings", 4), ("ing", 4), ("ies", 3), ("es", 4), ("s", 3), ("ed", 4)):
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word.removesuffix("e") if len(word) > 4 else word


def tokens(text: str) -> int:
    """Estimate how many tokens a text costs: about four Latin characters, or one and a half Chinese ones, each."""
    wide = len(CJK.findall(text))
    return math.ceil(wide / 1.5 + (len(text) - wide) / 3.8)


@dataclass(frozen=True)
class Overlap:
    """Two texts by their places, how alike they are (0 to 1), and the trigger words they share."""

    first: int
    second: int
    similarity: float
    shared: tuple[str, ...]


def overlaps(texts: Sequence[str], *, least: float, shared: int = 2) -> list[Overlap]:
    """Find pairs of texts that a reader could take for one another, the most alike first.

    Words that many texts use weigh little, so that a library about one subject is not one big overlap.
    """
    bags = [Counter(trigger_words(text)) for text in texts]
    holders: dict[str, list[int]] = defaultdict(list)
    for place, bag in enumerate(bags):
        for word in bag:
            holders[word].append(place)
    weight = {word: 1.0 + math.log(max(len(texts), 1) / len(places)) for word, places in holders.items()}
    vectors = [{w: math.sqrt(n) * weight[w] for w, n in bag.items()} for bag in bags]
    lengths = [math.sqrt(sum(v * v for v in vector.values())) for vector in vectors]
    found: list[Overlap] = []
    for place, vector in enumerate(vectors):
        dots: dict[int, float] = defaultdict(float)
        for word, value in vector.items():
            for other in holders[word]:
                if other > place:
                    dots[other] += value * vectors[other][word]
        for other, dot in dots.items():
            alike = dot / (lengths[place] * lengths[other])
            common = sorted(set(vector) & set(vectors[other]), key=lambda w: (-weight[w], w))
            if alike >= least and len(common) >= shared:
                found.append(Overlap(place, other, round(alike, 2), tuple(common[:6])))
    return sorted(found, key=lambda o: (-o.similarity, o.first, o.second))


def listed(words: Iterable[str]) -> str:
    """Words as a list in a sentence."""
    return ", ".join(dict.fromkeys(words))
