"""`rag eval` counts what it says it counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from embedders import HashEmbedder

from glassloop.errors import KnowledgeError
from glassloop.knowledge import Document, KnowledgeBase
from glassloop.knowledge.evaluate import Question, Recipe, compare, evaluate, load_questions, table

TEXT = "# Pump\n\n## Valve\n\nThe valve is red.\n\n## Hose\n\nThe hose is blue.\n\n## Filter\n\nThe filter is green.\n"


@pytest.fixture
def base() -> KnowledgeBase:
    base = KnowledgeBase(embedder=HashEmbedder())
    base.add_text(TEXT, "docs/pump.md")
    return base


def span(words: str) -> tuple[tuple[int, int], ...]:
    return ((TEXT.index(words), TEXT.index(words) + len(words)),)


def test_scores_by_hand(base: KnowledgeBase) -> None:
    questions = [
        Question("what colour is the valve", source="pump", spans=span("red")),
        Question("what colour is the hose", answer="Blue."),
        Question("what colour is the filter", source="pump", spans=((0, len(TEXT)),)),
    ]
    score = evaluate(base, questions)
    assert score.hit[1] == score.hit[10] == pytest.approx(2 / 3)
    assert score.mrr == score.ndcg == pytest.approx(2 / 3)
    assert score.whole == 0.5
    assert score.misses == ("what colour is the filter",)
    assert "| as it stands | 0.667 |" in table([score])


def test_a_second_place_counts_half_for_mrr(base: KnowledgeBase) -> None:
    question = Question("the valve is red and the valve is what", answer="the hose is blue")
    hits = base.search(question.question, 5)
    rank = next(rank for rank, hit in enumerate(hits, 1) if "blue" in hit.text)
    assert rank > 1
    assert evaluate(base, [question]).mrr == pytest.approx(1 / rank)


def test_recipes_side_by_side() -> None:
    recipes = [
        Recipe("words", mode="keywords"),
        Recipe("both", embedder=HashEmbedder()),
        Recipe("small", size=16, embedder=HashEmbedder(), budget=0),
    ]
    scores = compare([Document("pump", TEXT)], [Question("valve", answer="red")], recipes)
    assert [score.recipe for score in scores] == ["words", "both", "small"]
    assert all(score.hit[1] == 1.0 for score in scores[:2])
    assert scores[2].passages > scores[1].passages
    assert table(scores).count("\n") == 4


def test_question_files(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(
        json.dumps({"question": "q1", "doc": "d", "spans": [[1, 2]]})
        + "\n\n"
        + json.dumps({"question": "q2", "answer": "a"})
    )
    assert load_questions(file) == [Question("q1", "d", ((1, 2),)), Question("q2", answer="a")]


def test_a_line_separator_in_a_question_ends_no_line(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_bytes('{"question": "q\u20281\x85?", "answer": "a"}\r\n{"question": "q2", "answer": "b"}\r\n'.encode())
    assert load_questions(file) == [Question("q\u20281\x85?", answer="a"), Question("q2", answer="b")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "Line 1 of .* is no question"),
        ('{"question": "q"}', "Line 1 of .* names no answer"),
        ('{"answer": "a"}', "Line 1 of .* is no question"),
        ('{"question": "q", "doc": "d", "spans": [1]}', "is no question"),
        ("\n", "has no questions"),
    ],
)
def test_wrong_question_files_say_where(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "q.jsonl").write_text(content)
    with pytest.raises(KnowledgeError, match=message):
        load_questions(tmp_path / "q.jsonl")
    with pytest.raises(KnowledgeError, match="cannot be read"):
        load_questions(tmp_path / "missing.jsonl")
