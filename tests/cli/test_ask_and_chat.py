"""`ask` and `chat` in a process of their own, with a server double for the model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

LOOK = '{"thought":"look","calls":[{"name":"weather","arguments":{"city":"Paris"}}]}'
SAY = '{"thought":"done","answer":"It is 12 degrees in Paris."}'
SEND = '{"thought":"send","calls":[{"name":"send","arguments":{"to":"Ann"}}]}'
SENT = '{"thought":"done","answer":"The report was sent to Ann."}'


def one_sentence(text: str) -> bool:
    return text.startswith("glassloop: ") and "Traceback" not in text and len(text.strip().splitlines()) <= 2


def test_ask_shows_the_loop_and_gives_json(glassloop: Any, server: Any) -> None:
    server.script = [LOOK, SAY]
    done = glassloop("ask", "Weather in Paris?", "--tools", "tools.py")
    assert done.returncode == 0, done.stderr
    for part in ("weather(city=", "12 degrees", "answered · 2 steps"):
        assert part in done.stdout
    server.played = 0
    done = glassloop("ask", "Weather in Paris?", "--tools", "tools.py", "--json")
    run = json.loads(done.stdout)
    assert run["answer"] == "It is 12 degrees in Paris." and run["model"] == "openai:tiny-chat"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "x", "--model", "nope-model"], "There is no model called 'nope-model'"),
        (["ask", "x", "--model", "missing.gguf"], "There is no model file"),
        (["ask", "x", "--tools", "missing.py"], "There is no tool file missing.py"),
        (["ask", "x", "--tools", "broken.py"], "broken.py, line 1: NameError"),
        (["ask", "x", "--knowledge", "nowhere"], "There is no file, folder or knowledge base at nowhere"),
        (["ask", "x", "--knowledge-first"], "--knowledge PATH"),
        (["ask", "x", "--mcp", "no-such-command-here"], "MCP"),
        (["ask", "x", "--prices", "missing.json"], "cannot be read"),
        (["ask", "x", "--allow-pattern", "send(("], "cannot be read"),
        (["chat", "--show", "--session", "none"], "There is no session named 'none'"),
        (["search", "anything"], "There is no knowledge base"),
        (["index", "missing-folder"], "There is no missing-folder"),
        (["lint", "missing.py"], "There is no tool file"),
        (["approve"], "There is no run"),
        (["rag", "eval", "missing.jsonl"], "missing.jsonl"),
    ],
)
def test_what_cannot_be_done_is_one_plain_sentence(
    arguments: list[str], said: str, glassloop: Any, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("nonsense\n")
    done = glassloop(*arguments)
    assert done.returncode == 1
    assert said in done.stderr and one_sentence(done.stderr), done.stderr


def test_a_pattern_lets_a_write_through_and_only_that(glassloop: Any, server: Any, tmp_path: Path) -> None:
    server.script = [SEND, SENT]
    options = ("ask", "Send the report to Ann.", "--tools", "tools.py", "-q")
    assert glassloop(*options, "--allow-pattern", "send(to=Ann)").returncode == 0
    assert (tmp_path / "sent.txt").read_text() == "Ann\n"
    server.script, server.played = [SEND, '{"thought":"no","answer":"I was not allowed to send it to Ann."}'], 0
    done = glassloop(*options, "--allow-pattern", "send(to=Bob)")
    assert done.returncode == 0 and "not allowed" in done.stdout
    assert (tmp_path / "sent.txt").read_text() == "Ann\n"


def test_prices_of_your_own_and_an_unknown_one(glassloop: Any, server: Any, tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text('{"tiny": {"input": 1000, "output": 0}, "other": {"input": 1, "output": 1}}')
    server.script = [LOOK, SAY]
    done = glassloop("ask", "Weather in Paris?", "--tools", "tools.py", "--json", "--prices", "prices.json")
    assert json.loads(done.stdout)["cost"] == pytest.approx(0.08)
    (tmp_path / "prices.json").write_text('{"other": {"input": 1, "output": 1}}')
    server.played = 0
    done = glassloop("ask", "Weather in Paris?", "--tools", "tools.py", "--max-cost", "1", "--prices", "prices.json")
    assert done.returncode == 0 and "price of this model is not known" in done.stdout


def test_strategy_and_mcp(glassloop: Any, server: Any, tmp_path: Path) -> None:
    server.script = ['{"plan":["weather of Paris"]}', LOOK, SAY]
    done = glassloop("ask", "Weather in Paris?", "--tools", "tools.py", "--strategy", "plan")
    assert done.returncode == 0 and "1. weather of Paris" in done.stdout, done.stderr
    pytest.importorskip("mcp")
    double = Path(__file__).parents[1] / "doubles" / "mcp_server.py"
    server.script, server.played = ['{"thought":"easy","answer":"Hello."}'], 0
    done = glassloop("ask", "Say hello.", "--mcp", f"{sys.executable} {double}", "-q")
    assert done.returncode == 0, done.stderr
    assert "tide(port" in json.dumps(server.requests[-1][2]["messages"])


def test_chat_line_by_line_remembers(glassloop: Any, server: Any) -> None:
    server.script = [LOOK, SAY, '{"thought":"known","answer":"As said: 12 degrees."}']
    done = glassloop("chat", "--session", "trip", "--tools", "tools.py", "--json", given="Weather in Paris?\n")
    first = json.loads(done.stdout)
    assert first["answer"] == "It is 12 degrees in Paris." and first["session"] == "trip"
    done = glassloop(
        "chat", "--session", "trip", "--tools", "tools.py", "--json", given='{"question": "How warm again?"}\nnope{\n'
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0]["answer"] == "As said: 12 degrees." and lines[0]["turn"] == first["turn"] + 1
    sent = json.dumps(server.requests[-1][2]["messages"])
    assert "Weather in Paris?" in sent and "It is 12 degrees in Paris." in sent

    listed = json.loads(glassloop("chat", "--list", "--json").stdout)
    assert listed[0]["name"] == "trip" and listed[0]["turns"] == 3
    assert "Weather in Paris?" in glassloop("chat", "--session", "trip", "--show").stdout
    assert json.loads(glassloop("chat", "--session", "trip", "--export", "json").stdout)["session"] == "trip"
    assert "3 turns" in glassloop("chat", "--session", "trip", "--delete").stdout
    assert "no sessions" in glassloop("chat", "--list").stdout


def test_chat_commands_and_a_turn_that_failed_is_continued(glassloop: Any, server: Any, tmp_path: Path) -> None:
    from openai_server import refusal

    server.script = [refusal(400, "broken today", "bad_request")]
    done = glassloop("chat", "--tools", "tools.py", given="Weather in Paris?\n")
    assert done.returncode == 1
    server.script, server.played = [LOOK, SAY], 0
    given = "/help\n/nonsense\n/continue\n/show\n/export out.md\n/list\n/exit\nnever asked\n"
    done = glassloop("chat", "--tools", "tools.py", given=given)
    assert "the last turn was interrupted" in done.stdout and "12 degrees" in done.stdout
    assert "/continue" in done.stdout and "no /nonsense" in done.stderr and server.played == 2
    assert "12 degrees" in (tmp_path / "out.md").read_text("utf-8")


def test_chat_with_notes(glassloop: Any, server: Any) -> None:
    remember = '{"thought":"keep","calls":[{"name":"remember","arguments":{"text":"I am allergic to nuts"}}]}'
    server.script = [remember, '{"thought":"done","answer":"I have remembered it."}']
    said = "Please remember: I am allergic to nuts\n"
    done = glassloop("chat", "--notes", "--yes", "--json", given=said, GLASSLOOP_USER="ann")
    assert json.loads(done.stdout)["stop"] == "answered", done.stderr
    recall = '{"thought":"look","calls":[{"name":"recall","arguments":{"query":"allergic"}}]}'
    server.script, server.played = [recall, '{"thought":"done","answer":"You are allergic to nuts."}'], 0
    glassloop("chat", "--notes", "--session", "b", "--json", given="What am I allergic to?\n", GLASSLOOP_USER="ann")
    assert "allergic to nuts" in json.dumps(server.requests[-1][2]["messages"][-1])
    server.played = 0
    glassloop("chat", "--notes", "--session", "c", "--json", given="What am I allergic to?\n", GLASSLOOP_USER="bob")
    assert "allergic to nuts" not in json.dumps(server.requests[-1][2]["messages"][-1])
