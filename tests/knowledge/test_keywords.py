"""Words as the index counts them, and BM25 that can be updated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassloop.knowledge.keywords import KeywordIndex, top
from glassloop.knowledge.stem import stem
from glassloop.knowledge.terms import Asked, query_terms, terms_of

NONE = np.zeros(0, np.int64)


def index(*texts: str) -> KeywordIndex:
    return KeywordIndex.empty().updated(NONE, texts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("install", "installation"),
        ("installed", "installing"),
        ("battery", "batteries"),
        ("configure", "configuration"),
        ("connect", "connections"),
        ("stop", "stopped"),
    ],
)
def test_forms_of_a_word_meet(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["bus", "gas", "new", "red", "sing", "thing", "über", "x86"])
def test_short_and_strange_words_stay(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("AB-1234", "Replace part AB-1234 first"),
        ("ab1234", "Replace part AB-1234 first"),
        ("E042", "error E-042 is shown"),
        ("v1.2.3", "since version v1.2.3"),
        ("0x80070057", "code 0x80070057"),
        ("ＡＢＣ", "abc"),
        ("ﬁlter", "the filter"),
        ("Temujin", "Temüjin was khan"),
        ("C++", "written in C++"),
        ("软件", "這個軟體與軟件"),
        ("臺灣", "台湾"),
        ("5 GHz", "runs at 5GHz"),
    ],
)
def test_spellings_meet(query: str, text: str) -> None:
    assert set(terms_of(query).tolist()) & set(terms_of(text).tolist())
    assert index(text, "something else", "又一个段落").search(query)[0][0] == 0


def test_versions_are_not_taken_apart_into_other_versions() -> None:
    found = index("released in 1.2.3", "released in 3.2.1", "released in 12.3").search("1.2.3")
    assert found[0][0] == 0
    assert len(found) == 1


def test_words_that_only_ask_do_not_count_unless_nothing_else_is_said() -> None:
    assert set(query_terms("What is the pump?").tolist()) == set(terms_of("pump").tolist())
    assert set(query_terms("请问水泵是什么").tolist()) == set(terms_of("水泵").tolist())
    assert len(query_terms("who is it"))


def test_rare_words_weigh_more() -> None:
    ranked = index("the pump and the valve", "the pump and the hose", "the pump and the motor").search("pump valve")
    assert ranked[0][0] == 0


def test_coverage_is_the_share_of_words() -> None:
    assert Asked("red pump").coverage("a red pump") == 1.0
    assert Asked("red pump").coverage("a red car") == 0.5
    assert Asked("").coverage("x") == 0.0


TEXTS = st.lists(st.text(alphabet="ab 泵阀门c1-.", max_size=20), max_size=12)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.data())
def test_an_updated_index_is_the_index_of_what_is_left(old: list[str], new: list[str], data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.sampled_from(range(len(old))), unique=True) if old else st.just([]))
    updated = index(*old).updated(np.array(sorted(keep), np.int64), new)
    fresh = index(*[old[i] for i in sorted(keep)], *new)
    for name, array in fresh.arrays().items():
        assert np.array_equal(array, updated.arrays()[name]), name
    for query in ("a", "泵阀", "b-1", "c 门"):
        assert np.allclose(updated.scores(query), fresh.scores(query))


def test_frequent_terms_score_as_rare_ones_do() -> None:
    """Rows for frequent terms are a short cut; the sums must be those of the formula."""
    texts = [f"pump {'valve ' * (n % 3)}word{n}" for n in range(200)]
    built = index(*texts)
    total, scores = len(texts), built.scores("pump valve")
    lengths = np.array([len(terms_of(text)) for text in texts])
    expected = np.zeros(total)
    for word in ("pump", "valve"):
        counts = np.array([text.split().count(word) for text in texts])
        having = (counts > 0).sum()
        idf = np.log1p((total - having + 0.5) / (having + 0.5))
        expected += idf * counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * lengths / lengths.mean()))
    assert np.allclose(scores, expected, rtol=1e-4)


def test_top_is_a_stable_sort() -> None:
    scores = np.array([1.0, 3.0, 3.0, 2.0, 3.0], np.float32)
    assert top(scores, 3) == [1, 2, 4]
    assert top(scores, 99) == [1, 2, 4, 3, 0]
    assert top(np.zeros(0, np.float32), 3) == []
