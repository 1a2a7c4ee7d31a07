"""`glassloop eval`: golden cases run as a matrix, measured, reported, and held against a baseline."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..evaluation.cases import Case
    from ..evaluation.runner import Result, Settings
    from ..evaluation.suggest import Suggestion
    from ..evaluation.summary import Report

PATH = click.Path(path_type=Path)


@click.command("eval")
@click.argument("cases", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--model", "-m", "models", multiple=True, help="A model to measure; may be repeated.")
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    type=click.Choice(["react", "plan", "direct"]),
    help="May be repeated; react by default.",
)
@click.option("--repeat", "-r", type=click.IntRange(1), help="Runs of every case; else what each case says.")
@click.option("--jobs", "-j", type=click.IntRange(1), default=1, show_default=True, help="Runs at once.")
@click.option("--tools", "-t", "toolset", default="", help="Tools for the cases that name none.")
@click.option("--only", "-k", multiple=True, help="Only cases with this in their id; may be repeated.")
@click.option("--tag", multiple=True, help="Only cases with this tag; may be repeated.")
@click.option("--protocol", type=click.Choice(["auto", "constrained", "native", "text"]), default="auto")
@click.option("--temperature", type=click.FloatRange(0, 2), default=0.0, show_default=True)
@click.option("--seed", type=int, help="Sampling seed handed to the server.")
@click.option("--no-check", is_flag=True, help="Give answers without checking them against the observations.")
@click.option("--out", type=PATH, help="Folder of results and runs; what is finished there is not run again.")
@click.option("--resume", is_flag=True, help="Go on with the newest evaluation.")
@click.option("--report", "reports", multiple=True, type=PATH, help="Write .json, .md, .xml (JUnit) or .html.")
@click.option("--baseline", type=PATH, help="A .json report to be held against; exit 1 when it got worse.")
@click.option("--max-drop", type=click.FloatRange(0, 100), default=0.0, show_default=True, help="Points allowed.")
@click.option("--strict", is_flag=True, help="With --baseline: take every drop as real, not as noise.")
@click.option("--workers", type=click.Choice(["local", "ray"]), default="local", show_default=True)
@click.option(
    "--suggest", "suggesting", is_flag=True, help="Propose a description for the most confused tool; measure it."
)
@click.option("--suggest-model", help="With --suggest: the model that writes it, instead of the rules.")
@click.option(
    "--record", "recorded", help="Make a case from this run (id or last) instead; CASES is the file it goes to."
)
@click.option("--list", "listing", is_flag=True, help="Only list the cases.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(cases: tuple[Path, ...], recorded: str | None, listing: bool, as_json: bool, **options: Any) -> int:
    """Run the golden CASES (files, or folders of *.cases.yaml) and say how well the agent does.

    Exits 1 when a case fails, or, with --baseline, when it got worse than that.
    """
    if recorded:
        return _record(recorded, cases, as_json=as_json)
    if not cases:
        raise click.UsageError("There are no cases: name a *.cases.yaml, or a folder that holds some.")
    from ..evaluation.cases import load_cases

    chosen = _chosen(load_cases(*cases), options["only"], options["tag"])
    if listing:
        return _list(chosen, as_json=as_json)
    return _evaluate(chosen, options, as_json=as_json)


def _chosen(cases: list[Case], only: tuple[str, ...], tags: tuple[str, ...]) -> list[Case]:
    found = [
        case
        for case in cases
        if (not only or any(part in case.id for part in only)) and (not tags or set(tags) & set(case.tags))
    ]
    if not found:
        raise click.UsageError("No case fits --only and --tag: see the list with --list.")
    return found


def _list(cases: list[Case], *, as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps([case.to_dict() for case in cases], ensure_ascii=False, indent=2, default=str))
        return 0
    width = max(len(case.id) for case in cases)
    for case in cases:
        click.echo(f"{case.id:<{width}}  {' '.join(case.tags)}")
    return 0


def _record(run: str, files: tuple[Path, ...], *, as_json: bool) -> int:
    from ..evaluation.record import append_case, case_from_run

    entry = case_from_run(run)
    if len(files) > 1:
        raise click.UsageError("Give one file for the recorded case.")
    if files:
        append_case(entry, files[0])
    if as_json:
        click.echo(json.dumps({"case": entry, "file": str(files[0]) if files else None}, ensure_ascii=False))
    else:
        click.echo(f"glassloop: the case was added to {files[0]}." if files else entry.rstrip())
    return 0


def _evaluate(cases: list[Case], options: dict[str, Any], *, as_json: bool) -> int:
    from rich.console import Console

    from ..evaluation.gate import compare
    from ..evaluation.report import print_report, read_report, write
    from ..evaluation.runner import Settings, fresh, latest
    from ..evaluation.summary import summarise

    baseline = read_report(options["baseline"]) if options["baseline"] else None
    agent = {
        "protocol": options["protocol"],
        "temperature": options["temperature"],
        "verifier": not options["no_check"],
    }
    settings = Settings(
        models=options["models"] or (None,),
        strategies=options["strategies"] or ("react",),
        repeat=options["repeat"] or 0,
        jobs=options["jobs"],
        toolset=options["toolset"],
        agent=agent | ({"seed": options["seed"]} if options["seed"] is not None else {}),
    )
    folder: Path = options["out"] or (latest() if options["resume"] else fresh())
    report = summarise(_run(cases, settings, folder, workers=options["workers"]))
    write(report, folder / "report.json")
    for path in options["reports"]:
        write(report, path, folder)
    verdict = compare(baseline, report, max_drop=options["max_drop"], strict=options["strict"]) if baseline else None
    console = Console(highlight=False, soft_wrap=True, stderr=as_json)
    if not as_json:
        print_report(report, console)
        console.print(f"results and runs: {folder}", style="dim")
    suggestion = _suggest(cases, settings, folder, report, options) if options["suggesting"] else None
    if verdict is not None and not as_json:
        for change in verdict.worse:
            click.echo(str(change))
        if verdict.missing:
            click.echo(f"not run now: {', '.join(verdict.missing)}")
        click.echo(verdict.reason)
    if as_json:
        extra = {"gate": verdict.to_dict() if verdict else None, "suggestion": suggestion, "folder": str(folder)}
        click.echo(json.dumps(report.to_dict() | extra, ensure_ascii=False, indent=2, default=str))
    elif suggestion is not None:
        _print_suggestion(suggestion)
    if verdict is not None:
        return 0 if verdict.ok else 1
    return 0 if all(row.passed == row.total for row in report.cases) else 1


def _run(cases: list[Case], settings: Settings, folder: Path, *, workers: str) -> list[Result]:
    from .progress import Steps

    with Steps("evaluating") as say:
        if workers == "ray":
            from ..evaluation.workers import evaluate_on_ray

            return evaluate_on_ray(cases, settings, folder, progress=say)
        from ..evaluation.runner import evaluate

        return asyncio.run(evaluate(cases, settings, folder, progress=say))


def _suggest(
    cases: list[Case], settings: Settings, folder: Path, report: Report, options: dict[str, Any]
) -> dict[str, Any]:
    """Propose a description, and measure it on the cases it has to do with, before and after."""
    from ..evaluation.gate import compare
    from ..evaluation.report import write
    from ..evaluation.runner import Toolbox, found
    from ..evaluation.suggest import ask_model, suggest, touched
    from ..evaluation.summary import Report, summarise

    toolbox = Toolbox(settings)
    tools = {tool.name: tool for case in cases for tool in toolbox.declared(case)}
    made: Suggestion | None = suggest(report, tools.values())
    if made is None:
        return {"suggestion": None, "reason": "No tool was confused with another: there is nothing to suggest."}
    if options["suggest_model"]:
        made = asyncio.run(ask_model(made, found(options["suggest_model"])))
    some = touched(report, made, cases)
    changed = replace(settings, descriptions={made.tool: made.after})
    after = summarise(_run(some, changed, folder / "suggested", workers=options["workers"]))
    write(after, folder / "suggested" / "report.json")
    ids = {case.id for case in some}
    before = Report(report.columns, tuple(row for row in report.cases if row.case in ids))
    better = compare(after, before)  # the other way round: a drop from after to before is a gain
    return {
        "suggestion": made.to_dict(),
        "cases": len(some),
        "before": [sum(r.passed for r in before.cases), sum(r.total for r in before.cases)],
        "after": [sum(r.passed for r in after.cases), sum(r.total for r in after.cases)],
        "chance": better.chance,
    }


def _print_suggestion(found: dict[str, Any]) -> None:
    made = found["suggestion"]
    if made is None:
        click.echo(found["reason"])
        return
    b, a = found["before"], found["after"]
    click.echo(f"\nA description to try for {made['tool']} (by {made.get('by', 'rules')}):\n  {made['after']}")
    for line in made.get("advice", ()):
        click.echo(f"  lint {line}")
    click.echo(
        f"On the {found['cases']} cases it has to do with: {b[0]} of {b[1]} → {a[0]} of {a[1]} "
        f"(by chance alone: {found['chance']:.0%})."
    )
