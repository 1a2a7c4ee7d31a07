"""Run the reference tasks of `../shared/tasks` against a live model and print a table.

    python evals/reference.py [--protocol constrained] [--model …] [--only ID] [--json FILE]

Each task: its tools reset, the question asked with the tasks' own system text at temperature 0,
at most eight steps, approvals granted; then the task's own check looks at the calls that reached
the functions and at the answer.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from glassloop import Agent, Limits
from glassloop.tools.permission import AlwaysYes

TASKS = Path(__file__).resolve().parents[1].parent / "shared" / "tasks"


def load(directory: Path) -> tuple[Any, Any]:
    sys.path.insert(0, str(directory))
    modules = []
    for name in ("tools", "tasks"):
        spec = importlib.util.spec_from_file_location(name, directory / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        modules.append(module)
    return modules[0], modules[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=Path, default=TASKS)
    parser.add_argument("--model", default="llamacpp:qwen2.5-coder-1.5b")
    parser.add_argument("--protocol", default="constrained")
    parser.add_argument("--language", default="auto", choices=["auto", "en", "zh"])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--no-provenance", action="store_true")
    parser.add_argument("--journal", default="")
    parser.add_argument("--json", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    if not options.tasks.is_dir():
        print(f"There are no tasks at {options.tasks}: give their directory with --tasks.", file=sys.stderr)
        return 2
    tools, tasks = load(options.tasks)
    rows: list[dict[str, Any]] = []
    agent = Agent(
        options.model,
        tools.ALL_TOOLS,
        system=tasks.SYSTEM,
        protocol=options.protocol,
        limits=Limits(steps=8),
        approver=AlwaysYes(),
        allow=["send_message", "delete_record", "create_ticket"],
        temperature=0.0,
        language=options.language,
        verifier=not options.no_check,
        provenance=not options.no_provenance,
        journal=options.journal or False,
    )
    for task in tasks.TASKS:
        if options.only and not any(o in task.id for o in options.only):
            continue
        tools.reset()
        begun = time.perf_counter()
        run = agent.run(task.prompt)
        seconds = time.perf_counter() - begun
        passed, why = tasks.check(task, tools.CALLS, run.answer)
        later = [s.reply.usage for s in run.steps[1:]]
        rows.append(
            {
                "id": task.id,
                "passed": passed,
                "why": why,
                "steps": len(run.steps),
                "tokens": run.usage.total,
                "prompt": run.usage.prompt,
                "cached": run.usage.cached,
                "later_prompt": sum(u.prompt for u in later),
                "later_cached": sum(u.cached for u in later),
                "seconds": seconds,
                "stop": run.stop,
                "answer": run.answer,
            }
        )
        print(f"{'✓' if passed else '✗'} {task.id:<13} {len(run.steps)} steps {run.usage.total:>6} tokens "
              f"{seconds:6.1f} s  {run.stop:<14} {why}", flush=True)  # fmt: skip
        if options.verbose:
            for step in run.steps:
                print(f"    {step.purpose} {step.reply.text!r}")
                for seen in step.observations:
                    print(f"      {seen.name}({seen.arguments}) {seen.content} {[str(r) for r in seen.repairs]}")
                if step.verdict and not step.verdict.ok:
                    print(f"      verdict {step.verdict.reasons}")
            print(f"    = {run.answer!r}")
    done = sum(row["passed"] for row in rows)
    later_prompt = sum(r["later_prompt"] for r in rows) or 1
    print(
        f"{done} of {len(rows)} done · {statistics.mean(r['tokens'] for r in rows):,.0f} tokens a task · "
        f"{sum(r['cached'] for r in rows) / sum(r['prompt'] for r in rows):.0%} of prompt tokens from cache "
        f"({sum(r['later_cached'] for r in rows) / later_prompt:.0%} from the second step on) · "
        f"median {statistics.median(r['seconds'] for r in rows):.1f} s"
    )
    if options.json:
        options.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
