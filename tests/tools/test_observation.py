"""Observations: one shape, always valid JSON within the limit, whatever a tool returned."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import itertools
import json
import os
import pathlib
import uuid
from collections import OrderedDict, UserDict, deque, namedtuple
from typing import Any

import pydantic
import pytest
import schema_strategies as made
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glassloop.tools.observation import clean, denied, error, ok, plain, unknown, with_note

UTC = datetime.timezone.utc
EXAMPLES = int(os.environ.get("GLASSLOOP_EXAMPLES", "200"))
many = settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def read(text: str, limit: int = 1000) -> dict[str, Any]:
    """Decode strictly: no NaN, no lone surrogates, not longer than the limit."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    assert len(text) <= limit
    text.encode("utf-8")
    shape = json.loads(text, parse_constant=refuse)
    if shape["status"] == "ok":
        assert shape.keys() <= {"status", "data", "note"}
    else:
        assert shape.keys() <= {"status", "reason", "hint", "note"}
    return shape


def data(value: Any, limit: int = 1000, **options: Any) -> Any:
    return read(clean(value, limit, **options), limit)["data"]


# -- fields ------------------------------------------------------------------------------------


def test_null_empty_private_and_debug_fields_go_and_business_fields_stay():
    given = {
        "id": 7, "name": "tea", "none": None, "text": "", "list": [], "object": {}, "_raw": 1, "debug_id": 2,
        "DEBUG": 3, "trace": 4, "trace_id": 5, "stock": 0, "sold": False, "rate": 0.0,
        "inner": {"_x": 1, "price": 2}, "hollow": {"_x": 1},
    }  # fmt: skip
    wanted = {"id": 7, "name": "tea", "stock": 0, "sold": False, "rate": 0.0, "inner": {"price": 2}}
    assert data(given) == wanted


def test_keep_and_drop_are_patterns():
    given = {"_id": "a", "trace_id": "b", "score": 1, "score_raw": 2, "note": None}
    assert data(given, keep=("_id", "note"), drop=("score_*",)) == {"_id": "a", "score": 1, "note": None}


def test_items_of_lists_stay_in_place():
    assert data([1, None, "", {"a": None}]) == [1, None, "", {}]


@pytest.mark.parametrize("value", [None, [], {}, "", 0, False])
def test_an_empty_result_is_a_result(value: Any):
    assert data(value) == value


# -- cutting -----------------------------------------------------------------------------------


def test_long_text_loses_its_middle_and_says_how_much():
    text = "begin " + "middle " * 1000 + "end"
    cut = data({"id": "x-1", "text": text}, 300)
    assert cut["id"] == "x-1" and cut["text"].startswith("begin ") and cut["text"].endswith("end")
    left_out = int(cut["text"].split("…")[1].split()[0].replace(",", ""))
    shown = sum(len(part) for part in (cut["text"].split(" … ")[0], cut["text"].split(" … ")[2]))
    assert left_out == len(text) - shown


def test_long_lists_keep_head_and_tail_with_a_count():
    cut = data([{"n": i} for i in range(1000)], 300)
    assert cut[0] == {"n": 0} and cut[-1] == {"n": 999}
    marks = [item for item in cut if isinstance(item, str)]
    assert len(marks) == 1 and int(marks[0].split()[1].replace(",", "")) == 1000 - (len(cut) - 1)


def test_the_room_is_used():
    assert len(clean("word " * 1000, 1000)) > 900
    assert len(clean(list(range(1000)), 1000)) > 900
    assert len(clean([{"name": f"n{i}", "note": "long " * 40} for i in range(50)])) > 800


def test_numbers_ids_and_short_texts_are_never_cut():
    row = {"order": 12345678901234567890, "id": str(uuid.UUID(int=2**127 + 5)), "hash": "f" * 64, "price": 1234.5678}
    cut = data({**row, "state": "waiting for the post", "log": "line of the log " * 500}, 500)
    assert {k: cut[k] for k in row} == row and cut["state"] == "waiting for the post"


def test_what_fits_is_not_cut():
    value = {"text": "x" * 900}
    assert data(value) == value


@pytest.mark.parametrize("limit", [60, 61, 75, 100, 200])
def test_small_limits(limit: int):
    rows = [{"id": i, "name": "n", "deep": {"a": [1, 2, {"b": "c" * 99}]}} for i in range(99)]
    for value in (
        rows,
        {f"field {i}": "text " * 9 for i in range(99)},
        "字" * 999,
        10**400,
        {"a" * 999: 1},
        "\x00" * 500,
    ):
        read(clean(value, limit), limit)
    read(error("理由" * 500, '"' * 500, limit), limit)


def test_a_limit_too_small_for_any_shape_is_read_as_sixty():
    assert len(clean("x" * 500, 5)) <= 60


def test_large_data_is_cut_without_walking_all_of_it():
    nested: Any = ["x"]
    for _ in range(30):
        nested = [nested, nested]
    for value in ({f"k{i}": i for i in range(50_000)}, [{"a": "y z" * 9}] * 20_000, nested, "ab " * 10**6):
        read(clean(value))  # `nested` unfolds into a thousand million leaves


# -- shapes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"error": "no such city"}, "no such city"),
        ({"ok": False, "error": {"message": "boom", "code": 4}}, "boom"),
        ({"success": False, "message": "boom"}, "boom"),
        ({"status": "error", "reason": "boom", "hint": "wait"}, "boom"),
        ({"status": "failed", "detail": "boom"}, "boom"),
        ({"error": "boom", "data": None, "trace": "…"}, "boom"),
        ({"ok": False, "error": "boom", "city": "Graz"}, 'boom {"city":"Graz"}'),
        (ValueError("boom"), "ValueError: boom"),
    ],
)
def test_what_only_means_an_error_takes_the_error_shape(value: Any, reason: str):
    shape = read(clean(value))
    assert shape["status"] == "error" and shape["reason"] == reason


@pytest.mark.parametrize(
    "value",
    [
        {"error": "one row was bad", "rows": [1]},
        {"message": "hello"},
        {"ok": True, "message": "sent"},
        {"error": False, "n": 1},
        {"status": "ok", "rows": 3},
        {"status": "open", "message": "still waiting"},
    ],
)
def test_what_means_more_is_data(value: Any):
    assert data(value) == value


def test_an_observation_is_not_wrapped_twice():
    once = clean({"rows": [1, 2]})
    assert clean(json.loads(once)) == once
    failed = error("why", "do this")
    assert clean(json.loads(failed)) == failed


def test_the_other_shapes():
    assert read(denied("not allowed", "ask")) == {"status": "denied", "reason": "not allowed", "hint": "ask"}
    assert read(unknown("began"))["status"] == "unknown"
    assert read(ok({"error": "x"})) == {"status": "ok", "data": {"error": "x"}}


def test_a_note_takes_its_room_from_the_data():
    noted = read(with_note(clean("word " * 500, 300), "answered before", 300), 300)
    assert noted["note"] == "answered before" and noted["data"].startswith("word")
    assert read(with_note(clean(None), "n"))["data"] is None
    assert "null" in read(with_note(clean("null " * 99, 100), "n", 100), 100)["data"]
    assert read(with_note(error("why " * 99, "how " * 99, 120), "seen", 120), 120)["status"] == "error"
    assert read(with_note("no JSON", "n")) == {"status": "ok", "data": "no JSON", "note": "n"}


# -- any Python object -----------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    made: datetime.date


class Model(pydantic.BaseModel):
    when: datetime.datetime
    price: decimal.Decimal


class Bare:
    pass


class Holder:
    def __init__(self) -> None:
        self.shown, self._hidden = 1, 2


class Rude:
    def __str__(self) -> str:
        raise RuntimeError("no")


class Surly(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("no")


Pair = namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (b"plain text", "plain text"),
        (bytearray(b"\xff\x00"), "<2 bytes, base64 /wA=>"),
        (datetime.datetime(2024, 5, 6, 7, 8, tzinfo=UTC), "2024-05-06T07:08:00+00:00"),
        (datetime.date(2024, 5, 6), "2024-05-06"),
        (datetime.timedelta(hours=1, minutes=30), "1:30:00"),
        (decimal.Decimal("12.50"), 12.5),
        (decimal.Decimal("7"), 7),
        (decimal.Decimal("0.1234567890123456789"), "0.1234567890123456789"),
        (decimal.Decimal("NaN"), "NaN"),
        (fractions.Fraction(1, 3), "1/3"),
        (Colour.RED, "red"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Point(1, datetime.date(2024, 1, 2)), {"x": 1, "made": "2024-01-02"}),
        (Pair(1, 2), {"left": 1, "right": 2}),
        ((1, (2,)), [1, [2]]),
        ({3, 1}, [1, 3]),
        (range(3), [0, 1, 2]),
        (deque([1]), [1]),
        (OrderedDict(a=1), {"a": 1}),
        (UserDict(a=1), {"a": 1}),
        ({1: "a", None: "b", (1, 2): "c", Colour.RED: "d"}, {"1": "a", "null": "b", "[1, 2]": "c", "red": "d"}),
        ((n for n in range(3)), [0, 1, 2]),
        ("half \ud83d", "half \ufffd"),
        ("pair \ud83d\ude00", "pair \U0001f600"),
        (Bare(), "<Bare>"),
        (Bare, "<class Bare>"),
        (len, "<function len>"),
        (Holder(), {"type": "Holder", "shown": 1}),
        (Rude(), "<Rude that cannot be shown: RuntimeError>"),
        (Surly(a=1), "<Surly that cannot be shown: RuntimeError>"),
        (KeyError("k"), "KeyError: 'k'"),
        (10**5000, "<integer of about 5,001 digits>"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_each_kind_of_object_comes_out_readable(value: Any, wanted: Any):
    assert plain(value) == wanted


def test_a_pydantic_model():
    assert plain(Model(when=datetime.datetime(2024, 1, 2, tzinfo=UTC), price=decimal.Decimal("1.5"))) == {
        "when": "2024-01-02T00:00:00+00:00",
        "price": 1.5,
    }


def test_an_image_is_described():
    assert plain(b"\x89PNG\r\n" + b"\x00" * 2000).startswith("<2,006 bytes, PNG image, sha256 ")


def test_an_endless_generator_ends():
    drawn = plain(itertools.count())
    assert len(drawn) == 1001 and drawn[-1] == "<more items were not drawn>"


def test_cycles_are_told():
    circle: list[Any] = [1]
    circle.append(circle)
    assert plain(circle) == [1, "<list that contains itself>"]
    holder = Holder()
    holder.shown = holder  # pyright: ignore
    assert "contains itself" in json.dumps(plain(holder))
    shared = [1]
    assert plain([shared, shared]) == [[1], [1]]


def test_depth_is_bounded():
    deep: Any = 1
    for _ in range(3000):
        deep = [deep]
    assert "nested too deep" in json.dumps(plain(deep))


def test_numpy_values():
    np = pytest.importorskip("numpy")
    assert plain([np.int64(4), np.float32(0.5), np.bool_(True), np.array([[1, 2]]), np.array(2)]) == [
        4,
        0.5,
        True,
        [[1, 2]],
        2,
    ]
    assert plain({"a": np.array([float("nan")]), "day": np.datetime64("2024-01-02")}) == {
        "a": ["NaN"],
        "day": "2024-01-02",
    }


def test_pandas_values():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"city": ["Graz", "Cork"], "when": pd.to_datetime(["2024-01-02", None]), "n": [1.5, None]})
    rows = plain(frame)
    assert rows == [
        {"city": "Graz", "when": "2024-01-02T00:00:00", "n": 1.5},
        {"city": "Cork", "when": "NaT", "n": "NaN"},
    ]
    assert plain(pd.Series([1, 2])) == [1, 2]
    assert plain(pd.Series({"a": 1})) == {"a": 1}


# -- properties --------------------------------------------------------------------------------------


@many
@given(made.values | made.wild_values, st.integers(60, 400))
def test_clean_is_always_valid_json_within_the_limit(value: Any, limit: int):
    read(clean(value, limit), limit)
    read(with_note(clean(value, limit), "noted", limit), limit)


@many
@given(st.recursive(st.text() | st.integers(), lambda i: st.lists(i) | st.dictionaries(st.text(), i), max_leaves=60))
def test_large_values_too(value: Any):
    for limit in (60, 120, 1000):
        read(clean([value] * 20, limit), limit)


@many
@given(st.text(), st.text(), st.integers(60, 200))
def test_errors_are_valid_json_within_the_limit(reason: str, hint: str, limit: int):
    assert read(error(reason, hint, limit), limit)["status"] == "error"


@many
@given(made.wild_values)
def test_plain_is_json(value: Any):
    json.dumps(plain(value), allow_nan=False).encode("utf-8")
    assert plain(plain(value)) == plain(value)
