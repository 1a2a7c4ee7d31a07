"""`doctor`, `model`, `lint`, `habits`, `index`, `search`, `rag` and `--knowledge` in processes of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

MANUAL = """# Pump P-200

## Reset

Hold the red button for seven seconds until the lamp turns green.

## Cleaning

Rinse the filter with warm water once a month.
"""


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "pump.md").write_text(MANUAL)
    return folder


def test_help_lists_every_command_and_each_has_help(glassloop: Any) -> None:
    from glassloop.cli import COMMANDS

    shown = glassloop("--help").stdout
    assert all(f"  {name} " in shown for name in COMMANDS)
    done = glassloop("doktor")
    assert done.returncode == 2 and "did you mean doctor?" in done.stderr


def test_doctor_with_and_without_a_model(glassloop: Any) -> None:
    done = glassloop("doctor")
    assert done.returncode == 0 and "openai:tiny-chat" in done.stdout and "not measured" in done.stdout
    data = json.loads(glassloop("doctor", "--json").stdout)
    assert data["chosen"] == "openai:tiny-chat" and data["findings"][0]["state"] == "chosen"
    done = glassloop("doctor", model=False)
    assert done.returncode == 1 and "glassloop model fetch" in done.stdout
    assert json.loads(glassloop("doctor", "--json", model=False).stdout)["chosen"] is None


def test_model_list_probe_and_the_profile_in_doctor(glassloop: Any, server: Any) -> None:
    rows = json.loads(glassloop("model", "list", "--json").stdout)
    assert {"qwen2.5-coder-1.5b", "smollm2-135m"} <= {row["name"] for row in rows} and not any(r["path"] for r in rows)
    server.script = ["blue"]
    done = glassloop("model", "probe", "openai:tiny-chat", "--json")
    assert done.returncode == 0, done.stderr
    profile = json.loads(done.stdout)
    assert profile["protocol"] == "text" and profile["follows"] == 1 and len(server.requests) >= 14
    done = glassloop("doctor")
    assert "Profile  text" in done.stdout
    # what was measured decides: this server does not hold schemas, so none is sent
    server.script = ["Thought: easy\nAnswer: Hello."]
    assert "Hello." in glassloop("ask", "Say hello.", "--tools", "tools.py", "-q").stdout
    assert "response_format" not in server.requests[-1][2]
    assert "There is no known model" in glassloop("model", "fetch", "qwen9").stderr


def test_lint(glassloop: Any, tmp_path: Path) -> None:
    assert glassloop("lint", "tools.py").returncode == 0
    (tmp_path / "bad.py").write_text(
        'from glassloop import tool\n@tool\ndef delete_all(x: str) -> str:\n    """Deletes."""\n    return x\n'
    )
    done = glassloop("lint", "bad.py")
    assert done.returncode == 1 and "bad.py:" in done.stdout and "delete_all" in done.stdout
    found = json.loads(glassloop("lint", "bad.py", "--json").stdout)
    assert all(f["rule"].startswith("GL") for f in found)
    (tmp_path / "pyproject.toml").write_text("[tool.glassloop.lint]\nnonsense = 3\n")
    assert "unknown key" in glassloop("lint", "bad.py").stderr


def test_habits(glassloop: Any, server: Any) -> None:
    assert "no cast, problem or fault" in glassloop("habits").stdout
    server.script = [
        '{"thought":"look","calls":[{"name":"weather","arguments":{"city":"Paris","days":"2"}}]}',
        '{"thought":"look","calls":[{"name":"weather","arguments":{"city":"Paris","days":"many"}}]}',
        '{"thought":"done","answer":"It is 12 degrees in Paris."}',
    ]
    glassloop("ask", "Weather in Paris for 2 days?", "--tools", "tools.py", "-q")
    found = json.loads(glassloop("habits", "--json").stdout)
    cast = next(h for h in found if h["kind"] == "cast")
    assert (cast["tool"], cast["argument"], cast["what"], cast["saved"]) == ("weather", "days", "integer", 1)
    problem = next(h for h in found if h["kind"] == "problem")
    assert problem["argument"] == "days" and "many" in problem["before"]
    assert "days: a whole number" in glassloop("habits", "--tool", "weather").stdout
    assert json.loads(glassloop("habits", "--json", "--tool", "other").stdout) == []


def test_index_search_and_rag(glassloop: Any, manual: Path, tmp_path: Path) -> None:
    done = glassloop("index", "manuals", "--no-vectors")
    assert done.returncode == 0 and "1 added" in done.stdout, done.stderr
    assert json.loads(glassloop("index", "manuals", "--no-vectors", "--json").stdout)["unchanged"]
    assert json.loads(glassloop("index", "--status", "--json").stdout)["documents"] == 1
    done = glassloop("search", "reset", "button", "--mode", "keywords")
    assert done.returncode == 0 and "seven seconds" in done.stdout and "Reset" in done.stdout
    assert json.loads(glassloop("search", "filter", "--mode", "keywords", "--json").stdout)[0]["place"]
    done = glassloop("search", "zzz qqq", "--mode", "keywords")
    assert done.returncode == 1 and "nothing found" in done.stderr
    (tmp_path / "q.jsonl").write_text('{"question": "How do I reset it?", "answer": "seven seconds"}\n')
    scores = json.loads(glassloop("rag", "eval", "q.jsonl", "--json").stdout)
    assert scores[0]["questions"] == 1 and scores[0]["hit"]["5"] == 1.0
    assert glassloop("rag", "eval", "q.jsonl", "--min-hit", "1").returncode == 0


def test_knowledge_is_searched_cited_and_resolved(glassloop: Any, server: Any, manual: Path) -> None:
    server.script = [
        '{"thought":"look","calls":[{"name":"search_knowledge","arguments":{"query":"reset"}}]}',
        '{"thought":"done","answer":"Hold the red button for seven seconds [1]."}',
    ]
    done = glassloop("ask", "How do I reset the pump?", "--knowledge", "manuals", "--json")
    run = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert [s["n"] for s in run["sources"]] == [1] and "pump.md" in run["sources"][0]["source"]

    server.script, server.played = ['{"thought":"known","answer":"Hold the red button for seven seconds [1]."}'], 0
    done = glassloop("ask", "How do I reset the pump?", "--knowledge", "manuals", "--knowledge-first")
    assert done.returncode == 0 and "[1] manuals/pump.md" in done.stdout.replace("\\", "/"), done.stdout
    assert "seven seconds" in json.dumps(server.requests[-1][2]["messages"])
