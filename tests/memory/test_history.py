"""`prepare_messages`: the rows of the suite of broken replies, their siblings, and what holds for any input at all."""

from __future__ import annotations

import copy
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassloop.memory import Profile, prepare_messages

HERE = Path(__file__).parent


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


invariants = load(HERE / "invariants.py")
strict_server = load(HERE.parent / "doubles" / "strict_server.py")
ROWS = [json.loads(line) for line in (HERE / "history_rows.jsonl").read_text(encoding="utf-8").splitlines()]


def call(identity: Any, name: str = "read", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(identity: Any, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content}


def user(content: str) -> dict[str, Any]:
    return {"role": "user", "content": content}


def says(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def system(content: str) -> dict[str, Any]:
    return {"role": "system", "content": content}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['id']}-{row['kind']}")
def test_each_row_is_sent_as_the_suite_wants_it(row: dict[str, Any]) -> None:
    options = {k: v for k, v in row["input"].items() if k != "messages"}
    given_messages = row["input"]["messages"]
    before = copy.deepcopy(given_messages)

    sent = prepare_messages(given_messages, **options)

    assert given_messages == before
    said = [*given_messages, *([user(options["append_user"])] if "append_user" in options else [])]
    for name in row["expected"].get("invariants", ()):
        assert invariants.holds(name, said, sent, options.get("max_chars")), (name, sent)
    if "messages" in row["expected"]:
        assert sent == row["expected"]["messages"]
    options.pop("append_user", None)
    assert prepare_messages(sent, **options) == sent


def test_a_sound_history_comes_back_equal() -> None:
    sound = [
        system("S"),
        user("查一下"),
        {**asks(call("a", arguments='{ "n" :1.50}'), content="I look."), "reasoning_content": "…"},
        {**result("a", "甲"), "name": "read"},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        says("done"),
    ]
    assert prepare_messages(sound) == sound
    assert prepare_messages(json.loads(json.dumps(sound))) == sound


def test_a_call_without_a_result_gets_one_that_says_so_in_the_users_language() -> None:
    sent = prepare_messages([user("写文件"), asks(call("a"), call("b")), result("b", "B"), user("还在吗？")])
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "tool", "user"]
    padded = json.loads(sent[2]["content"])
    assert padded["status"] == "unknown" and "没有留下结果" in padded["reason"]
    assert sent[3]["content"] == "B"


def test_results_that_come_late_or_in_another_order_are_brought_behind_their_call() -> None:
    sent = prepare_messages([user("q"), asks(call("a"), call("b")), user("hurry"), result("b", "B"), result("a", "A")])
    assert [(m["role"], m.get("tool_call_id"), m["content"]) for m in sent[2:]] == [
        ("tool", "a", "A"),
        ("tool", "b", "B"),
        ("user", None, "hurry"),
    ]


def test_an_interrupted_call_does_not_take_the_result_of_a_later_one_with_the_same_id() -> None:
    sent = prepare_messages([user("q"), asks(call("0")), user("again"), asks(call("0")), result("0", "R")])
    assert json.loads(sent[2]["content"])["status"] == "unknown"
    assert sent[-1]["content"] == "R" and sent[-1]["tool_call_id"] == sent[-2]["tool_calls"][0]["id"] == "0_2"


def test_one_id_for_a_whole_batch_is_paired_by_position() -> None:
    sent = prepare_messages([user("q"), asks(call(""), call("")), result("", "first"), result(None, "second")])
    assert [m["content"] for m in sent[2:]] == ["first", "second"]
    assert len({c["id"] for c in sent[1]["tool_calls"]}) == 2


def test_a_result_whose_call_is_gone_keeps_what_it_says() -> None:
    sent = prepare_messages([system("S"), {**result("x", "42 m"), "name": "measure"}, user("and now?")])
    assert not invariants.pairing(sent) and "42 m" in sent[1]["content"] and sent[-1] == user("and now?")


def test_two_different_results_of_one_call_are_both_kept_in_one() -> None:
    sent = prepare_messages([user("q"), asks(call("a")), result("a", "E"), result("a", "L"), result("a", "E")])
    assert [m["content"] for m in sent if m["role"] == "tool"] == ["E\n\nL"]


@pytest.mark.parametrize(
    "arguments", ["", None, "[1]", '"x"', "{'a': 1}", '{"a": NaN}', '{"a": 1', "[" * 5000, 7, '{"a": 1} x']
)
def test_arguments_no_server_takes_become_an_empty_object(arguments: Any) -> None:
    sent = prepare_messages([user("q"), asks(call("a", arguments=arguments)), result("a", "bad arguments")])
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_arguments_encoded_twice_or_given_as_an_object_become_their_text() -> None:
    twice = json.dumps('{"a": 1}')
    sent = prepare_messages([user("q"), asks(call("a", arguments=twice), call("b", arguments={"城市": "上海"}))])
    assert [c["function"]["arguments"] for c in sent[1]["tool_calls"]] == ['{"a": 1}', '{"城市": "上海"}']


def test_legacy_function_calls_are_written_as_tool_calls() -> None:
    old = {"role": "assistant", "content": "", "function_call": {"name": "read", "arguments": "{}"}}
    sent = prepare_messages([user("q"), old, {"role": "function", "name": "read", "content": "R"}])
    assert not invariants.pairing(sent) and sent[2]["content"] == "R" and "function_call" not in sent[1]


BUSY = [
    system("You help."),
    user("compare"),
    asks(call("call_0123456789", "get weather"), call("call_0123456789", "read"), content="Both at once."),
    result("call_0123456789", "5 C"),
    result("call_0123456789", "rain"),
    user("shorter, please"),
    says(""),
    user("go on"),
    asks(call("9", arguments='{"n":')),
    result("9", "error: not JSON"),
    system("Be brief."),
    user("last: well?"),
]


@pytest.mark.parametrize("name", ["openai", "mistral", "gemma", "llama"])
@pytest.mark.parametrize("options", [{}, {"keep_last": 3}, {"max_chars": 700}, {"op": "summarise", "keep_last": 2}])
def test_a_busy_history_is_taken_by_every_strict_server(name: str, options: dict[str, Any]) -> None:
    sent = prepare_messages(BUSY, profile=name, **options)
    strict_server.SERVERS[name](sent)
    assert "You help." in json.dumps(sent) and sent[-1]["content"].endswith("last: well?")


def test_the_strict_servers_do_refuse_the_busy_history_as_it_is() -> None:
    for check in strict_server.SERVERS.values():
        with pytest.raises(strict_server.Refused):
            check(BUSY)


def test_ollama_gets_objects_one_text_and_names() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    history = [{"role": "user", "content": [{"type": "text", "text": "look"}, picture]}, *BUSY[2:5]]
    sent = prepare_messages(history, profile="ollama")
    assert sent[0] == {"role": "user", "content": "look", "images": ["aGk="]}
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == {}
    assert sent[2]["tool_name"] == "get_weather"
    assert prepare_messages(sent, profile="ollama") == sent


def test_profiles_are_read_from_mappings_names_and_values() -> None:
    history = [system("S"), user("q")]
    merged = [user("S\n\nq")]
    assert prepare_messages(history, profile={"system_role": False}) == merged
    assert prepare_messages(history, profile={"no_system": True}) == merged
    assert prepare_messages(history, profile=Profile(system_role=False)) == merged
    assert prepare_messages(history, profile={"name": "gemma", "system_role": True}) == history
    assert prepare_messages(history, profile="nobody knows") == history


def test_a_summary_takes_the_place_of_what_is_cut_and_keeps_the_outcomes() -> None:
    history: list[dict[str, Any]] = [user("count the files")]
    for n in range(6):
        history += [asks(call(f"c{n}", arguments=f'{{"n": {n}}}')), result(f"c{n}", f"{n * 111} files")]
    sent = prepare_messages(history, keep_last=2, op="summarise")
    assert [m["role"] for m in sent] == ["user", "user", "assistant", "tool"]
    assert all(f"{n * 111} files" in sent[0]["content"] for n in range(5))
    assert prepare_messages(sent, keep_last=2, op="summarise") == sent


def test_a_last_result_too_long_for_the_window_is_shrunk_and_not_parted() -> None:
    rows = [{"town": f"t{n}", "people": 1000000 + n} for n in range(200)]
    sent = prepare_messages([user("q"), asks(call("a")), result("a", json.dumps(rows))], max_chars=900)
    shown = json.loads(sent[-1]["content"])
    assert not invariants.pairing(sent) and len(json.dumps(sent)) <= 900
    assert shown[0] == rows[0] and "left out" in shown[-1]


# -- any input at all -------------------------------------------------------------------------

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
IDS = st.sampled_from(["a", "b", "Z", "call_1", "", "x" * 50]) | JUNK
TEXTS = st.sampled_from(["", "  ", "hello", "你好，世界", "[result of read]\nx\n[end of result]", "\ud800"]) | st.text(
    max_size=30
)
CALLS = st.builds(
    call, IDS, st.sampled_from(["read", "get weather", "天气", ""]), st.sampled_from(["{}", "{", '{"a": 1}']) | JUNK
)
MESSAGES = st.one_of(
    st.builds(user, TEXTS),
    st.builds(says, TEXTS),
    st.builds(system, TEXTS),
    st.builds(lambda calls, content: asks(*calls, content=content), st.lists(CALLS, max_size=3), TEXTS | st.none()),
    st.builds(result, IDS, TEXTS),
    st.dictionaries(st.sampled_from(["role", "content", "tool_calls", "tool_call_id", "name"]), JUNK, max_size=4),
    JUNK,
)
HISTORIES = st.lists(MESSAGES, max_size=12)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "profile": st.sampled_from(["openai", "mistral", "gemma", "llama", "ollama"]) | JUNK,
        "keep_last": st.integers(-1, 8),
        "max_chars": st.integers(-1, 2000),
        "op": st.sampled_from(["trim", "summarise"]),
    },
)


@given(HISTORIES, OPTIONS)
@settings(max_examples=300, deadline=None)
def test_any_history_is_prepared_once_and_for_all(messages: list[Any], options: dict[str, Any]) -> None:
    before = copy.deepcopy(repr(messages))
    sent = prepare_messages(messages, **options)
    assert repr(messages) == before
    assert not invariants.pairing(sent)
    assert prepare_messages(sent, **options) == sent
    json.dumps(sent, ensure_ascii=False, allow_nan=False).encode()


@given(HISTORIES, st.sampled_from(sorted(strict_server.SERVERS)), st.none() | st.integers(0, 8))
@settings(max_examples=300, deadline=None)
def test_any_history_that_ends_with_a_question_is_taken_by_its_server(
    messages: list[Any], name: str, keep: int | None
) -> None:
    sent = prepare_messages([*messages, user("and now?")], profile=name, keep_last=keep)
    strict_server.SERVERS[name](sent)
    assert sent[-1]["content"].endswith("and now?")


@given(JUNK)
@settings(max_examples=100, deadline=None)
def test_a_conversation_that_is_none_is_an_empty_or_a_readable_one(junk: Any) -> None:
    assert isinstance(prepare_messages(junk), list)


@given(st.lists(MESSAGES, min_size=1, max_size=12), st.integers(0, 12))
@settings(max_examples=200, deadline=None)
def test_a_longer_history_begins_as_the_shorter_one_did(messages: list[Any], cut: int) -> None:
    shorter = prepare_messages([*messages[:cut], user("stop")])[:-1]
    answered = [m for m in messages[cut:] if not (isinstance(m, dict) and "tool_call_id" in m)]
    longer = prepare_messages([*messages[:cut], user("stop"), *answered])
    assert longer[: len(shorter)] == shorter
