"""What a run costs: from the package genai-prices, or from a table of one's own. An unknown price is said, not guessed.

A table is JSON: names of models (the longest one that begins the name wins) with money for a
million tokens: `{"openai:gpt-x": {"input": 2.5, "cached": 1.25, "output": 10}}`. Models that run
on this machine cost nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from .errors import ConfigurationError, MissingExtra
from .types import Usage

Price = Callable[[Usage], "float | None"]

UNKNOWN = "The price of this model is not known, so the cost of this run is not told: pass a price table."
NO_BUDGET = "The price of this model is not known, so the cost budget cannot be held: pass price= to Agent."

_LOCAL = ("llamacpp:", "ollama:")
_MILLION = 1_000_000
_PARTS = {"input", "cached", "output"}


def price_for(model: str, table: Mapping[str, Any] | str | Path | None = "auto") -> Price:
    """Return what a usage of a model costs, as a function for `Agent(price=…)`.

    Args:
        model: The model's name as the library shows it, `openai:NAME` and so on.
        table: A table as above, the path of one, or `auto` for genai-prices (extra `prices`).

    Returns:
        A function that gives None where the price is not known.

    Raises:
        ConfigurationError: The table cannot be read.
        MissingExtra: genai-prices is needed and not installed.
    """
    if table is not None and table != "auto":
        rates = read_table(table)
        fitting = [name for name in rates if name and (model.startswith(name) or _bare(model).startswith(name))]
        if fitting:
            return _by_rates(rates[max(fitting, key=len)])
        return _free if model.startswith(_LOCAL) else _unknown
    if model.startswith(_LOCAL):
        return _free
    return _by_package(_bare(model))


def local_price(model: str) -> Price | None:
    """Return the price of a model that runs on this machine, which is nothing; None for any other model."""
    return _free if model.startswith(_LOCAL) else None


def read_table(table: Mapping[str, Any] | str | Path) -> dict[str, dict[str, float]]:
    """Read and check a price table.

    Raises:
        ConfigurationError: It is not one; the message names the entry.
    """
    where = "The price table" if isinstance(table, Mapping) else f"The price table {table}"
    if isinstance(table, Mapping):
        data: Any = table
    else:
        try:
            data = json.loads(Path(table).expanduser().read_text("utf-8-sig"))
        except OSError as error:
            raise ConfigurationError(f"{where} cannot be read ({error.strerror}): check the path.") from error
        except ValueError as error:
            raise ConfigurationError(f"{where} is not JSON ({error}): mend it.") from error
    example = '{"model": {"input": 2.5, "output": 10}}, money for a million tokens'
    if not isinstance(data, Mapping):
        raise ConfigurationError(f"{where} is not an object: write {example}.")
    rates: dict[str, dict[str, float]] = {}
    for name, entry in cast("Mapping[str, Any]", data).items():
        parts = dict(cast("Mapping[str, Any]", entry)) if isinstance(entry, Mapping) else dict[str, Any]()
        good = {"input", "output"} <= set(parts) <= _PARTS and all(
            isinstance(v, (int, float)) and not isinstance(v, bool) and v >= 0 for v in parts.values()
        )
        if not good:
            raise ConfigurationError(f"{where} has no good entry for {name!r}: write {example}.")
        rates[name] = {key: float(value) for key, value in parts.items()}
    return rates


def _bare(model: str) -> str:
    kind, colon, name = model.partition(":")
    return name if colon and kind in ("openai", "recorded") else model


def _by_rates(rates: Mapping[str, float]) -> Price:
    def price(usage: Usage) -> float:
        cached = min(usage.cached, usage.prompt)
        spent = (usage.prompt - cached) * rates["input"] + cached * rates.get("cached", rates["input"])
        return (spent + usage.completion * rates["output"]) / _MILLION

    return price


def _by_package(name: str) -> Price:
    try:
        import genai_prices
    except ImportError as error:
        raise MissingExtra("genai-prices", "prices", "know what this model costs") from error
    package = cast("Any", genai_prices)

    def price(usage: Usage) -> float | None:
        given = package.Usage(
            input_tokens=usage.prompt,
            cache_read_tokens=min(usage.cached, usage.prompt) or None,
            output_tokens=usage.completion,
        )
        try:
            return float(package.calc_price(given, model_ref=name).total_price)
        except LookupError:
            return None

    return price


def _free(usage: Usage) -> float:
    return 0.0


def _unknown(usage: Usage) -> None:
    return None
