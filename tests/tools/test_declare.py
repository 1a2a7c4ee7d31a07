"""Declaring tools: the schema a model reads, and the way back to the values a function asks for."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import threading
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from glassloop.errors import ConfigurationError, ToolDefinitionError
from glassloop.tools.declare import BindError, Context, Tool, as_tool, check_names, load_tools, tool, wire_name
from glassloop.tools.threads import MOST_ITEMS
from glassloop.types import Declaration


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Box:
    width: int
    colour: Colour = Colour.RED


class Crate(BaseModel):
    boxes: list[Box]
    packed: datetime


class Buyer(TypedDict):
    name: str
    since: date


class OldBuyer(typing.TypedDict):  # the kind that pydantic refuses before Python 3.12
    name: str


class Tree(BaseModel):
    label: str
    branches: list[Tree] = []


def run(made: Tool, **arguments: Any) -> Any:
    return asyncio.run(made.invoke(arguments))


def everything(
    box: Box,
    crate: Crate,
    buyer: Buyer,
    old: OldBuyer,
    price: Decimal,
    where: Path,
    key: UUID,
    wait: timedelta,
    size: Literal["s", "m"],
    pair: tuple[int, str],
    tags: set[str],
    day: Optional[date] = None,  # noqa: UP045  # both spellings are in use
    note: str | None = None,
) -> list[Any]:
    """Take one of each."""
    return [box, crate, buyer, old, price, where, key, wait, size, pair, tags, day, note]


GIVEN: dict[str, Any] = {
    "box": {"width": 3, "colour": "blue"},
    "crate": {"boxes": [{"width": 1}], "packed": "2031-02-03T04:05:06"},
    "buyer": {"name": "Ines", "since": "2020-01-02"},
    "old": {"name": "Bo"},
    "price": 0.1,
    "where": "notes/a.txt",
    "key": "12345678-1234-5678-1234-567812345678",
    "wait": "PT90S",
    "size": "m",
    "pair": [1, "x"],
    "tags": ["a", "b"],
    "day": "2024-02-29",
}


def test_values_arrive_as_the_signature_says() -> None:
    got = run(tool(everything), **GIVEN)
    assert got == [
        Box(3, Colour.BLUE),
        Crate(boxes=[Box(1)], packed=datetime(2031, 2, 3, 4, 5, 6)),  # noqa: DTZ001
        {"name": "Ines", "since": date(2020, 1, 2)},
        {"name": "Bo"},
        Decimal("0.1"),
        Path("notes/a.txt"),
        UUID(GIVEN["key"]),
        timedelta(seconds=90),
        "m",
        (1, "x"),
        {"a", "b"},
        date(2024, 2, 29),
        None,
    ]
    assert isinstance(got[4], Decimal) and isinstance(got[0], Box)


def test_schema_is_plain_json_without_titles_or_needless_references() -> None:
    schema = tool(everything).parameters
    text = json.dumps(schema)
    assert '"title"' not in text and "$ref" not in text and "$defs" not in text
    assert schema["properties"]["price"] == {"type": "number"}
    assert schema["properties"]["size"] == {"type": "string", "enum": ["s", "m"]}
    assert schema["properties"]["box"]["properties"]["colour"]["enum"] == ["red", "blue"]
    assert "day" not in schema["required"] and "note" not in schema["required"]
    assert {"type": "null"} in schema["properties"]["note"]["anyOf"]


def test_a_property_called_title_is_no_title() -> None:
    @tool
    def book(title: str, pages: int = 10) -> str:
        return f"{title} {pages}"

    assert set(book.parameters["properties"]) == {"title", "pages"}
    assert book.parameters["properties"]["pages"]["default"] == 10
    assert book.parameters["required"] == ["title"]


def test_recursive_models_keep_their_definition() -> None:
    @tool
    def depth(tree: Tree) -> int:
        return 1 + max((len(b.branches) for b in tree.branches), default=0)

    assert list(depth.parameters["$defs"]) == ["Tree"]
    assert run(depth, tree={"label": "a", "branches": [{"label": "b", "branches": [{"label": "c"}]}]}) == 2


def test_decorator_with_and_without_arguments_leaves_a_callable() -> None:
    @tool
    def plain(a: int) -> int:
        """Double."""
        return a * 2

    @tool(name="twice", risk="write", timeout=0, keep="id")
    def other(a: int) -> int:
        return a * 2

    assert plain(4) == other(4) == 8
    assert (plain.name, plain.__name__, plain.__doc__) == ("plain", "plain", "Double.")
    assert (other.name, other.risk, other.timeout, other.keep) == ("twice", "write", None, ("id",))
    assert other.risk_stated and not plain.risk_stated
    assert Declaration.of(plain) is plain.declaration


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"risk": "wirte"}, "risk"),
        ({"nmae": "x"}, "did you mean 'name'"),
        ({"timeout": -1}, "timeout"),
        ({"retries": -1}, "retries"),
        ({"risk": "write", "retries": 1}, "at most once"),
        ({"provenance": "ask"}, "provenance"),
        ({"limit": 5}, "limit"),
        ({"name": "  "}, "empty name"),
    ],
)
def test_options_that_make_no_sense_are_refused_by_name(options: dict[str, Any], said: str) -> None:
    def harmless(a: int) -> int:
        return a

    with pytest.raises(ToolDefinitionError, match=said):
        tool(harmless, **options)


def test_an_untyped_argument_is_named() -> None:
    def f(a: int, b):  # type: ignore[no-untyped-def]
        return a

    with pytest.raises(ToolDefinitionError, match=r"'b' of tool 'f' has no type"):
        tool(f)


def test_a_type_that_json_cannot_carry_is_named() -> None:
    def f(lock: threading.Thread) -> int:
        return 1

    with pytest.raises(ToolDefinitionError, match=r"'lock' of tool 'f'"):
        tool(f)


def test_an_unknown_annotation_is_named() -> None:
    def f(a: Nowhere) -> int:  # type: ignore[name-defined]  # noqa: F821
        return 1

    with pytest.raises(ToolDefinitionError, match="Nowhere"):
        tool(f)


def test_local_types_are_found_by_the_decorator() -> None:
    @dataclass
    class Local:
        n: int

    @tool
    def f(x: Local) -> int:
        return x.n

    assert run(f, x={"n": 3}) == 3


def test_star_arguments() -> None:
    @tool
    def longest(first: str, *words: str, shout: bool = False) -> str:
        best = max([first, *words], key=len)
        return best.upper() if shout else best

    @tool
    def hello(name: str, *args, **kwargs) -> str:  # type: ignore[no-untyped-def]
        return f"hello {name}{args}{kwargs}"

    @tool
    def positional(a: int, b: int = 2, /, c: int = 3) -> list[int]:
        return [a, b, c]

    assert longest.parameters["type"] == "object"
    assert longest.parameters["properties"]["words"] == {"type": "array", "items": {"type": "string"}}
    assert run(longest, first="a", words=["bb", "c"], shout=True) == "BB"
    assert run(longest, first="a") == "a"
    assert list(hello.parameters["properties"]) == ["name"]
    assert run(hello, name="Ana") == "hello Ana(){}"
    assert run(positional, a=1, c=9) == [1, 2, 9]


class RunContext(typing.Generic[typing.TypeVar("T")]):  # type: ignore[misc]
    """Of another framework: judged by its name."""


def test_the_context_is_given_by_name_and_never_shown() -> None:
    @tool
    def one(*, ctx: Context, query: str) -> str:
        return f"{query} {ctx.run_id}"

    @tool
    def two(query: str, ctx: RunContext[int] | None) -> str:
        return f"{query} {ctx}"

    assert list(one.parameters["properties"]) == ["query"] == list(two.parameters["properties"])
    assert asyncio.run(one.invoke({"query": "a"}, Context(run_id="r1"))) == "a r1"
    assert asyncio.run(two.invoke({"query": "a"}, "mine")) == "a mine"
    assert run(one, query="a") == "a "


def test_methods_are_bound_to_their_object() -> None:
    class Shelf:
        def __init__(self) -> None:
            self.books = ["Moby Dick"]

        @tool
        def count(self, least: int) -> bool:
            return len(self.books) >= least

        def first(self, upper: bool = False) -> str:
            return self.books[0].upper() if upper else self.books[0]

    shelf = Shelf()
    assert list(shelf.count.parameters["properties"]) == ["least"]
    assert run(shelf.count, least=1) is True
    assert run(as_tool(shelf.first), upper=True) == "MOBY DICK"


def test_annotated_constraints_and_texts() -> None:
    @tool
    def f(n: Annotated[int, Field(ge=1, le=9, description="one digit")], s: Annotated[str, "a word"] = "x") -> str:
        return s * n

    properties = f.parameters["properties"]
    assert properties["n"] == {"type": "integer", "description": "one digit", "minimum": 1, "maximum": 9}
    assert properties["s"] == {"type": "string", "description": "a word", "default": "x"}


GOOGLE = """Count the words.

    Skips numbers.

    Args:
        text: what to read, for
            example a page
        least (int, optional): fewest

    Keyword Args:
        deep: also inside

    Returns:
        int: how many
"""
NUMPY = """Count the words.

    Skips numbers.

    Parameters
    ----------
    text : str
        what to read, for
        example a page
    least, deep : int
        fewest
"""
REST = """Count the words.

    Skips numbers.

    :param text: what to read, for
        example a page
    :param least: fewest
    :type least: int
    :returns: how many
"""
CHINESE = """数词语。

    跳过数字。

    参数：
        text：要读的文字，
            例如一页
        least: 至少
"""


@pytest.mark.parametrize("doc", [GOOGLE, NUMPY, REST, CHINESE], ids=["google", "numpy", "rest", "chinese"])
def test_docstrings_of_every_style(doc: str) -> None:
    def f(text: str, least: int, deep: bool = False) -> int:
        return 1

    f.__doc__ = doc
    made = tool(f)
    properties = made.parameters["properties"]
    assert made.description in ("Count the words.\nSkips numbers.", "数词语。\n跳过数字。")
    assert properties["text"]["description"] in ("what to read, for example a page", "要读的文字，例如一页")
    assert properties["least"]["description"] in ("fewest", "至少")
    if doc is GOOGLE:
        assert properties["deep"]["description"] == "also inside"


def test_a_docstring_that_begins_with_its_arguments() -> None:
    def f(query: str) -> str:
        """
        Args:
            query: the words
        """
        return query

    made = tool(f)
    assert made.description == ""
    assert made.parameters["properties"]["query"]["description"] == "the words"


@pytest.mark.parametrize("doc", ["Args:", "Args:\n    no colon here", ":param", "Parameters\n---", "\x00", "参数："])
def test_broken_docstrings_never_raise(doc: str) -> None:
    def f(a: int) -> int:
        return a

    f.__doc__ = doc
    assert tool(f).parameters["required"] == ["a"]


def test_names_are_valid_stable_and_apart() -> None:
    names = ["my tool!", "查天气", "查天气 ", "查 天气", "naïve café", "a" * 90, "!!!", "get.weather", "ok-name_1"]
    wired = [wire_name(n) for n in names]
    for wire in wired:
        assert 1 <= len(wire) <= 64 and wire.isascii() and wire.replace("_", "").replace("-", "").isalnum()
    assert wired[0] == "my_tool" and wired[4] == "naive_cafe" and wired[-1] == "ok-name_1"
    assert wire_name("查天气") == wired[1] != wire_name("查气温")
    assert wire_name("查天气", strict=False) == "查天气"


def test_a_chinese_function_keeps_its_name_where_the_model_can_read_it() -> None:
    @tool
    def 查库存(商品: str) -> int:
        """商品的库存件数。用户询问还有多少货时使用。"""
        return 7

    assert 查库存.original_name == "查库存" and 查库存.name.startswith("tool_")
    assert 查库存.description.startswith("查库存: 商品的库存")
    assert run(查库存, 商品="伞") == 7
    assert tool(查库存.call, strict_name=False).name == "查库存"


def test_two_tools_of_one_name_are_refused() -> None:
    def search(q: str) -> str:
        return q

    with pytest.raises(ToolDefinitionError, match=r"'search'.*test_declare\.py"):
        check_names([tool(search), tool(search)])
    check_names([tool(search), tool(search, name="search_again")])


def test_a_tool_changed_is_another_tool() -> None:
    def f(a: int) -> int:
        return a

    first = tool(f)
    second = first.changed(risk="destructive", name="g")
    assert (first.risk, first.name) == ("read", "f")
    assert (second.risk, second.name, second.provenance_policy) == ("destructive", "g", "refuse")


def test_from_schema_openai_and_model() -> None:
    schema = {"type": "object", "properties": {"city-name": {"type": "string"}}, "required": ["city-name"]}
    made = Tool.from_schema("forecast", "Forecast.", schema, lambda **given: given)
    assert made.parameters == schema and made.parameters is not schema
    assert run(made, **{"city-name": "Oslo"}) == {"city-name": "Oslo"}
    spec = made.declaration.openai()
    assert Tool.from_openai(spec, lambda **given: given).declaration == made.declaration
    packed = Tool.from_model(Crate, lambda crate: crate.boxes[0].width, name="pack")
    assert run(packed, boxes=[{"width": 5}], packed="2024-01-01T00:00:00") == 5
    with pytest.raises(BindError, match="packed"):
        run(packed, boxes=[], packed="not a date")
    with pytest.raises(ToolDefinitionError, match="object"):
        Tool.from_schema("x", "", {"type": "array"}, print)
    for wrong in (spec, Crate, 3):
        with pytest.raises(ToolDefinitionError):
            as_tool(wrong)


def test_a_value_without_the_wanted_form_is_one_sentence() -> None:
    made = tool(everything)
    with pytest.raises(BindError, match=r"argument 'day'") as caught:
        made.bind({**GIVEN, "day": "2023-02-30"})
    assert "\n" not in str(caught.value) and "pydantic" not in str(caught.value)
    with pytest.raises(BindError, match="unknown argument 'dya'"):
        made.bind({**GIVEN, "dya": 1})
    with pytest.raises(BindError, match="'box' is missing"):
        made.bind({})


def test_sync_tools_do_not_block_the_loop_and_run_side_by_side() -> None:
    inside: list[int] = []
    seen = threading.Event()

    @tool
    def slow(n: int) -> int:
        inside.append(n)
        seen.wait()  # until the loop, which goes on meanwhile, has seen all three inside
        return n

    async def all_three() -> list[int]:
        tasks = [asyncio.create_task(slow.invoke({"n": n})) for n in (1, 2, 3)]
        while len(inside) < 3:  # noqa: ASYNC110  -- the tools are in threads
            await asyncio.sleep(0.005)
        assert not any(t.done() for t in tasks)
        seen.set()
        return await asyncio.gather(*tasks)

    assert asyncio.run(all_three()) == [1, 2, 3]


def test_a_tool_that_never_returns_does_not_hold_up_the_program() -> None:
    program = """
        import asyncio, time
        from glassloop.tools.declare import tool

        @tool
        def hang() -> str:
            time.sleep(600)
            return "late"

        async def main():
            try:
                await asyncio.wait_for(hang.invoke({}), 0.2)
            except asyncio.TimeoutError:
                print("left behind")

        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.strip() == "left behind" and done.stderr == ""


def test_async_functions_and_generators() -> None:
    @tool
    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n

    @tool
    def endless() -> Iterator[int]:
        n = 0
        while True:
            yield n
            n += 1

    @tool
    async def few():  # type: ignore[no-untyped-def]
        yield "a"
        yield "b"

    assert run(later, n=3) == 3
    items = run(endless)
    assert items[:2] == [0, 1] and len(items) == MOST_ITEMS + 1 and "stopped reading" in items[-1]
    assert endless.returns_schema == {"type": "array"}
    assert run(few) == ["a", "b"]


@pytest.mark.parametrize("error", [SystemExit(3), StopIteration("x"), KeyboardInterrupt(), GeneratorExit()])
def test_a_tool_cannot_end_the_program(error: BaseException) -> None:
    @tool
    def rude() -> str:
        raise error

    with pytest.raises(RuntimeError, match=type(error).__name__):
        run(rude)


def test_errors_come_out_with_their_cause() -> None:
    @tool
    def fails() -> str:
        raise RuntimeError("lookup failed") from ValueError("HTTP 404")

    with pytest.raises(RuntimeError, match="lookup failed") as caught:
        run(fails)
    assert "404" in str(caught.value.__cause__)


def test_preview_says_what_will_happen_or_that_it_cannot() -> None:
    def pay(to: str, amount: Decimal, ctx: Context) -> str:
        return "paid"

    made = tool(pay, risk="write", preview=lambda to, amount: f"pay {amount} to {to}")
    assert asyncio.run(made.describe({"to": "Lea", "amount": 2.5})) == "pay 2.5 to Lea"
    broken = made.changed(preview=lambda to: "")
    assert "preview failed" in asyncio.run(broken.describe({"to": "Lea", "amount": 2}))
    assert asyncio.run(tool(pay).describe({"to": "Lea", "amount": 2})) == ""


def test_result_types() -> None:
    def f() -> dict[str, float]:
        return {}

    def g() -> threading.Thread:
        raise NotImplementedError

    assert tool(f).returns_schema == {"type": "object", "additionalProperties": {"type": "number"}}
    assert tool(g).returns_schema is None
    assert tool(f, returns=list[int]).returns_schema == {"type": "array", "items": {"type": "integer"}}
    with pytest.raises(ToolDefinitionError, match="no JSON form"):
        tool(f, returns=threading.Thread)


# -- loading ------------------------------------------------------------------------------------


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return str(path)


def test_load_prefers_the_list_then_tools_then_documented_functions(tmp_path: Path) -> None:
    listed = write(
        tmp_path,
        "listed.py",
        """
        from glassloop.tools.declare import tool
        @tool
        def a(x: int) -> int: "A."
        def b(x: int) -> int: "B."
        TOOLS = [b]
        """,
    )
    declared = write(
        tmp_path,
        "declared.py",
        """
        from glassloop.tools.declare import tool
        @tool
        def a(x: int) -> int: "A."
        def b(x: int) -> int: "B."
        again = a
        """,
    )
    plain = write(
        tmp_path,
        "plain.py",
        """
        from textwrap import dedent
        def a(x: int) -> int: "A."
        def helper(x): return x
        def _hidden(x: int) -> int: "H."
        """,
    )
    assert [t.name for t in load_tools(listed)] == ["b"]
    assert [t.name for t in load_tools(declared)] == ["a"]
    assert [t.name for t in load_tools(plain)] == ["a"]
    assert [t.name for t in load_tools(f"{declared}:b,a")] == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "first_line"),
    [
        ("import json\nimport nowhere_at_all\n", "line 2: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("x = 1\ndef f(:\n", "line 2: SyntaxError: invalid syntax"),
        ("\n\nraise SystemExit(4)\n", "line 3: SystemExit: 4"),
        ("from glassloop import tool\ndef f(a): ...\ntool(f)\n", "line 3: ToolDefinitionError: Argument 'a'"),
    ],
)
def test_a_file_that_does_not_import_shows_its_own_error_first(tmp_path: Path, text: str, first_line: str) -> None:
    path = write(tmp_path, "broken.py", text)
    with pytest.raises(ConfigurationError) as caught:
        load_tools(path)
    shown = str(caught.value).splitlines()[0]
    assert shown.startswith(path) and first_line in shown


def test_missing_files_modules_and_names_say_what_is_near(tmp_path: Path) -> None:
    path = write(tmp_path, "city.py", 'def weather(x: int) -> int: "W."\n')
    with pytest.raises(ConfigurationError, match=r"did you mean .*city\.py"):
        load_tools(str(tmp_path / "citi.py"))
    with pytest.raises(ConfigurationError, match="did you mean weather"):
        load_tools(f"{path}:wether")
    with pytest.raises(ConfigurationError, match="no module 'no_such_module_here'"):
        load_tools("no_such_module_here")
    with pytest.raises(ConfigurationError, match="holds no tools"):
        load_tools(write(tmp_path, "empty.py", "x = 1\n"))


def test_declaring_does_not_import_heavy_packages() -> None:
    code = (
        "import sys, glassloop.tools.declare, glassloop.toolbox\n"
        "print([m for m in ('pydantic', 'httpx', 'docstring_parser', 'mcp', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
