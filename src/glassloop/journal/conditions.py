"""What a journal must hold beside the events so that a run can be played again: the conditions it ran under.

`tool_record` writes a tool down with every option that changes what the loop does;
`tool_from` makes a tool of it again that can be declared, cast, checked and asked about,
and that refuses to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..errors import JournalError
from ..events import Event, RunStarted
from ..types import Capabilities, Declaration

if TYPE_CHECKING:
    from ..tools.definition import Tool

_OPTIONS = (
    "retries",
    "returns_schema",
    "parallel",
    "idempotent",
    "limit",
    "keep",
    "drop",
    "provenance",
    "repeatable",
    "return_direct",
)
_DEFAULTS: dict[str, Any] = {"retries": 0, "parallel": True, "idempotent": False, "limit": 1000, "return_direct": False}


def tool_record(tool: Tool) -> dict[str, Any]:
    """Return a tool's declaration with the options that change what the loop does, defaults left out."""
    options = {k: getattr(tool, k) for k in _OPTIONS}
    kept = {k: v for k, v in options.items() if v not in (None, ()) and v != _DEFAULTS.get(k)}
    return {**tool.declaration.to_dict(), **({"options": kept} if kept else {})}


def settings_record(
    *,
    temperature: float,
    seed: int | None,
    verifier: str,
    provenance: bool,
    capabilities: Capabilities,
    allow: tuple[str, ...] = (),
    answer_in: str = "",
    final_temperature: float | None = None,
) -> dict[str, Any]:
    """Return an agent's settings as the journal keeps them.

    Args:
        temperature: Sampling temperature of the steps.
        seed: Sampling seed.
        verifier: `on`, `off`, or the class of the user's own.
        provenance: Whether arguments must come from somewhere.
        capabilities: What the model was taken to be able to do; its context decides what memory shows.
        allow: Destructive tools that were allowed.
        answer_in: Language of the question, and so of the answer.
        final_temperature: Temperature at which the final answer is worded once more.
    """
    extra = {"answer_in": answer_in or None, "final_temperature": final_temperature}
    return {
        "temperature": temperature,
        "seed": seed,
        "verifier": verifier,
        "provenance": provenance,
        "context": capabilities.context,
        "capabilities": asdict(capabilities),
        "allow": list(allow),
        **{k: v for k, v in extra.items() if v is not None},
    }


def tool_from(record: Mapping[str, Any]) -> Tool:
    """Make a tool from its record: like the one that was there, but it cannot be run."""
    from ..tools.definition import Tool

    options = dict(record.get("options", {}))
    for key in ("keep", "drop"):
        if key in options:
            options[key] = tuple(options[key])
    declaration = Declaration.from_dict(record)
    return Tool(declaration, _refuse, original_name=declaration.name, **options)


def knows_tools(start: Event) -> bool:
    """Whether a run's beginning holds the options of its tools; journals written without settings do not."""
    return isinstance(start, RunStarted) and "verifier" in start.settings


def _refuse(**arguments: Any) -> Any:
    raise JournalError("This tool comes from a journal and cannot be run: hand over the tool itself.")


def capabilities_from(settings: Mapping[str, Any]) -> Capabilities:
    """Return the capabilities a run's model was taken to have."""
    return Capabilities.from_dict(settings.get("capabilities", {}))
