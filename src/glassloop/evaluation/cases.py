"""Golden cases: a question and what a good agent does with it, read from YAML.

Owes: every mistake in a file is one sentence with the file, the line and what to write
instead; what passes here also fits `cases.schema.json`, the schema for editors.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, cast, get_args

from ..errors import CaseError
from ..limits import Limits
from ..types import Message, Record, Stop, digest
from .matchers import FACT_RULES, RULES
from .yaml_lines import Located, Path_, read_yaml

SUFFIX = ".cases.yaml"
Match = Literal["exact", "in_order", "any_order", "at_least"]
FaultKind = Literal["error", "timeout", "garbage", "empty", "contradiction", "injection"]


@dataclass(frozen=True)
class ExpectedCall(Record):
    """A call the run should make; `arguments` maps names to values or rules (see `matchers.py`).

    `extra` says whether arguments may be given that are not named here; `optional` calls may be left out.
    """

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    extra: bool = True
    optional: bool = False


@dataclass(frozen=True)
class Fault(Record):
    """A failure to inject: in which tool, of what kind, at which of its calls (0: always), with what text or result."""

    tool: str
    kind: FaultKind
    at: int = 0
    text: str = ""
    result: Any = None


@dataclass(frozen=True)
class Case(Record):
    """One golden case.

    Attributes:
        id: Its name, unique in the file.
        question: What is asked last.
        history: What was said before, of a conversation.
        tools: Names of the tools offered; empty offers all.
        forbid: Tools that are offered and must not be called.
        calls: The calls wanted; None does not look at calls.
        match: How they are compared with the calls made: `exact` (these in this order and no others), `in_order`
            (these in this order, others between), `any_order` (these and no others), `at_least` (these, and others).
        facts: What the answer must tell; each entry is a fact or a list of which one is enough.
        lies: What the answer must not tell.
        stop: Ends that are right.
        faults: Failures to inject.
        approve: Whether writes are approved, or the names of the tools for which they are.
        limits: The run's limits.
        tags: For choosing and for tables.
        repeat: How often it is run.
        language: Language of the prompts.
        system: Instructions for the agent.
        toolset: Where the tools are (see `glassloop.tools.declare.load_tools`).
        file: The file it is written in.
        line: Its line there.
    """

    id: str
    question: str
    history: tuple[Message, ...] = ()
    tools: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    calls: tuple[ExpectedCall, ...] | None = None
    match: Match = "at_least"
    facts: tuple[Any, ...] = ()
    lies: tuple[Any, ...] = ()
    stop: tuple[str, ...] = ("answered",)
    faults: tuple[Fault, ...] = ()
    approve: bool | tuple[str, ...] = False
    limits: Limits = Limits()
    tags: tuple[str, ...] = ()
    repeat: int = 1
    language: str = "auto"
    system: str = ""
    toolset: str = ""
    file: str = ""
    line: int = 0

    @property
    def key(self) -> str:
        """Hash of all that decides how the case is run and scored; its place in the file does not."""
        return digest({k: v for k, v in self.to_dict().items() if k not in ("file", "line", "repeat", "tags")})


def load_cases(*paths: str | Path) -> list[Case]:
    """Read files of golden cases, and every `*.cases.yaml` beneath the folders given.

    Raises:
        CaseError: Something is not written as the schema asks, two cases have one id, or there is nothing to read.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        found = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
        if not found:
            raise CaseError(f"There is no *{SUFFIX} in {path}: give a file, or a folder that holds some.")
        files += found
    cases = [case for file in dict.fromkeys(files) for case in read_cases(file)]
    first: dict[str, Case] = {}
    for case in cases:
        other = first.setdefault(case.id, case)
        if other is not case:
            raise CaseError(
                f"{case.file}:{case.line}: the id {case.id!r} is taken ({other.file}:{other.line}): choose another."
            )
    return cases


def read_cases(source: str | Path, *, name: str = "") -> list[Case]:
    """Read one file of cases, or a YAML text when `name` is given.

    Raises:
        CaseError: With file, line, and what to write instead.
    """
    document = read_yaml(source, name=name)
    return _Reader(document, Path(source).parent if not name else Path()).cases()


_TOP = ("version", "tools", "system", "language", "limits", "approve", "repeat", "tags", "cases")
_CASE = (
    "id question conversation tools forbid calls match answer stop faults approve limits tags repeat language system"
).split()


class _Reader:
    """Turns one located document into cases."""

    def __init__(self, document: Located, folder: Path) -> None:
        self.doc = document
        self.folder = folder

    def cases(self) -> list[Case]:
        top = self.mapping(self.doc.data, (), _TOP)
        if top.get("version", 1) != 1:
            self.fail(("version",), "this version of glassloop reads version 1: write `version: 1`.")
        rows = top.get("cases")
        if not isinstance(rows, list) or not rows:
            self.fail(("cases",), "write a list of cases, each with an id and a question.")
        toolset = self.text(top, "tools", ())
        made = [
            self.case(row, ("cases", i), top, self.resolve(toolset)) for i, row in enumerate(cast("list[Any]", rows))
        ]
        seen: set[str] = set()
        for i, case in enumerate(made):
            if case.id in seen:
                self.fail(("cases", i, "id"), f"the id {case.id!r} is used twice: choose another.")
            seen.add(case.id)
        return made

    def resolve(self, toolset: str) -> str:
        """A tool file is named from the cases' own folder."""
        head, colon, names = toolset.partition(".py")
        near = self.folder / f"{head}.py"
        return f"{near}{names}" if colon and near.is_file() else toolset

    def case(self, row: Any, at: Path_, top: Mapping[str, Any], toolset: str) -> Case:
        data = self.mapping(row, at, _CASE)
        name = self.text(data, "id", at)
        if not re.fullmatch(r"[\w.-]+", name):
            self.fail(
                (*at, "id"), "every case needs an id of letters, digits, dots and hyphens, such as `id: tide-en`."
            )
        question, history = self.spoken(data, at)
        answer = self.mapping(data.get("answer", {}), (*at, "answer"), ("facts", "lies"))
        calls = self.calls(data, at)
        tools, forbid = self.names(data, "tools", at), self.names(data, "forbid", at)
        for both in tools and sorted(({c.tool for c in calls or ()} | set(forbid)) - set(tools)):
            self.fail((*at, "tools"), f"{both!r} is expected or forbidden and not offered: add it to `tools`.")
        default = "exact" if calls == () else "at_least"
        shared = {k: top[k] for k in ("language", "approve", "repeat", "limits", "system") if k in top}
        inherit: dict[str, Any] = {**shared, **data}

        def where(key: str) -> Path_:  # the place an inherited value was written at
            return at if key in data else ()

        repeat = inherit.get("repeat", 1)
        if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 1:
            self.fail((*where("repeat"), "repeat"), "give a whole number from 1.")
        return Case(
            name,
            question,
            history,
            tools,
            forbid,
            calls,
            cast("Match", self.choice(data, "match", at, get_args(Match), default)),
            self.facts(answer, "facts", at),
            self.facts(answer, "lies", at),
            self.stops(data, at),
            self.faults(data, at),
            self.approve(inherit, where("approve")),
            self.limits(inherit, where("limits")),
            self.names(top, "tags", ()) + self.names(data, "tags", at),
            repeat,
            self.choice(inherit, "language", where("language"), ("auto", "en", "zh"), "auto"),
            self.text(inherit, "system", where("system")),
            toolset,
            self.doc.file,
            self.doc.line(at),
        )

    def spoken(self, data: Mapping[str, Any], at: Path_) -> tuple[str, tuple[Message, ...]]:
        if ("question" in data) == ("conversation" in data):
            self.fail(at, "write either a `question` or a `conversation`.")
        if "question" in data:
            question = self.text(data, "question", at)
            if not question.strip():
                self.fail((*at, "question"), "the question is empty: write what the user asks.")
            return question, ()
        turns, place = data["conversation"], (*at, "conversation")
        if not isinstance(turns, list) or not turns:
            self.fail(place, "write a list of turns, `- user: …` and `- assistant: …`, ending with the user.")
        said: list[Message] = []
        for i, turn in enumerate(cast("list[Any]", turns)):
            one = self.mapping(turn, (*place, i), ("user", "assistant"))
            role = "user" if len(said) % 2 == 0 else "assistant"
            if list(one) != [role]:
                self.fail((*place, i), f"turns alternate and begin with the user: write `- {role}: …` here.")
            said.append(
                Message(role, self.text(one, role, (*place, i)), kind="question" if role == "user" else "answer")
            )
        if said[-1].role != "user":
            self.fail(place, "the last turn is the user's: add `- user: …` with the question.")
        return said[-1].content, tuple(said[:-1])

    def calls(self, data: Mapping[str, Any], at: Path_) -> tuple[ExpectedCall, ...] | None:
        if data.get("calls") is None:
            return None
        rows, out = data["calls"], list[ExpectedCall]()
        if not isinstance(rows, list):
            self.fail((*at, "calls"), "write a list of calls, or `[]` when no tool may be called.")
        for i, row in enumerate(cast("list[Any]", rows)):
            place = (*at, "calls", i)
            one = (
                {"tool": row}
                if isinstance(row, str)
                else self.mapping(row, place, ("tool", "arguments", "extra", "optional"))
            )
            tool = self.text(one, "tool", place)
            if not tool:
                self.fail(place, "name the tool of this call: `tool: NAME`.")
            arguments = self.mapping(cast("Mapping[str, Any]", one).get("arguments", {}), (*place, "arguments"), None)
            for key, rule in arguments.items():
                self.rule(rule, (*place, "arguments", key))
            extra, optional = self.flag(one, "extra", place, True), self.flag(one, "optional", place, False)
            out.append(ExpectedCall(tool, dict(arguments), extra, optional))
        return tuple(out)

    def rule(self, rule: Any, at: Path_) -> None:
        """A mapping in an argument is a rule; a literal mapping is written under `equal`."""
        if not isinstance(rule, Mapping):
            return
        keys = [str(k) for k in cast("Mapping[Any, Any]", rule) if k != "tolerance"]
        if len(keys) != 1 or keys[0] not in RULES:
            near = difflib.get_close_matches(keys[0], RULES, 1) if keys else []
            hint = f"did you mean `{near[0]}`?" if near else "an object to compare with goes under `equal`."
            self.fail(at, f"a rule has one of the keys {', '.join(RULES)}: {hint}")
        self.values(keys[0], cast("Mapping[str, Any]", rule), at)

    def values(self, kind: str, rule: Mapping[str, Any], at: Path_) -> None:
        value = rule[kind]
        if kind == "regex":
            try:
                re.compile(value)
            except (re.error, TypeError) as error:
                self.fail((*at, kind), f"this is no regular expression ({error}): mend it, or write the text alone.")
        if kind == "number" and (isinstance(value, bool) or not isinstance(value, (int, float))):
            self.fail((*at, kind), "give a number, such as `number: 4.5`.")
        if kind == "one_of" and not (isinstance(value, list) and value):
            self.fail((*at, kind), "give a list of values.")
        if kind == "from_observation" and not (value is True or isinstance(value, str)):
            self.fail((*at, kind), "name the tool whose result held the value, or write `true` for any.")
        tolerance = rule.get("tolerance", 0)
        if "tolerance" in rule and kind != "number":
            self.fail((*at, "tolerance"), "only `number` has a tolerance.")
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or tolerance < 0:
            self.fail((*at, "tolerance"), "give a number from 0.")

    def facts(self, answer: Mapping[str, Any], key: str, at: Path_) -> tuple[Any, ...]:
        value, place = answer.get(key, []), (*at, "answer", key)
        if not isinstance(value, list):
            self.fail(place, "write a list; an entry that is a list itself means any one of it.")
        for i, entry in enumerate(cast("list[Any]", value)):
            for one in cast("list[Any]", entry) if isinstance(entry, list) else [entry]:
                self.fact(one, (*place, i))
        return tuple(cast("list[Any]", value))

    def fact(self, one: Any, at: Path_) -> None:
        if isinstance(one, Mapping):
            keys = [k for k in cast("Mapping[str, Any]", one) if k != "tolerance"]
            if len(keys) != 1 or keys[0] not in FACT_RULES:
                self.fail(at, f"a rule for a fact has one of the keys {', '.join(FACT_RULES)}.")
            self.values(keys[0], cast("Mapping[str, Any]", one), at)
        elif isinstance(one, (bool, list)) or one is None or not str(one).strip():
            self.fail(at, "a fact is a text, a number or a rule: put words such as yes and no in quotes.")

    def stops(self, data: Mapping[str, Any], at: Path_) -> tuple[str, ...]:
        stops = self.names(data, "stop", at) or ("answered",)
        for stop in stops:
            if stop not in get_args(Stop):
                self.fail((*at, "stop"), f"a run never ends with {stop!r}: choose from {', '.join(get_args(Stop))}.")
        return stops

    def faults(self, data: Mapping[str, Any], at: Path_) -> tuple[Fault, ...]:
        rows, out = data.get("faults", []), list[Fault]()
        if not isinstance(rows, list):
            self.fail((*at, "faults"), "write a list, each with a `tool` and a `kind`.")
        for i, row in enumerate(cast("list[Any]", rows)):
            place = (*at, "faults", i)
            one = self.mapping(row, place, ("tool", "kind", "at", "text", "result"))
            tool = self.text(one, "tool", place)
            if not tool:
                self.fail(place, "name the tool that fails: `tool: NAME`.")
            number = one.get("at", "always")
            if number != "always" and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
                self.fail((*place, "at"), "give the number of the call from 1, or `always`.")
            kind = self.choice(one, "kind", place, get_args(FaultKind), "")
            number = 0 if number == "always" else number
            out.append(Fault(tool, cast("FaultKind", kind), number, self.text(one, "text", place), one.get("result")))
        return tuple(out)

    def approve(self, data: Mapping[str, Any], at: Path_) -> bool | tuple[str, ...]:
        value = data.get("approve", False)
        return value if isinstance(value, bool) else self.names(data, "approve", at)

    def limits(self, data: Mapping[str, Any], at: Path_) -> Limits:
        known = [f.name for f in fields(Limits)]
        given = self.mapping(data.get("limits", {}), (*at, "limits"), known)
        for key, value in given.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
                self.fail((*at, "limits", key), "give a number from 0; 0 means no limit.")
        return Limits(**given)

    # -- plain shapes ------------------------------------------------------------------------

    def fail(self, at: Path_, problem: str) -> Any:
        self.doc.fail(at, problem)

    def mapping(self, value: Any, at: Path_, known: Iterable[str] | None) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            self.fail(at, f"this is {_kind(value)}: write keys with values here.")
        data, keys = cast("Mapping[str, Any]", value), list(known or ())
        for key in data if known is not None else ():
            if key not in keys:
                near = difflib.get_close_matches(key, keys, 1)
                hint = f"did you mean `{near[0]}`?" if near else f"the keys are {', '.join(keys)}."
                self.fail((*at, key), f"there is no key {key!r}: {hint}")
        return data

    def text(self, data: Mapping[str, Any], key: str, at: Path_) -> str:
        value: Any = data.get(key, "")
        if (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and key in ("question", "user", "assistant", "id")
        ):
            return str(value)
        if not isinstance(value, str):
            self.fail((*at, key), f"this is {_kind(value)}: write a text, in quotes if need be.")
        return str(value)

    def flag(self, data: Mapping[str, Any], key: str, at: Path_, default: bool) -> bool:
        value = data.get(key, default)
        if not isinstance(value, bool):
            self.fail((*at, key), f"this is {_kind(value)}: write true or false.")
        return value

    def names(self, data: Mapping[str, Any], key: str, at: Path_) -> tuple[str, ...]:
        value: Any = data.get(key, [])
        listed: Any = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(v, str) for v in cast("list[Any]", listed)):
            self.fail((*at, key), "write a list of names.")
        return tuple(cast("list[str]", listed))

    def choice(self, data: Mapping[str, Any], key: str, at: Path_, options: Sequence[str], default: str) -> str:
        value = data.get(key, default)
        if value not in options:
            self.fail((*at, key) if key in data else at, f"`{key}` is one of {', '.join(options)}, not {value!r}.")
        return str(value)


def _kind(value: Any) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return names.get(cast("type[Any]", type(value)), "nothing")
