"""Ask a model one step for each item of a fixed sample of the Berkeley function-calling data, and print a table.

    python evals/bfcl.py [--protocol constrained|native|plain] [--limit 200] [--most 20] [--json FILE]

The sample is drawn by a fixed seed, with the share of each category in `SHARES`, and mixed so that its first items
are a smaller sample with the same shares. Every reply is appended to the file as it comes; an item is asked again
only if the request has changed, so an interrupted run goes on where it stopped, and `--most` parts a run into pieces.

Three figures, all of them blind to the category, as the engine is:
`read`     the calls as the protocol understood them, arguments cast;
`run`      without those the executor sends back: arguments that do not fit, or doubt and no value that speaks for it;
`sourced`  also without those that have a required value which stands nowhere in the conversation.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bfcl_check import Call, declarations, without_defaults, wrong

from glassloop.errors import ModelError
from glassloop.events import RunStarted
from glassloop.gears import ReplyProtocol, Turn
from glassloop.models.llamacpp import LlamaCppModel
from glassloop.protocols.constrained import ConstrainedProtocol
from glassloop.protocols.native import NativeProtocol
from glassloop.protocols.read_constrained import read_constrained
from glassloop.state import State
from glassloop.tools.executor import Prepared, doubtful
from glassloop.tools.provenance import sources_of
from glassloop.tools.schema import cast
from glassloop.types import Declaration, Message, Move, Reply, Request, Usage

SEED = 20261201
SHARES = {
    "simple_python": 30,
    "multiple": 25,
    "parallel": 25,
    "parallel_multiple": 20,
    "irrelevance": 25,
    "live_simple": 20,
    "live_multiple": 30,
    "live_parallel": 5,
    "live_irrelevance": 20,
}
"""Items of each category in the sample of 200. Half of them need several calls or none, which small models lack."""

FIGURES = ("read", "run", "sourced")
HOW_TO_GET = (
    "The data was not found: run `pip download --no-deps bfcl-eval -d DIR`, unzip the wheel there, "
    "and give that directory with --data."
)


# -- the data -----------------------------------------------------------------------------------


def find_data(given: Path | None) -> Path | None:
    """Find the items: below the given directory, or in the installed package, or below `bfcl` of the temporary one."""
    roots = [given] if given else [Path(tempfile.gettempdir()) / "bfcl"]
    spec = None if given else importlib.util.find_spec("bfcl_eval")
    roots += [Path(p) for p in (spec.submodule_search_locations or ())] if spec else []
    for root in roots:
        found = sorted(root.rglob("BFCL_v4_simple_python.json")) if root.is_dir() else []
        for path in found:
            if (path.parent / "possible_answer").is_dir():
                return path.parent
    return None


def load(directory: Path, category: str) -> list[dict[str, Any]]:
    """Read the items of a category, each with its expected calls, where calls are expected."""
    name = f"BFCL_v4_{category}.json"
    answers = directory / "possible_answer" / name
    expected = {a["id"]: a["ground_truth"] for a in _lines(answers)} if answers.is_file() else {}
    items: list[dict[str, Any]] = []
    for item in _lines(directory / name):
        item["category"] = category
        if not category.endswith("irrelevance"):
            item["ground_truth"] = expected[item["id"]]
        items.append(item)
    return items


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def draw(pools: Mapping[str, Sequence[dict[str, Any]]], shares: Mapping[str, int], seed: int) -> list[dict[str, Any]]:
    """Draw `shares[category]` items of each pool and mix them evenly: every beginning has about the same shares."""
    placed: list[tuple[float, str, dict[str, Any]]] = []
    for category, count in shares.items():
        pool = sorted(pools[category], key=lambda item: item["id"])
        chosen = random.Random(f"{seed}:{category}").sample(pool, min(count, len(pool)))
        placed += [((n + 0.5) / len(chosen), category, item) for n, item in enumerate(chosen)]
    return [item for *_, item in sorted(placed, key=lambda p: p[:2])]


# -- asking ---------------------------------------------------------------------------------------


class PlainProtocol:
    """A JSON list of calls under a schema, the functions as JSON, and one sentence: what one would write first."""

    name = "plain"

    def ask(self, turn: Turn) -> Request:
        """Render the functions as JSON, and a list of any number of calls as the schema."""
        listed = json.dumps([tool.openai()["function"] for tool in turn.declared], ensure_ascii=False)
        own = [m.content for m in turn.messages if m.role == "system"]
        rules = f'Functions: {listed}\nReply with {{"calls": [{{"name": ..., "arguments": {{...}}}}]}}.'
        one = [
            {
                "type": "object",
                "properties": {
                    "name": {"const": tool.name},
                    "arguments": {"additionalProperties": False, **tool.parameters},
                },
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
            for tool in turn.tools
        ]
        calls = {"type": "array", "maxItems": 8, "items": {"anyOf": one} if len(one) > 1 else one[0]}
        return Request(
            messages=(
                {"role": "system", "content": "\n\n".join([*own, rules])},
                *({"role": m.role, "content": m.content} for m in turn.messages if m.role != "system"),
            ),
            schema={
                "type": "object",
                "properties": {"calls": calls},
                "required": ["calls"],
                "additionalProperties": False,
            },
            temperature=turn.temperature,
            max_tokens=1024,
        )

    def read(self, reply: Reply, turn: Turn) -> Move:
        """An empty list is the answer that nothing fits."""
        if reply.text.strip() == '{"calls": []}':
            return Move(answer="nothing fits")
        return read_constrained(reply, turn)


PROTOCOLS: dict[str, type[ReplyProtocol]] = {
    "constrained": ConstrainedProtocol,
    "native": NativeProtocol,
    "plain": PlainProtocol,
}


@dataclass(frozen=True)
class Asked:
    """An item as it is put to the model: its turn, the run it would start, and the data's own names."""

    item: dict[str, Any]
    turn: Turn
    state: State
    own: dict[str, str]

    @classmethod
    def of(cls, item: dict[str, Any]) -> Asked:
        """Prepare an item; its last message is the question, those before it are history."""
        tools, own = declarations(item["function"])
        messages = [Message(m["role"], m["content"]) for m in item["question"][0]]
        messages[-1] = replace(messages[-1], kind="question")
        history = tuple(m for m in messages[:-1] if m.role != "system")
        system = "\n\n".join(m.content for m in messages if m.role == "system")
        started = RunStarted(question=messages[-1].content, system=system, history=history, language="en")
        turn = Turn(tuple(messages), declared=tuple(tools), tools=tuple(tools), language="en", temperature=0.0)
        return cls(item, turn, State([started]), own)

    @property
    def tools(self) -> dict[str, Declaration]:
        """The declarations by name."""
        return {tool.name: tool for tool in self.turn.declared}


async def ask(asked: Asked, protocol: ReplyProtocol, model: Any) -> dict[str, Any]:
    """Ask for one step and return what is kept of it: enough to be read and judged again without the model."""
    request = protocol.ask(asked.turn)
    row: dict[str, Any] = {"id": asked.item["id"], "protocol": protocol.name, "request": request.key}
    begun = time.perf_counter()
    try:
        reply = await model.complete(request)
    except ModelError as error:
        return {**row, "error": str(error), "seconds": time.perf_counter() - begun}
    kept = replace(reply, raw={}).to_dict()
    return {
        **row,
        "reply": kept,
        "doubt": protocol.read(reply, asked.turn).doubt,
        "seconds": time.perf_counter() - begun,
    }


# -- judging --------------------------------------------------------------------------------------


def judge(asked: Asked, protocol: ReplyProtocol, row: Mapping[str, Any]) -> dict[str, Any]:
    """Read a kept reply and say for each figure what is wrong with it, empty if nothing is."""
    base = {"id": asked.item["id"], "category": asked.item["category"], "calls": [], "said": ""}
    if "error" in row:
        return {**base, **dict.fromkeys(FIGURES, f"the model failed: {row['error']}")}
    move = replace(protocol.read(Reply.from_dict(row["reply"]), asked.turn), doubt=row["doubt"])
    if move.fault is not None:  # the agent would ask again; that is neither a right call nor an answer
        return {**base, "said": row["reply"].get("text", ""), **dict.fromkeys(FIGURES, f"fault: {move.fault.message}")}
    kept: dict[str, list[Call]] = {figure: [] for figure in FIGURES}
    for call in move.calls:
        tool = asked.tools.get(call.name)
        if tool is None:
            kept["read"].append((call.name, call.arguments))
            continue
        made = cast(without_defaults(tool.parameters), call.arguments)
        known: Call = (asked.own[tool.name], call.arguments if made.problems else made.value)
        kept["read"].append(known)
        if made.problems:
            continue
        sources = sources_of(made.value, tool, asked.state)
        if doubtful(move, Prepared(call, sources=sources), asked.state):
            continue
        kept["run"].append(known)
        required = tool.parameters.get("required", ())
        if not any(s.origin == "none" and s.path.split(".")[0].split("[")[0] in required for s in sources):
            kept["sourced"].append(known)
    verdicts = {figure: wrong(asked.item, calls) for figure, calls in kept.items()}
    return {**base, "calls": kept["read"], "said": move.answer or move.thought, "doubt": move.doubt, **verdicts}


def table(verdicts: Iterable[Mapping[str, Any]]) -> str:
    """Show the share that is right, by category and in all, as a Markdown table."""
    rows = list(verdicts)
    lines = [f"| category | items | {' | '.join(FIGURES)} |", "| --- " * (2 + len(FIGURES)) + "|"]
    groups = [(c, [r for r in rows if r["category"] == c]) for c in SHARES]
    for name, group in [*groups, ("**all**", rows)]:
        if group:
            shares = (f"{sum(not r[f] for r in group) / len(group):.1%}" for f in FIGURES)
            lines.append(f"| {name} | {len(group)} | {' | '.join(shares)} |")
    return "\n".join(lines)


def known_rows(path: Path | None, protocol: str) -> dict[str, dict[str, Any]]:
    """Read the kept replies of a protocol by item; of several the last counts, and a line that was cut off does not."""
    rows: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path and path.is_file() else ():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if row["protocol"] == protocol and "error" not in row:
            rows[row["id"]] = row
    return rows


def main() -> int:
    """Ask what is missing, keep it, and print the table of all that is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="where the package was unzipped")
    parser.add_argument("--protocol", default="constrained", choices=sorted(PROTOCOLS))
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    parser.add_argument("--limit", type=int, default=sum(SHARES.values()), help="the first N items of the sample")
    parser.add_argument("--most", type=int, help="ask at most N items now")
    parser.add_argument("--json", type=Path, help="keep replies here, one a line, and go on from them")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what was wrong")
    options = parser.parse_args()
    directory = find_data(options.data)
    if directory is None:
        print(HOW_TO_GET, file=sys.stderr)
        return 2
    sample = draw({c: load(directory, c) for c in SHARES}, SHARES, SEED)[: options.limit]
    protocol = PROTOCOLS[options.protocol]()
    rows = known_rows(options.json, protocol.name)
    verdicts = asyncio.run(_run(sample, protocol, rows, options))
    if options.verbose:
        for v in verdicts:
            if v["run"]:
                print(f"✗ {v['id']}: {v['run']}\n    {v['said']!r} {v['calls']}")
    print(table(verdicts))
    spent = sum((Usage.from_dict(r["reply"].get("usage", {})) for r in rows.values() if "reply" in r), Usage())
    if spent.requests:
        seconds = sum(r["seconds"] for r in rows.values()) / len(rows)
        print(f"{len(verdicts)} of {len(sample)} items · {spent} · {seconds:.1f} s an item")
    return 0


async def _run(sample: list[dict[str, Any]], protocol: ReplyProtocol, rows: dict[str, Any], options: Any) -> list[Any]:
    model = LlamaCppModel(options.model)
    verdicts: list[Any] = []
    left = len(sample) if options.most is None else options.most
    for item in sample:
        asked = Asked.of(item)
        row = rows.get(item["id"])
        if row is None or row["request"] != protocol.ask(asked.turn).key:
            if not left:
                continue
            left -= 1
            row = rows[item["id"]] = await ask(asked, protocol, model)
            if options.json:
                with options.json.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
        verdict = judge(asked, protocol, row)
        verdicts.append(verdict)
        if left:
            print(f"{'✗' if verdict['run'] else '✓'} {item['id']} {row['seconds']:.1f} s {verdict['run']}", flush=True)
    return verdicts


if __name__ == "__main__":
    sys.exit(main())
