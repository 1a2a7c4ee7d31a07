"""The view and its compaction: nothing while it fits, then one large step that keeps pairs, question and numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassloop.errors import ConfigurationError
from glassloop.events import CallFinished, HistoryCompacted, ModelAsked, ModelReplied, MoveRead, RunStarted
from glassloop.memory import WindowMemory
from glassloop.memory.compaction import grouped
from glassloop.memory.shrink import clip, one_line, parse, shrink
from glassloop.memory.summary import call_entry, write
from glassloop.memory.tokens import estimate, measure, ratio, view_tokens
from glassloop.state import State
from glassloop.types import Fault, Message, Move, Observation, Reply, Request, ToolCall, Usage

TOOLS = ({"name": "read", "risk": "read"}, {"name": "send", "risk": "write"})


def begun(question: str = "Add up all parts.", **given_: Any) -> State:
    return State([RunStarted(run_id="r", question=question, system="You help.", tools=TOOLS, at=1.0, **given_)])


def round_of(state: State, *outcomes: tuple[str, dict[str, Any], str, str], prompt: int = 0) -> None:
    """Apply one step of calls; an outcome is name, arguments, status and content."""
    step = len(state.steps)
    state.apply(ModelAsked(request=Request(messages=())))
    state.apply(ModelReplied(reply=Reply(usage=Usage(prompt=prompt, completion=20 if prompt else 0, requests=1))))
    calls = tuple(ToolCall(f"c{step}_{n}", name, args) for n, (name, args, _, _) in enumerate(outcomes))
    state.apply(MoveRead(move=Move(thought="Next.", calls=calls, said="Next.")))
    for call, (name, _, status, content) in zip(calls, outcomes, strict=True):
        state.apply(CallFinished(observation=Observation(call.id, name, status, content)))  # type: ignore[arg-type]


def faulted(state: State, said: str = "{broken") -> None:
    state.apply(ModelAsked(request=Request(messages=())))
    state.apply(ModelReplied(reply=Reply(usage=Usage(requests=1))))
    state.apply(MoveRead(move=Move(fault=Fault("format", "Not understood."), said=said)))


def compacted(memory: WindowMemory, state: State, **options: Any) -> HistoryCompacted:
    (event,) = memory.compact(state, **options)
    state.apply(event)
    return event


def settled(memory: WindowMemory, state: State) -> list[HistoryCompacted]:
    events = list(memory.compact(state))
    for event in events:
        state.apply(event)
    return events


def unpaired(view: Sequence[Message]) -> list[str | None]:
    asked = [call.id for m in view for call in m.calls]
    answered = [m.call_id for m in view if m.role == "tool"]
    assert len(set(asked)) == len(asked)
    return sorted({*asked} ^ {*answered}, key=str) if asked != answered else []


PROSE = "The tide gauge at the old harbour wall was read again at noon and the value agreed. " * 45


def test_nothing_happens_while_the_view_fits() -> None:
    state = begun()
    memory = WindowMemory(6000)
    for n in range(3):
        before = memory.view(state)
        round_of(state, ("read", {"n": n}, "ok", f"part {n}"))
        assert memory.compact(state) == []
        assert memory.view(state)[: len(before)] == before
    assert memory.view(state) == tuple(state.messages)


def test_long_old_observations_shrink_first_and_the_latest_rounds_stay_whole() -> None:
    state = begun()
    for n in range(8):
        round_of(state, ("read", {"n": n}, "ok", PROSE if n < 5 else f"short {n}"))
    event = compacted(WindowMemory(4500), state)
    view = WindowMemory(4500).view(state)
    assert event.how == "shrunk" and event.before > 4500 > 2300 > event.after > 0
    assert not unpaired(view) and len(view) == len(state.messages)
    results = [m.content for m in view if m.role == "tool"]
    assert all(len(c) <= 420 and "left out" in c for c in results[:5])
    assert results[5:] == ["short 5", "short 6", "short 7"]


def test_the_oldest_rounds_become_one_summary_with_every_outcome() -> None:
    state = begun()
    faulted(state)
    for n in range(12):
        outcome = (
            ("error", '{"status":"error","reason":"no such part","hint":"x"}')
            if n == 2
            else ("ok", f"{n}.50 m {PROSE}")
        )
        round_of(state, ("send" if n == 1 else "read", {"n": n, "note": "甲"}, *outcome))
    memory = WindowMemory(4000)
    record = list(state.messages)
    event = compacted(memory, state)
    view = memory.view(state)
    (summary,) = (m for m in view if m.kind == "summary")
    assert event.how == "summarised" and event.covers == len(record) and state.messages == record
    assert [m.role for m in view[:3]] == ["system", "user", "user"] and view[1].content == "Add up all parts."
    assert not unpaired(view) and view[-1] == record[-1]
    assert '- read(n=0, note="甲") → 0.50 m The tide' in summary.content
    assert "- send(n=1" in summary.content and 'n=2, note="甲") → failed: no such part' in summary.content
    assert "replies that could not be used: 1" in summary.content
    assert event.after <= 2000 and view_tokens(view) <= 2000


def test_summaries_grow_only_at_their_end_until_they_are_full() -> None:
    state = begun("把各部分加起来。", language="zh")
    memory = WindowMemory(4000)
    texts: list[str] = []
    for n in range(60):
        round_of(state, ("read", {"n": n}, "ok", f"第{n}部分：" + "潮位正常，读数一致。" * 130))
        if settled(memory, state):
            texts += [m.content for m in memory.view(state) if m.kind == "summary"]
    grown = sum(later.startswith(earlier) for earlier, later in zip(texts, texts[1:], strict=False))
    assert len(texts) > 10 and grown >= len(texts) * 0.7
    assert max(map(estimate, texts)) <= 4000 * 0.45
    assert "不再逐条列出：read（×" in texts[-1]


def test_a_full_summary_forgets_reads_before_writes() -> None:
    entries = [call_entry("send" if n == 3 else "read", {"n": n}, "done " * 20, "ok", "en", n == 3) for n in range(60)]
    shown = write(entries, "en", 600, estimate)
    assert "- send(n=3)" in shown and "- read(n=0)" not in shown and "- read(n=59)" in shown
    assert "earlier entries" in shown
    counted = int(re.search(r"- (\d+) earlier", shown).group(1))  # type: ignore[union-attr]
    assert counted + shown.count("\n- read(") + 1 == 60


def test_equal_outcomes_in_a_row_are_one_line_with_a_count() -> None:
    entries = [call_entry("poll", {}, "waiting", "ok", "en")] * 4
    assert write(entries, "en", 600, estimate).splitlines()[1:] == ["- poll() → waiting (×4)"]


def test_an_observation_bigger_than_the_window_is_shrunk_inside_its_shape() -> None:
    state = begun()
    big = json.dumps({"status": "ok", "rows": [{"id": 9007199254740993 + n, "price": "1.10"} for n in range(2000)]})
    round_of(state, *[("read", {"n": n}, "ok", big) for n in range(4)])
    memory = WindowMemory(3000)
    event = compacted(memory, state)
    shown = [m.content for m in memory.view(state) if m.role == "tool"]
    assert event.how == "cut" and event.after <= 3000 and len(shown) == 4
    for content in shown:
        data = json.loads(content)
        assert data["status"] == "ok" and data["rows"][0] == {"id": 9007199254740993, "price": "1.10"}
        assert "left out" in data["rows"][-1]


def test_a_refused_prompt_is_halved_whatever_was_estimated() -> None:
    state = begun()
    for n in range(4):
        round_of(state, ("read", {"n": n}, "ok", PROSE))
    memory = WindowMemory(100_000)
    assert memory.compact(state) == []
    event = compacted(memory, state, harder=True)
    assert event.how.startswith("harder") and event.after <= event.before / 2
    assert not unpaired(memory.view(state)) and memory.view(state)[1].content == "Add up all parts."
    assert memory.budget(state) < event.before
    again = compacted(memory, state, harder=True)
    assert again.after <= event.after / 2


def test_what_cannot_be_made_smaller_is_left_as_it_is() -> None:
    state = begun("word " * 5000)
    assert WindowMemory(1000).compact(state) == []
    assert WindowMemory(1000).compact(state, harder=True) == []


def test_earlier_turns_are_told_before_the_question() -> None:
    history = tuple(
        m
        for n in range(8)
        for m in (Message("user", f"question {n}", kind="question"), Message("assistant", PROSE, kind="answer"))
    )
    state = begun(history=history)
    memory = WindowMemory(3000)
    compacted(memory, state)
    view = memory.view(state)
    places = [("summary" if m.kind == "summary" else m.content[:10]) for m in view]
    assert places.index("summary") == 1 and places[-1] == "Add up all"
    assert "the user said: question 0" in view[1].content and "you said: The tide gauge" in view[1].content


def test_the_servers_figure_counts_and_a_figure_of_uncached_tokens_does_not() -> None:
    state = begun()
    round_of(state, ("read", {}, "ok", PROSE))
    guessed = measure(state, WindowMemory().view(state))
    counted, uncached = begun(), begun()
    for one, prompt in ((counted, 5000), (uncached, 30)):
        round_of(one, ("read", {}, "ok", "x"))
        round_of(one, ("read", {}, "ok", PROSE), prompt=prompt)
    assert guessed < 1200
    assert 5000 < measure(counted, WindowMemory().view(counted)) < 6200
    assert 900 < measure(uncached, WindowMemory().view(uncached)) < 1400


def test_the_estimate_is_scaled_by_how_the_servers_count_grows() -> None:
    def steps(factor: float) -> list[Any]:
        state = begun()
        sent: list[dict[str, Any]] = []
        for n in range(4):
            sent.append({"role": "user", "content": f"{n} {PROSE}"})
            size = sum(estimate(m["content"]) for m in sent)
            state.apply(ModelAsked(request=Request(messages=tuple(sent))))
            state.apply(ModelReplied(reply=Reply(usage=Usage(prompt=int(factor * size) + 700, requests=1))))
            state.apply(MoveRead(move=Move(fault=Fault("format", "no"), said="x")))
        return state.steps

    assert ratio(steps(1.6)) == pytest.approx(1.6, rel=0.1)
    assert ratio(steps(0.7)) == pytest.approx(0.7, rel=0.1)
    assert ratio(steps(50)) == 2.5 and ratio([]) == 1.0


def test_a_summariser_of_ones_own_is_given_the_old_messages_and_may_fail() -> None:
    given_: list[Sequence[Message]] = []

    def summarise(messages: Sequence[Message]) -> str:
        given_.append(messages)
        if len(given_) == 3:
            raise RuntimeError("no model")
        return f"Summary number {len(given_)}."

    state = begun()
    memory = WindowMemory(3000, summariser=summarise)
    hows: list[str] = []
    for n in range(16):
        round_of(state, ("read", {"n": n}, "ok", f"{n}: {PROSE}"))
        hows += [event.how for event in settled(memory, state)]
    assert hows[0] == "summarised by the summariser"
    assert "by rules, because the summariser failed: no model" in hows[2]
    assert not any(m.kind == "summary" for m in given_[0]) and all(m.role != "system" for m in given_[0])
    assert "Summary number 1." in next(m.content for m in given_[1] if m.kind == "summary")
    assert not {m.call_id for m in given_[0]} & {m.call_id for m in given_[1] if m.role == "tool"}


@pytest.mark.parametrize("wrong", [{"budget_tokens": 10}, {"keep_rounds": 0}, {"summariser": "magic"}])
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        WindowMemory(**wrong)


def test_the_budget_follows_the_context_the_run_names() -> None:
    assert WindowMemory().budget(begun(settings={"context": 4096})) == 3072
    assert WindowMemory().budget(begun()) == 6144 and WindowMemory(700).budget(begun(settings={"context": 4096})) == 700


def test_a_view_rebuilt_from_events_is_the_same() -> None:
    state = begun()
    for n in range(8):
        round_of(state, ("read", {"n": n}, "ok", PROSE))
    memory = WindowMemory(3000)
    event = memory.compact(state)[0]
    assert memory.compact(state)[0] == event
    state.apply(HistoryCompacted.from_dict(json.loads(json.dumps(event.to_dict()))))
    assert state.compacted == event
    faulted(state, said="")
    assert memory.view(state) == (*event.messages, state.messages[-1])


OUTCOMES = st.lists(
    st.tuples(
        st.sampled_from(["read", "send", "查询"]),
        st.dictionaries(st.sampled_from(["n", "正文"]), st.integers() | st.text(max_size=800), max_size=2),
        st.sampled_from(["ok", "error", "denied", "unknown"]),
        st.text(max_size=40)
        | st.sampled_from([PROSE, "潮位" * 900, json.dumps([1.5] * 900), '{"status":"error","reason":"r"}']),
    ),
    min_size=1,
    max_size=3,
)


@given(
    st.lists(OUTCOMES | st.none(), min_size=1, max_size=14), st.integers(300, 5000), st.booleans(), st.integers(1, 4)
)
@settings(max_examples=150, deadline=None)
def test_any_run_keeps_pairs_question_system_and_record(
    rounds: list[Any], budget: int, harder: bool, keep: int
) -> None:
    state = begun("这是问题 1?")
    memory = WindowMemory(budget, keep)
    for outcomes in rounds:
        for event in memory.compact(state, harder=harder):
            assert event.after < event.before and event.covers == len(state.messages)
            state.apply(event)
        view = memory.view(state)
        assert not unpaired(view)
        assert view[0] == Message("system", "You help.") and Message("user", "这是问题 1?", kind="question") in view
        record = list(state.messages)
        if outcomes is None:
            faulted(state)
        else:
            round_of(state, *outcomes)
        assert state.messages[: len(record)] == record
        assert memory.view(state)[: len(view)] == view
    assert sum(len(g.messages) for g in grouped(state.messages)) == len(state.messages)


# -- shrinking ---------------------------------------------------------------------------------

DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=10), inner, max_size=10),
    max_leaves=60,
)
NUMBERS = re.compile(r"\d+(?:\.\d+)?")


@given(DATA, st.integers(40, 3000), st.sampled_from(["en", "zh"]))
@settings(max_examples=200, deadline=None)
def test_shrunk_json_is_json_of_the_same_kind_and_not_longer(data: Any, limit: int, language: str) -> None:
    content = json.dumps(data, ensure_ascii=False)
    less = shrink(content, limit, language)
    assert len(less) <= len(content)
    if isinstance(data, (dict, list)):
        assert type(json.loads(less)) is type(data)
    if len(content) <= limit:
        assert less == content


@given(
    st.lists(st.sampled_from(["1,234.50", "3.14", "2026-03-01", " and ", "abc ", "，", "95% ", "潮位"]), max_size=120),
    st.integers(20, 300),
)
@settings(max_examples=200, deadline=None)
def test_no_number_is_ever_cut(parts: list[str], limit: int) -> None:
    plain = " ".join(parts)
    whole = set(re.findall(r"[\d.,\-%]*\d[\d.,\-%]*", plain))
    note = re.compile(r" …\((\d+) characters left out\)… ")
    for shown in (clip(plain, limit), one_line(plain, limit)):
        assert set(re.findall(r"[\d.,\-%]*\d[\d.,\-%]*", note.sub("\n", shown))) <= whole


def test_numbers_come_back_as_they_were_written() -> None:
    content = '{"a":1.10,"b":12345678901234567890,"c":1e400,"text":"' + "x" * 500 + '"}'
    less = shrink(content, 200)
    assert '"a":1.10,"b":12345678901234567890,"c":1e400' in less and len(less) <= 200
    assert parse('{"a": NaN}') is None and replace(Message("user"), content=less).content == less
