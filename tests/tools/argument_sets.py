"""Two hundred sets of arguments of our own: right, repairable and hopeless, and what three libraries make of them.

`python tests/tools/argument_sets.py` prints the table of docs/casting.md; the tests hold it to its figures.
Each set is (tool, arguments, what it should become); `None` as the outcome means that it cannot be saved.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any, Literal

import jsonschema
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from glassloop.tools.outline import same
from glassloop.tools.schema import cast


class Search(BaseModel):
    query: str
    limit: int = Field(10, ge=1, le=50)
    sort: Literal["date", "relevance", "most_read"] = "relevance"
    languages: list[str] = []
    since: datetime.date | None = None
    exact: bool = False


class Average(BaseModel):
    values: list[int]
    factor: float = 1.0
    round_to: int | None = None


class Book(BaseModel):
    city: str
    day: datetime.date
    at: datetime.time | None = None
    guests: int = Field(ge=1, le=12)
    window: bool = False
    code: str | None = Field(None, pattern=r"^[A-Z]{2}-\d{3}$")


class Remind(BaseModel):
    text: str = Field(min_length=1)
    due: datetime.datetime
    repeat: Literal["never", "daily", "weekly"] = "never"
    priority: Literal[1, 2, 3] = 2


class Weather(BaseModel):
    城市: str
    天数: int = Field(1, ge=1, le=7)
    单位: Literal["摄氏", "华氏"] = "摄氏"
    逐时: bool = False


class Card(BaseModel):
    title: str
    status: Literal["todo", "doing", "finished"]
    points: int = 1
    due: datetime.date | None = None
    tags: list[str] = []


class Column(BaseModel):
    name: str
    cards: list[Card]


class Board(BaseModel):
    title: str
    columns: list[Column]
    archived: bool = False


class Address(BaseModel):
    street: str
    postcode: str
    floor: int | None = None


class Customer(BaseModel):
    name: str
    address: Address
    vip: bool = False


class Order(BaseModel):
    model_config = ConfigDict(extra="ignore")
    customer: Customer
    articles: list[str] = Field(min_length=1)
    total: float = Field(gt=0)
    currency: Literal["EUR", "USD", "CNY"] = "EUR"


class Node(BaseModel):
    name: str
    weight: float = 1.0
    children: list[Node] = []


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float = Field(gt=0)


class Box(BaseModel):
    kind: Literal["box"]
    width: float
    height: float


class Draw(BaseModel):
    shape: Circle | Box
    colour: str = "black"
    layers: dict[str, int] = {}


Set = tuple[type[BaseModel], Any, Any]


@dataclass
class Sets:
    """The sets by kind."""

    right: list[Set] = field(default_factory=list)
    repairable: list[Set] = field(default_factory=list)
    hopeless: list[Set] = field(default_factory=list)

    def all(self) -> list[tuple[str, Set]]:
        """Every set with its kind."""
        return [(k, s) for k in ("right", "repairable", "hopeless") for s in getattr(self, k)]


def card(**changes: Any) -> dict[str, Any]:
    """A right card with changes."""
    return {"title": "water the ferns", "status": "todo", **changes}


def board(*cards: Any, **changes: Any) -> dict[str, Any]:
    """A board with one column of cards: three levels deep."""
    return {"title": "Garden", "columns": [{"name": "this week", "cards": list(cards)}], **changes}


def order(address: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """An order whose address lies three levels deep."""
    place = {"street": "Mill Lane 4", "postcode": "04109", **(address or {})}
    return {"customer": {"name": "Ada", "address": place}, "articles": ["kettle"], "total": 31.5, **changes}


def node(*children: Any, **changes: Any) -> dict[str, Any]:
    """A node of a tree."""
    return {"name": "root", "children": list(children), **changes}


def book(**changes: Any) -> dict[str, Any]:
    """A right booking with changes; `...` leaves a field out."""
    whole = {"city": "Turin", "day": "2025-06-21", "guests": 2, **changes}
    return {k: v for k, v in whole.items() if v is not ...}


def remind(**changes: Any) -> dict[str, Any]:
    """A right reminder with changes."""
    whole = {"text": "call the baker", "due": "2025-11-07T10:00:00", **changes}
    return {k: v for k, v in whole.items() if v is not ...}


def _right() -> list[Set]:
    searches: list[dict[str, Any]] = [
        {"query": "owl"},
        {"query": "5"},
        {"query": "null"},
        {"query": "true", "exact": True},
        {"query": "", "limit": 1},
        {"query": "a, b, c"},
        {"query": "[1, 2]"},
        {"query": '{"x": 1}'},
        {"query": " spaced ", "limit": 50},
        {"query": "猫头鹰", "languages": ["中文", "英文"]},
        {"query": "１２", "sort": "date"},
        {"query": "x", "since": None},
        {"query": "x", "since": "2025-02-28"},
        {"query": "x", "languages": []},
        {"query": "x", "languages": ["a, b", "null", ""]},
        {"query": '"quoted"', "exact": False},
        {"query": "x", "sort": "most_read", "limit": 7, "exact": True},
        {"query": "\u00e9t\u00e9\n", "languages": ["fr"]},
    ]
    averages: list[dict[str, Any]] = [
        {"values": []},
        {"values": [0]},
        {"values": [-4, 9]},
        {"values": [1, 2], "factor": 2},
        {"values": [1], "factor": 0.5},
        {"values": [1], "round_to": None},
        {"values": [10**15], "round_to": 0},
    ]
    books = [book(), book(window=True), book(at="09:30:00"), book(at=None), book(code="AB-123"), book(guests=12)]
    reminds = [
        remind(),
        remind(repeat="daily"),
        remind(priority=3),
        remind(due="2025-11-07T10:00:00Z"),
        remind(text="0"),
    ]
    weathers: list[dict[str, Any]] = [
        {"城市": "上海"},
        {"城市": "上海", "天数": 3, "单位": "华氏"},
        {"城市": "是", "逐时": True},
    ]
    boards = [
        board(card()),
        board(card(points=0), card(status="finished", tags=["a", "b"])),
        board(card(due="2025-01-31"), archived=True),
        board(card(due=None, title="null")),
        board(),
    ]
    orders = [
        order(),
        order({"floor": 0}),
        order({"floor": None}),
        order({"postcode": "00000"}, currency="CNY"),
        order(total=1),
    ]
    nodes = [node(), node(node(node(name="leaf", weight=0.25))), node(node(name="5"), node(name="true"))]
    draws: list[dict[str, Any]] = [
        {"shape": {"kind": "circle", "radius": 2.5}},
        {"shape": {"kind": "box", "width": 1, "height": 2.0}, "colour": "red"},
        {"shape": {"kind": "circle", "radius": 1}, "layers": {"any name": 3, "limit": 0}},
        {"shape": {"kind": "box", "width": -1, "height": 0}, "layers": {}},
    ]
    rows: list[tuple[type[BaseModel], list[Any]]] = [
        (Search, searches),
        (Average, averages),
        (Book, books),
        (Remind, reminds),
        (Weather, weathers),
        (Board, boards),
        (Order, orders),
        (Node, nodes),
        (Draw, draws),
    ]
    return [(model, given, given) for model, many in rows for given in many]


def _repairable() -> list[Set]:
    s, a, b, r = Search, Average, Book, Remind
    x = {"query": "x"}
    return [
        (s, {**x, "limit": "5"}, {**x, "limit": 5}),
        (s, {**x, "limit": " 5 "}, {**x, "limit": 5}),
        (s, {**x, "limit": 5.0}, {**x, "limit": 5}),
        (s, {**x, "limit": "5.0"}, {**x, "limit": 5}),
        (s, {**x, "limit": "１２"}, {**x, "limit": 12}),
        (s, {**x, "limit": '"7"'}, {**x, "limit": 7}),
        (s, {**x, "limit": "None"}, x),
        (s, {**x, "limit": None}, x),
        (s, {**x, "limit": ""}, x),
        (s, {**x, "sort": "DATE"}, {**x, "sort": "date"}),
        (s, {**x, "sort": '"date"'}, {**x, "sort": "date"}),
        (s, {**x, "sort": "Most read"}, {**x, "sort": "most_read"}),
        (s, {**x, "sort": "most-read"}, {**x, "sort": "most_read"}),
        (s, {**x, "sort": "relevence"}, {**x, "sort": "relevance"}),
        (s, {**x, "sort": "ｄａｔｅ"}, {**x, "sort": "date"}),
        (s, {**x, "languages": "en"}, {**x, "languages": ["en"]}),
        (s, {**x, "languages": "en, de"}, {**x, "languages": ["en", "de"]}),
        (s, {**x, "languages": "中文、英文"}, {**x, "languages": ["中文", "英文"]}),
        (s, {**x, "languages": '["en", "de"]'}, {**x, "languages": ["en", "de"]}),
        (s, {**x, "languages": "['en', 'de']"}, {**x, "languages": ["en", "de"]}),
        (s, {**x, "languages": "[]"}, {**x, "languages": []}),
        (s, {**x, "languages": ""}, x),
        (s, {**x, "since": "2025/3/1"}, {**x, "since": "2025-03-01"}),
        (s, {**x, "since": "2025年3月1日"}, {**x, "since": "2025-03-01"}),
        (s, {**x, "since": "March 1st, 2025"}, {**x, "since": "2025-03-01"}),
        (s, {**x, "since": "1 Mar 2025"}, {**x, "since": "2025-03-01"}),
        (s, {**x, "since": "20250301"}, {**x, "since": "2025-03-01"}),
        (s, {**x, "since": "null"}, {**x, "since": None}),
        (s, {**x, "exact": "true"}, {**x, "exact": True}),
        (s, {**x, "exact": "No"}, {**x, "exact": False}),
        (s, {**x, "exact": "是"}, {**x, "exact": True}),
        (s, {**x, "exact": "否"}, {**x, "exact": False}),
        (s, {**x, "exact": 1}, {**x, "exact": True}),
        (s, {**x, "exact": "0"}, {**x, "exact": False}),
        (s, {**x, "page": 2}, x),
        (s, {"Query": "x"}, x),
        (s, {"qurey": "x"}, x),
        (s, {"arguments": {"query": "x", "limit": "3"}}, {**x, "limit": 3}),
        (s, {"name": "search", "parameters": {"query": "x"}}, x),
        (s, {"type": "object", "properties": {"query": "x"}, "required": ["query"]}, x),
        (s, '{"query": "x"}', x),
        (s, {"query": 42}, {"query": "42"}),
        (s, {"query": {"query": "x"}}, x),
        (s, {"query": {"type": "string", "value": "x"}}, x),
        (a, {"values": "[4, 9]"}, {"values": [4, 9]}),
        (a, {"values": "4, 9"}, {"values": [4, 9]}),
        (a, {"values": ["4", " 9"]}, {"values": [4, 9]}),
        (a, {"values": 4}, {"values": [4]}),
        (a, {"values": "4"}, {"values": [4]}),
        (a, {"values": [4.0, 9]}, {"values": [4, 9]}),
        (a, {"values": ["1,200"]}, {"values": [1200]}),
        (a, {"values": [1], "factor": "75.5"}, {"values": [1], "factor": 75.5}),
        (a, {"values": [1], "factor": "1,234.5"}, {"values": [1], "factor": 1234.5}),
        (a, {"values": [1], "factor": "－３"}, {"values": [1], "factor": -3}),
        (a, {"values": [1], "round_to": "2"}, {"values": [1], "round_to": 2}),
        (a, {"values": [1], "round_to": "none"}, {"values": [1], "round_to": None}),
        (a, {"values": [1], "roundTo": 2}, {"values": [1], "round_to": 2}),
        (b, book(day="06/21/2025"), book()),
        (b, book(day="21.06.2025"), book()),
        (b, book(day="2025-6-21"), book()),
        (b, book(day="2025-06-21T00:00:00"), book()),
        (b, book(at="9:30"), book(at="09:30:00")),
        (b, book(at="9:30 PM"), book(at="21:30:00")),
        (b, book(at="下午3点半"), book(at="15:30:00")),
        (b, book(guests="2", window="yes"), book(window=True)),
        (b, book(code=" AB-123 "), book(code="AB-123")),
        (b, book(code="ＡＢ-１２３"), book(code="AB-123")),
        (b, book(code='"AB-123"'), book(code="AB-123")),
        (b, book(guest=2, guests=...), book()),
        (r, remind(due="2025-11-07 10:00"), remind()),
        (r, remind(due="2025/11/07 10:00:00"), remind()),
        (r, remind(due="2025年11月7日 10:00"), remind()),
        (r, remind(due="Nov 7, 2025 10:00 AM"), remind()),
        (r, remind(due="2025-11-07T10:00"), remind()),
        (r, remind(priority="2"), remind(priority=2)),
        (r, remind(repeat="Weekly"), remind(repeat="weekly")),
        (r, remind(repeat="dayly"), remind(repeat="daily")),
        (Weather, {"城市": "上海", "天数": "３"}, {"城市": "上海", "天数": 3}),
        (Weather, {"城市": "上海", "单位": "「摄氏」"}, {"城市": "上海", "单位": "摄氏"}),
        (Weather, {"参数": {"城市": "上海"}}, {"城市": "上海"}),
        (Weather, {"城市": "上海", "逐时": "不是"}, {"城市": "上海", "逐时": False}),
        (Board, board('{"title": "water the ferns", "status": "todo"}'), board(card())),
        (Board, board(card(points="3")), board(card(points=3))),
        (Board, board(card(status="Finished")), board(card(status="finished"))),
        (Board, board(card(tags="home, garden")), board(card(tags=["home", "garden"]))),
        (Board, board(card(due="2025年5月6日", points=2.0)), board(card(due="2025-05-06", points=2))),
        (Board, board(card(due="None"), archived="false"), board(card(due=None), archived=False)),
        (Board, {"title": "Garden", "columns": {"name": "this week", "cards": card()}}, board(card())),
        (Board, {"title": "Garden", "columns": '[{"name": "this week", "cards": []}]'}, board()),
        (Board, board(card(colour="red")), board(card())),
        (Order, order({"floor": "3"}), order({"floor": 3})),
        (Order, order({"postcode": 4109}), order({"postcode": "4109"})),
        (Order, order({"floor": ""}), order({"floor": None})),
        (Order, order(total="31.5", articles="kettle"), order()),
        (Order, order(articles="kettle, cup", currency="eur"), order(articles=["kettle", "cup"], currency="EUR")),
        (Order, {"order": order()}, order()),
        (Node, node(node(weight="2", children="[]")), node(node(weight=2))),
        (Node, node(node(node(name="leaf", weight="0.5"))), node(node(node(name="leaf", weight=0.5)))),
        (Node, node(children=node(name="leaf")), node(node(name="leaf"))),
        (Draw, {"shape": '{"kind": "circle", "radius": 2}'}, {"shape": {"kind": "circle", "radius": 2}}),
        (Draw, {"shape": {"kind": "Circle", "radius": "2"}}, {"shape": {"kind": "circle", "radius": 2}}),
        (
            Draw,
            {"shape": {"kind": "box", "width": "1", "height": 2}, "layers": {"top": "3"}},
            {"shape": {"kind": "box", "width": 1, "height": 2}, "layers": {"top": 3}},
        ),
    ]


def _hopeless() -> list[Set]:
    x = {"query": "x"}
    rows: list[tuple[type[BaseModel], Any]] = [
        (Search, {}),
        (Search, {"text": "x"}),
        (Search, "look for x"),
        (Search, [1, 2]),
        (Search, 5),
        (Search, {"query": ["x", "y"]}),
        (Search, {"query": {"description": "what to look for", "type": "string"}}),
        (Search, {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}),
        (Search, {"query": None}),
        (Search, {**x, "limit": "many"}),
        (Search, {**x, "limit": 10.5}),
        (Search, {**x, "limit": "10.5"}),
        (Search, {**x, "limit": 0}),
        (Search, {**x, "limit": "51"}),
        (Search, {**x, "limit": "5 rows"}),
        (Search, {**x, "limit": True}),
        (Search, {**x, "sort": "newest"}),
        (Search, {**x, "sort": 3}),
        (Search, {**x, "since": "03/04/2025"}),
        (Search, {**x, "since": "yesterday"}),
        (Search, {**x, "since": "2025-02-30"}),
        (Search, {**x, "since": 1700000000}),
        (Search, {**x, "exact": "maybe"}),
        (Search, {**x, "exact": {}}),
        (Search, {**x, "exact": 2}),
        (Search, {**x, "exact": []}),
        (Average, {"values": "four and nine"}),
        (Average, {"values": "1,200"}),
        (Average, {"values": [1, "two"]}),
        (Average, {"values": [1.5]}),
        (Average, {"values": {"a": 1}}),
        (Average, {"values": "[1, 2"}),
        (Average, {"values": [1], "factor": "NaN"}),
        (Average, {"values": [1], "factor": "1.2.3"}),
        (Average, {"values": [True]}),
        (Book, book(guests="two and a half")),
        (Book, book(guests=13)),
        (Book, book(day="2025-06-21T18:30:00")),
        (Book, book(day=...)),
        (Book, book(code="AB123")),
        (Remind, remind(due="2025-11-07")),
        (Remind, remind(text="")),
        (Remind, remind(priority=4)),
        (Remind, remind(repeat="dayly and weekly")),
        (Weather, {"城市": "上海", "单位": "开氏"}),
        (Weather, {"地点": "上海"}),
        (Board, board(card(status="paused"))),
        (Board, board({"title": "no status"})),
        (Board, board(card(points="lots"), card())),
        (Board, board("water the ferns")),
        (Board, board(card(due="05/06/2025"))),
        (Order, order({"floor": "ground"})),
        (Order, order({"postcode": {"code": 1}})),
        (Order, order(articles=[])),
        (Order, order(total=0)),
        (Node, node(node(node(name=None)))),
        (Node, node(node(node(name="leaf", weight="heavy")))),
        (Draw, {"shape": {"kind": "circle", "width": 1}}),
        (Draw, {"shape": {"kind": "star", "radius": 1}}),
        (Draw, {"shape": {"kind": "circle", "radius": 1}, "layers": {"top": "first"}}),
    ]
    return [(model, given, None) for model, given in rows]


def sets() -> Sets:
    """All sets."""
    return Sets(_right(), _repairable(), _hopeless())


def nested_three_deep(arguments: Any) -> bool:
    """Whether objects or lists lie in three further levels."""

    def depth(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    return depth(arguments) > 3 or (isinstance(arguments, dict) and depth(arguments) == 3 and "customer" in arguments)


_SCHEMAS: dict[type[BaseModel], dict[str, Any]] = {}


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON Schema."""
    return _SCHEMAS.setdefault(model, model.model_json_schema())


Outcome = tuple[bool, Any]


def by_glassloop(model: type[BaseModel], given: Any) -> Outcome:
    """Cast with us."""
    result = cast(schema_of(model), given)
    return result.ok, result.value


def by_pydantic(model: type[BaseModel], given: Any) -> Outcome:
    """Validate in pydantic's lax mode: from JSON, or as JSON text when text was given."""
    try:
        made = model.model_validate_json(given) if isinstance(given, str) else model.model_validate(given)
    except ValidationError:
        return False, None
    return True, made.model_dump(mode="json")


def by_jsonschema(model: type[BaseModel], given: Any) -> Outcome:
    """Validate with jsonschema, which casts nothing; formats are checked."""
    schema = schema_of(model)
    checker = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    return checker.is_valid(given), given


LIBRARIES = {"glassloop": by_glassloop, "pydantic (lax)": by_pydantic, "jsonschema": by_jsonschema}


def as_wanted(model: type[BaseModel], outcome: Any, wanted: Any) -> bool:
    """Whether an outcome says what is wanted, defaults aside: both are completed by the model and compared."""
    try:
        ours = model.model_validate(outcome).model_dump(mode="json")
        theirs = model.model_validate(wanted).model_dump(mode="json")
    except ValidationError:
        return False
    return same(ours, theirs)


def unchanged(outcome: Any, given: Any) -> bool:
    """Whether all that was given is still there as it was; only defaults may have come."""
    if isinstance(given, dict):
        return isinstance(outcome, dict) and all(k in outcome and unchanged(outcome[k], v) for k, v in given.items())
    if isinstance(given, list):
        return isinstance(outcome, list) and len(outcome) == len(given) and all(map(unchanged, outcome, given))
    return same(outcome, given)


def counts(library: str) -> dict[str, int]:
    """What a library makes of all sets."""
    judge = LIBRARIES[library]
    found = {"right kept": 0, "right changed": 0, "right refused": 0, "repaired rightly": 0, "repaired wrongly": 0}
    found |= {"not repaired": 0, "hopeless refused": 0, "hopeless passed": 0}
    for kind, (model, given, wanted) in sets().all():
        good, outcome = judge(model, given)
        if kind == "right":
            found[
                "right kept" if good and unchanged(outcome, given) else "right changed" if good else "right refused"
            ] += 1
        elif kind == "repairable":
            rightly = good and as_wanted(model, outcome, wanted)
            found["repaired rightly" if rightly else "repaired wrongly" if good else "not repaired"] += 1
        else:
            found["hopeless passed" if good else "hopeless refused"] += 1
    return found


def table() -> str:
    """The comparison as a Markdown table."""
    all_counts = {name: counts(name) for name in LIBRARIES}
    lines = ["| | " + " | ".join(all_counts) + " |", "| --- |" + " ---: |" * len(all_counts)]
    for row in next(iter(all_counts.values())):
        lines.append(f"| {row} | " + " | ".join(str(c[row]) for c in all_counts.values()) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    every = sets()
    print(f"{len(every.right)} right, {len(every.repairable)} repairable, {len(every.hopeless)} hopeless")
    print(sum(nested_three_deep(s[1]) for _, s in every.all()), "nested three deep")
    print(table())
    for kind, (model, given, wanted) in every.all():
        good, outcome = by_glassloop(model, given)
        fine = good and unchanged(outcome, given) if kind == "right" else good and as_wanted(model, outcome, wanted)
        if fine == (kind == "hopeless"):
            print(kind, model.__name__, given, "->", outcome, cast(schema_of(model), given).problems)
