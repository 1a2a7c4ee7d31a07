"""A run that pauses for a yes, and `approve` from another process: exactly that call, once, or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SEND = '{"thought":"send","calls":[{"name":"send","arguments":{"to":"Ann"}}]}'
TWICE = '{"thought":"send","calls":[{"name":"send","arguments":{"to":"Ann"}},{"name":"send","arguments":{"to":"Bob"}}]}'
SENT = '{"thought":"done","answer":"The report was sent to Ann."}'


def paused(glassloop: Any, question: str = "Send the report to Ann.") -> dict[str, Any]:
    done = glassloop("ask", question, "--tools", "tools.py", "--approver", "pause", "--json")
    assert done.returncode == 1 and "glassloop approve" in done.stderr
    run = json.loads(done.stdout)
    assert run["stop"] == "approval_needed"
    return run


def test_allow(glassloop: Any, server: Any, tmp_path: Path) -> None:
    server.script = [SEND, SENT]
    run = paused(glassloop)
    assert not (tmp_path / "sent.txt").exists()
    done = glassloop("approve", run["id"], "--tools", "tools.py")
    assert done.returncode == 0, done.stderr
    assert "send (write) wants to run" in done.stdout and '"Ann"' in done.stdout and "sent to Ann" in done.stdout
    assert (tmp_path / "sent.txt").read_text() == "Ann\n"
    again = glassloop("approve", run["id"], "--tools", "tools.py")
    assert again.returncode == 1 and "needs no approval" in again.stderr
    assert (tmp_path / "sent.txt").read_text() == "Ann\n"
    audit = [json.loads(line) for line in (tmp_path / ".glassloop" / "audit.jsonl").read_text().splitlines()]
    assert audit[-1]["by"] == "glassloop approve"


def test_deny_is_told_to_the_model(glassloop: Any, server: Any, tmp_path: Path) -> None:
    server.script = [SEND, '{"thought":"no","answer":"It was not sent to Ann: you denied it."}']
    run = paused(glassloop)
    done = glassloop("approve", run["id"], "--deny", "--tools", "tools.py", "--json")
    assert json.loads(done.stdout)["answer"].startswith("It was not sent")
    assert not (tmp_path / "sent.txt").exists()
    assert "denied" in json.dumps(server.requests[-1][2]["messages"])


def test_a_yes_belongs_to_one_call_only(glassloop: Any, server: Any, tmp_path: Path) -> None:
    server.script = [TWICE, SENT]
    run = paused(glassloop, "Send the report to Ann and to Bob.")
    first, second = (call["id"] for call in run["pending"])
    wrong = glassloop("approve", run["id"], "--call", second, "--tools", "tools.py")
    assert wrong.returncode == 1 and "does not wait for a call" in wrong.stderr
    done = glassloop("approve", run["id"], "--call", first, "--tools", "tools.py", "--json")
    assert json.loads(done.stdout)["stop"] == "approval_needed"
    assert (tmp_path / "sent.txt").read_text() == "Ann\n"
    done = glassloop("approve", run["id"], "--call", second, "--tools", "tools.py", "--json")
    assert (tmp_path / "sent.txt").read_text() == "Ann\nBob\n" and done.returncode == 0


def test_changed_arguments_do_not_run(glassloop: Any, server: Any, tmp_path: Path) -> None:
    server.script = [SEND, SENT]
    run = paused(glassloop, "Send the report to Ann. Eve is on holiday.")
    path = tmp_path / ".glassloop" / "runs" / f"{run['id']}.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    # the model's call is altered after a person has seen it
    lines = [line.replace('"Ann"', '"Eve"') if '"move_read"' in line else line for line in lines]
    path.write_text("".join(lines), "utf-8")
    done = glassloop("approve", run["id"], "--tools", "tools.py")
    assert done.returncode == 1 and "came out differently" in done.stderr
    assert not (tmp_path / "sent.txt").exists()


@pytest.mark.parametrize("option", ["--yes", "--approver=no"])
def test_other_approvers(option: str, glassloop: Any, server: Any, tmp_path: Path) -> None:
    said = SENT if option == "--yes" else '{"thought":"no","answer":"It was not sent to Ann: writes are refused."}'
    server.script = [SEND, said]
    done = glassloop("ask", "Send the report to Ann.", "--tools", "tools.py", "-q", option)
    assert done.returncode == 0 and (tmp_path / "sent.txt").exists() == (option == "--yes")
