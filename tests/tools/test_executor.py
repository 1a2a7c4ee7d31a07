"""The executor: every call goes through the whole pipeline, and whatever happens is an observation."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from glassloop import Agent, Limits, Run, ScriptedModel, tool
from glassloop.events import ApprovalAsked, ApprovalGiven, CallFinished, CallStarted, Event
from glassloop.tools.permission import Decision, Pause, approval_hash

WRAP = "I could not finish it."


def calls(*wanted: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """One assistant message with these calls, in chat-completions form."""
    made = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(wanted)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def agent(tools: list[Any], *replies: Any, **options: Any) -> Agent:
    given: dict[str, Any] = {"journal": False, "verifier": False, "protocol": "native", **options}
    return Agent(ScriptedModel([*replies, "Done."], repeat_last=True), tools, **given)


def events_of(made: Agent, question: str) -> tuple[Run, list[Event]]:
    async def follow() -> tuple[Run, list[Event]]:
        stream = made.stream(question, live=False)
        seen = [event async for event in stream]
        return stream.run, seen

    return asyncio.run(follow())


def reason(run: Run, at: int = 0) -> str:
    said = json.loads(run.observations[at].content)
    assert said["status"] != "ok"
    return f"{said['reason']} {said.get('hint', '')}"


class Outbox:
    """A tool that writes, and counts."""

    def __init__(self, **options: Any) -> None:
        self.sent: list[tuple[str, int]] = []
        outbox = self

        @tool(**{"risk": "write", **options})
        def send(to: str, times: int = 1) -> str:
            """Send a greeting to somebody. Use it when the user wants a greeting sent."""
            outbox.sent.append((to, times))
            return f"sent to {to}"

        self.tool = send


# -- the order of the pipeline -------------------------------------------------------------


def test_a_call_is_cast_before_anybody_is_asked_and_what_was_approved_is_what_runs():
    outbox, asked = Outbox(), []
    run = agent([outbox.tool], calls(("send", {"to": "Bob", "times": "2"})), approver=lambda a: asked.append(a) or True)
    run = run.run("Send Bob 2 greetings.")
    assert [a.call.arguments for a in asked] == [{"to": "Bob", "times": 2}]
    assert asked[0].hash == approval_hash("send", {"to": "Bob", "times": 2})
    assert outbox.sent == [("Bob", 2)]
    assert [r.name for r in run.observations[0].repairs], "the cast is recorded"


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (("sned", {"to": "Bob"}), "send"),
        (("send", {}), "to"),
        (("send", {"to": "Bob", "times": "many"}), "times"),
        (("send", {"to": "Zoltan"}), "Zoltan"),
    ],
    ids=["resolve", "validate", "cast", "provenance"],
)
def test_what_fails_a_check_asks_nobody_and_runs_nothing(call, names):
    outbox, asked = Outbox(), []
    run = agent([outbox.tool], calls(call), approver=lambda a: asked.append(a) or True).run("Send Bob a greeting.")
    assert outbox.sent == [] and asked == []
    fault = run.steps[0].move.fault  # an unknown name is seen while reading, everything else by the executor
    assert names in (fault.message if fault else reason(run))
    assert all(o.status == "error" and not o.ran for o in run.observations)


def test_events_come_in_the_order_of_the_pipeline():
    outbox = Outbox()
    _, seen = events_of(
        agent([outbox.tool], calls(("send", {"to": "Bob"})), approver=lambda a: True), "Send Bob a greeting."
    )
    wanted = (ApprovalAsked, ApprovalGiven, CallStarted, CallFinished)
    assert [type(e) for e in seen if isinstance(e, wanted)] == list(wanted)


# -- side by side ------------------------------------------------------------------------------


def test_reads_run_side_by_side_and_answer_in_the_order_of_the_calls():
    together = threading.Barrier(3, timeout=120)

    @tool
    def look(n: int) -> str:
        """Look at a shelf. Use it for any question about a shelf."""
        together.wait()  # only passes if all three are inside at once
        time.sleep(0.03 * (3 - n))
        return f"shelf {n}"

    run = agent([look], calls(*(("look", {"n": n}) for n in (1, 2, 3)))).run("Look at shelves 1, 2 and 3.")
    assert [o.data for o in run.observations] == ["shelf 1", "shelf 2", "shelf 3"]


@pytest.mark.parametrize(("language", "said"), [("en", "the result: given"), ("zh", "结果：给出的是")])
@pytest.mark.parametrize("risk", ["read", "write"])
def test_a_result_of_another_type_is_an_error_about_the_result(risk: Any, language: Any, said: str) -> None:
    @tool(returns=int, risk=risk)
    def count(city: str) -> Any:
        """Counts. Use it for counting."""
        return "lots"

    run = agent([count], calls(("count", {"city": "Hull"})), language=language, approver=lambda _: True).run("Hull?")
    content = json.loads(run.observations[0].content)
    assert content["status"] == "error" and said in content["reason"] and '"lots"' in content["reason"]
    assert "argument" not in content["reason"] and "参数" not in content["reason"]
    assert bool(content["hint"]) == (risk == "read")  # whoever hears of other arguments would do a write again


def test_reads_that_must_not_run_at_once_do_not():
    inside, most = 0, 0

    @tool(parallel=False)
    async def look(n: int) -> int:
        """Look at a shelf. Use it for any question about a shelf."""
        nonlocal inside, most
        inside, most = inside + 1, max(most, inside + 1)
        await asyncio.sleep(0.01)
        inside -= 1
        return n

    run = agent([look], calls(*(("look", {"n": n}) for n in (1, 2, 3)))).run("Look at 1, 2 and 3.")
    assert [o.data for o in run.observations] == [1, 2, 3] and most == 1


def test_one_that_fails_keeps_its_siblings():
    @tool
    def look(n: int) -> str:
        """Look at a shelf. Use it for any question about a shelf."""
        if n == 2:
            raise LookupError("shelf 2 is gone") from OSError("moved out")
        return f"shelf {n}"

    run = agent([look], calls(*(("look", {"n": n}) for n in (1, 2, 3)))).run("Look at shelves 1, 2 and 3.")
    assert [o.status for o in run.observations] == ["ok", "error", "ok"]
    assert "shelf 2 is gone" in reason(run, 1) and "moved out" in reason(run, 1)
    assert "Traceback" not in run.observations[1].content


def test_the_same_read_twice_in_one_step_is_entered_once():
    entered = []

    @tool
    def look(n: int) -> str:
        """Look at a shelf. Use it for any question about a shelf."""
        entered.append(n)
        return f"shelf {n}"

    run = agent([look], calls(("look", {"n": 1}), ("look", {"n": "1"}), ("look", {"n": 2}))).run("Look at 1 and 2.")
    assert sorted(entered) == [1, 2]
    assert [o.cached for o in run.observations] == [False, True, False]


# -- time, failures and retries -----------------------------------------------------------------


def test_a_sync_tool_that_never_returns_is_left_behind_and_told():
    over = threading.Event()

    @tool(timeout=0.1)
    def hang() -> str:
        """The state of the machine. Use it for questions about the machine."""
        over.wait()  # a run that waits for it never ends
        return "late"

    run = agent([hang], calls(("hang", {}))).run("How is the machine?")
    over.set()
    assert "timed out" in reason(run) and "0.1" in reason(run)


def test_an_async_tool_that_will_not_be_cancelled_is_left_behind_too():
    over = asyncio.Event()

    @tool(timeout=0.05)
    async def stubborn() -> str:
        """The state of the machine. Use it for questions about the machine."""
        while not over.is_set():
            try:
                await over.wait()  # a run that waits for it never ends
            except asyncio.CancelledError:
                continue
        return "late"

    async def follow() -> Run:
        run = await agent([stubborn], calls(("stubborn", {}))).arun("How is the machine?")
        over.set()
        return run

    run = asyncio.run(follow())
    assert run.stop == "answered" and "timed out" in reason(run)


def test_a_time_out_of_the_tools_own_is_told_as_what_it_is():
    @tool(timeout=30)
    def ask() -> str:
        """The state of the server. Use it for questions about the server."""
        raise TimeoutError("the server at desk 4 did not answer")

    assert "desk 4" in reason(agent([ask], calls(("ask", {}))).run("How is the server?"))


def test_a_tool_that_cancels_itself_does_not_cancel_the_run():
    @tool
    async def odd() -> str:
        """The state of the server. Use it for questions about the server."""
        raise asyncio.CancelledError

    run = agent([odd], calls(("odd", {}))).run("How is the server?")
    assert run.stop == "answered" and "cancelled itself" in reason(run)


def test_the_deadline_of_the_run_reaches_the_tools():
    @tool(timeout=30)
    async def slow() -> str:
        """The state of the machine. Use it for questions about the machine."""
        await asyncio.Event().wait()  # a run that waits for it never ends
        return "late"

    run = agent([slow], calls(("slow", {})), limits=Limits(seconds=0.3)).run("How is the machine?")
    assert run.stop == "deadline"


@pytest.mark.parametrize(
    ("options", "entries"),
    [
        ({"risk": "read", "retries": 2}, 3),
        ({"risk": "write", "idempotent": True, "retries": 2}, 3),
        ({"risk": "write"}, 1),
    ],
    ids=["read", "idempotent write", "write"],
)
def test_only_reads_and_idempotent_tools_are_tried_again(options, entries):
    entered = []

    @tool(**options)
    def flaky(n: int) -> int:
        """Count a shelf. Use it for any question about how much is on a shelf."""
        entered.append(n)
        if len(entered) < 3:
            raise ConnectionError("the line is down")
        return n

    run = agent([flaky], calls(("flaky", {"n": 4})), approver=lambda a: True).run("Count shelf 4.")
    assert len(entered) == entries
    seen = run.observations[0]
    assert seen.status == ("ok" if entries == 3 else "error")
    told = [r for r in seen.repairs if r.name == "retried"]
    assert len(told) == entries - 1, "every retry is in the record"
    assert all("the line is down" in r.before for r in told)


# -- repetitions ------------------------------------------------------------------------------------


def test_a_read_asked_again_is_answered_from_the_record_and_marked():
    entered = []

    @tool
    def look(n: int) -> str:
        """Look at a shelf. Use it for any question about a shelf."""
        entered.append(n)
        return f"shelf {n}"

    both = calls(("look", {"n": 1}), ("look", {"n": 2}))
    run = agent([look], calls(("look", {"n": 1})), both).run("Look at shelves 1 and 2.")
    assert entered == [1, 2]
    again = run.observations[1]
    assert again.cached and again.data == "shelf 1" and again.call_id == run.calls[1].id
    assert "note" in json.loads(again.content) and json.loads(again.content)["data"] == "shelf 1"


def test_a_result_that_is_not_final_is_asked_for_again():
    states = iter(["10%", "60%", "100%"])

    @tool
    def job(id: int) -> str:
        """State of a job. Use it for any question about a job."""
        return next(states)

    run = agent([job], *[calls(("job", {"id": 3}))] * 3).run("Wait for job 3.")
    assert [o.data for o in run.observations] == ["10%", "60%", "100%"] and run.ok


def test_what_the_author_says_about_repeating_counts():
    entered = []

    @tool(repeatable=True)
    def dice(sides: int) -> str:
        """Throw a die. Use it when the user wants a die thrown."""
        entered.append(sides)
        return f"a {len(entered)}"

    run = agent([dice], calls(("dice", {"sides": 6})), calls(("dice", {"sides": 6}))).run("Throw a 6-sided die twice.")
    assert len(entered) == 2 and not any(o.cached for o in run.observations)


# -- writes ---------------------------------------------------------------------------------------


def test_writes_run_one_at_a_time_and_in_order():
    order: list[str] = []

    @tool(risk="write")
    async def put(item: str) -> str:
        """Put an item into the basket. Use it when the user wants something bought."""
        order.append(f"in {item}")
        await asyncio.sleep(0.01)
        order.append(f"out {item}")
        return item

    agent([put], calls(("put", {"item": "tea"}), ("put", {"item": "milk"})), approver=lambda a: True).run(
        "Buy tea and milk."
    )
    assert order == ["in tea", "out tea", "in milk", "out milk"]


@pytest.mark.parametrize("together", [True, False])
def test_the_same_write_is_never_done_twice(together):
    outbox = Outbox()
    one = ("send", {"to": "Bob"})
    replies = [calls(one, one)] if together else [calls(one), calls(one)]
    run = agent([outbox.tool], *replies, approver=lambda a: True).run("Send Bob a greeting.")
    assert outbox.sent == [("Bob", 1)]
    assert [o.cached for o in run.observations] == [False, True]
    assert "already done" in run.observations[1].content


def test_a_call_whose_value_a_call_beside_it_will_tell_is_deferred():
    outbox = Outbox()

    @tool
    def manager(team: str) -> str:
        """Who leads a team. Use it for any question about the lead of a team."""
        return "Zoltan"

    @tool
    def desk(team: str) -> int:
        """Desk of a team. Use it for any question about where a team sits."""
        return 12

    model = ScriptedModel(
        [
            calls(("manager", {"team": "tools"}), ("send", {"to": "the manager's name"}), ("desk", {"team": "tools"})),
            calls(("send", {"to": "Zoltan"})),
            "Sent to Zoltan at desk 12.",
        ]
    )
    made = Agent(model, [manager, outbox.tool, desk], journal=False, protocol="native", approver=lambda a: True)
    run = made.run("Send the lead of team tools a greeting and tell me their desk.")
    assert run.ok and outbox.sent == [("Zoltan", 1)]
    assert [o.deferred for o in run.observations] == [False, True, False, False]
    roles = [m["role"] for m in model.requests[1].messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"], "results stand right after their calls"
    assert "the manager's name" not in json.dumps(model.requests[1].messages), "the premature call is not shown"


def test_an_example_in_a_description_is_no_source():
    outbox = []

    @tool(risk="write")
    def mail(to: str) -> str:
        """Mail somebody. Use it when the user wants a mail sent.

        Args:
            to: The address, for example ana@corp.example.
        """
        outbox.append(to)
        return "sent"

    run = agent([mail], calls(("mail", {"to": "ana@corp.example"})), approver=lambda a: True).run("Send a mail.")
    assert outbox == [] and "ana@corp.example" in reason(run)


@pytest.mark.parametrize("risk", ["read", "write"])
def test_a_guessed_repair_serves_a_read_and_never_a_write(risk):
    entered = []

    @tool(risk=risk)
    def note(text: str) -> str:
        """Keep a note. Use it when the user wants something noted."""
        entered.append(text)
        return "kept"

    cut = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "note", "arguments": '{"text": "buy tea"'}}
        ],
    }
    run = agent([note], cut, approver=lambda a: True).run("Note: buy tea")
    assert entered == (["buy tea"] if risk == "read" else [])
    assert run.steps[0].move.fault or run.observations, "what was mended or refused is in the record"


# -- permission --------------------------------------------------------------------------------------


def test_a_denial_is_told_with_its_reason():
    outbox = Outbox()
    run = agent(
        [outbox.tool], calls(("send", {"to": "Bob"})), approver=lambda a: Decision(False, "Eve", "Not on Sundays.")
    ).run("Send Bob a greeting.")
    assert outbox.sent == [] and run.observations[0].status == "denied"
    assert "Not on Sundays." in reason(run) and run.observations[0].approved_by == "Eve"


def test_a_destructive_tool_needs_its_name_in_allow_and_a_yes():
    for allow, said, ran in (((), True, 0), (("send",), False, 0), (("send",), True, 1)):
        outbox = Outbox(risk="destructive")
        agent([outbox.tool], calls(("send", {"to": "Bob"})), allow=allow, approver=lambda a, said=said: said).run(
            "Send Bob a greeting."
        )
        assert len(outbox.sent) == ran


def test_an_approval_for_other_arguments_or_another_call_is_void(tmp_path: Path):
    outbox = Outbox()
    first = agent([outbox.tool], calls(("send", {"to": "Bob"})), approver=Pause(), journal=tmp_path / "runs")
    run = first.run("Send Bob or Bo a greeting.")
    call = run.pending[0]
    for call_id, arguments in ((call.id, {"to": "Bo"}), ("another", {"to": "Bob"})):
        forged = ApprovalGiven(1, call_id=call_id, hash=approval_hash("send", arguments), allowed=True, by="forger")
        with Path(run.journal).open("a", encoding="utf-8") as file:
            file.write(json.dumps(forged.to_dict()) + "\n")
        asked: list[Any] = []
        again = agent([outbox.tool], approver=lambda a, asked=asked: asked.append(a), journal=tmp_path / "runs")
        assert again.resume(run.id).stop == "approval_needed"
        assert len(asked) == 1, "it is asked about as if nobody had said anything"
    assert outbox.sent == []


RESUME = """
import sys
from pathlib import Path
from glassloop import Agent, ScriptedModel, tool

@tool(risk="write")
def send(to: str) -> str:
    "Send a greeting to somebody. Use it when the user wants a greeting sent."
    with Path(sys.argv[2]).open("a") as file:
        file.write(to + chr(10))
    return "sent to " + to

said = {"yes": True, "no": False}[sys.argv[4]]
agent = Agent(ScriptedModel([sys.argv[5]]), [send], approver=lambda a: said, journal=sys.argv[1], protocol="native")
run = agent.resume(sys.argv[3])
print(run.stop, run.answer, sep="|")
"""


@pytest.mark.parametrize(
    ("said", "answer", "sent"),
    [("yes", "I have sent it to Bob.", "Bob\n"), ("no", "It was not sent: you did not allow it.", "")],
)
def test_a_paused_write_is_decided_in_another_process(tmp_path: Path, said, answer, sent):
    outbox, target = Outbox(), tmp_path / "sent"
    target.touch()
    paused = agent([outbox.tool], calls(("send", {"to": "Bob"})), approver=Pause(), journal=tmp_path / "runs")
    run = paused.run("Send Bob a greeting.")
    assert run.stop == "approval_needed" and [c.name for c in run.pending] == ["send"] and not outbox.sent
    arguments = [sys.executable, "-c", RESUME, str(tmp_path / "runs"), str(target), run.id, said, answer]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"answered|{answer}"
    assert target.read_text() == sent
    audit = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [e["decision"] for e in audit] == ["pending", "allowed" if said == "yes" else "denied"]
    assert all(e["run"] == run.id and e["tool"] == "send" and e["arguments"]["to"] == "Bob" for e in audit)
