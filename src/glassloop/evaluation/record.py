"""A golden case from a run that a person found good: `glassloop eval --record RUN`.

The case asks for what the run did: its calls with their arguments, and the figures of its answer
that come from an observation. It passes on the run it was made from, or it is not made.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

from ..errors import CaseError
from ..events import ApprovalAsked, Event
from ..journal.rebuild import fold, load
from ..journal.record import RUNS
from ..state import State
from ..types import Declaration
from ..values import facts_in, fold_text
from ..values.facts import Fact
from .cases import Case, read_cases
from .matchers import Said, leaves, tells
from .metrics import calls_made, score


def case_from_run(run: str | Path, directory: Path = RUNS) -> str:
    """Make a case from a recorded run.

    Args:
        run: The run, as `glassloop show` takes it.
        directory: Where runs are.

    Returns:
        The case as an entry of a YAML list, to be put under `cases:`.

    Raises:
        CaseError: The run did not end with an answer, or a case made from it would not pass on it.
        MissingExtra: PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        from ..errors import MissingExtra

        raise MissingExtra("yaml", "eval", "write golden cases") from None
    events = load(run, directory)
    data = case_data(events)
    _check(data, events)
    return yaml.safe_dump([data], allow_unicode=True, sort_keys=False, width=110)


def case_data(events: list[Event]) -> dict[str, Any]:
    """The case of a run as plain data."""
    state = fold(events)
    run = state.to_run()
    if run.stop != "answered":
        raise CaseError(f"The run {run.id} ended with {run.stop}, not with an answer: record one that was good.")
    calls = calls_made(state)
    data: dict[str, Any] = {"id": f"recorded-{re.sub(r'[^0-9A-Za-z.-]', '-', run.id)}"}
    history = [m for m in state.started_event.history if m.role in ("user", "assistant") and m.content]
    turns: list[dict[str, str]] = [{m.role: m.content} for m in history]
    if turns:
        data["conversation"] = [*turns, {"user": run.question}]
    else:
        data["question"] = run.question
    offered = [Declaration.of(t).name for t in state.started_event.tools]
    if offered:
        data["tools"] = offered
    data["calls"] = [{"tool": c.name, "arguments": {k: _rule(v) for k, v in c.arguments.items()}} for c in calls]
    if calls:
        data["match"] = "in_order"
    if facts := _facts(state, run.answer):
        data["answer"] = {"facts": facts}
    written = {e.call.name for e in events if isinstance(e, ApprovalAsked)}
    approved = sorted(written & {c.name for c in calls if c.observation.status != "denied"})
    if approved:
        data["approve"] = approved
    data["tags"] = ["recorded"]
    return data


def _rule(value: Any) -> Any:
    return {"equal": cast("Any", value)} if isinstance(value, dict) else value


def _facts(state: State, answer: str) -> list[Any]:
    """The figures of an answer that an observation holds; without one, the short texts that it holds."""
    texts = [o.content for _, o in state.observed if o.status == "ok"]
    data = [o.data for _, o in state.observed if o.status == "ok"]
    seen = Said.of("\n".join([*texts, *(str(leaf) for each in data for leaf in leaves(each) if _simple(leaf))]))
    said = Said.of(answer)
    out = [_plain(f) for f in facts_in(answer) if f.role == "figure" and f.kind != "name"]
    facts = [f for f in dict.fromkeys(out) if tells(seen, f) and tells(said, f)]
    if facts:
        return facts[:6]
    short = [leaf for each in data for leaf in leaves(each) if isinstance(leaf, str) and 2 <= len(leaf) <= 40]
    return [t for t in dict.fromkeys(short) if fold_text(t) in fold_text(answer) and tells(said, t)][:3]


def _plain(fact: Fact) -> Any:
    if fact.kind == "number" and not fact.unit:
        return int(fact.value) if fact.value == int(fact.value) else float(fact.value)
    return fact.text.strip()


def _simple(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _check(data: dict[str, Any], events: list[Event]) -> Case:
    """The case must be one, and pass on its own run."""
    import yaml

    case = read_cases(yaml.safe_dump({"cases": [data]}, allow_unicode=True), name=str(data["id"]))[0]
    given = score(case, events)
    if not given.passed:
        raise CaseError(f"The run is not good enough for a golden case: {given.problems[0]}")
    return case


def append_case(entry: str, path: Path) -> None:
    """Put a case at the end of a file of cases, or begin one.

    Raises:
        CaseError: The file would not be valid with it; it is left as it was.
    """
    head = path.read_text("utf-8").rstrip("\n") + "\n" if path.exists() else "version: 1\ncases:\n"
    text = head + "".join(f"  {line}\n" for line in entry.splitlines())
    read_cases(text, name=str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
