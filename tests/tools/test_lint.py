"""Lint: what a small model would trip over is found, and what it would not is left alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from glassloop.errors import ConfigurationError
from glassloop.toolbox import DEFAULT_TOOLS
from glassloop.toolbox.files import files
from glassloop.toolbox.http import http_tool
from glassloop.tools.declare import load_tools, tool
from glassloop.tools.lint import RULE_IDS, Finding, LintConfig, has_errors, lint
from glassloop.tools.lint_rules import listed_values
from glassloop.tools.lint_subject import Limits, sounds_like
from glassloop.tools.lint_text import is_chinese, overlaps, tokens

ROOT = Path(__file__).parents[2]
GOOD = "Height of a mountain above the sea in metres. Use it when the user asks how high a mountain is."


def made(name: str = "mountain_height", description: str = GOOD, **arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": description, "parameters": {"type": "object", "properties": arguments}}


def text(described: str = "Its name, for example Rigi.", **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": described, **more}


def rules(*tools: Any, config: LintConfig | None = None) -> set[str]:
    return {finding.rule for finding in lint(tools, config)}


def test_a_good_declaration_has_no_findings() -> None:
    assert lint([made(mountain=text())]) == []
    chinese = made("查山高", "一座山的海拔，单位是米。用户询问山有多高时使用。", 山名=text("山的名字，例如华山。"))
    assert lint([chinese]) == []


def test_our_own_tools_have_no_findings(tmp_path: Path) -> None:
    own = [*DEFAULT_TOOLS, *files(tmp_path, write=True), http_tool(["*"])]
    assert lint(own) == []
    assert lint(load_tools(str(ROOT / "examples" / "city_guide.py"))) == []


@pytest.mark.parametrize(
    ("rule", "bad"),
    [
        ("GL001", made(description="")),
        ("GL002", made("get_height", "Gets the height. Use it for heights.")),
        ("GL002", made("查询库存", "查询库存。")),
        ("GL003", made(description="Height of a mountain above the sea in metres.")),
        ("GL003", made("查山高", "一座山的海拔，单位是米，以最近一次测量为准。")),
        ("GL004", made(mountain={"type": "string"})),
        ("GL005", made(mountain=text("The name of the mountain."))),
        ("GL005", made("查山高", "一座山的海拔。用户询问山高时使用。", 山名=text("山的名字。"))),
        ("GL006", made("process_data")),
        ("GL006", made(x=text())),
        ("GL008", made(unit=text("Unit of the result: metres or feet."))),
        ("GL008", made(unit=text("One of 'metres', 'feet', 'miles'."))),
        ("GL008", made(unit=text("metres|feet"))),
        ("GL008", made("查山高", "一座山的海拔。用户询问山高时使用。", 单位=text("取值：米、英尺"))),
        ("GL009", made(no_cache={"type": "boolean", "description": "Whether to skip the cache."})),
        ("GL009", made(不含税={"type": "boolean", "description": "是否不含税。"})),
        ("GL011", made(description=GOOD * 30)),
        ("GL013", made("delete_mountain")),
        ("GL013", made("发送短信", "发送一条短信给联系人。用户要求通知某人时使用。")),
        ("GL014", made(**{f"peak_{n}": text() for n in range(9)})),
    ],
)
def test_each_rule_finds_its_fault(rule: str, bad: dict[str, Any]) -> None:
    findings = [f for f in lint([bad]) if f.rule == rule]
    assert findings
    assert all(f.why and f.proposal and f.message and f.tool == bad["name"] for f in findings)


def test_nested_arguments_are_read_too() -> None:
    inner = {"type": "object", "properties": {"d": {"type": "object", "description": "x", "properties": {}}}}
    deep = {"type": "object", "description": "Where, for example {}.", "properties": {"valley": {**inner}}}
    findings = lint([made(place=deep)])
    assert {(f.rule, f.severity) for f in findings} == {("GL004", "warning"), ("GL015", "warning")}
    assert any("'place.valley'" in f.message for f in findings)


def test_overlap_is_found_in_english_and_chinese_and_shows_what_is_shared() -> None:
    found = lint(
        [
            made("find_flights", "Flights between two airports with departure times. Use it for flight departures."),
            made("search_flights", "Flight departures and times between airports. Use it when flights are asked for."),
            made(),
        ]
    )
    overlap = [f for f in found if f.rule == "GL007"]
    assert len(overlap) == 1 and "'search_flights'" in overlap[0].message and "flight" in overlap[0].message
    chinese = [
        made("查航班", "两个城市之间的航班和起飞时间。用户询问航班时使用。"),
        made("航班查询", "查询城市之间的航班起飞时间。用户询问航班时使用。"),
        made("查菜谱", "一道菜的做法和配料。用户询问怎么做菜时使用。"),
    ]
    overlap = [f for f in lint(chinese) if f.rule == "GL007"]
    assert len(overlap) == 1 and "航班" in overlap[0].message and "similarity 0." in overlap[0].message
    assert is_chinese(overlap[0].proposal)


def test_different_tools_about_one_subject_do_not_overlap() -> None:
    pair = overlaps(
        ["Send an email to a person.", "Count the unread emails of a mailbox."], least=LintConfig().limits.similarity
    )
    assert pair == []


def test_the_whole_library_is_counted() -> None:
    many = [made(f"height_of_{n}", f"Height of peak number {n}. Use it for peak {n}.") for n in range(13)]
    assert "GL010" in rules(*many)
    assert "GL012" in rules(*many, config=LintConfig(Limits(max_tokens=100)))
    assert "GL010" not in rules(*many[:12])
    same = [f for f in lint([made(), made()]) if f.rule == "GL016"]
    assert [f.severity for f in same] == ["error"]
    assert "GL016" in rules(made("list_order"), made("list_orders"))


@pytest.mark.parametrize(
    ("described", "values"),
    [
        ("One of: low, medium, high", ["low", "medium", "high"]),
        ("Sort order, either asc or desc", ["asc", "desc"]),
        ("可选值：高、中、低", ["高", "中", "低"]),
        ('City name, for example "Rome" or "Paris".', []),
        ("Who receives it: a name, or a number exactly as given.", []),
        ("The name of the city.", []),
        ("城市名，例如北京、上海。", []),
    ],
)
def test_listed_values(described: str, values: list[str]) -> None:
    assert listed_values(described) == values


@pytest.mark.parametrize(
    ("name", "risk"),
    [
        ("delete_user", "destructive"),
        ("user_delete", "destructive"),
        ("sendMail", "write"),
        ("pay_invoice", "write"),
        ("删除订单", "destructive"),
        ("转账", "write"),
        ("get_order", None),
        ("list_deleted_files", None),
        ("查询已支付订单", None),
        ("order_status", None),
    ],
)
def test_what_a_name_sounds_like(name: str, risk: str | None) -> None:
    assert sounds_like(name) == risk


def test_a_stated_risk_is_respected_and_the_line_is_known() -> None:
    def send_echo(message: str) -> str:
        """Send back the same message, without any side effect. Use it when the user wants to test the line.

        Args:
            message: The text, for example hello.
        """
        return message

    finding = next(f for f in lint([tool(send_echo)]) if f.rule == "GL013")
    assert finding.file == __file__ and finding.line == send_echo.__code__.co_firstlineno
    assert has_errors([finding]) and "test_lint.py:" in str(finding)
    assert lint([tool(send_echo, risk="read")]) == []
    assert Finding.from_dict(finding.to_dict()) == finding


def test_configuration_from_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        """
        [tool.glassloop.lint]
        max-tools = 2
        ignore = ["GL005", "mountain_height:GL003"]
        [tool.glassloop.lint.severity]
        GL013 = "warning"
        GL006 = "off"
        """
    )
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    config = LintConfig.from_pyproject(inner)
    bad = [made("delete_x", "Gone."), made(description="Metres above the sea level.", x=text("Name."))]
    findings = lint(bad, config)
    assert {"GL003"} == {f.rule for f in findings if f.tool == "delete_x"} - {"GL002", "GL013"}
    assert not any(f.tool == "mountain_height" for f in findings)
    assert [f.severity for f in findings if f.rule == "GL013"] == ["warning"]
    assert "GL010" in rules(*bad, made("third"), config=config)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"max_tolls": 3}, "did you mean max_tools"),
        ({"max_tools": "3"}, "above 0"),
        ({"ignore": ["GL999"]}, "GL999"),
        ({"severity": {"GL001": "loud"}}, "loud"),
    ],
)
def test_configuration_mistakes_are_named(table: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        LintConfig.from_mapping(table)


def test_broken_toml_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool")
    with pytest.raises(ConfigurationError, match="not valid TOML"):
        LintConfig.from_pyproject(tmp_path)


def test_ids_are_unique_and_in_order() -> None:
    assert list(RULE_IDS) == sorted(set(RULE_IDS))


def test_tokens_grow_with_text() -> None:
    assert tokens("") == 0 and 2 <= tokens("北京天气") <= 4 and 5 <= tokens("the weather in Beijing") <= 8


def test_near_doubles_are_found_among_three_hundred_declarations() -> None:
    chance = random.Random(7)
    words = "harbour ferry ticket berth crane cargo customs pilot tide depth anchor beacon buoy channel wharf".split()
    library = []
    for n in range(300):
        used = chance.sample(words, 5)
        described = f"The {used[0]} and {used[1]} of a {used[2]}. Use it for {used[3]} 查询港口{used[4]}的泊位和潮汐。"
        library.append(made(f"{used[0]}_{used[1]}_{n}", described, **{w: text() for w in used}))
    assert {"GL010", "GL012"} <= {f.rule for f in lint(library)}
