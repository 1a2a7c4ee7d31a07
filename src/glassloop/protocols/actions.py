"""One action of a Thought/Action reply: the tool it names and the arguments it gives, in any of their spellings.

`name` with a separate input, `name {json}`, `name({json})`, `name(k=v)`, `name[input]`, or a JSON
object that holds both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..types import Declaration, Repair
from .arguments import (
    NOTHING,
    Decoded,
    bare_value,
    call_arguments,
    decode_arguments,
    keyword_arguments,
    literal,
    properties_of,
    sole_parameter,
)
from .jsonish import MISSING, OPENERS, Scanner
from .labels import is_listed
from .names import mentioned, resolve
from .rescue import mend, shown
from .shapes import ANSWER_KEYS, Draft, drafts_in


@dataclass(frozen=True)
class Written:
    """What an action was found to say: drafts of calls, the text of a finish action, or a fault."""

    drafts: tuple[Draft, ...] = ()
    finish: str | None = None
    fault: str = ""
    tool: Declaration | None = None
    given: str = ""
    decoded: Decoded | None = None


_FENCE = re.compile(r"\A(?:```|~~~)([\w+-]*)[ \t]*\n?(.*?)\n?[ \t]*(?:```|~~~|\Z)(.*)\Z", re.DOTALL)
_REST = re.compile(r"[ \t]*(?:[:：,，-]|=>|->|with(?: input)?|输入)?\s*")
_EMPHASIS = re.compile(r"\A(\*\*|__|\*|`)(.+?)\1", re.DOTALL)


def unfenced(value: str) -> str:
    """Return what stands in the fence a value begins with, the value itself if there is none."""
    value = value.strip()
    found = _FENCE.match(value)
    if found:
        return found.group(2).strip("\n")
    coded = len(value) > 2 and value[0] == value[-1] == "`" and value.count("`") == 2
    return value[1:-1].strip() if coded else value


def read_action(value: str, given: str | None, tools: Mapping[str, Declaration]) -> Written:
    """Read one action.

    Args:
        value: What stands after the action label.
        given: What stands after the input label, None if there was no such label.
        tools: The offered tools by name.
    """
    value = unfenced(value)
    value = _EMPHASIS.sub(lambda m: m.group(2), value, count=1)
    if value[:1] in OPENERS and value:
        return _object_action(value, given, tools)
    if not value:
        return _from_input_alone(given, tools)
    if value not in tools:
        split = _split(value, tools)
        if split is not None:
            return _with_rest(split[0], split[1], given, tools)
    named = resolve(value, tools, near=False)
    if named is not None:
        return _with_input(named.tool, given, named.repairs, tools)
    return _unknown(value, given, tools)


def _object_action(value: str, given: str | None, tools: Mapping[str, Declaration]) -> Written:
    end = Scanner(value).end(0)
    mended = mend(value[:end] if end else value)
    if not mended.ok:
        return Written(fault="format" if mended.problem != "cut" else "cut", given=shown(value))
    drafts = drafts_in(mended.value, tools)
    if not drafts and value[0] == "[":
        # `[search]` is a name in the brackets of the instructions.
        return (
            read_action(value.strip("[]").strip(), given, tools) if value.count("[") == 1 else Written(fault="format")
        )
    if not drafts:
        return Written(fault="no_name", given=shown(value))
    if drafts[0].name not in tools and is_listed("finish", drafts[0].name):
        return Written(finish=_finish_text(drafts[0].arguments))
    if drafts[0].arguments is MISSING and given is not None:
        return read_action(drafts[0].name, given, tools)
    return Written(tuple(Draft(d.name, d.arguments, (*mended.repairs, *d.repairs), d.strict, d.broken) for d in drafts))


def _finish_text(arguments: Any) -> str:
    if isinstance(arguments, dict):
        held = cast("dict[str, Any]", arguments)
        values = list(held.values())
        return str(values[0]) if len(values) == 1 else shown(held) if values else ""
    return "" if arguments is MISSING or arguments is None else str(arguments)


def _from_input_alone(given: str | None, tools: Mapping[str, Declaration]) -> Written:
    """An action label without a name: the input may hold the whole call."""
    mended = mend(unfenced(given)) if given else None
    drafts = drafts_in(mended.value, tools) if mended is not None and mended.ok else []
    return Written(tuple(drafts)) if drafts else Written(fault="no_name" if given else "format", given=given or "")


# -- a name and what follows it ------------------------------------------------------------


def _split(value: str, tools: Mapping[str, Declaration]) -> tuple[Declaration | str, str] | None:
    """Part `name rest` where the rest looks like arguments; a finish action parts in the same way."""
    folded = value.casefold()
    longest = max((n for n in tools if n and folded.startswith(n.casefold())), key=len, default="")
    if longest:
        rest = value[len(longest) :].lstrip("`*\"'")
        if rest.lstrip()[:1] in ("(", "（", "[", "{", "｛", "［") or rest[:1] in ("\n", ":", "："):
            return tools[longest], rest.strip()
    head = re.match(r"\s*([^\[({（｛\n:：]{1,80}?)\s*([\[({（｛].*|[:：].*)\Z", value, re.DOTALL)
    if head is None:
        return None
    named = resolve(head.group(1), tools)
    if named is not None:
        return named.tool, head.group(2)
    return (head.group(1), head.group(2)) if is_listed("finish", head.group(1)) else None


def _with_rest(tool: Declaration | str, rest: str, given: str | None, tools: Mapping[str, Declaration]) -> Written:
    opener = rest[:1]
    if opener in ("(", "（", "[", "［"):
        end = Scanner(rest.replace("（", "(").replace("）", ")")).end(0)
        if end is None and opener in ("[", "［"):
            line = rest.split("\n", 1)[0]
            end = line.rfind("]") + 1 or None
        inner = rest[1 : end - 1] if end else rest[1:]
        if isinstance(tool, str):
            return Written(finish=_finish_inner(inner))
        if end is None:
            return Written(fault="cut_arguments", tool=tool, given=shown(rest))
        if given is not None and not _is_value(inner, tool):
            return _with_input(tool, given, (Repair("text after the name", "name", before=shown(rest)),), tools)
        return _bracketed(tool, inner, opener in ("[", "［"))
    text = _REST.sub("", rest, count=1)
    if isinstance(tool, str):
        return Written(finish=_finish_inner(text))
    if given is not None and not text.startswith(("{", "｛")):
        return _with_input(tool, given, (Repair("text after the name", "name", before=shown(rest)),), tools)
    return _with_input(tool, text, (), tools)


def _is_value(inner: str, tool: Declaration) -> bool:
    return inner.strip()[:1] in ("{", "｛") or keyword_arguments(inner, tool) is not None


def _finish_given(given: str) -> str:
    """Return the answer that is the input of a finish action, out of the object that holds nothing else."""
    mended = mend(given) if given.lstrip()[:1] == "{" else None
    held = cast("dict[str, Any]", mended.value) if mended and isinstance(mended.value, dict) else {}
    value = next(iter(held.values())) if len(held) == 1 and next(iter(held)) in ANSWER_KEYS else None
    return value.strip() if isinstance(value, str) else given.strip()


def _finish_inner(inner: str) -> str:
    """Return the answer inside `Finish[…]` or `finish(answer="…")`."""
    inner = inner.strip()
    keyed = re.match(r"\w+\s*=\s*(.+)\Z", inner, re.DOTALL)
    value = literal(keyed.group(1) if keyed else inner)
    if value is MISSING:
        return inner
    return value if isinstance(value, str) else _finish_text(value) if isinstance(value, dict) else inner


def _bracketed(tool: Declaration, inner: str, square: bool) -> Written:
    made = call_arguments(inner, tool)
    if made is None or (square and any(r.guessed for r in made[1])):
        made = bare_value(inner.strip(), tool) if square or not _looks_structured(inner) else None
    if made is None:
        return Written(fault="bad_json", tool=tool, given=shown(inner))
    return Written((Draft(tool.name, made[0], made[1]),), tool=tool)


def _looks_structured(inner: str) -> bool:
    return bool(re.match(r"\s*(?:[{\[\"']|\w+\s*=)", inner))


# -- an input ------------------------------------------------------------------------------


def _with_input(
    tool: Declaration, given: str | None, repairs: tuple[Repair, ...], tools: Mapping[str, Declaration]
) -> Written:
    if given is None or not given.strip():
        return Written((Draft(tool.name, MISSING, repairs),), tool=tool)
    text = _one_of_repeated(unfenced(given))
    if text.strip("`").strip().lower() in NOTHING:
        return Written((Draft(tool.name, MISSING, repairs),), tool=tool)
    if text[:1] in ("{", "｛"):
        return _object_input(tool, text, repairs, tools)
    if text.startswith(f"{tool.name}("):
        return _with_rest(tool, text[len(tool.name) :], None, tools)
    pairs = keyword_arguments(text, tool)
    if pairs is not None and (len(properties_of(tool)) > 1 or "=" in text.split("\n", 1)[0]):
        return Written(
            (Draft(tool.name, pairs, (*repairs, Repair("keyword arguments", before=shown(text)))),), tool=tool
        )
    if text[:1] in ("[", '"'):
        value = literal(text)
        if isinstance(value, str) and value.strip()[:1] == "{":
            return Written((Draft(tool.name, value, repairs),), tool=tool)
    made = bare_value(text, tool)
    if made is not None:
        return Written((Draft(tool.name, made[0], (*repairs, *made[1])),), tool=tool)
    return Written(fault="bad_json", tool=tool, decoded=Decoded(problem="broken", given=shown(text)))


def _object_input(
    tool: Declaration, text: str, repairs: tuple[Repair, ...], tools: Mapping[str, Declaration]
) -> Written:
    end = Scanner(text).end(0)
    rest = text[end:].strip() if end else ""
    if end and rest[:1] in ("{", "｛") and rest != text[:end]:
        return Written(fault="several", tool=tool, decoded=Decoded(problem="several", given=shown(text)))
    taken = text[:end] if end else text
    if end and rest and decode_arguments(taken, tool).problem:
        taken = text
    elif rest:
        repairs = (*repairs, Repair("text after the input", before=shown(rest)))
    decoded = decode_arguments(taken, tool)
    if decoded.problem:
        return Written(fault="bad_json", tool=tool, decoded=decoded)
    nested = drafts_in(decoded.objects[0], tools) if len(decoded.objects) == 1 else []
    if len(nested) == 1 and nested[0].name == tool.name and not set(decoded.objects[0]) <= set(properties_of(tool)):
        return Written((Draft(tool.name, nested[0].arguments, (*repairs, *decoded.repairs)),), tool=tool)
    drafts = [Draft(tool.name, obj, (*repairs, *decoded.repairs)) for obj in decoded.objects]
    return Written(tuple(drafts), tool=tool)


def _one_of_repeated(text: str) -> str:
    """Return the first of several equal lines: a model that repeats its input until the limit means it once."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0] if len(lines) > 2 and len(set(lines)) == 1 else text


def _unknown(value: str, given: str | None, tools: Mapping[str, Declaration]) -> Written:
    """A value that is no name: a slip of one letter, or a sentence that names one tool beside a real input."""
    named = resolve(value, tools)
    if named is not None:
        return _with_input(named.tool, given, named.repairs, tools)
    if is_listed("finish", value):
        return Written(finish=_finish_given(given or ""))
    names = mentioned(value, tools) if len(value) <= 300 else []
    leads = len(names) == 1 and value.startswith(names[0]) and sole_parameter(tools[names[0]]) is not None
    if len(names) == 1 and given and (leads or unfenced(given)[:1] in ("{", "｛")):
        repair = Repair("name in a sentence", "name", before=shown(value), after=names[0], guessed=True)
        return _with_input(tools[names[0]], given, (repair,), tools)
    return Written(fault="unknown_tool", given=value.split("\n", 1)[0])
