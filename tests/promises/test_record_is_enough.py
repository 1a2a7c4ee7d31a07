"""Promise 6: the record is enough. From the journal alone a run can be shown, replayed without a
model or tools, resumed, or forked at a step; and nothing that is done with it changes it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassloop import Agent, ScriptedModel, tool
from glassloop.journal.fork import fork
from glassloop.journal.html import export
from glassloop.journal.listing import read_entry
from glassloop.journal.rebuild import load, rebuild_run
from glassloop.journal.replay import replay
from glassloop.journal.timeline import Timeline

CALLS: list[str] = []


@tool
def population(city: str) -> dict[str, Any]:
    """Population of a city. Use it for questions about how many people live there."""
    CALLS.append(city)
    return {"city": city, "population": 4429058}


REPLIES = [
    '{"thought":"look it up","calls":[{"name":"population","arguments":{"city":"Busan"}}]}',
    '{"thought":"known","answer":"Busan has 4,429,058 people."}',
]
QUESTION = "How many people live in Busan?"


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Any, Path]:
    run = Agent(ScriptedModel(REPLIES), [population], journal=tmp_path / "runs").run(QUESTION)
    assert run.ok, run.detail
    return run, Path(run.journal)


def test_shown(recorded: tuple[Any, Path]) -> None:
    run, path = recorded
    rows = Timeline(load(path)).rows
    told = json.dumps([r.to_dict() for r in rows], ensure_ascii=False)
    for step in run.steps:
        for message in step.request.messages:
            assert json.dumps(message["content"], ensure_ascii=False)[1:-1] in told, "a prompt is not shown"
        assert json.dumps(step.reply.text, ensure_ascii=False)[1:-1] in told, "a reply is not shown"
        for seen in step.observations:
            assert json.dumps(seen.content, ensure_ascii=False)[1:-1] in told, "an observation is not shown"
    assert "4,429,058" in export(Timeline(load(path)))
    assert read_entry(path).answer == run.answer


def test_rebuilt(recorded: tuple[Any, Path]) -> None:
    run, path = recorded
    assert replace(rebuild_run(path), journal=run.journal).to_dict() == json.loads(json.dumps(run.to_dict()))


def test_replayed_in_another_process_without_model_tools_or_network(recorded: tuple[Any, Path]) -> None:
    _, path = recorded
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise AssertionError('the network was asked for')\n"
        "socket.socket.connect = refuse\n"
        "from glassloop.journal.replay import replay\n"
        "from pathlib import Path\n"
        f"found = replay(Path({str(path)!r})).check()\n"
        "assert found.matched == found.events\n"
        "heavy = {'numpy', 'openai', 'ollama', 'xllamacpp', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_resumed_after_any_event(recorded: tuple[Any, Path], tmp_path: Path) -> None:
    run, path = recorded
    lines = path.read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines)):
        cut = tmp_path / f"cut{count}" / path.name
        cut.parent.mkdir()
        cut.write_bytes(b"".join(lines[:count]) + lines[count][: len(lines[count]) // 2])
        said = sum(b'"type":"model_replied"' in line for line in lines[:count])
        again = Agent(ScriptedModel(REPLIES[said:] or REPLIES[-1:]), [population], journal=cut.parent).resume(path.stem)
        assert (again.answer, again.stop) == (run.answer, run.stop)
        assert cut.read_bytes().startswith(b"".join(lines[:count])), "what was recorded is never edited"


def test_forked_at_every_step(recorded: tuple[Any, Path]) -> None:
    run, path = recorded
    before = path.read_bytes()
    for step in (1, 2):
        agent = Agent(ScriptedModel(REPLIES[step - 1 :]), [population], journal=path.parent)
        CALLS.clear()
        stream = fork(path, step, agent, live=False)

        async def follow(stream: Any = stream) -> None:
            async for _ in stream:
                pass

        asyncio.run(follow())
        assert stream.run.answer == run.answer and stream.run.parent == run.id
        assert CALLS == (["Busan"] if step == 1 else [])
        assert replay(Path(stream.run.journal)).ok
    assert path.read_bytes() == before
