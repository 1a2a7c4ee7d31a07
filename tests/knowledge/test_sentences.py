"""Sentences end where they really end."""

from __future__ import annotations

import pytest

from glassloop.knowledge.sentences import clause_ends, hard_ends, sentence_ends


def sentences(text: str) -> list[str]:
    starts = [0, *sentence_ends(text, 0, len(text))]
    return [text[a:b].strip() for a, b in zip(starts, starts[1:], strict=False)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("圆周率是3.14。下一句！", ["圆周率是3.14。", "下一句！"]),
        ("Pi is 3.14 and no more. Next one.", ["Pi is 3.14 and no more.", "Next one."]),
        ("Use v1.2 or 2.0.1 here. Then stop.", ["Use v1.2 or 2.0.1 here.", "Then stop."]),
        ("Small parts, e.g. screws, are inside. Keep them.", ["Small parts, e.g. screws, are inside.", "Keep them."]),
        ("Ask Dr. Smith. He knows.", ["Ask Dr. Smith.", "He knows."]),
        ("See Fig. 3 for details. It helps.", ["See Fig. 3 for details.", "It helps."]),
        ("J. R. Tolkien wrote. We read.", ["J. R. Tolkien wrote.", "We read."]),
        ("Wait... not yet. Now.", ["Wait... not yet.", "Now."]),
        ("他想……然后走了。好。", ["他想……然后走了。", "好。"]),
        ("他說：「你好。我走了。」然後離開。結束。", ["他說：「你好。我走了。」然後離開。", "結束。"]),
        ('She said "Stop. Go." and left. Done.', ['She said "Stop. Go." and left.', "Done."]),
        ("他喊道：「救命！」她听见了。", ["他喊道：「救命！」", "她听见了。"]),
        (
            "Open https://a.example/x.html?q=1;r=2 now. Then close it.",
            ["Open https://a.example/x.html?q=1;r=2 now.", "Then close it."],
        ),
        ("访问 https://a.example/路径?x=1 即可。完。", ["访问 https://a.example/路径?x=1 即可。", "完。"]),
        ("真的？！真的。", ["真的？！", "真的。"]),
        ("(See below. It helps.) Then go. End.", ["(See below. It helps.) Then go.", "End."]),
        ("first line goes\non in the next. Second.", ["first line goes\non in the next.", "Second."]),
        ("Steps:\nPress the key.\nWait.", ["Steps:", "Press the key.", "Wait."]),
        ("Is it on? Yes! Good; fine.", ["Is it on?", "Yes!", "Good;", "fine."]),
    ],
)
def test_sentences_end_where_they_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_ends_tile_the_text() -> None:
    text = "一。二！三？ Four. Five\nsix"
    ends = list(sentence_ends(text, 0, len(text)))
    assert ends == sorted(set(ends))
    assert ends[-1] == len(text)


def test_clauses_leave_numbers_whole() -> None:
    text = "It costs 1,000 at 12:30, or more，真的、很多"
    starts = [0, *clause_ends(text, 0, len(text))]
    parts = [text[a:b] for a, b in zip(starts, starts[1:], strict=False)]
    assert parts == ["It costs 1,000 at 12:30, ", "or more，", "真的、", "很多"]


def test_the_hard_cut_keeps_combined_characters_together() -> None:
    text = "e\u0301" * 50
    starts = [0, *hard_ends(text, 0, len(text), 15)]
    parts = [text[a:b] for a, b in zip(starts, starts[1:], strict=False)]
    assert "".join(parts) == text
    assert all(len(part) <= 15 and not part.startswith("\u0301") for part in parts)
