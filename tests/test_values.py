# ruff: noqa: E501  -- one case a line reads better than ten
"""Values are found and compared however they are written, in both languages, in time linear in the text."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import pytest
from growth import cost
from hypothesis import given, settings
from hypothesis import strategies as st

from glassloop.values import Fact, convert, derivable, evaluate, expressions, facts_in, facts_in_data, same
from glassloop.values.numerals import chinese, english


def one(text: str) -> Fact:
    facts = [f for f in facts_in(text) if f.role == "figure"]
    assert len(facts) == 1, facts
    return facts[0]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1,234.5", Fraction("1234.5"), ""),
        ("4429058", 4429058, ""),
        ("1.2 million people", 1200000, ""),
        ("12.5%", Fraction("12.5"), "%"),
        ("12.5 percent", Fraction("12.5"), "%"),
        ("三十五度", 35, "°"),
        ("一万二千元", 12000, "CNY"),
        ("3万", 30000, ""),
        ("两百公里", 200, "km"),
        ("1.5亿", 150000000, ""),
        ("１２３", 123, ""),
        ("百分之六十二", 62, "%"),
        ("零下五度", -5, "°"),
        ("-5 °C", -5, "C"),
        ("5 degrees below zero", -5, "°"),
        ("$46", 46, "USD"),
        ("USD 46", 46, "USD"),
        ("46美元", 46, "USD"),
        ("16°C", 16, "C"),
        ("16 ℃", 16, "C"),
        ("16 degrees Celsius", 16, "C"),
        ("forty-five days", 45, "day"),
        ("three hundred and six kilometers", 306, "km"),
        ("3个月", 3, "month"),
        ("1.5e3", 1500, ""),
        (".5", Fraction(1, 2), ""),
    ],
)
def test_figures(text, value, unit):
    fact = one(text)
    assert (fact.kind, fact.value, fact.unit) == ("number", value, unit)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2025-03-01", (2025, 3, 1)),
        ("2025/3/1", (2025, 3, 1)),
        ("2025年3月1日", (2025, 3, 1)),
        ("二〇二五年三月一日", (2025, 3, 1)),
        ("March 1st 2025", (2025, 3, 1)),
        ("1 March 2025", (2025, 3, 1)),
        ("Mar 1, 2025", (2025, 3, 1)),
        ("3月1日", (None, 3, 1)),
        ("March 2025", (2025, 3, None)),
        ("14日", (None, None, 14)),
    ],
)
def test_dates(text, value):
    fact = one(text)
    assert (fact.kind, fact.value) == ("date", value)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("09:26", 566),
        ("9:26 PM", 1286),
        ("下午3点半", 930),
        ("上午9点26分", 566),
        ("3pm", 900),
        ("12 a.m.", 0),
        ("21:05:30", 1265),
    ],
)
def test_clock_times(text, minutes):
    fact = one(text)
    assert (fact.kind, fact.value) == ("time", minutes)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A1007", "a1007"),
        ("T-731", "t731"),
        ("00420", "00420"),
        ("ana@corp.example", "ana@corp.example"),
        ("https://x.example/a?b=1.", "https://x.example/a?b=1"),
        ("+86 138-0000-1111", "8613800001111"),
        ("10.0.12.7", "10.0.12.7"),
        ("3f9a2b77c1d0", "3f9a2b77c1d0"),
        ("0b4c1c9e-7a61-4a5e-9d7e-0d7a1c1e2f3a", "0b4c1c9e7a614a5e9d7e0d7a1c1e2f3a"),
    ],
)
def test_ids(text, value):
    fact = one(f"see {text} there")
    assert (fact.kind, fact.value) == ("id", value)


@pytest.mark.parametrize(
    "text",
    [
        "一次",
        "十分高兴",
        "千万别忘",
        "万一下雨",
        "two cities",
        "one of them",
        "the 3rd street",
        "第三步",
        "UTC+8",
        "24/7",
        "第一",
    ],
)
def test_words_that_only_look_like_figures(text):
    assert not [f for f in facts_in(text) if f.role == "figure"]


def test_quoted_names_and_places_are_kept():
    text = "他叫“王芳”, she 'Lin Wei'"
    assert [(f.value, text[f.start : f.end]) for f in facts_in(text)] == [("王芳", "“王芳”"), ("lin wei", "'Lin Wei'")]


def test_an_ambiguous_date_has_both_readings():
    fact = one("03/04/2025")
    assert {fact.value, *fact.parts} == {(2025, 3, 4), (2025, 4, 3)}
    assert same(one("2025-04-03"), fact)
    assert same(one("2025-03-04"), fact)


@pytest.mark.parametrize(
    ("claimed", "known"),
    [
        ("29", "29.0"), ("29", "29.4"), ("6.2", "6.21371"), ("6.21", "6.21371"), ("62%", "0.62"), ("0.62", "62 %"),
        ("4,429,058", "4429058"), ("三十五", "35"), ("4.4 million", "4429058"), ("about 4.4 million", "4429058"),
        ("March 14", "2031-03-14"), ("2025-03-01", "March 1st 2025"), ("9:26 AM", "09:26"), ("3 PM", "15:00"),
        ("5 below zero", "-5"), ("45 days", "45天"), ("13800001111", "13800001111"), ("T-731", "t731"),
    ],
)  # fmt: skip
def test_same_values_written_differently(claimed, known):
    assert any(same(a, b) for a in facts_in(claimed) for b in facts_in(known))


@pytest.mark.parametrize(
    ("claimed", "known"),
    [
        ("30", "29"), ("29", "29.6"), ("6.3", "6.21371"), ("16 °F", "16 °C"), ("46 EUR", "46 USD"), ("9:26 PM", "9:26 AM"),
        ("March 15", "2031-03-14"), ("7 weeks", "7 days"), ("A1007", "A1008"), ("4429158", "4429058"), ("-5", "5"),
    ],
)  # fmt: skip
def test_different_values(claimed, known):
    assert not any(same(a, b) for a in facts_in(claimed) for b in facts_in(known))


def test_data_gives_units_lengths_and_values_in_texts():
    data = {
        "temp_c": 16,
        "when": "2031-03-14 09:26",
        "items": [{"n": Decimal("1.50")}, {"n": 2}],
        "ok": True,
        "none": None,
    }
    facts = facts_in_data(data | {"day": dt.date(2030, 1, 2), "nan": float("nan")})
    assert ("number", 16, "C") in {(f.kind, f.value, f.unit) for f in facts}
    assert {(2031, 3, 14), (2030, 1, 2)} <= {f.value for f in facts if f.kind == "date"}
    assert [f.value for f in facts if f.role == "count"] == [2]
    assert Fraction(3, 2) in {f.value for f in facts}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4783*926", 4429058), ("(1+2)^3", 27), ("2**10", 1024), ("15% * 240", 36), ("7 / 2", Fraction(7, 2)), ("3 × $46", 138),
        ("83乘以417", 34611), ("12 plus 30", 42), ("-3 * -4", 12), ("1,000 ÷ 8", 125), ("2^99999", None), ("1/0", None), ("x + 1", None),
        ("", None), ("(((1", None),
    ],
)  # fmt: skip
def test_expressions_are_computed_exactly(text, value):
    assert evaluate(text) == value


def test_expressions_are_found_in_sentences():
    text = "What is 12 + 30, and (2+3)*4 = 20? On 5 May."
    assert [(text[a:b].strip(), v) for a, b, v in expressions(text)] == [("12 + 30", 42), ("(2+3)*4", 20)]


@pytest.mark.parametrize(
    ("claimed", "known"),
    [
        ("100", "12 7 31 50"), ("25", "12, 7, 31 and 50"), ("138", "46 and 3"), ("9", "7 16"), ("66 °F", "19 °C"), ("3.1 miles", "5 km"),
        ("38%", "100 then 138"), ("90 minutes", "1.5 hours"), ("41.84 km", "26 miles"), ("22.05 lb", "10 kg"), ("36", "15% 240"),
    ],
)  # fmt: skip
def test_simple_arithmetic_follows(claimed, known):
    assert derivable(one(claimed), facts_in(known), 1)


@pytest.mark.parametrize(
    ("claimed", "known"), [("101", "12 7 31 50"), ("42", "7 18 16"), ("70 °F", "19 °C"), ("31 °C", "16 3 20 %")]
)
def test_chance_does_not_follow(claimed, known):
    assert not derivable(one(claimed), facts_in(known), 1)


def test_two_operations_need_depth():
    known = facts_in("4 pieces, 85 each, 25 postage")
    assert not derivable(365, known, 1)
    assert derivable(365, known, 2)


def test_conversions_go_both_ways():
    assert convert(100, "C", "F") == 212
    assert convert(212, "F", "C") == 100
    assert convert(1, "kg", "km") is None


@given(st.integers(0, 10**12))
def test_thousands_separators_change_nothing(n):
    assert one(f"{n:,}").value == one(str(n)).value == n


@given(st.integers(0, 99_999_999))
def test_chinese_numerals_round_trip(n):
    assert chinese(_han(n)) == n


def _han(n: int) -> str:
    digits = "零一二三四五六七八九"
    if n >= 10_000:
        rest = n % 10_000
        return _han(n // 10_000) + "万" + (("零" if rest < 1000 else "") + _han(rest) if rest else "")
    for size, name in ((1000, "千"), (100, "百"), (10, "十")):
        if n >= size:
            rest = n % size
            return digits[n // size] + name + (("零" if rest < size // 10 else "") + _han(rest) if rest else "")
    return digits[n]


@pytest.mark.parametrize(
    ("text", "value"), [("twenty-one", 21), ("two hundred and six", 206), ("one million", 10**6), ("and", None)]
)
def test_english_numerals(text, value):
    assert english(text) == value


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read_and_places_are_true(text):
    for fact in facts_in(text):
        assert 0 <= fact.start < fact.end <= len(text)
    for start, end, _ in expressions(text):
        assert 0 <= start < end <= len(text)
    evaluate(text)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="0123456789.,-+*/()%$ 年月日点一二十百千万AaPpMm:°Cthree", max_size=200))
def test_dense_text_is_read(text):
    facts = facts_in(text)
    assert all(same(f, f) for f in facts if f.kind != "date" or f.value)
    derivable(12, facts, 2)


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(json_like)
def test_any_data_is_read(data):
    facts_in_data(data)


@pytest.mark.parametrize(
    "unit", ["{", "9", "a1-", "1,", "三", "March ", "'a", "two hundred ", "a@", "1:", "一点", "- 1 ", "( 1 + "]
)
def test_reading_is_linear(unit):
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        return cost(lambda: (facts_in(text), expressions(text)), times=3)

    # Eight times the text: linear is 8, quadratic 64. Below some milliseconds the clock says nothing.
    small, large = seconds(12_500), seconds(100_000)
    assert large < 30 * max(small, 0.005), (small, large)
