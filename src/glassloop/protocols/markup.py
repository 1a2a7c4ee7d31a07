"""Calls that arrive in the text of a reply: template tokens, tags, fences, bare JSON, call syntax.

The outermost envelope decides: once a value or a tagged call has been read, nothing inside
it is looked at again. What is quoted, shown as an example or merely part of an answer is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..types import Declaration, Repair
from .arguments import call_arguments
from .examples import REACH, is_example
from .jsonish import MISSING, OPENERS, Scanner
from .names import resolve
from .openings import FUNCTION_TAG, INDENT, OPENING, is_sure, next_opening
from .rescue import Problem, mend
from .shapes import MOST_DRAFTS, Draft, drafts_in
from .tags import CLOSING, PAIRED, read_function_tag, read_key_value_tags, read_name_tag

_JUNK = re.compile(
    r"(?:[\s;,]+|</?(?:\w+:)?[a-z_]*(?:tool|function|call|action|parameters?|arguments?)[a-z_]*>|</?[｜|]DSML[｜|]\w*>|\[/?[A-Z_]{3,20}\]"
    r"|<[|｜][^<>\n]{1,40}?[|｜]?>|<\w+[|｜]>|<(?:start|end)_function_(?:call|response)>|(?:```|~~~)[\w]*){1,16}"
)
_NAMED = re.compile(
    r"(?:call:|to=|function(?=<[|｜]tool)|functions?\b(?=[.:]))?\s*(?:<[|｜]tool[▁_]sep[|｜]>)?"
    r"([^\s<>{}\[\]()|｜\"'`,;=:]+(?:[:.][^\s<>{}\[\]()|｜\"'`,;=:]+)*(?::\d+)?)"
)
_BEFORE_ARGUMENTS = re.compile(
    r"(?:\s+|<[|｜][^<>\n]{1,40}?[|｜]>(?:json)?|\[(?:ARGS|CALL_ID)\](?:\w{1,40}(?=\[))?|(?:```|~~~)(?:json)?|json\b|:|=)*"
)
_PYTHON_CALL = re.compile(r"([^\W\d][\w.]*)\s*\(")
_TOKENS_GEMMA = (
    (re.compile(r'<\|"\|>(.*?)<\|"\|>', re.DOTALL), '<|"'),
    (re.compile(r"<escape>(.*?)<escape>", re.DOTALL), "<escape>"),
)
_LINE_END = re.compile(r"[ \t]*(?:[;,.]?[ \t]*(?:\n|\Z)|[;,}\]{`<\[]|[.,;][ \t])")


_SEPARATORS = re.compile(r"[\s;,]*")
_FENCE_HEAD = re.compile(r"[\w+-]*[ \t]*\n?")
_FENCE_END = re.compile(r"\s*(?:```|~~~|\Z)")
_FENCE_LEFT = re.compile(r"[ \n\r\t`]*\Z")
_LIST_END = re.compile(r"\s*\]")
_CALL_HEAD = re.compile(r'[\[{\s]{1,40}"(?:name|tool|tool_name|action|function)"\s*:\s*"([^"]+)"\s*,')

LONGEST_LINE = 1000
"""Characters before a bracket that say whether it begins a line."""


@dataclass
class Found:
    """The calls in a text, and the text without them."""

    drafts: list[Draft] = field(default_factory=list[Draft])
    content: str = ""
    problem: Problem = ""
    """Set when something is a call for sure and could not be read."""
    tool: Declaration | None = None
    given: str = ""
    start: int = -1
    """Where the first call begins."""
    unread: bool = False
    """Whether the reply begins with a call's own token and no call could be read behind it."""
    marked: bool = False
    """Whether a call stood in an envelope that is there for nothing else."""
    end: int = -1


def find_calls(text: str, tools: Mapping[str, Declaration]) -> Found:
    """Find the calls in a text, in order.

    Args:
        text: What was said, without think blocks.
        tools: The offered tools by name.
    """
    for pattern, token in _TOKENS_GEMMA:
        if token in text:
            text = pattern.sub(lambda m: _json_string(m.group(1)), text)
    return _Search(text, tools).run()


def _json_string(raw: str) -> str:
    return json.dumps(raw, ensure_ascii=False)


_CLOSING_LINE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*$", re.MULTILINE)


class _Search:
    """One pass over a text from left to right."""

    def __init__(self, text: str, tools: Mapping[str, Declaration]) -> None:
        self.text = text
        self.tools = tools
        self.scanner = Scanner(text)
        self.found = Found()
        self._closes = -1
        self._unclosed = False
        self._begins = len(text) - len(text.lstrip())
        self._finish = len(text.rstrip())
        self._ends_fenced = text.endswith(("```", "~~~"), 0, self._finish)
        self.spans: list[tuple[int, int]] = []

    def run(self) -> Found:
        """Look at every place where a call could begin."""
        at = 0
        while found := next_opening(self.text, at, brackets=not self.scanner.spent):
            start = found.start()
            if found.group(1):
                at = self._envelope(start, found.end())
            elif found.group(2):
                at = self._tagged(start, found)
            elif found.lastindex and found.group(found.lastindex) == "`":
                close = self.text.find("`", found.end(), found.end() + 400)
                at = close + 1 if close > 0 and "\n" not in self.text[found.end() : close] else found.end()
            elif self.text[start] in OPENERS:
                at = self._bare(start)
            else:
                at = self._fence(start, found.end())
            if self.found.problem or len(self.found.drafts) > MOST_DRAFTS:
                break
        if not self.found.drafts and not self.found.problem:
            self._whole_as_call()
        self.found.content = self._rest()
        if self.spans:
            self.found.start, self.found.end = self.spans[0][0], self.spans[-1][1]
        return self.found

    def _inline(self, start: int) -> bool:
        """Whether anything stands before this place on its line."""
        near = max(0, start - LONGEST_LINE)
        return bool(self.text[max(near, self.text.rfind("\n", near, start) + 1) : start].strip())

    # -- what was found ----------------------------------------------------------------

    def _take(self, start: int, end: int, drafts: list[Draft], name: str, *, marked: bool = False) -> int:
        note = Repair(name, before=self.text[start : min(end, start + 120)])
        self.found.drafts += [replace(d, repairs=(note, *d.repairs)) for d in drafts]
        self.found.marked = self.found.marked or marked
        self.spans.append((start, end))
        return end

    def _rest(self) -> str:
        out: list[str] = []
        at = 0
        for start, end in self.spans:
            out.append(self.text[at:start])
            at = end
        return "".join([*out, self.text[at:]]).strip()

    def _follows_call(self, start: int) -> bool:
        """Whether only separators stand between the last call and this place."""
        return bool(self.spans) and _SEPARATORS.fullmatch(self.text, self.spans[-1][1], start) is not None

    # -- envelopes ---------------------------------------------------------------------

    def _envelope(self, start: int, end: int) -> int:
        at, taken = end, False
        inline = self._inline(start)
        while True:
            junk = _JUNK.match(self.text, at)
            at = junk.end() if junk else at
            drafts, stop = self._payload(at, inline and not taken)
            if (drafts or self.found.problem) and not taken and self._shown(start):
                self.found.problem, self.found.tool, self.found.given = "", None, ""
                return end
            if self.found.problem:
                self.spans.append((start, stop))
                return stop
            if not drafts:
                sure = not taken and self._is_sure(start, at)
                self.found.unread = self.found.unread or (sure and not self._shown(start))
                break
            closed = PAIRED.match(self.text, stop)
            at = closed.end() if closed else stop
            start = self._take(start, at, drafts, "call in the text", marked=True)
            taken = True
            if not _continues(self.text, at):
                return at
        return at if taken else end

    def _is_sure(self, start: int, at: int) -> bool:
        """Whether the reply begins with the token of a call here, and goes on behind it."""
        return start <= self._begins and at < self._finish and is_sure(self.text, start)

    def _shown(self, start: int) -> bool:
        """Whether what begins here is only an example."""
        return is_example(self.text[max(0, start - REACH) : start])

    def _payload(self, at: int, inline: bool) -> tuple[list[Draft], int]:
        """Read one call (or list of calls) inside an envelope."""
        text = self.text
        tag = FUNCTION_TAG.match(text, at)
        if tag:
            read = read_function_tag(text, tag.group(1), tag.end(), self.scanner)
            return self._checked([read.draft], read.end, inline)
        named = read_name_tag(text, at)
        if named:
            return self._checked([named.draft], named.end, inline)
        if at < len(text) and text[at] in OPENERS:
            return self._json_payload(at)
        call = _PYTHON_CALL.match(text, at)
        if call:
            drafts, end = self._python_calls(at)
            if drafts:
                return drafts, end
        return self._named_payload(at, inline)

    def _checked(self, drafts: list[Draft], end: int, inline: bool) -> tuple[list[Draft], int]:
        """Drop calls of unknown names that a sentence only talks about."""
        if inline and any(resolve(d.name, self.tools) is None for d in drafts):
            return [], end
        return drafts, end

    def _json_payload(self, at: int) -> tuple[list[Draft], int]:
        value, end = self._value(at)
        if value is not MISSING:
            drafts = self._drafts(value)
            if drafts:
                return drafts, end
        listed = self._python_list(at)
        if listed:
            return listed
        if value is MISSING and end < 0:
            self.found.problem = "cut"
            return [], len(self.text)
        return [], at

    def _value(self, at: int) -> tuple[object, int]:
        """Return the value that begins here, mended if need be, and its end; -1 for one that never ends.

        What was mended is kept in `self.mends` for the drafts that are made of the value.
        """
        self.mends: tuple[Repair, ...] = ()
        value, end = self.scanner.value(at)
        if value is not MISSING:
            return value, end
        stop = self.scanner.end(at)
        mended = mend(self.text[at:stop]) if stop is not None and self.scanner.hopeful else None
        if mended is None or not mended.ok:
            self.scanner.charge(stop - at if stop is not None else 0)
            stop = self._closing(at)
            mended = mend(self.text[at:stop]) if self.scanner.may_mend(stop - at) else None
        if mended is not None and mended.ok and stop is not None:
            self.mends = mended.repairs
            return mended.value, stop
        return MISSING, -1 if mended is None or mended.problem == "cut" else at

    def _closing(self, at: int) -> int:
        """Where the next closing mark begins, or the end of the text; looked for once, not from every opening."""
        if self._closes < at:
            closed = CLOSING.search(self.text, at)
            self._closes = closed.start() if closed else len(self.text)
        return self._closes

    def _drafts(self, value: object) -> list[Draft]:
        drafts = drafts_in(value, self.tools)
        if self.mends and not drafts:
            self.scanner.charge(0)
        return [replace(d, repairs=(*self.mends, *d.repairs)) for d in drafts]

    def _named_payload(self, at: int, inline: bool) -> tuple[list[Draft], int]:
        """Read `name{…}`, `name[ARGS]{…}`, `name<|message|>{…}`, `name` with key and value tags, or a bare name."""
        longest = max((n for n in self.tools if self.text.startswith(n, at)), key=len, default="")
        found = _NAMED.match(self.text, at)
        name, end = (longest, at + len(longest)) if longest else (found.group(1), found.end()) if found else ("", at)
        if not name:
            return [], at
        if not longest and found and found.group(1).startswith(("functions", "function")):
            name = found.group(1)
        pairs = read_key_value_tags(self.text, end)
        if pairs is not None:
            return self._checked([Draft(name, pairs[0])], pairs[1], inline)
        between = _BEFORE_ARGUMENTS.match(self.text, end)
        start = between.end() if between else end
        offered = resolve(name, self.tools)
        if start < len(self.text) and self.text[start] in OPENERS and offered is not None:
            value, stop = self._value(start)
            if value is not MISSING:
                return [Draft(name, value, self.mends)], stop
            self.found.problem, self.found.tool = "cut" if stop < 0 else "broken", offered.tool
            self.found.given = self.text[start : start + 200]
            return [], len(self.text)
        known = resolve(name, self.tools, near=False)
        if known and PAIRED.match(self.text, end):
            return [Draft(name)], end
        return [], at

    # -- calls without an envelope ---------------------------------------------------------

    def _tagged(self, start: int, found: re.Match[str]) -> int:
        tag = FUNCTION_TAG.match(self.text, start)
        if tag is None or self._shown(start):
            return found.end()
        read = read_function_tag(self.text, tag.group(1), tag.end(), self.scanner)
        inline = self._inline(start)
        drafts, end = self._checked([read.draft], read.end, inline)
        return self._take(start, end, drafts, "call in tags", marked=True) if drafts else found.end()

    def _fence(self, start: int, end: int) -> int:
        """Read a fenced block that holds nothing but calls; step over any other one."""
        head = _FENCE_HEAD.match(self.text, end)
        at = head.end() if head else end
        language = self.text[end:at].strip().lower()
        drafts: list[Draft] = []
        while True:
            junk = _SEPARATORS.match(self.text, at)
            at = junk.end() if junk else at
            got: tuple[list[Draft], int] = ([], at)
            if at < len(self.text) and self.text[at] in OPENERS:
                got = self._strict_json(at)
            elif OPENING.match(self.text, at) or FUNCTION_TAG.match(self.text, at):
                opening = OPENING.match(self.text, at)
                got = self._payload(opening.end() if opening else at, False)
                junk = _JUNK.match(self.text, got[1])
                got = (got[0], junk.end() if junk and got[0] and "```" not in junk.group() else got[1])
            elif language in ("tool_code", "tool_call", "tool") or self._is_all(start):
                got = self._python_calls(at)
            if not got[0]:
                break
            drafts += got[0]
            at = got[1]
        closing = _FENCE_END.match(self.text, at) if drafts else None
        if closing:
            behind = self.text[closing.end() : closing.end() + LONGEST_LINE]
            if not is_example(self.text[max(0, start - REACH) : start], behind):
                return self._take(start, closing.end(), drafts, "call in a fence")
        close = None if self._unclosed else _CLOSING_LINE.search(self.text, max(at, end))
        self._unclosed = close is None  # then no later fence is closed either, and nobody looks again
        return close.end() if close else max(at, end)

    def _is_all(self, start: int) -> bool:
        """Whether the fence that begins here is the whole reply: other code is only shown."""
        return start <= self._begins and self._ends_fenced

    def _strict_json(self, at: int) -> tuple[list[Draft], int]:
        """Read a JSON value that is a call of an offered tool and nothing else."""
        listed = self._python_list(at)
        if listed:
            return listed
        value, end = self._value(at)
        if value is MISSING:
            if self._is_cut_call(at) and end < 0:
                self.found.problem = "cut"
            return [], at
        drafts = self._drafts(value)
        if drafts and all(d.strict or resolve(d.name, self.tools) for d in drafts):
            if any(resolve(d.name, self.tools) for d in drafts):
                return drafts, end
            if self._is_alone(at, end):
                return drafts, end
        self.scanner.pass_over()
        return [], end

    def _is_alone(self, start: int, end: int) -> bool:
        """Whether a value is the whole reply, fenced or not."""
        head = self.text[self._begins : start] if start - self._begins < INDENT else "text"
        return not head.strip(" \n\r\t`json") and _FENCE_LEFT.match(self.text, end) is not None

    def _is_cut_call(self, at: int) -> bool:
        head = _CALL_HEAD.match(self.text, at)
        return bool(head and resolve(head.group(1), self.tools, near=False))

    def _bare(self, start: int) -> int:
        if self.scanner.spent:
            return start + 1
        near = max(0, start - LONGEST_LINE)
        line = self.text[max(near, self.text.rfind("\n", near, start) + 1) : start].strip()
        # After a bare `>` stands a quotation, after one that closes a tag a call may stand.
        fresh = not line or self._follows_call(start) or (line[-1] in ":：.。!！>*" and line.strip("> ") != "")
        drafts, end = self._strict_json(start)
        if not drafts:
            return max(end, start + 1)
        if not fresh or self._shown(start):
            return end
        if line and not self._follows_call(start) and not _LINE_END.match(self.text, end):
            return end
        return self._take(start, end, drafts, "call in the text")

    def _python_list(self, at: int) -> tuple[list[Draft], int] | None:
        """Read `[name(a=1), other(b=2)]`."""
        if self.text[at : at + 1] != "[" or not _PYTHON_CALL.match(self.text, at + 1):
            return None
        drafts, end = self._python_calls(at + 1)
        closing = _LIST_END.match(self.text, end)
        return (drafts, closing.end()) if drafts and closing else None

    def _python_calls(self, at: int) -> tuple[list[Draft], int]:
        """Read calls in Python's syntax, one after the other, all of offered tools."""
        drafts: list[Draft] = []
        while len(drafts) <= MOST_DRAFTS:
            call = _PYTHON_CALL.match(self.text, at)
            if call and call.group(1) == "print":
                inner, end = self._python_calls(call.end())
                if not inner or self.text[end : end + 1] != ")":
                    break
                drafts, at = drafts + inner, end + 1
            else:
                name = call.group(1).removesuffix(".call") if call else ""
                named = resolve(name, self.tools, near=False) if call else None
                end = self.scanner.end(call.end() - 1) if call and named else None
                if call is None or named is None or end is None:
                    break
                given = call_arguments(self.text[call.end() : end - 1], named.tool)
                if given is None:
                    break
                drafts.append(Draft(name, given[0], given[1]))
                at = end
            more = _SEPARATORS.match(self.text, at)
            if more is None or not _PYTHON_CALL.match(self.text, more.end()):
                break
            at = more.end()
        return drafts, at

    def _whole_as_call(self) -> None:
        """Take a reply that is nothing but calls in Python's syntax, or a name and its object."""
        text = self.text
        start = len(text) - len(text.lstrip())
        if len(text) - start > 100_000 or not any(text.startswith(n, start) for n in self.tools):
            return
        drafts, end = self._python_calls(start)
        if not drafts:
            longest = max((n for n in self.tools if text.startswith(n, start)), key=len)
            between = re.compile(r"\s*:?\s*").match(text, start + len(longest))
            place = between.end() if between else start
            if place < len(text) and text[place] in "{｛":
                value, end = self._value(place)
                drafts = [Draft(longest, value, self.mends)] if isinstance(value, dict) else []
        if drafts and not text[end:].strip(" \n\r\t;`"):
            self._take(start, len(text), drafts, "call in the text")


def _continues(text: str, at: int) -> bool:
    """Whether another call of the same envelope may follow here."""
    junk = _JUNK.match(text, at)
    return bool(junk and junk.end() < len(text)) or text[at : at + 1] in ("{", "[")
