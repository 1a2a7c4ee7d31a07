# ruff: noqa: E501  -- one case a line reads better than ten
"""Nothing but a read runs without a yes, and every decision is written down before it counts."""

from __future__ import annotations

import asyncio
import io
import json
import stat

import pytest

from glassloop.errors import ConfigurationError
from glassloop.events import ApprovalAsked
from glassloop.tools.permission import (
    AlwaysNo,
    AlwaysYes,
    AuditLog,
    Decision,
    PatternPolicy,
    Pause,
    Permission,
    TerminalApprover,
    approval_hash,
    default_approver,
    question_text,
)
from glassloop.types import Source, ToolCall


def asked(name="send_message", risk="write", unknown=False, sources=(), preview="", **arguments) -> ApprovalAsked:
    mark = approval_hash(name, arguments)
    return ApprovalAsked(
        call=ToolCall("c1", name, arguments),
        risk=risk,
        hash=mark,
        unknown=unknown,
        sources=tuple(sources),
        preview=preview,
    )


def decide(permission: Permission, question: ApprovalAsked, run: str = "") -> Decision:
    return asyncio.run(permission.decide(question, run=run))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_read_runs_without_asking(tmp_path):
    audit = AuditLog(tmp_path / "audit.jsonl")
    assert decide(Permission(AlwaysNo(), audit=audit), asked(risk="read")).allowed
    assert not audit.path.exists()


def test_a_write_needs_a_yes():
    assert decide(Permission(AlwaysYes()), asked()).allowed is True
    assert decide(Permission(AlwaysNo()), asked()).allowed is False
    assert decide(Permission(), asked()).allowed is False


def test_a_destructive_tool_needs_to_be_named_and_a_yes():
    question = asked("wipe", "destructive")
    assert decide(Permission(AlwaysYes()), question).allowed is False
    assert "wipe" in decide(Permission(AlwaysYes()), question).reason
    assert decide(Permission(AlwaysYes(), allow=["wipe"]), question).allowed is True
    assert decide(Permission(AlwaysNo(), allow=["wipe"]), question).allowed is False


def test_a_tool_name_given_as_one_string_is_not_taken_letter_by_letter():
    assert decide(Permission(AlwaysYes(), allow="wipe"), asked("wipe", "destructive")).allowed is True
    assert decide(Permission(AlwaysYes(), allow="wipe"), asked("w", "destructive")).allowed is False


def test_pause_decides_nothing():
    assert decide(Permission(Pause()), asked()).allowed is None


def test_an_unknown_outcome_is_never_allowed_by_a_rule():
    question = asked(unknown=True, to="a@example.com")
    assert decide(Permission(AlwaysYes()), question).allowed is False
    assert decide(Permission(PatternPolicy(["send_message"])), question).allowed is False
    assert decide(Permission(PatternPolicy(["send_message"], then=Pause())), question).allowed is None


def test_any_callable_or_coroutine_is_an_approver():
    async def later(question):
        await asyncio.sleep(0)
        return Decision(True, "boss", "fine")

    assert decide(Permission(lambda q: True), asked()).allowed is True
    assert decide(Permission(lambda q: None), asked()).allowed is None
    assert decide(Permission(later), asked()) == Decision(True, "boss", "fine")


@pytest.mark.parametrize("answer", [1, "yes", "no", object(), [True]])
def test_only_true_itself_is_a_yes(answer):
    assert decide(Permission(lambda q: answer), asked()).allowed is False


def test_an_approver_that_breaks_refuses():
    def broken(question):
        raise RuntimeError("no network")

    decision = decide(Permission(broken), asked())
    assert decision.allowed is False
    assert "no network" in decision.reason


def test_the_hash_belongs_to_the_arguments():
    assert approval_hash("t", {"a": 1, "b": 2}) == approval_hash("t", {"b": 2, "a": 1})
    assert approval_hash("t", {"a": 1}) != approval_hash("t", {"a": 2})
    assert approval_hash("t", {"a": 1}) != approval_hash("u", {"a": 1})
    changed = ApprovalAsked(
        call=ToolCall("c1", "send", {"to": "b"}), risk="write", hash=approval_hash("send", {"to": "a"})
    )
    assert decide(Permission(AlwaysYes()), changed).allowed is False


@pytest.mark.parametrize(
    ("pattern", "arguments", "allowed"),
    [
        ("send_message(to=*@example.com)", {"to": "ana@example.com", "text": "hi"}, True),
        ("send_message", {"to": "anyone"}, True),
        ("send_*", {"to": "anyone"}, True),
        ("send_message(to=ana@example.com, text=hi)", {"to": "ana@example.com", "text": "hi"}, True),
        ('send_message(text="a, b")', {"text": "a, b"}, True),
        ("send_message(count=?)", {"count": 3}, True),
        ("send_message(to=*@example.com)", {"to": ["a@example.com", "b@example.com"]}, True),
        ("send_message(to=*@example.com)", {"to": ["a@example.com", "b@evil.example"]}, False),
        ("send_message(to=*@example.com)", {"to": "x@evil.example,a@example.com"}, False),
        ("send_message(to=*@example.com)", {"to": "x@evil.example\na@example.com"}, False),
        ("send_message(to=*@example.com)", {"to": "a@example.com.evil.example"}, False),
        ("send_message(to=*@example.com)", {"to": "x@evil@example.com"}, False),
        ("send_message(to=*@example.com)", {"text": "hi"}, False),
        ("send_message(to=*)", {"to": {"a": 1}}, False),
        ("send_message(to=*)", {"to": []}, False),
        ("send", {"to": "anyone"}, False),
    ],
)
def test_patterns(pattern, arguments, allowed):
    assert decide(Permission(PatternPolicy([pattern])), asked(**arguments)).allowed is allowed


@pytest.mark.parametrize("pattern", ["", "send(", "send(to)", "send(=x)", "a b", "send(to=)"])
def test_a_pattern_that_cannot_be_read_is_said(pattern):
    with pytest.raises(ConfigurationError, match="pattern"):
        PatternPolicy([pattern])


@pytest.mark.parametrize(
    ("typed", "allowed"), [("y\n", True), ("YES\n", True), ("是\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_the_terminal_takes_a_yes(typed, allowed):
    target = io.StringIO()
    approver = TerminalApprover(Terminal(typed), target)
    assert decide(Permission(approver), asked(to="Bo")).allowed is allowed
    assert 'to = "Bo"' in target.getvalue()


def test_without_a_terminal_nobody_is_asked():
    target = io.StringIO()
    assert decide(Permission(TerminalApprover(io.StringIO("y\n"), target)), asked()).allowed is False
    assert target.getvalue() == ""


def test_the_default_refuses_where_there_is_no_terminal(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert isinstance(default_approver(), AlwaysNo)
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    assert isinstance(default_approver(), TerminalApprover)


def test_the_question_shows_sources_taint_and_preview():
    sources = [
        Source("to", "evil@bad.example", "observation", "observation 2 (read_page)"),
        Source("text", "hi", "question", "question"),
        Source("n", 9, "none"),
    ]
    text = question_text(asked(to="evil@bad.example", text="hi", n=9, sources=sources, preview="Sends one mail"))
    assert "only from observation 2 (read_page)" in text
    assert "made up by the model" in text
    assert "Sends one mail" in text
    assert "UNKNOWN" in question_text(asked(unknown=True))


def test_control_characters_cannot_repaint_the_question():
    text = question_text(asked(to="a\x1b[2J\u202eb", **{"k\x1b[1A": "x"}, preview="ok\x1b[31m"))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_every_decision_is_written_down(tmp_path):
    audit = AuditLog(tmp_path / "deep" / "audit.jsonl")
    for approver in (AlwaysYes(), AlwaysNo(), Pause()):
        decide(Permission(approver, audit=audit), asked(to="王芳"), run="r1")
    decide(Permission(AlwaysYes(), audit=audit), asked("wipe", "destructive"), run="r1")
    entries = list(audit.entries())
    assert [e["decision"] for e in entries] == ["allowed", "denied", "pending", "denied"]
    assert entries[0] | {"at": ""} == {
        "at": "", "decision": "allowed", "by": "always-yes", "reason": "", "run": "r1", "call": "c1", "tool": "send_message",
        "risk": "write", "arguments": {"to": "王芳"}, "hash": approval_hash("send_message", {"to": "王芳"}),
    }  # fmt: skip
    assert stat.S_IMODE(audit.path.stat().st_mode) == 0o600


def test_the_audit_file_only_grows(tmp_path):
    path = tmp_path / "audit.jsonl"
    decide(Permission(AlwaysYes(), audit=AuditLog(path)), asked())
    before = path.read_bytes()
    decide(Permission(AlwaysYes(), audit=AuditLog(path)), asked())
    assert path.read_bytes().startswith(before)


def test_a_line_cut_short_by_a_crash_spoils_no_other(tmp_path):
    path = tmp_path / "audit.jsonl"
    path.write_text('{"decision": "allo', encoding="utf-8")
    decide(Permission(AlwaysYes(), audit=AuditLog(path)), asked())
    assert [e["decision"] for e in AuditLog(path).entries()] == ["allowed"]


def test_what_cannot_be_written_down_does_not_run(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    decision = decide(Permission(AlwaysYes(), audit=AuditLog(tmp_path / "file" / "audit.jsonl")), asked())
    assert decision.allowed is False
    assert "audit" in decision.reason


def test_strange_arguments_are_written_down(tmp_path):
    audit = AuditLog(tmp_path / "a.jsonl")
    decide(Permission(AlwaysYes(), audit=audit), asked(to="\ud800", path=tmp_path, n=float("nan")))
    assert len(list(audit.entries())) == 1
    assert json.loads(audit.path.read_text(encoding="utf-8").splitlines()[0])["tool"] == "send_message"
