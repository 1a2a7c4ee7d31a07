"""`glassloop lint`: tool declarations read as a small model would read them."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("lint")
@click.argument("targets", nargs=-1, required=True, metavar="MODULE|FILE…")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(targets: tuple[str, ...], as_json: bool) -> int:
    """Read the tools of each MODULE or FILE and say what a model would trip over; exits 1 on errors.

    Rules are configured in pyproject.toml under [tool.glassloop.lint].
    """
    from ..tools.lint import LintConfig, has_errors, lint
    from ..tools.load import load_tools

    tools = [tool for target in targets for tool in load_tools(target)]
    first = Path(targets[0])
    findings = lint(tools, LintConfig.from_pyproject(first.parent if first.is_file() else None))
    if as_json:
        click.echo(json.dumps([finding.to_dict() for finding in findings], ensure_ascii=False, indent=2))
        return 1 if has_errors(findings) else 0
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for finding in findings:
        style = "red" if finding.severity == "error" else "yellow"
        where = f"{Path(finding.file).name}:{finding.line}" if finding.file else "tools"
        named = f"{finding.tool}: " if finding.tool else ""
        console.print(Text.assemble((where, "bold"), "  ", (finding.rule, style), f"  {named}{finding.message}"))
        console.print(Text(f"    why  {finding.why}", "dim"))
        if finding.proposal:
            console.print(Text.assemble(("    try  ", "dim"), finding.proposal))
    errors = sum(finding.severity == "error" for finding in findings)
    count = f"{len(tools)} tool{'s' if len(tools) != 1 else ''}"
    console.print(
        f"{count}: {errors} errors, {len(findings) - errors} warnings" if findings else f"{count}: nothing found"
    )
    return 1 if errors else 0
