"""Calls written as tags: `<function=name>` or `<invoke name="name">` with a tag for each parameter, or pairs of tags.

These forms are no XML: parameters do not nest, `&` and `<` are plain text, and each
parameter ends where the next tag of its kind begins.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .jsonish import MISSING, OPENERS, Scanner
from .rescue import mend
from .shapes import Draft

_PREFIX = r"(?:[｜|]?\w+[｜|:])?"
_PARAMETER = re.compile(
    rf"<{_PREFIX}(?:parameter|param|arg|argument)(?:=|\s+(?:name|key)\s*=\s*)[\"']?([^\"'>\n]{{1,120}}?)[\"']?(?:\s+\w+=\"\w*\")*\s*>",
    re.IGNORECASE,
)
_PARAMETER_END = re.compile(rf"</{_PREFIX}(?:parameter|param|arg|argument)>", re.IGNORECASE)
_CALL_END = re.compile(
    rf"</{_PREFIX}(?:function|invoke|tool|call)>|</{_PREFIX}(?:tool_calls?|function_calls?)>", re.IGNORECASE
)
_CLOSING = (
    rf"(?:</{_PREFIX}(?:tool_calls?|function_calls?|functioncall|toolcalls?|tools?|tool_use|tool_code|call|action|function|invoke)>"
    r"|\[/TOOL_CALLS?\]|\[END_TOOL_REQUEST\]|\[/TOOL_REQUEST\]|<\|?/?(?:tool_call|tool_call_end|tool_calls_end|END_ACTION|"
    r"tools_suffix|action_end|tool_calls_section_end|tool_call_end|/tool_call|call)\|>"
    r"|<[|｜]tool[▁_]calls?[▁_]end[|｜]>|<end_function_call>|<\|(?:eom_id|eot_id|im_end)\|>)"
)
CLOSING = re.compile(_CLOSING, re.IGNORECASE)
PAIRED = re.compile(rf"\s*{_CLOSING}", re.IGNORECASE)
_PAIRS_START = re.compile(r"\s*<arg_key>")
_PAIR = re.compile(
    r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|(?=<arg_key>|</tool_call>)|\Z)", re.DOTALL
)
_CHILD = re.compile(r"\s*<([^\W\d][\w-]*)>(.*?)</\1>", re.DOTALL)


class Read(NamedTuple):
    """A tagged call and where it ends."""

    draft: Draft
    end: int


def read_function_tag(text: str, name: str, at: int, scanner: Scanner) -> Read:
    """Read the call whose opening tag ends at `at`."""
    name = name.strip().strip("\"'")
    body = at + len(text[at : at + 200]) - len(text[at : at + 200].lstrip())
    if body < len(text) and text[body] in OPENERS:
        value, end = scanner.value(body)
        if value is MISSING:
            stop = scanner.end(body)
            mended = mend(text[body:stop]) if stop else None
            value, end = (mended.value, stop or body) if mended is not None and mended.ok else (text[body:], len(text))
        return Read(Draft(name, value), _closed(text, end))
    parameters: dict[str, Any] = {}
    place = at
    while True:
        opened = _PARAMETER.match(text, _skip(text, place))
        if opened is None:
            break
        value, place = _value(text, opened.end())
        if value is None:
            return Read(Draft(name, broken="cut"), len(text))
        parameters[opened.group(1).strip()] = value
    if not parameters:
        parameters, place = _children(text, at)
    return Read(Draft(name, parameters), _closed(text, place))


_NAME_TAG = re.compile(r"\s*<(name|tool_name|tool|function)>\s*([^<>\n]{1,120}?)\s*</\1>\s*")
_BODY_TAG = re.compile(r"<(arguments|parameters|args|input|params)>\s*(.*?)\s*</\1>", re.DOTALL)


def read_name_tag(text: str, at: int) -> Read | None:
    """Read `<name>…</name><arguments>…</arguments>`, None if no name tag stands here."""
    name = _NAME_TAG.match(text, at)
    if name is None:
        return None
    body = _BODY_TAG.match(text, name.end())
    if body is None:
        return None
    if body.group(2)[:1] in OPENERS or not body.group(2):
        return Read(Draft(name.group(2), body.group(2)), body.end())
    children, _ = _children(body.group(2), 0)
    return Read(Draft(name.group(2), children), body.end()) if children else None


def _value(text: str, at: int) -> tuple[str | None, int]:
    ends = [found for p in (_PARAMETER_END, _PARAMETER, _CALL_END) if (found := p.search(text, at))]
    if not ends:
        return None, len(text)
    first = min(ends, key=lambda found: found.start())
    end = first.end() if first.re is _PARAMETER_END else first.start()
    return _trimmed(text[at : first.start()]), end


def _trimmed(value: str) -> str:
    """Take off the line break after the opening tag and the one before the closing tag."""
    value = value[1:] if value.startswith("\n") else value
    return value[:-1] if value.endswith("\n") else value


def _children(text: str, at: int) -> tuple[dict[str, Any], int]:
    children: dict[str, Any] = {}
    found = _CHILD.match(text, at)
    if found and found.group(1) in ("parameters", "arguments", "args", "input"):
        inner = found.group(2)
        for child in _CHILD.finditer(inner):
            children[child.group(1)] = _trimmed(child.group(2))
        return children, found.end()
    while found:
        children[found.group(1)] = _trimmed(found.group(2))
        at = found.end()
        found = _CHILD.match(text, at)
    return children, at


def read_key_value_tags(text: str, at: int) -> tuple[dict[str, Any], int] | None:
    """Read `<arg_key>…</arg_key><arg_value>…</arg_value>` pairs, None if there are none."""
    if not _PAIRS_START.match(text, at):
        return None
    pairs: dict[str, Any] = {}
    while found := _PAIR.match(text, at):
        pairs[found.group(1).strip()] = _trimmed(found.group(2))
        at = found.end()
    return pairs, at


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _closed(text: str, at: int) -> int:
    found = re.compile(rf"\s*(?:{_CALL_END.pattern})", re.IGNORECASE).match(text, at)
    return found.end() if found else at
