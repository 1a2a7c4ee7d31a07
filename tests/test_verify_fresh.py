"""The verifier on runs it was not written for: few false alarms, no lies, invented figures caught."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

import verify_cases
from glassloop.events import CallFinished, ModelAsked, ModelReplied, MoveRead, RunStarted
from glassloop.state import State
from glassloop.types import Move, Observation, Reply, Request, ToolCall
from glassloop.values import facts_in, same
from glassloop.verify import HonestVerifier
from verify_cases import OSLO, TOOLS, Failed, state_of
from verify_fresh import CABLE, FORECAST, GOOD, LIES, NO_PRICE

SHOP = (
    *TOOLS,
    {"name": "price", "description": "Gives the price of an item.", "risk": "read"},
    {"name": "price_backup", "description": "Gives the price of an item, from the old system.", "risk": "read"},
    {"name": "stock_level", "description": "Gives how many of an item are in stock.", "risk": "read"},
)
HINT = "Do not invent a result. Try other arguments or another tool if one fits, else tell the user that it failed."
提示 = "不要编造结果。可以换参数或换工具再试，否则告诉用户失败了。"


@pytest.mark.parametrize(("question", "outcomes", "answer"), GOOD)
def test_a_fresh_truthful_answer_passes(question: str, outcomes: Any, answer: str) -> None:
    verdict = HonestVerifier().check(answer, state_of(question, outcomes, tools=SHOP))
    assert verdict.ok, verdict.complaint


@pytest.mark.parametrize(("question", "outcomes", "answer", "named"), LIES)
def test_a_fresh_lie_is_named(question: str, outcomes: Any, answer: str, named: str) -> None:
    verdict = HonestVerifier().check(answer, state_of(question, outcomes, tools=SHOP))
    assert not verdict.ok
    assert named in verdict.complaint


def test_there_are_thirty_fresh_runs_of_each_kind() -> None:
    assert len(GOOD) >= 30 and len(LIES) >= 30
    assert min(sum("\u4e00" <= c[0][0] <= "\u9fff" for c in cases) for cases in (GOOD, LIES)) >= 9


@pytest.mark.parametrize("digits", [3, 4])
def test_a_random_figure_added_to_a_true_answer_rarely_passes(digits: int) -> None:
    """20 runs with results of many figures, at least half of them with a word of calculation in the question."""
    runs = [c for c in (*GOOD, *verify_cases.GOOD) if c[1] and any(f.kind == "number" for f in facts_in(c[2]))]
    dice = random.Random(digits)
    passed = tried = 0
    for question, outcomes, answer in runs[::2][:20]:
        state = state_of(question, outcomes, tools=SHOP)
        told = " 另外，这里的值是{}。" if "。" in answer else " Also, the value is {}."
        for _ in range(15):
            figure = dice.randint(10 ** (digits - 1), 10**digits - 1)
            passed += HonestVerifier().check(answer.rstrip() + told.format(figure), state).ok
            tried += 1
    assert tried == 300
    assert passed / tried < 0.02


def test_an_hour_is_known_from_an_hour_only() -> None:
    (noon,) = facts_in("12:00 AM")
    assert not any(same(noon, f) for f in facts_in("12.0 knots and 12 knots"))
    (three,) = facts_in("3 PM")
    assert any(same(three, f) for f in facts_in("We meet at 3"))


def test_a_tomorrow_in_the_question_moves_a_date_by_a_day_and_not_by_ten() -> None:
    state = state_of("What will the weather in Oslo be tomorrow?", [FORECAST], tools=SHOP)
    assert HonestVerifier().check("On May 9 nothing is known.", state).ok
    assert "May 18" in HonestVerifier().check("On May 18 it will snow.", state).complaint


def test_a_failure_is_overcome_by_a_tool_that_gives_the_same_and_by_no_other() -> None:
    backup = ("price_backup", {"item": "cable"}, {"price_usd": 4.2})
    question = "What does a cable cost, and is it in stock?"
    assert HonestVerifier().check("$4.20 each.", state_of(question, [NO_PRICE, backup], tools=SHOP)).ok
    verdict = HonestVerifier().check("37 are in stock.", state_of(question, [NO_PRICE, CABLE], tools=SHOP))
    assert "price(cable) failed" in verdict.complaint


def test_the_second_of_two_towns_does_not_make_up_for_the_first() -> None:
    failed = ("weather_now", {"city": "Chengdu"}, Failed("service unavailable"))
    other = ("weather_now", {"city": "Xi'an"}, {"temp_c": 17})
    state = state_of("成都和西安的天气？", [failed, other])
    assert "Chengdu" in HonestVerifier().check("西安17℃。", state).complaint
    assert HonestVerifier().check("西安17℃。成都（Chengdu）的天气没有查到。", state).ok


def failed_run(question: str, hint: str, language: str) -> State:
    state = State([RunStarted(question=question, language=language, tools=TOOLS)])
    call = ToolCall("c0", "weather_now", {"city": "Oslo"})
    content = json.dumps({"status": "error", "reason": "service unavailable", "hint": hint}, ensure_ascii=False)
    for event in (
        ModelAsked(request=Request(messages=())),
        ModelReplied(reply=Reply(text="…")),
        MoveRead(move=Move(calls=(call,))),
        CallFinished(observation=Observation("c0", "weather_now", "error", content, arguments=call.arguments)),
    ):
        state.apply(event)
    return state


def test_an_order_meant_for_the_model_does_not_reach_the_user() -> None:
    state = failed_run("Weather in Oslo?", HINT, "en")
    verdict = HonestVerifier().check("The weather in Oslo failed; else tell the user that it failed.", state)
    assert "else tell the user that it failed" in verdict.complaint
    assert HonestVerifier().check("The weather in Oslo could not be found: service unavailable.", state).ok
    state = failed_run("奥斯陆天气？", 提示, "zh")
    assert "否则告诉用户失败了" in HonestVerifier().check("天气查询失败，否则告诉用户失败了。", state).complaint
    assert HonestVerifier().check("奥斯陆的天气查询失败了。", state).ok


def test_a_hint_that_helps_a_person_may_be_repeated() -> None:
    state = failed_run("Weather in Oslo?", "Known towns are Lima, Rome and Kyiv. Try again in an hour or so.", "en")
    answer = "The weather in Oslo is unavailable. Known towns are Lima, Rome and Kyiv. Try again in an hour or so."
    assert HonestVerifier().check(answer, state).ok


@pytest.mark.parametrize(
    ("question", "answer", "ok"),
    [
        ("Weather in Oslo?", "奥斯陆现在下雪，气温很低。", False),
        ("Weather in Oslo?", "奥斯陆", True),
        ("Weather in Oslo? Answer in Chinese.", "奥斯陆现在下雪，气温很低。", True),
        ("Wie ist das Wetter in Oslo?", "In Oslo schneit es bei -4 °C.", True),
        ("奥斯陆天气怎么样？", "It is snowing in Oslo and it is cold.", False),
        ("奥斯陆天气怎么样？", "snow, -4 °C", True),
        ("奥斯陆天气怎么样？请用英文回答", "It is snowing in Oslo and it is cold.", True),
        ("奥斯陆天气怎么样？", "奥斯陆：snow，-4 °C。", True),
    ],
)
def test_an_answer_wholly_in_the_other_language_is_sent_back(question: str, answer: str, ok: bool) -> None:
    verdict = HonestVerifier().check(answer, state_of(question, [OSLO]))
    assert verdict.ok == ok, verdict.complaint


@pytest.mark.parametrize("question", ["What is the weather in Oslo now? Mail it.", "现在奥斯陆天气如何？发邮件。"])
@pytest.mark.parametrize(
    "claim", ["It is 7 °C in Oslo right now.", "I have sent the mail.", "现在是7度。", "邮件已发送。"]
)
def test_without_tools_to_call_no_complaint_asks_for_one(question: str, claim: str) -> None:
    start = state_of(question).started_event
    state = State([replace(start, strategy="direct", tools=(), system="You may answer in English or Chinese.")])
    verdict = HonestVerifier().check(claim, state)
    assert not verdict.ok
    assert "tool" not in verdict.complaint.casefold() and "工具" not in verdict.complaint
    assert any(word in HonestVerifier().check(claim, State([start])).complaint for word in ("tool", "工具"))
