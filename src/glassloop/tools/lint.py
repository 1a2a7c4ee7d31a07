"""Lint for tool declarations: they are read as a small model would read them, before it has to.

The rules are in `lint_catalogue.py`; here is what a finding is, how rules are configured
(`[tool.glassloop.lint]` in `pyproject.toml`), and how they are run over a library.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from ..errors import ConfigurationError, MissingExtra
from ..types import Declaration, Record
from .definition import Tool
from .lint_catalogue import RULES, Rule
from .lint_subject import Limits, Severity, Subject

RULE_IDS = tuple(rule.id for rule in RULES)


@dataclass(frozen=True)
class Finding(Record):
    """Something in a declaration that a small model would trip over.

    Attributes:
        rule: The rule's id, `GL001` and so on.
        severity: `error` or `warning`.
        tool: Name of the tool, as its author gave it; empty for the library as a whole.
        line: Line of the tool in `file`; 0 when it is not known.
        message: What was found.
        why: Why a small model trips over it.
        proposal: A text or change that would help.
        file: The file the tool is written in.
    """

    rule: str
    severity: Severity
    tool: str
    line: int
    message: str
    why: str
    proposal: str
    file: str = ""

    def __str__(self) -> str:
        where = f"{Path(self.file).name}:{self.line}: " if self.file else ""
        named = f"{self.tool}: " if self.tool else ""
        return f"{where}{self.rule} {self.severity}: {named}{self.message}"


@dataclass(frozen=True)
class LintConfig:
    """What to look for. `severity` maps a rule to `error`, `warning` or `off`; `ignore` names rules, or `tool:RULE`."""

    limits: Limits = Limits()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> LintConfig:
        """Read a `[tool.glassloop.lint]` table.

        Raises:
            ConfigurationError: A key, rule or severity is unknown.
        """
        numbers = {f.name: f.type for f in fields(Limits)}
        given: dict[str, Any] = {}
        for key, value in table.items():
            name = key.replace("-", "_")
            if name in numbers:
                if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
                    raise ConfigurationError(f"[tool.glassloop.lint] {key} is {value!r}: give a number above 0.")
                given[name] = value
            elif name not in ("ignore", "severity"):
                near = difflib.get_close_matches(name, [*numbers, "ignore", "severity"], 1)
                hint = (
                    f"did you mean {near[0]}?"
                    if near
                    else f"the keys are {', '.join([*numbers, 'ignore', 'severity'])}."
                )
                raise ConfigurationError(f"[tool.glassloop.lint] has an unknown key {key!r}: {hint}")
        ignore = tuple(str(rule) for rule in cast("Iterable[Any]", table.get("ignore", ())))
        severity = {str(k): str(v) for k, v in cast("Mapping[Any, Any]", table.get("severity", {})).items()}
        for rule in [*(entry.rpartition(":")[2] for entry in ignore), *severity]:
            if rule not in RULE_IDS:
                raise ConfigurationError(
                    f"There is no lint rule {rule!r}: they go from {RULE_IDS[0]} to {RULE_IDS[-1]}."
                )
        for rule, word in severity.items():
            if word not in ("error", "warning", "off"):
                raise ConfigurationError(f"Severity of {rule} is {word!r}: it is error, warning or off.")
        return cls(Limits(**given), ignore, severity)

    @classmethod
    def from_pyproject(cls, start: str | Path | None = None) -> LintConfig:
        """Read the nearest `pyproject.toml` at or above `start`, by default the current folder; defaults without one.

        Raises:
            ConfigurationError: The file is not TOML, or the table holds something unknown.
        """
        here = Path(start or Path.cwd()).resolve()
        for folder in [here, *here.parents]:
            path = folder if folder.name == "pyproject.toml" else folder / "pyproject.toml"
            if path.is_file():
                table = _toml(path).get("tool", {}).get("glassloop", {}).get("lint", {})
                return cls.from_mapping(table)
        return cls()


def _toml(path: Path) -> dict[str, Any]:
    try:
        reader: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    except ImportError:
        raise MissingExtra("tomli", "lint", "read pyproject.toml on Python 3.10") from None
    try:
        return reader.loads(path.read_text(encoding="utf-8"))
    except (reader.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML ({error}): mend it, or remove it.") from None


def lint(tools: Iterable[Any], config: LintConfig | None = None) -> list[Finding]:
    """Read tool declarations as a small model would, and say what it would trip over.

    Args:
        tools: `Tool`s, `Declaration`s or chat-completions tool dicts.
        config: What to look for; the defaults without one.

    Returns:
        Findings in the order of the tools, those about the whole library last.
    """
    config = config or LintConfig()
    subjects = [_subject(each) for each in tools]
    found: list[tuple[int, Finding]] = []
    for rule in RULES:
        found.extend(_run(rule, subjects, config))
    return [finding for _, finding in sorted(found, key=lambda f: (f[0], f[1].rule))]


def _subject(tool: Any) -> Subject:
    declaration = Declaration.of(tool)
    if isinstance(tool, Tool):
        file, line = tool.source or ("", 0)
        return Subject(declaration, tool.original_name or tool.name, tool.risk_stated, file, line)
    return Subject(declaration, declaration.name, isinstance(tool, Mapping) and "risk" in tool)


def _run(rule: Rule, subjects: Sequence[Subject], config: LintConfig) -> Iterable[tuple[int, Finding]]:
    wanted = config.severity.get(rule.id)
    if wanted == "off" or rule.id in config.ignore:
        return
    place = {id(subject): at for at, subject in enumerate(subjects)}
    pairs = [(s, f) for s in subjects for f in rule.one(s, config.limits)] if rule.one else []
    pairs += list(rule.every(subjects, config.limits)) if rule.every else []
    for subject, each in pairs:
        name = subject.original if subject else ""
        if f"{name}:{rule.id}" in config.ignore:
            continue
        severity = cast("Severity", wanted or each.severity or rule.severity)
        yield (
            place[id(subject)] if subject else len(subjects),
            Finding(
                rule.id,
                severity,
                name,
                subject.line if subject else 0,
                each.message,
                rule.why,
                each.proposal,
                subject.file if subject else "",
            ),
        )


def has_errors(findings: Iterable[Finding]) -> bool:
    """Whether any finding is an error; then the command exits with 1."""
    return any(finding.severity == "error" for finding in findings)
