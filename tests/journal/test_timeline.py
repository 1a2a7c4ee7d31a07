"""Everything that happened is in the rows: nothing is hidden."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from glassloop.events import ModelAsked, ModelReplied, MoveRead, RunStarted
from glassloop.journal.marks import mark_reply
from glassloop.journal.prompt_change import schema_tools
from glassloop.journal.rebuild import load
from glassloop.journal.timeline import Row, Timeline, source_text
from glassloop.types import Move, Request, ToolCall

from .recorded_runs import GOOD, answer, record, reply, step


def kinds(timeline: Timeline) -> list[str]:
    return [row.kind for row in timeline.rows]


def one(timeline: Timeline, kind: str, number: int = 0) -> Row:
    return [row for row in timeline.rows if row.kind == kind][number]


def test_the_rows_of_a_run_in_order(tmp_path: Path) -> None:
    timeline = Timeline(load(record(tmp_path)))
    first = ["start", "sent", "reply", *["repair"] * kinds(timeline)[:9].count("repair"), "wanted", "call"]
    shown = [k for k in kinds(timeline) if k not in ("thought", "repair")]
    assert [k for k in first if k not in ("thought", "repair")] == shown[:5]
    assert shown[-4:] == ["reply", "answer", "check", "end"]
    assert ["asked", "decision", "call", "observation"] == shown[shown.index("asked") : shown.index("asked") + 4]
    assert [s.number for s in timeline.steps] == [1, 2, 3]
    seqs = [row.seq for row in timeline.rows]
    assert seqs == sorted(seqs)


def test_casts_cleaning_sources_permission_and_cost(tmp_path: Path) -> None:
    timeline = Timeline(load(record(tmp_path)))
    cast = next(r for r in timeline.rows if r.kind == "repair" and r.facts["how"] == "cast")
    assert (cast.before, cast.after, cast.facts["path"]) == ("3", 3, "days")
    seen = one(timeline, "observation")
    assert "debug_trace" in seen.before and "debug_trace" not in seen.text and seen.facts["characters"] > 500
    assert any(source_text(s).startswith("city ← question, characters") for s in one(timeline, "call").facts["sources"])
    assert one(timeline, "decision").title == "allowed" and one(timeline, "asked").facts["risk"] == "write"
    assert timeline.usage.total == 360 and timeline.steps[0].usage.total == 120 and timeline.usage.cached == 150


def test_only_what_is_new_in_a_prompt_is_shown(tmp_path: Path) -> None:
    timeline = Timeline(load(record(tmp_path)))
    first, second = one(timeline, "sent"), one(timeline, "sent", 1)
    assert first.facts["kept"] == 0 and {m.role for m in first.sent} == {"system", "user"}
    assert second.facts["kept"] == len(first.sent)
    assert [m.how for m in second.sent] == ["new", "new"]


def test_continued_changed_and_dropped_messages_are_told_apart() -> None:
    def message(text: str, role: str = "user") -> dict[str, str]:
        return {"role": role, "content": text}

    def asked(kept: int, *messages: dict[str, str]) -> ModelAsked:
        return ModelAsked(1, request=Request(messages=messages), kept=kept)

    timeline = Timeline(
        [RunStarted(), asked(0, message("s", "system"), message("question"), message("a", "assistant"))]
    )
    grown = timeline.feed(asked(1, message("question\nmore"), message("other", "assistant")))[0].sent
    assert [(m.how, m.text) for m in grown] == [("continued", "more"), ("changed", "other")]
    assert grown[1].before == "a"
    shrunk = timeline.feed(asked(2))[0].sent
    assert [(m.how, m.role) for m in shrunk] == [("gone", "assistant")]


def test_what_is_no_longer_offered_is_told() -> None:
    def schema(*names: str) -> dict[str, object]:
        return {"anyOf": [{"properties": {"name": {"const": n}, "arguments": {"type": "object"}}} for n in names]}

    assert schema_tools(schema("a", "b")) == ["a", "b"] and schema_tools(None) == []
    first = ModelAsked(1, request=Request(messages=(), schema=schema("a", "b")))
    second = ModelAsked(2, request=Request(messages=(), schema=schema("b")))
    timeline = Timeline([RunStarted(), first, second])
    assert one(timeline, "sent", 1).facts["no_longer_offered"] == ["a"]


def test_understood_parts_are_marked(tmp_path: Path) -> None:
    timeline = Timeline(load(record(tmp_path)))
    parts = one(timeline, "reply", 1).parts
    assert [(p.text, p.mark) for p in parts if p.mark] == [
        ("Now send it.", "thought"),
        ("send", "name"),
        ("Bob", "argument"),
        ("12 degrees", "argument"),
    ]
    assert "".join(p.text for p in parts) == GOOD[1].text


def test_a_name_that_is_also_a_word_is_marked_where_it_is_a_name() -> None:
    text = 'The weather: {"name": "weather", "arguments": {"n": 12}} 112'
    parts = mark_reply(text, Move(calls=(ToolCall("c", "weather", {"n": 12}),)))
    assert [(p.text, p.mark) for p in parts] == [
        ('The weather: {"name": "', ""),
        ("weather", "name"),
        ('", "arguments": {"n": ', ""),
        ("12", "argument"),
        ("}} 112", ""),
    ]


@given(st.text(), st.text(), st.text(), st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text())))
def test_marked_parts_are_always_the_whole_reply(
    text: str, thought: str, name: str, arguments: dict[str, object]
) -> None:
    said = f"{text}{thought}{json.dumps(arguments)}{name}"
    parts = mark_reply(said, Move(thought=thought, calls=(ToolCall("c", name, arguments),)))
    assert "".join(p.text for p in parts) == said


def test_faults_failures_refusals_and_verdicts_show(tmp_path: Path) -> None:
    replies = [
        reply('{"calls": ['),
        step("p", "broken", city="Paris"),
        answer("9,999 people live there."),
        answer("8,888 people."),
    ]
    timeline = Timeline(load(record(tmp_path, replies, question="How many people live in Paris?")))
    shown = kinds(timeline)
    assert "fault" in shown and shown.count("check") == 2
    assert one(timeline, "observation").level == "bad" and "closed" in one(timeline, "observation").text
    assert one(timeline, "check").title == "sent back once" and one(timeline, "check").facts["reasons"]
    assert one(timeline, "check", 1).title == "given as it is, marked"


def test_rows_are_json(tmp_path: Path) -> None:
    for row in Timeline(load(record(tmp_path))).rows:
        json.dumps(row.to_dict())


def test_a_timeline_fed_bit_by_bit_is_the_same(tmp_path: Path) -> None:
    events = load(record(tmp_path))
    fed = Timeline()
    for event in events:
        fed.feed(event)
    assert fed.rows == Timeline(events).rows
    assert isinstance(events[2], ModelReplied) and isinstance(events[3], MoveRead)
