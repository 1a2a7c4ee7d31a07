"""Passages: whole in order, never across a heading, never too long, always with their place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassloop.knowledge import Passage, chunk
from glassloop.knowledge.chunk import density

MANUAL = """# Pump P-200

Short introduction to the pump.

## Installation

1. Unpack the pump.
2. Screw it to the wall with the four bolts.
3. Connect the hose.

### Wiring

| Pin | Signal | Colour |
|-----|--------|--------|
| 1 | GND | black |
| 2 | +24 V | red |

```python
# not a heading
print("hello")
```

## Errors

E-042 means that the filter is dirty. Clean it. Then press Reset.
"""

BLOCK = st.sampled_from(
    [
        "# Title\n\n",
        "## 标题二\n",
        "### Deep\n\n",
        "Some words. More words here! And e.g. 3.14 of them?\n\n",
        "这是一个句子。这是第二个句子！还有「引号。里面」的话？\n\n",
        "- item one\n- item two\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "```\n# code\n\ncode\n```\n",
        "Q: why?\nA: because.\n\n",
        "\n\n\n",
        "x" * 90 + "\n",
        "😀👨‍👩‍👧é\u0301\r\n",
    ]
)
DOCUMENTS = st.lists(st.one_of(BLOCK, st.text(max_size=80)), max_size=12).map("".join)


@settings(max_examples=200, deadline=None)
@given(DOCUMENTS, st.integers(16, 300), st.sampled_from(["markdown", "text", "code", "table"]))
def test_passages_joined_give_the_document_back(text: str, size: int, format: str) -> None:
    passages = chunk(text, size=size, format=format)  # type: ignore[arg-type]
    assert "".join(passage.text for passage in passages) == text
    assert all(text[p.start : p.end] == p.text and 0 < len(p.text) <= size for p in passages)


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS, st.integers(32, 200))
def test_overlap_repeats_but_never_crosses_a_heading(text: str, size: int) -> None:
    plain = chunk(text, size=size)
    borders = {p.section: p.start for p in reversed(plain)}
    for passage in chunk(text, size=size, overlap=size // 4):
        assert text[passage.start : passage.end] == passage.text
        assert len(passage.text) <= size
        assert passage.start >= borders[passage.section]


def test_a_passage_never_crosses_a_heading() -> None:
    for passage in chunk(MANUAL, size=400):
        body = passage.text.replace("# not a heading", "")
        headings = [line for line in body.splitlines() if line.startswith("#")]
        assert len(headings) <= 1
        assert not headings or passage.text.startswith(headings[0])


def test_heading_paths() -> None:
    paths = {passage.headings for passage in chunk(MANUAL)}
    assert paths == {
        ("Pump P-200",),
        ("Pump P-200", "Installation"),
        ("Pump P-200", "Installation", "Wiring"),
        ("Pump P-200", "Errors"),
    }


@pytest.mark.parametrize("whole", ["3. Connect the hose.", "| 2 | +24 V | red |", 'print("hello")'])
def test_lists_tables_and_code_stay_together(whole: str) -> None:
    starts = {"3. Connect the hose.": "1. Unpack", "| 2 | +24 V | red |": "| Pin |", 'print("hello")': "```python"}
    passage = next(p for p in chunk(MANUAL, size=160) if whole in p.text)
    assert starts[whole] in passage.text


def test_a_question_stays_with_its_answer() -> None:
    pairs = "".join(f"Q: What does button number {n} do on the front?\nA: It starts program {n}.\n\n" for n in range(9))
    for passage in chunk(pairs, size=120):
        assert passage.text.count("Q:") == passage.text.count("A:") == 1
    chinese = "问：怎么复位？\n\n答：按住按钮十秒。\n\n问：怎么关机？\n\n答：拔掉插头。\n"
    assert [p.text.strip().replace("\n", "") for p in chunk(chinese, size=40)] == [
        "问：怎么复位？答：按住按钮十秒。",
        "问：怎么关机？答：拔掉插头。",
    ]


def test_a_long_paragraph_is_cut_between_sentences_into_even_pieces() -> None:
    sentence = "The valve closes when the pressure falls below the limit. "
    passages = chunk(sentence * 9, size=200)
    assert all(p.text.strip().endswith(".") for p in passages)
    lengths = [len(p.text) for p in passages]
    assert max(lengths) - min(lengths) <= 2 * len(sentence)


def test_chinese_counts_by_what_it_says() -> None:
    chinese = chunk("这台机器的过滤器需要每个月清洗一次。" * 60, size=256)
    english = chunk("The filter of this machine has to be cleaned once a month. " * 60, size=256)
    longest = max(len(p.text) for p in chinese)
    assert 140 <= longest <= 175
    assert 200 <= max(len(p.text) for p in english) <= 256
    assert density("abc") == 1.0
    assert 1.4 < density("过滤器") <= 1.5


def test_pages_and_place() -> None:
    text = "# A\n\n" + "One sentence here. " * 30 + "\n\n# B\n\nLast words."
    passages = chunk(text, source="a.pdf", pages=(0, 300), metadata={"product": "P"})
    assert [p.page for p in passages] == [1 if p.start < 300 else 2 for p in passages]
    assert passages[-1].place == "a.pdf, p. 2, B"
    assert passages[-1].metadata == {"product": "P"}


def test_setext_headings_front_matter_and_plain_chapters() -> None:
    assert chunk("---\ntitle: x\n---\nTitle\n=====\n\nWords.")[-1].headings == ("Title",)
    text = "第一章 安装\n\n请先阅读。\n\n1.2 接线\n\n红线接正极。\n"
    assert [p.headings for p in chunk(text, format="text")] == [("第一章 安装",), ("第一章 安装", "1.2 接线")]
    assert chunk("# no heading in text\n\nwords", format="text")[0].headings == ()


def test_a_title_stands_above_texts_without_one() -> None:
    assert chunk("Words.", title="Manual")[0].headings == ("Manual",)
    assert chunk("# Own\n\nWords.", title="Manual")[0].headings == ("Own",)
    assert chunk("## Part\n\nWords.", title="Manual")[0].indexed_text == "Manual\n## Part\n\nWords."


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        chunk("x", size=3)
    with pytest.raises(ValueError, match="overlap is 200"):
        chunk("x", size=256, overlap=200)


def test_empty_and_blank() -> None:
    assert chunk("") == []
    assert [p.text for p in chunk("  \n\n ")] == ["  \n\n "]


def test_passages_survive_json() -> None:
    for passage in chunk(MANUAL, source="m.md", pages=(0,), metadata={"a": 1}):
        assert Passage.from_dict(passage.to_dict()) == passage
