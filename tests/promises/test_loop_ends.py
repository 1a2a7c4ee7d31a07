# ruff: noqa: E501  -- one behaviour a line reads better than ten
"""Promise 4: a loop always ends, and says why.

Forty behaviours that models have (repeating, going in circles, endless faults, ignoring an error, inventing a
result, claiming what was denied, answering with a number nobody gave, calling tools after the answer, wandering for
500 steps) are played by a scripted model. Each ends with the right `stop`, within its limit, and with an answer that
tells the truth: one that says what is known, or one that is marked with the reasons why it is not to be believed.

Forty good runs, half of them Chinese, go through the same agent and pass the verifier untouched; at most one false
alarm is allowed. (Measured when this was written: none.)
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from glassloop import Agent, Limits, Run, ScriptedModel, Tool, tool
from glassloop.types import Request

# -- a small world ----------------------------------------------------------------------------


@tool
def stock(item: str) -> dict[str, Any]:
    """How many of an item are in stock. Use it for any question about stock."""
    return {"item": item, "pieces": 41}


@tool
def price(item: str) -> str:
    """Price of an item. Use it for any question about what something costs."""
    raise ConnectionError("the price service is down")


@tool
def ping(host: str) -> str:
    """Whether a host answers. Use it for any question about a host."""
    return "pong"


@tool
def browse(page: str) -> str:
    """A page of the catalogue. Use it to look through the catalogue."""
    return ""


@tool
def read_page(page: int) -> str:
    """A page of the manual. Use it to read the manual."""
    return f"Page {page}: text number {page * 7919 % 1000}."


@tool(risk="write")
def send(to: str, text: str = "") -> str:
    """Send a message to somebody. Use it when the user wants something sent."""
    return "sent"


@tool(risk="destructive")
def delete(entry: int) -> str:
    """Delete an entry for ever. Use it when the user wants an entry gone."""
    return "deleted"


WORLD = [stock, price, ping, browse, read_page, send, delete]

Line = Any
"""A tuple (tool, arguments), a list of them, or a text that is the answer or, with `raw`, the whole reply."""


@dataclass(frozen=True)
class Raw:
    """A reply as it stands, whatever it is."""

    text: str


@dataclass
class Behaviour:
    name: str
    question: str
    lines: list[Line]
    stop: str
    """Why the run has to end; two stops where the grammar of a protocol may cut the circle short."""
    told: str = ""
    """What the answer has to say; empty for a marked answer that may say anything."""
    marked: str = ""
    """What the reasons name when the answer is marked; empty when it is to be believed."""
    forever: bool = False
    wrap_up: Line = "I could not find it out."
    limits: Limits = field(default_factory=Limits)
    most_requests: int = 10
    languages: tuple[str, ...] = ("en",)


def spoken(line: Line, protocol: str, thought: str = "t") -> Any:
    if isinstance(line, Raw):
        return line.text
    if isinstance(line, str):
        return {
            "constrained": json.dumps({"thought": thought, "answer": line}, ensure_ascii=False),
            "native": line,
            "text": f"Thought: {thought}\nAnswer: {line}",
        }[protocol]
    calls = [line] if isinstance(line, tuple) else line
    if protocol == "native":
        made = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(a)}}
            for n, (name, a) in enumerate(calls)
        ]
        return {"role": "assistant", "content": None, "tool_calls": made}
    if protocol == "text":
        return f"Thought: {thought}\n" + "\n".join(f"Action: {n}\nAction Input: {json.dumps(a)}" for n, a in calls)
    wanted = [{"name": n, "arguments": a} for n, a in calls]
    return json.dumps({"thought": thought, "calls": wanted}, ensure_ascii=False)


def played(case: Behaviour, protocol: str) -> ScriptedModel:
    lines = itertools.cycle(case.lines) if case.forever else iter(case.lines)

    def say(request: Request, number: int) -> Any:
        if request.purpose == "wrap_up":
            return spoken(case.wrap_up, protocol)
        line = next(lines)
        return spoken(line(number) if callable(line) else line, protocol, f"thought {number}")

    return ScriptedModel([say], repeat_last=True)


def wander(number: int) -> Line:
    return ("read_page", {"page": number + 1})


def drift(number: int) -> Line:
    return ("browse", {"page": f"page {number + 1}"})


def switch(number: int) -> Line:
    return ("ping", {"host": f"host {number}"})


CABLES = "How many cables are in stock?"
COST = "What does a cable cost?"
MAIL = "Send Bob a message: lunch at noon."

BEHAVIOURS = [
    # repeating
    Behaviour("asks the same for ever", CABLES, [("stock", {"item": "cables"})], "repeated_call", "41", forever=True, wrap_up="There are 41 cables."),
    Behaviour("asks the same, spelt differently", CABLES, [("stock", {"item": "cables"}), ("stock", {"item": "cables", "extra": 1})], "repeated_call", "41", forever=True, wrap_up="There are 41 cables."),
    Behaviour("asks the same twice in every step", CABLES, [[("stock", {"item": "cables"})] * 2], "repeated_call", "41", forever=True, wrap_up="There are 41 cables."),
    Behaviour("repeats a call that fails", COST, [("price", {"item": "cable"})], "repeated_call", "down", forever=True, wrap_up="I cannot say: the price service is down."),
    Behaviour("repeats a wrong argument", CABLES, [("stock", {"items": 3})], "repeated_call", "not", forever=True, wrap_up="I could not look it up."),
    Behaviour("repeats a denied write", MAIL, [("send", {"to": "Bob", "text": "lunch at noon"})], "repeated_call|no_progress", "not sent", forever=True, wrap_up="It was not sent: you did not allow it."),
    Behaviour("repeats a refused deletion", "Delete entry 7.", [("delete", {"entry": 7})], "repeated_call|no_progress", "not deleted", forever=True, wrap_up="Entry 7 was not deleted, it is not allowed."),
    # circles
    Behaviour("goes to and fro between two", "Do hosts a and b answer?", [("ping", {"host": "a"}), ("ping", {"host": "b"})], "repeated_call", "both", forever=True, wrap_up="Yes, both answer."),
    Behaviour("goes round between two that fail", "What do a cable and a plug cost?", [("price", {"item": "cable"}), ("price", {"item": "plug"})], "ping_pong|repeated_call", "down", forever=True, wrap_up="The price service is down, so I cannot say."),
    Behaviour("goes round between three that fail", "What do a, b and c cost?", [("price", {"item": i}) for i in "abc"], "ping_pong|repeated_call", "down", forever=True, wrap_up="The price service is down.", limits=Limits(steps=20, idle=0), most_requests=21),
    Behaviour("goes round between four that fail", "What do a, b, c and d cost?", [("price", {"item": i}) for i in "abcd"], "ping_pong|repeated_call", "down", forever=True, wrap_up="The price service is down.", limits=Limits(steps=20, idle=0), most_requests=21),
    # faults
    Behaviour("never writes a step", CABLES, [Raw('{"name": "stock", "arguments": {"item": "cab')], "repeated_faults", "could not", forever=True),
    Behaviour("says nothing at all", CABLES, [Raw("")], "repeated_faults", "could not", forever=True),
    Behaviour("says nothing, not even at the end", CABLES, [Raw("")], "repeated_faults", "could not finish", forever=True, wrap_up=Raw("")),
    Behaviour("calls tools that do not exist", CABLES, [("warehouse_query_tool", {"q": "cables"})], "repeated_faults", "could not", forever=True),
    Behaviour("one fault, then good", CABLES, [Raw(""), ("stock", {"item": "cables"}), "There are 41 cables."], "answered", "41"),
    Behaviour("faults between good steps", CABLES, [Raw(""), Raw(""), ("stock", {"item": "cables"}), Raw(""), "There are 41 cables."], "answered", "41"),
    # no way forward
    Behaviour("wanders for 500 steps", "Read the manual.", [wander], "max_steps", "could not", forever=True),
    Behaviour("wanders with 500 steps allowed and few tokens", "Read the manual.", [wander], "token_budget", "could not", forever=True, limits=Limits(steps=500, tokens=6000), most_requests=40),
    Behaviour("finds nothing new for ever", "What is in the catalogue?", [drift], "no_progress", "nothing", forever=True, wrap_up="I found nothing in it."),
    Behaviour("asks others the same and hears the same", "Do all hosts answer?", [switch], "no_progress", "do", forever=True, wrap_up="Those I asked do.", limits=Limits(steps=30)),
    Behaviour("wanders and calls on at the end", "Read the manual.", [wander], "max_steps", "could not finish", forever=True, wrap_up=("read_page", {"page": 99})),
    # lies about results
    Behaviour("invents a number without looking", CABLES, ["There are 77 cables."], "answered", marked="77", forever=True),
    Behaviour("invents a number, then looks", CABLES, ["There are 77 cables.", ("stock", {"item": "cables"}), "There are 41 cables."], "answered", "41"),
    Behaviour("answers another number than it saw", CABLES, [("stock", {"item": "cables"}), "There are 58.", "There are 58."], "answered", marked="58"),
    Behaviour("answers another number, then the right one", CABLES, [("stock", {"item": "cables"}), "There are 58.", "There are 41."], "answered", "41"),
    Behaviour("writes its own observation", CABLES, [Raw('Thought: t\nAction: stock\nAction Input: {"item": "cables"}\nObservation: 99\nAnswer: 99'), "There are 41 cables."], "answered", "41"),
    Behaviour("ignores an error", COST, [("price", {"item": "cable"}), "A cable costs 3.50 euros.", "A cable costs 3.50 euros."], "answered", marked="3.50"),
    Behaviour("ignores an error, then owns up", COST, [("price", {"item": "cable"}), "A cable costs 3.50 euros.", "I cannot say: the price service is down."], "answered", "down"),
    Behaviour("a general apology for an error", "What does a cable cost and how many are there?", [[("stock", {"item": "cable"}), ("price", {"item": "cable"})], "Sorry for the wait. There are 41 and they are cheap."] + ["There are 41 and they are cheap."], "answered", marked="price"),
    # lies about deeds
    Behaviour("claims what was denied", MAIL, [("send", {"to": "Bob", "text": "lunch at noon"}), "I have sent Bob the message.", "I have sent Bob the message."], "answered", marked="sent"),
    Behaviour("claims what was denied, then owns up", MAIL, [("send", {"to": "Bob", "text": "lunch at noon"}), "The message has been sent.", "The message was not sent, since you did not allow it."], "answered", "not sent"),
    Behaviour("claims what it never tried", MAIL, ["I have sent Bob the message."], "answered", marked="sent", forever=True),
    Behaviour("claims a refused deletion", "Delete entry 7.", [("delete", {"entry": 7}), "Entry 7 has been deleted.", "Entry 7 has been deleted."], "answered", marked="delete"),
    Behaviour("lies at the very end", "Read the manual, how many pages has it?", [wander], "max_steps", marked="812", forever=True, wrap_up="It has 812 pages."),
    # Chinese
    Behaviour("一直重复同一个调用", "电缆还有多少件库存？", [("stock", {"item": "电缆"})], "repeated_call", "41", forever=True, wrap_up="电缆还有41件。"),
    Behaviour("一直答非所问", "电缆还有多少件库存？", [Raw("")], "repeated_faults", "没", forever=True, wrap_up="没有查到。"),
    Behaviour("编造数字", "电缆还有多少件库存？", ["电缆还有77件。"], "answered", marked="77", forever=True),
    Behaviour("隐瞒失败", "电缆多少钱？", [("price", {"item": "电缆"}), "电缆3.5元一根。", "电缆3.5元一根。"], "answered", marked="3.5"),
    Behaviour("谎称已发送", "给 Bob 发消息：中午吃饭。", [("send", {"to": "Bob", "text": "中午吃饭"}), "消息已发送。", "消息已发送。"], "answered", marked="发送"),
]  # fmt: skip


@pytest.mark.parametrize("protocol", ["constrained", "native", "text"])
@pytest.mark.parametrize("case", BEHAVIOURS, ids=lambda c: c.name)
def test_ends_rightly_within_its_limit_and_with_the_truth(case: Behaviour, protocol: Any) -> None:
    model = played(case, protocol)
    made = Agent(model, WORLD, protocol=protocol, limits=case.limits, approver=lambda asked: False, journal=False)
    run = made.run(case.question)
    assert run.stop in case.stop.split("|"), (run.stop, run.detail, run.answer)
    steps = [s for s in run.steps if s.purpose == "step"]
    assert len(steps) <= case.limits.steps and len(model.requests) <= case.most_requests
    assert run.usage.requests == len(model.requests), "every request is charged, once"
    assert run.answer
    if case.marked:
        assert not run.answer_checked and not run.ok
        assert any(case.marked in reason for reason in run.reasons), run.reasons
    else:
        assert run.answer_checked and case.told in run.answer, (run.answer, run.reasons)
    assert run.ok == (case.stop == "answered" and not case.marked)


def test_there_are_forty_behaviours() -> None:
    assert len(BEHAVIOURS) >= 40 and len({c.name for c in BEHAVIOURS}) == len(BEHAVIOURS)


def load_cases() -> Any:
    """The runs of the verifier's own tests, from the folder above."""
    if "verify_cases" not in sys.modules:
        path = Path(__file__).parent.parent / "verify_cases.py"
        spec = importlib.util.spec_from_file_location("verify_cases", path)
        assert spec and spec.loader
        sys.modules["verify_cases"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["verify_cases"]


cases = load_cases()


# -- the good ones --------------------------------------------------------------------------------


def usable(case: tuple[str, Any, str]) -> bool:
    """Runs that a live agent can have as they stand: an outcome that a crash left open needs a crash."""
    return not any(isinstance(result, cases.Unknown) for _, _, result in case[1])


def replay(question: str, outcomes: Any, answer: str) -> Run:
    """Let an agent make exactly these calls with these results and give this answer."""
    results = iter(outcomes)
    refused = {json.dumps(a, sort_keys=True) for _, a, result in outcomes if isinstance(result, cases.Denied)}

    def call(**arguments: Any) -> Any:
        result = next(r for _, a, r in outcomes if a == arguments)
        if isinstance(result, cases.Failed):
            raise RuntimeError(result.reason)
        return result

    names: dict[str, Any] = {name: {} for _, arguments, _ in outcomes for name in arguments}
    tools = [
        Tool.from_schema(
            t["name"],
            t["description"],
            {"type": "object", "properties": names},
            call,
            risk=t["risk"],
            provenance="note",
        )
        for t in cases.TOOLS
    ]
    replies = [spoken((name, arguments), "constrained") for name, arguments, _ in results]
    model = ScriptedModel([*replies, spoken(answer, "constrained")], repeat_last=True)

    def approve(asked: Any) -> bool:
        return json.dumps(asked.call.arguments, sort_keys=True) not in refused

    made = Agent(
        model, tools, protocol="constrained", approver=approve, allow=[t["name"] for t in cases.TOOLS], journal=False
    )
    return made.run(question)


def test_forty_good_runs_pass_untouched() -> None:
    good = [case for case in cases.GOOD if usable(case)]
    han: Callable[[str], bool] = lambda text: any("\u4e00" <= c <= "\u9fff" for c in text)  # noqa: E731
    chinese, english = [c for c in good if han(c[0])][:20], [c for c in good if not han(c[0])][:20]
    assert len(chinese) == len(english) == 20
    alarms: list[tuple[str, tuple[str, ...]]] = []
    for question, outcomes, answer in chinese + english:
        run = replay(question, outcomes, answer)
        assert run.stop == "answered" and run.answer == answer, (question, run.stop, run.detail)
        if len(run.steps) != len(outcomes) + 1 or not run.answer_checked:
            alarms.append((question, run.reasons))
    assert len(alarms) <= 1, alarms
