"""`runs`, `show`, `replay`, `diff`, `resume` as a person calls them: output, JSON, exit codes, plain errors."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from glassloop import Agent, ScriptedModel, tool
from glassloop.errors import GlassloopError

TOOLS = '''
from glassloop import tool

@tool
def weather(city: str) -> dict:
    """Weather of a city. Use it for any question about the weather."""
    return {"city": city, "temperature": 12}
'''
REPLIES = [
    '{"thought":"look","calls":[{"name":"weather","arguments":{"city":"Paris"}}]}',
    '{"thought":"done","answer":"It is 12 degrees in Paris."}',
]


@tool
def weather(city: str) -> dict[str, Any]:
    """Weather of a city. Use it for any question about the weather."""
    return {"city": city, "temperature": 12}


def call(name: str, *arguments: str) -> Result:
    module = importlib.import_module(f"glassloop.cli.{name}")
    done = CliRunner().invoke(module.command, list(arguments), standalone_mode=False)
    if done.exception is not None and not isinstance(done.exception, (GlassloopError, SystemExit)):
        raise done.exception
    return done


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for question in ("Weather in Paris?", "How warm is Paris?"):
        Agent(ScriptedModel(REPLIES), [weather], journal=tmp_path / "runs").run(question)
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path / "runs"


def ids(runs: Path) -> list[str]:
    return [p.stem for p in sorted(runs.glob("*.jsonl"), key=lambda p: p.stat().st_mtime_ns)]


def test_runs(runs: Path) -> None:
    shown = call("runs", "--runs", str(runs))
    assert shown.return_value == 0 and "Weather in Paris?" in shown.output and "answered" in shown.output
    data = json.loads(call("runs", "--json", "--runs", str(runs), "warm").output)
    assert [d["question"] for d in data] == ["How warm is Paris?"]
    assert len(json.loads(call("runs", "--json", "-t", "weather", "--since", "1h", "--runs", str(runs)).output)) == 2
    assert json.loads(call("runs", "--json", "--before", "yesterday", "--runs", str(runs)).output) == []
    assert "nothing has been recorded" in call("runs", "--runs", str(runs / "no")).output


def test_show(runs: Path, tmp_path: Path) -> None:
    shown = call("show", "last", "--runs", str(runs)).output
    for part in ("How warm is Paris?", "step 1", "weather(city=", "temperature", "check", "answered"):
        assert part in shown
    assert "step 1" not in call("show", "last", "--step", "2", "--runs", str(runs)).output
    assert "before" in call("show", "last", "--raw", "--runs", str(runs)).output
    data = json.loads(call("show", "last", "--json", "--runs", str(runs)).output)
    assert data["answer"] == "It is 12 degrees in Paris." and data["rows"][0]["kind"] == "start"
    events = json.loads(call("show", "last", "--json", "--raw", "--runs", str(runs)).output)
    assert events[0]["type"] == "run_started" and events[-1]["type"] == "run_ended"
    out = tmp_path / "out.html"
    assert call("show", "last", "--export", "html", "-o", str(out), "--runs", str(runs)).return_value == 0
    assert "It is 12 degrees" in out.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "nope"], "There is no run"),
        (["show", "last", "--step", "9"], "has no step 9"),
        (["show", "2"], "More than one run"),
    ],
)
def test_errors_say_what_to_do(arguments: list[str], message: str, runs: Path) -> None:
    done = call(*arguments, "--runs", str(runs))
    assert isinstance(done.exception, GlassloopError) and message in str(done.exception)


def test_replay(runs: Path, tmp_path: Path) -> None:
    assert "the same" in call("replay", "last", "--runs", str(runs)).output
    every = call("replay", "--all", "--runs", str(runs))
    assert every.return_value == 0 and "2 of 2" in every.output
    changed = tmp_path / "changed.py"
    changed.write_text(TOOLS.replace("Weather of", "Forecast of"))
    parted = call("replay", "last", "--tools", str(changed), "--runs", str(runs))
    assert parted.return_value == 1 and "the prompt differs" in parted.output and "Forecast" in parted.output
    data = json.loads(call("replay", "last", "--json", "--tools", str(changed), "--runs", str(runs)).output)
    assert data["ok"] is False and data["difference"]["step"] == 1


def test_diff(runs: Path) -> None:
    one, two = ids(runs)
    shown = call("diff", one, two, "--runs", str(runs)).output
    assert "They part in step 1" in shown and "How warm" in shown
    assert json.loads(call("diff", one, two, "--json", "--runs", str(runs)).output)["what"] == "the prompt"


def test_resume_says_why_it_does_not(runs: Path) -> None:
    done = call("resume", "last", "--runs", str(runs))
    assert isinstance(done.exception, GlassloopError) and "has ended (answered)" in str(done.exception)
    path = runs / f"{ids(runs)[-1]}.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    done = call("resume", path.stem, "--runs", str(runs))
    assert isinstance(done.exception, GlassloopError) and "--tools" in str(done.exception)


def test_resume_goes_on_with_a_recorded_model(runs: Path, tmp_path: Path) -> None:
    path = runs / f"{ids(runs)[-1]}.jsonl"
    whole = path.read_bytes()
    recording = tmp_path / "recording.jsonl"
    recording.write_bytes(whole)
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:5]))
    model, tools = f"recorded:{recording}", str(tmp_path / "tools.py")
    done = call("resume", path.stem, "--model", model, "--tools", tools, "--json", "--runs", str(runs))
    assert done.return_value == 0, (done.output, done.exception)
    assert json.loads(done.stdout)["answer"] == "It is 12 degrees in Paris."


def test_a_fork_from_the_command_line(runs: Path, tmp_path: Path) -> None:
    path = runs / f"{ids(runs)[-1]}.jsonl"
    model, tools = f"recorded:{path}", str(tmp_path / "tools.py")
    done = call("replay", path.stem, "--from", "2", "--model", model, "--tools", tools, "--json", "--runs", str(runs))
    assert done.return_value == 0, (done.output, done.exception)
    assert json.loads(done.stdout)["parent"] == path.stem


def test_a_masked_call_is_not_resumed(tmp_path: Path) -> None:
    @tool(risk="write")
    def store(value: str) -> str:
        """Store a value. Use it when the user gives one to keep."""
        return "stored"

    key = "sk-abcdefghij1234567890"
    replies = [json.dumps({"thought": "t", "calls": [{"name": "store", "arguments": {"value": key}}]})]
    agent = Agent(ScriptedModel(replies), [store], approver=lambda asked: None, journal=tmp_path)
    run = agent.run(f"Keep {key}")
    assert run.stop == "approval_needed"
    done = call("resume", run.id, "--runs", str(tmp_path))
    assert isinstance(done.exception, GlassloopError) and "masked" in str(done.exception)
