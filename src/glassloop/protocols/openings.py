"""Where a call could begin in a text: template tokens, tags, fences, brackets.

A reply is mostly words, so the signs are looked for first, which is fast, and the patterns are
tried only where a sign stands.
"""

from __future__ import annotations

import re

from .jsonish import OPENERS

OPENING = re.compile(
    r"<(?:\w+:)?(?:tool_calls?|function_calls?|functioncall|toolcalls?|tools?|tool_use|tool_code|call|action|invoke_tools?)>"
    r"|\[TOOL_CALLS?\]|\[TOOL_REQUEST\]|<｜DSML｜(?:function|tool)_calls>"
    r"|<\|(?:python_tag|tool_calls?|tool_call_start|START_ACTION|tools_prefix|action_start|tool_calls_section_begin|"
    r"tool_call_begin|tool_calls_begin|function_call|plugin|interpreter)\|?>"
    r"|<[|｜]tool[▁_]calls?[▁_]begin[|｜]>|<start_function_call>|functools(?=\[)|>>>(?=\w)"
    r"|<\|channel\|>commentary(?=\s+to=)|<\|start\|>assistant(?=\s*<\|channel\|>commentary|\s+to=)",
    re.IGNORECASE,
)
FUNCTION_TAG = re.compile(
    r"<(?:[｜|]?\w+[｜|:])?(?:function|invoke|tool|call)(?:=|\s+name\s*=\s*)[\"']?([^\"'>\n]{1,120})[\"']?\s*>",
    re.IGNORECASE,
)
_START = re.compile(
    rf"({OPENING.pattern})|({FUNCTION_TAG.pattern})|(^[ \t]*(?:```|~~~))|(`)|([{OPENERS}])", re.I | re.M
)
_SIGN = re.compile(r"[<>\[{｛［`~](?:(?<![<>])|(?<=<)(?=[\w|｜])|(?<=>)(?=>>\w))")
"""Every way in which a call can begin has one of these signs first, or behind `functools` or an indentation."""
_LIST_NAME = "functools"
INDENT = 200
"""Characters of indentation before a fence."""
_MARKED_SIGN = re.compile(
    r"[<>`~\[](?:(?<=[`~])|(?<=<)(?=[\w|｜])|(?<=>)(?=>>\w)|(?<=\[)(?=TOOL)|(?<=functools\[))", re.IGNORECASE
)
"""The signs that are left when bare brackets are not looked at any more."""
_SURE = re.compile(
    r"<\|python_tag|\[TOOL_CALLS|<[|｜]tool|<tool_call|<function_call|<\|START_ACTION|<\|action_start", re.I
)


def is_sure(text: str, at: int) -> bool:
    """Whether the token that stands here is there for calls and nothing else."""
    return _SURE.match(text, at) is not None


def next_opening(text: str, at: int, *, brackets: bool = True) -> re.Match[str] | None:
    """Return the next place where a call could begin; its groups say in which way.

    Args:
        text: The text to look through.
        at: Where to begin.
        brackets: Whether bare brackets are still worth a look.
    """
    signs = _SIGN if brackets else _MARKED_SIGN
    while sign := signs.search(text, at):
        place = begin = sign.start()
        if sign.group() == "[" and text[max(at, place - len(_LIST_NAME)) : place].lower() == _LIST_NAME:
            begin = place - len(_LIST_NAME)
        elif sign.group() in "`~":
            near = max(at, place - INDENT)
            begin = near + len(text[near:place].rstrip(" \t"))
        found = _START.match(text, begin) or (_START.match(text, place) if begin < place else None)
        if found:
            return found
        at = place + 1
    return None
