"""Mending JSON that is almost JSON: an ordered list of named passes, strict reading first.

Each pass changes only what has exactly one reading, or says that it guessed. A text that
was cut off in a value, that holds two different values, or that a pass could only read by
losing a word of it, is not mended: it stays a fault, and the model is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..types import Repair
from .jsonish import MAX_DEPTH, MISSING, Scanner, decode

Problem = Literal["", "empty", "cut", "several", "broken"]

SHOWN = 120
"""Characters of before and after that a repair keeps."""

MOST_FOR_LIBRARY = 20_000
"""Longer texts are not given to the JSON library, whose time grows faster than its input."""


MOST_MENDED = 100_000
"""Longer texts get the first passes only: what is so long and still broken is data, or a model run wild."""

FIRST_PASSES = 3
"""Fences, full width and surplus brackets; raw line breaks are let through by the decoder itself."""


@dataclass(frozen=True)
class Mended:
    """A value and what was mended to get it, or the problem that stood in the way."""

    value: Any = MISSING
    repairs: tuple[Repair, ...] = ()
    problem: Problem = ""

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.problem == ""


class Pass(NamedTuple):
    """One named way to mend a text."""

    name: str
    mend: Callable[[str], str]
    guessed: bool = False


def shown(value: Any) -> str:
    """Return a value as text, abbreviated for a repair or a message."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 20]} … {text[-16:]}"


def mend(text: str) -> Mended:
    """Return the one JSON value `text` stands for, with the repairs that were needed.

    Args:
        text: What should be one JSON value, perhaps fenced or followed by stray characters.
    """
    stripped = text.strip()
    if not stripped:
        return Mended(problem="empty")
    value = decode(stripped)
    if value is not MISSING:
        return Mended(value)
    done: list[Repair] = []
    current = stripped
    for step in PASSES if len(stripped) <= MOST_MENDED else PASSES[:FIRST_PASSES]:
        changed = step.mend(current)
        if changed != current:
            done.append(Repair(step.name, before=shown(current), after=shown(changed), guessed=step.guessed))
        value = decode(changed)
        if value is MISSING:
            value = decode(changed, strict=False)
            if value is not MISSING:
                done.append(Repair("raw newlines", before=shown(changed), after=shown(value)))
        if value is not MISSING:
            return Mended(value, tuple(done))
        if step.mend is _unclosed_brackets and changed != current:
            done.pop()
        else:
            current = changed
        if step.mend is _surplus_brackets and _holds_several(current):
            return Mended(problem="several", repairs=tuple(done))
    return _last_resort(current, done)


# -- the passes, in order ------------------------------------------------------------------

_STRING = r'"(?:[^"\\]+|\\.)*(?:"|\\?\Z)'
_APOSTROPHED = r"(?<=[\[{(,:=\s])'(?:[^'\\]+|\\.|'(?!\s{0,8}(?:[,}\]):]|\Z)))*(?:'|\\?\Z)"
_FENCE_OPEN = re.compile(r"\A(?:```|~~~)[\w+-]*[ \t]*\r?\n?")
_FENCE_CLOSE = re.compile(r"\s*(?:```|~~~)\s*\Z")


def _strip_fences(text: str) -> str:
    if not text.startswith(("```", "~~~", "`")):
        return text
    if not text.startswith(("```", "~~~")):
        return text.strip("`").strip()
    return _FENCE_CLOSE.sub("", _FENCE_OPEN.sub("", text)).strip()


_WIDE = {"｛": "{", "｝": "}", "［": "[", "］": "]", "：": ":", "，": ",", "\u3000": " ", "、": ","}
_WIDE.update({chr(0xFF10 + d): str(d) for d in range(10)})
_WIDE.update({"－": "-", "．": ".", "\ufeff": "", "\u00a0": " "})
_WIDE_TOKEN = re.compile(
    rf"({_STRING})|([“”„＂][^“”„＂]*[“”„＂])|(「[^」]*」)|(‘[^’]*’)|([{''.join(_WIDE)}])", re.DOTALL
)


def _half_width(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found.group(1) is not None:
            return found.group(1)
        if found.group(5) is not None:
            return _WIDE[found.group(5)]
        return _quoted(found.group()[1:-1])

    return text if text.isascii() else _WIDE_TOKEN.sub(plain, text)


def _quoted(raw: str) -> str:
    """Write the inside of a string as a JSON string; its own backslashes stay escapes."""
    inner = re.sub(r"\\(.)|\"", lambda m: m.group() if m.group(1) not in (None, "'") else (m.group(1) or '\\"'), raw)
    inner = inner.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")
    return f'"{inner}"'


_COMMENT = re.compile(rf"({_STRING}|{_APOSTROPHED})|//[^\n]*|/\*.*?\*/|(?<![\w&])#[^\n]*", re.DOTALL)


def _drop_comments(text: str) -> str:
    if "//" not in text and "/*" not in text and "#" not in text:
        return text
    return _COMMENT.sub(lambda m: m.group(1) or "", text)


_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null", "TRUE": "true", "FALSE": "false"}
_LITERAL = re.compile(
    rf"(\"\"\".*?\"\"\"|(?<!\w)'''.*?''')|({_STRING})|({_APOSTROPHED})|\b({'|'.join(_WORDS)})\b", re.DOTALL
)


def _python_literals(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found.group(1):
            return _quoted(found.group(1)[3:-3])
        if found.group(2) is not None:
            return found.group(2)
        if found.group(3) is not None:
            raw = found.group(3)
            return _quoted(raw[1:-1]) if len(raw) > 1 and raw.endswith("'") else raw
        return _WORDS[found.group(4)]

    return _LITERAL.sub(plain, text)


_COMMA = re.compile(rf"({_STRING})|,\s*(?=[}}\]])|,\s*(?=,)|(?<=[{{\[])\s*,", re.DOTALL)


def _trailing_commas(text: str) -> str:
    if "," not in text:
        return text
    return _COMMA.sub(lambda m: m.group(1) or "", text).rstrip(", \n")


_BARE_KEY = re.compile(rf"({_STRING})|(?<=[{{,])(\s*)([^\W\d][\w.-]*)(\s*)(?::|=>?)", re.DOTALL)


def _bare_keys(text: str) -> str:
    return _BARE_KEY.sub(lambda m: m.group(1) or f'{m.group(2)}"{m.group(3)}":', text)


_BAD_ESCAPE = re.compile(r"\\(?:([\"\\/bfnrt]|u[0-9a-fA-F]{4})|(')|)")
_STRAY = re.compile(r"(?<!\\)(?:\\\\)*\\(?![bfnrt]|u[0-9a-fA-F]{4})\w")
_LETTER = re.compile(r"\\(?:([\"\\/])|(u[0-9a-fA-F]{4}|[nrt])|([bf])|(')|)")
_PATH = re.compile(r'"(?:[A-Za-z]:\\|\\\\[^\\]|\.{1,2}\\)')
_ESCAPED = re.compile(_STRING, re.DOTALL)


def _bad_escapes(text: str) -> str:
    if "\\" not in text:
        return text

    def plain(found: re.Match[str]) -> str:
        if found.group(1):
            return found.group()
        return "'" if found.group(2) else "\\\\"

    return _BAD_ESCAPE.sub(plain, text)


def _mixed_escapes(text: str) -> str:
    r"""Escape backslashes in strings that hold `\d` or `\P` beside `\n` or `\t`: which of them is an escape is a guess.

    In a path all of them are letters; elsewhere `\b` and `\f` are, which nobody writes as the characters they name.
    """
    if "\\" not in text:
        return text

    def plain(found: re.Match[str]) -> str:
        string = found.group()
        if not _STRAY.search(string) or not any(m.group(2) or m.group(3) for m in _LETTER.finditer(string)):
            return string
        path = _PATH.match(string) is not None

        def one(escape: re.Match[str]) -> str:
            if escape.group(1) or (escape.group(2) and not path):
                return escape.group()
            return "'" if escape.group(4) else f"\\\\{escape.group(2) or escape.group(3) or ''}"

        return _LETTER.sub(one, string)

    return _ESCAPED.sub(plain, text)


_SURPLUS = re.compile(r"[\s}\]);,`]*(?:</?[\w:|｜▁]+>?\s*)*\Z")


def _surplus_brackets(text: str) -> str:
    if text[:1] not in ("{", "["):
        return text
    end = Scanner(text).end(0)
    return text[:end] if end and end < len(text) and _SURPLUS.match(text, end) else text


_VALUE_END = re.compile(rf"{_STRING}|[\d}}\]]|true|false|null", re.DOTALL)
_KEY_AHEAD = re.compile(r'\s*"(?:[^"\\\n]|\\.)*"\s*:', re.DOTALL)


def _missing_commas(text: str) -> str:
    """Put a comma between a value and the key that follows it; each value is looked at once."""
    out: list[str] = []
    last = 0
    for found in _VALUE_END.finditer(text):
        if _KEY_AHEAD.match(text, found.end()):
            out += [text[last : found.end()], ","]
            last = found.end()
    return "".join([*out, text[last:]])


_INNER_KEY = re.compile(r'\\"\s*:')
_AFTER_KEY = re.compile(r"\s*:")
_AFTER_VALUE = re.compile(r"\s*(?:[}\]]\s*(?:[,}\]]|\Z)|,\s*\"[^\"\n]{1,60}\"\s*:|,\s*[}\]]|\Z)")
_AFTER_ITEM = re.compile(r"\s*(?:[}\]]\s*(?:[,}\]]|\Z)|,\s*(?:\"|[\d{\[-]|true|false|null)|\Z)")


def _inner_quotes(text: str) -> str:
    """Escape quotes that cannot be the end of their string, judged by what follows them."""
    out: list[str] = []
    stack: list[str] = []
    at, opened, key_next = 0, -1, False
    for found in re.finditer(r'\\.|["{}\[\],:]', text, re.DOTALL):
        token = found.group()
        if opened < 0:
            if token == '"':
                opened = found.start()
            elif token in "{[":
                stack.append(token)
                key_next = token == "{"
            elif token in "}]":
                del stack[-1:]
                key_next = False
            elif token == ",":
                key_next = stack[-1:] == ["{"]
            elif token == ":":
                key_next = False
            continue
        if token != '"':
            continue
        after = _AFTER_KEY if key_next else _AFTER_VALUE if stack[-1:] == ["{"] else _AFTER_ITEM
        if after.match(text, found.end()):
            opened = -1
        else:
            out += [text[at : found.start()], '\\"']
            at = found.end()
    mended = "".join([*out, text[at:]]) if opened < 0 else text
    # A key inside a value means that two readings are possible; then none is right.
    return text if _INNER_KEY.search(mended) else mended


_BARE_VALUE = re.compile(
    rf"({_STRING})|(:\s*)(?!true\b|false\b|null\b)([^\W\d][^,{{}}\[\]:\"\n]*?)(?=\s*[,}}\n])", re.DOTALL
)


def _bare_values(text: str) -> str:
    return _BARE_VALUE.sub(lambda m: m.group(1) or f'{m.group(2)}"{m.group(3)}"', text)


_OPEN_TOKEN = re.compile(rf"({_STRING})|([{{}}\[\]])", re.DOTALL)


def _unclosed_brackets(text: str) -> str:
    """Close what is still open, if the text stops right after a complete value."""
    stack: list[str] = []
    for found in _OPEN_TOKEN.finditer(text):
        if found.group(1) is not None:
            if not _complete(found.group(1)):
                return text
        elif found.group(2) in "{[":
            stack.append("}" if found.group(2) == "{" else "]")
            if len(stack) > MAX_DEPTH:
                return text
        elif found.group(2) in stack:
            while stack.pop() != found.group(2):
                pass
    ended = text.rstrip()
    if not stack or not ended.endswith(('"', "}", "]")):
        return text
    return ended + "".join(reversed(stack))


def _complete(string: str) -> bool:
    body = string[1:-1]
    return len(string) > 1 and string.endswith('"') and (len(body) - len(body.rstrip("\\"))) % 2 == 0


PASSES: tuple[Pass, ...] = (
    Pass("code fence", _strip_fences),
    Pass("full width", _half_width),
    Pass("surplus brackets", _surplus_brackets),
    Pass("comments", _drop_comments),
    Pass("python literals", _python_literals),
    Pass("trailing commas", _trailing_commas),
    Pass("bare keys", _bare_keys),
    Pass("mixed escapes", _mixed_escapes, guessed=True),
    Pass("bad escapes", _bad_escapes),
    Pass("missing commas", _missing_commas, guessed=True),
    Pass("inner quotes", _inner_quotes, guessed=True),
    Pass("bare values", _bare_values, guessed=True),
    Pass("unclosed brackets", _unclosed_brackets, guessed=True),
)
"""Every pass keeps what the ones before it did; the JSON library comes after all of them."""


def _last_resort(text: str, done: list[Repair]) -> Mended:
    problem = _problem(text)
    if problem == "broken" and len(text) <= MOST_FOR_LIBRARY and text[:1] in ("{", "["):
        value = _by_library(text)
        if value is not MISSING and _letters(json.dumps(value, ensure_ascii=False)) == _letters(text):
            return Mended(value, (*done, Repair("json library", before=shown(text), after=shown(value), guessed=True)))
    return Mended(problem=problem, repairs=tuple(done))


def _problem(text: str) -> Problem:
    if text[:1] not in ("{", "["):
        return "broken"
    return "cut" if Scanner(text).end(0) is None else "broken"


def _holds_several(text: str) -> bool:
    """Whether one value is followed by another, so that either could be meant."""
    if text[:1] not in ("{", "["):
        return False
    end = Scanner(text).end(0)
    rest = text[end:].lstrip(" \n\r\t,;") if end else ""
    return rest[:1] in ("{", "[")


def _by_library(text: str) -> Any:
    try:
        from json_repair import loads

        return loads(text)
    except Exception:  # a guesser that stumbles (it also trips over its own assertions) has simply not helped
        return MISSING


def _letters(text: str) -> str:
    """All letters and digits in order: equal before and after means that nothing was lost or made up."""
    plain = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m.group(1), 16)), text)
    plain = re.sub(r"\\[bfnrt]", " ", plain)
    return "".join(c for c in plain if c.isalnum())
