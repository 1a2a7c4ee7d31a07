"""Keys are hidden in everything that is written, by one rule, and no call runs with a mask in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glassloop import Agent, ScriptedModel, tool
from glassloop.errors import JournalError
from glassloop.journal.record import JournalRecorder
from glassloop.journal.redact import KEYS, PERSONAL, Redactor
from glassloop.memory import SessionStore
from glassloop.tools.permission import AlwaysYes
from glassloop.types import Message

KEY = "sk-abcdefghij1234567890"
PHONE = "13812345678"
CALL = json.dumps({"thought": "t", "calls": [{"name": "store", "arguments": {"value": KEY}}]})
DONE = json.dumps({"thought": "t", "answer": f"Stored {KEY}."})


def keeper(stored: list[str]) -> object:
    @tool(risk="write")
    def store(value: str) -> str:
        """Store a value. Use it when the user gives one to keep."""
        stored.append(value)
        return "stored"

    return store


def written(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_key_reaches_the_tool_and_no_file(tmp_path: Path) -> None:
    stored: list[str] = []
    agent = Agent(ScriptedModel([CALL, DONE]), [keeper(stored)], approver=AlwaysYes(), journal=tmp_path / "runs")
    session = agent.session("work")
    run = session.run(f"Keep {KEY}")
    assert stored == [KEY] and KEY in run.answer
    session.store.add_note("me", f"the key is {KEY}")
    files = written(tmp_path)
    assert {"audit.jsonl", "sessions.sqlite"} <= set(files) and any(n.endswith(".jsonl") for n in files)
    assert not [name for name, data in files.items() if KEY.encode() in data]
    assert "sk-" in session.turns[0].question and "****" in session.turns[0].question


def test_the_audit_file_keeps_the_mark_of_the_real_arguments(tmp_path: Path) -> None:
    from glassloop.tools.permission import approval_hash

    agent = Agent(ScriptedModel([CALL, DONE]), [keeper([])], approver=AlwaysYes(), journal=tmp_path / "runs")
    agent.run(f"Keep {KEY}")
    (entry,) = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text("utf-8").splitlines()]
    assert entry["hash"] == approval_hash("store", {"value": KEY})
    assert "****" in entry["arguments"]["value"] and entry["decision"] == "allowed"


def test_a_wider_rule_of_the_journal_holds_everywhere(tmp_path: Path) -> None:
    journal = JournalRecorder(tmp_path / "runs" / "r.jsonl", redact=Redactor(KEYS + PERSONAL))
    agent = Agent(ScriptedModel([json.dumps({"thought": "t", "answer": f"Call {PHONE}."})]), journal=journal)
    session = agent.session("work", tmp_path / "s.sqlite")
    session.run(f"My number is {PHONE}. What is it?")
    journal.close()
    assert not [name for name, data in written(tmp_path).items() if PHONE.encode() in data]


def test_without_a_rule_nothing_is_changed(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "s.sqlite")
    store.add("work", f"Keep {KEY}", "ok", messages=(Message("user", f"Keep {KEY}", kind="question"),))
    assert store.show("work")[0].question == f"Keep {KEY}"


def test_a_pending_call_with_a_mask_is_never_run(tmp_path: Path) -> None:
    stored: list[str] = []
    agent = Agent(ScriptedModel([CALL]), [keeper(stored)], approver=lambda asked: None, journal=tmp_path / "runs")
    run = agent.run(f"Keep {KEY}")
    assert run.stop == "approval_needed"
    again = Agent(ScriptedModel([DONE]), [keeper(stored)], approver=AlwaysYes(), journal=tmp_path / "runs")
    with pytest.raises(JournalError, match=r"store .*masked.*ask the question again"):
        again.resume(run.id)
    assert stored == []
