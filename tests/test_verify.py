"""The verifier lets truthful answers pass untouched and names exactly what a lying answer made up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassloop.events import AnswerChecked
from glassloop.prompts import load
from glassloop.types import Message
from glassloop.verify import HonestVerifier, OffVerifier
from verify_cases import DOCS, GOOD, LIES, OSLO, TOOLS, Failed, assistant, state_of, user


@pytest.mark.parametrize(("question", "outcomes", "answer"), GOOD)
def test_a_truthful_answer_passes(question, outcomes, answer):
    verdict = HonestVerifier().check(answer, state_of(question, outcomes))
    assert verdict.ok, verdict.complaint


@pytest.mark.parametrize(("question", "outcomes", "answer", "named"), LIES)
def test_a_lie_is_named(question, outcomes, answer, named):
    verdict = HonestVerifier().check(answer, state_of(question, outcomes))
    assert not verdict.ok
    assert named in verdict.complaint
    assert verdict.reasons


def test_there_are_enough_runs_of_both_kinds_in_both_languages():
    han = [any("\u4e00" <= c <= "\u9fff" for c in case[0]) for case in GOOD]
    assert len(GOOD) >= 40
    assert min(sum(han), len(GOOD) - sum(han)) >= 15
    assert len(LIES) >= 30


def test_a_rejected_answer_does_not_become_knowledge():
    state = state_of("What's the weather in Oslo?", [OSLO])
    lie = "It is 12 °C in Oslo."
    verdict = HonestVerifier().check(lie, state)
    state.apply(AnswerChecked(answer=lie, verdict=verdict, corrected=True))
    assert not HonestVerifier().check(lie, state).ok


def test_earlier_turns_and_the_system_prompt_are_known():
    history = [user("My number is 4410."), assistant("Noted: 4410, and your room is B-217.")]
    state = state_of(
        "Weather in Oslo, my number and my room?", [OSLO], history=history, system="Support: call 555-0142."
    )
    answer = "Oslo: -4 °C. Your number is 4410, your room B-217. Support answers at 555-0142."
    assert HonestVerifier().check(answer, state).ok


def test_passages_put_before_the_question_are_known_and_may_be_cited():
    state = state_of("How long is the warranty?")
    state.messages.append(Message("user", "[1] The warranty lasts 30 months.", kind="knowledge"))
    assert HonestVerifier().check("The warranty lasts 30 months [1].", state).ok
    assert "18 months" in HonestVerifier().check("The warranty lasts 18 months [1].", state).complaint
    assert "[2]" in HonestVerifier().check("The warranty lasts 30 months [2].", state).complaint


def test_without_tools_and_results_figures_pass_and_deeds_do_not():
    state = state_of("How tall is the highest mountain?", tools=())
    assert HonestVerifier().check("It is 8,849 metres high.", state).ok
    assert not HonestVerifier().check("I have sent you the answer by mail.", state).ok


def test_a_failure_that_a_later_call_made_good_need_not_be_told():
    missed = ("weather_now", {"city": "Olso"}, Failed("no such town"))
    assert HonestVerifier().check("Oslo: -4 °C and snow.", state_of("Weather in Oslo?", [missed, OSLO])).ok


def test_a_tool_that_does_not_exist_need_not_be_told():
    ghost = ("teleport", {"to": "Oslo"}, Failed("There is no tool named teleport."))
    assert HonestVerifier().check("Oslo: -4 °C and snow.", state_of("Weather in Oslo?", [ghost, OSLO])).ok


def test_the_complaint_speaks_the_language_of_the_run():
    assert "回答" in HonestVerifier().check("成都现在31度。", state_of("成都现在多少度？", [OSLO])).complaint
    assert "answer" in HonestVerifier().check("It is 31 °C.", state_of("How warm is Oslo?", [OSLO])).complaint


def test_the_texts_of_both_languages_have_equal_keys():
    english, chinese = load("verify", "en"), load("verify", "zh")
    assert english.keys() == chinese.keys()
    assert all(english[k].keys() == chinese[k].keys() for k in english if isinstance(english[k], dict))


def test_off_lets_everything_pass():
    assert OffVerifier().check("", state_of("?", [OSLO])).ok


def test_markup_the_user_asked_about_may_be_answered():
    state = state_of("What does <tool_call> mean in a chat template?")
    assert HonestVerifier().check("<tool_call> opens a call the model wants to make.", state).ok


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.text(max_size=80), st.sampled_from([(), (OSLO,), (DOCS,)]))
def test_any_text_gets_a_verdict(answer, question, outcomes):
    verdict = HonestVerifier().check(answer, state_of(question, outcomes))
    assert verdict.ok == (not verdict.reasons) == (not verdict.complaint)


@settings(max_examples=100, deadline=None)
@given(st.integers(-(10**9), 10**9), st.integers(1, 5000))
def test_any_product_is_computed(a, b):
    state = state_of(f"What is {a}*{b}?", tools=TOOLS)
    assert HonestVerifier().check(f"It is {a * b:,}.", state).ok
    assert not HonestVerifier().check(f"It is {a * b + 3}.", state).ok


def test_made_up_amounts_are_found_in_a_long_run():
    rows = [{"id": f"R{n}", "amount": n * 17.5, "city": f"Town {n}"} for n in range(60)]
    outcomes = [("find_order", {"order_id": f"K{n}"}, rows) for n in range(50)]
    state = state_of("What is the total of all amounts?", outcomes)
    verdict = HonestVerifier().check("Amounts: " + ", ".join(f"{n * 13.37:.2f}" for n in range(40)), state)
    assert not verdict.ok and "40.11" in verdict.complaint


def test_a_bare_value_is_no_answer_where_several_tools_were_asked() -> None:
    from glassloop.verify.known import Known
    from glassloop.verify.whole import is_half, is_placeholder

    class Seen:
        def __init__(self, name: str) -> None:
            self.name = name

    known = Known.__new__(Known)
    known.results = [(None, Seen("a")), (None, Seen("b"))]  # type: ignore[list-item]
    assert is_half("1200", known)
    assert is_half('{"kilos": 9}', known)
    assert is_half("结果是 1200。", known) is False
    assert not is_half("It is 1200 and it fits.", known)
    known.results = known.results[:1]
    assert not is_half("1200", known)
    assert is_placeholder("<full sentences for the user>")
    assert not is_placeholder("a < b and b > c")
