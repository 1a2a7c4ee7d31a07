"""What a run costs: one's own table, the package, and an unknown price that is said and not guessed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from glassloop import Agent, Limits, Run, ScriptedModel
from glassloop.cli.rows import RowPrinter
from glassloop.errors import ConfigurationError
from glassloop.events import Noted, RunEnded
from glassloop.journal.html import export
from glassloop.journal.record import find_run, read_events
from glassloop.journal.timeline import Timeline, money
from glassloop.prices import UNKNOWN, price_for
from glassloop.types import Usage

USAGE = Usage(prompt=1_000_000, completion=500_000, cached=400_000, requests=2)


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    table = {"openai:big": {"input": 2, "cached": 1, "output": 10}, "big-x": {"input": 1, "output": 1}}
    assert price_for("openai:big", table)(USAGE) == pytest.approx(0.6 * 2 + 0.4 * 1 + 0.5 * 10)
    assert price_for("openai:big-xl", {**table, "big": {"input": 0, "output": 0}})(USAGE) == pytest.approx(6.6)
    assert price_for("openai:big-xl", {"big-x": {"input": 1, "output": 1}})(USAGE) == pytest.approx(1.5)
    assert price_for("openai:small", table)(USAGE) is None
    assert price_for("llamacpp:any", table)(USAGE) == 0.0
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(table))
    assert price_for("openai:big", file)(USAGE) == price_for("openai:big", table)(USAGE)


@pytest.mark.parametrize(
    "table",
    [
        "[]",
        "{",
        '{"m": {"input": 1}}',
        '{"m": {"input": -1, "output": 1}}',
        '{"m": 3}',
        '{"m": {"input": true, "output": 1}}',
    ],
)
def test_a_bad_table_is_one_sentence(table: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(table)
    with pytest.raises(ConfigurationError, match="price table"):
        price_for("m", file)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        price_for("m", tmp_path / "none.json")


def test_the_package_knows_models_and_says_when_it_does_not() -> None:
    pytest.importorskip("genai_prices")
    known = price_for("openai:gpt-4o")
    assert (known(USAGE) or 0) > 0 and (known(USAGE) or 0) > (known(Usage(1000, 10)) or 0)
    assert price_for("openai:nobody-knows-this-one")(USAGE) is None
    assert price_for("ollama:qwen3")(USAGE) == 0.0


def test_an_unknown_price_is_said_in_the_run(tmp_path: Path) -> None:
    def run(price: Any) -> Any:
        model = ScriptedModel(['{"thought":"easy","answer":"Hello."}'])
        agent = Agent(model, [], journal=tmp_path, price=price, limits=Limits(cost=1))
        return agent.run("Say hello.")

    done = run(price_for("openai:x", {"y": {"input": 1, "output": 1}}))
    assert done.cost is None and any(isinstance(e, Noted) for e in read_events(find_run(done.id, tmp_path)))
    done = run(price_for("openai:y", {"y": {"input": 1, "output": 1}}))
    assert done.cost and not any(isinstance(e, Noted) for e in read_events(find_run(done.id, tmp_path)))


def test_what_is_not_known_is_null_and_shown_as_unknown(tmp_path: Path) -> None:
    """Also without a limit: whoever passes prices is told that they do not know this model."""

    def run(price: Any, name: str = "scripted") -> Any:
        model = ScriptedModel(['{"thought":"easy","answer":"Hello."}'], name=name)
        return Agent(model, [], journal=tmp_path, price=price).run("Say hello.")

    def told(done: Any) -> tuple[list[str], str, str]:
        events = list(read_events(find_run(done.id, tmp_path)))
        printed = io.StringIO()
        RowPrinter(Console(file=printed, width=200)).run(Timeline(events))
        return [e.text for e in events if isinstance(e, Noted)], printed.getvalue(), export(Timeline(events))

    table = {"y": {"input": 1, "output": 1}}
    done = run(price_for("openai:x", table))
    notes, printed, page = told(done)
    assert done.to_dict()["cost"] is None and notes == [UNKNOWN]
    assert "cost unknown" in printed and "cost unknown" in page

    done = run(None)
    notes, printed, page = told(done)
    assert done.to_dict()["cost"] is None and notes == []
    assert "cost unknown" in printed and "cost unknown" in page

    done = run(None, "llamacpp:any")  # what runs on this machine costs nothing, and that is known
    notes, printed, page = told(done)
    assert done.to_dict()["cost"] == 0.0 and notes == [] and "unknown" not in printed + page and "$0\n" in printed


def test_money_for_people() -> None:
    assert [money(cost) for cost in (None, 0.0, 0.00012, 1.5)] == ["cost unknown", "$0", "$0.0001", "$1.5000"]


def test_a_finished_run_always_says_how_it_ended() -> None:
    done = Agent(ScriptedModel(['{"thought":"easy","answer":"Hello."}']), [], journal=False).run("Say hello.")
    data = json.loads(json.dumps(done.to_dict()))
    assert data["stop"] == "answered" and data["answer_checked"] is True and data["usage"] == done.usage.to_dict()
    assert Run.from_dict(data) == done
    assert RunEnded(1).to_dict()["stop"] == "answered"
