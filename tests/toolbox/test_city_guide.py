"""The example's tools, and the package that lists the ready ones."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from glassloop import toolbox
from glassloop.tools.declare import load_tools

GUIDE = str(Path(__file__).parents[2] / "examples" / "city_guide.py")


def ask(name: str, **arguments: Any) -> Any:
    made = next(t for t in load_tools(GUIDE) if t.name == name)
    return asyncio.run(made.invoke(arguments))


def test_both_languages_find_the_same_city() -> None:
    assert ask("running_advice", city="上海市") == ask("running_advice", city="shanghai")
    assert ask("running_advice", city="上海")["suitable"] is True
    assert ask("running_advice", city="Chengdu")["suitable"] is False
    assert ask("city_conditions", city="哈尔滨")["temperature_celsius"] == -13
    assert ask("opening_hours", city="Oslo", kind="garden")["closes"] == "21:00"
    assert ask("calculator", expression="4783×926") == "4429058"


def test_unknown_cities_and_places_are_told() -> None:
    with pytest.raises(LookupError, match="奥斯陆 Oslo"):
        ask("city_conditions", city="Atlantis")
    with pytest.raises(LookupError, match="it has garden"):
        ask("opening_hours", city="Oslo", kind="park")


def test_the_default_tools() -> None:
    assert [t.name for t in toolbox.DEFAULT_TOOLS] == ["current_time", "calculator", "get_weather"]
    with pytest.raises(AttributeError):
        _ = toolbox.NOTHING
