"""Listening to a reply while it is written: what is certain enough to be shown already.

There is one listener for each protocol. All hold back what could still be the beginning of
something else (a label, a tag, a fence, a call, half of an escape) and fall silent at anything
odd; the reading of the whole reply then has the last word.
"""

from __future__ import annotations

import json
import re
from typing import Any, Protocol

from .labels import begins_step, next_label
from .markup import FUNCTION_TAG, OPENING
from .shapes import ANSWER_KEYS, ARGUMENT_KEYS, NAME_KEYS, SIDE_KEYS, THOUGHT_KEYS, WRAPPERS


class Mouth:
    """Collects the pieces to be given out, without white space at the edges of a part."""

    def __init__(self) -> None:
        self.said: dict[str, list[str]] = {}
        self.calls: list[str] = []
        self._pieces: list[tuple[str, str]] = []
        self._held = ""
        self._part = ""

    def say(self, part: str, text: str) -> None:
        """Give out a piece of a part; white space is kept until something follows it."""
        if part != self._part:
            self._part, self._held = part, "\n" if self.said.get(part) else ""
        text = self._held + text
        if not self.said.get(part):
            text = text.lstrip()
        body = text.rstrip()
        self._held = text[len(body) :]
        if body:
            self._pieces.append((part, body))
            self.said.setdefault(part, []).append(body)

    def call(self, name: str, arguments: Any) -> None:
        """Give out a call."""
        text = call_text(name, arguments)
        self.calls.append(text)
        self._pieces.append(("call", text))

    def complete(self, part: str, whole: str) -> None:
        """Give out what is still missing of a part; nothing if other words have been said already."""
        said = "".join(self.said.get(part, ()))
        if whole.startswith(said) and len(whole) > len(said):
            self._pieces.append((part, whole[len(said) :]))
            self.said.setdefault(part, []).append(whole[len(said) :])

    def take(self) -> list[tuple[str, str]]:
        """Return the pieces since the last time."""
        pieces, self._pieces = self._pieces, []
        return pieces


def call_text(name: str, arguments: Any) -> str:
    """Return a call as it is given out."""
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


class Listener(Protocol):
    """Takes text as it comes and tells a `Mouth` what is certain."""

    def feed(self, text: str) -> None:
        """Take a piece of text."""
        ...


_THINK_OPEN = re.compile(r"\s*(?:<(think|thinking|reasoning)>|\[THINK\]|◁think▷)", re.IGNORECASE)
_THINK_CLOSE = re.compile(r"</(?:think|thinking|reasoning)>|\[/THINK\]|◁/think▷", re.IGNORECASE)
_THINK_ANY = re.compile(r"</?(?:think|thinking|reasoning|reflection)>|\[/?THINK\]|<\|channel\|>", re.IGNORECASE)
_LONGEST_TAG = 24


class _Thinking:
    """Gives out a think block at the beginning of a reply, then hands on the rest."""

    def __init__(self, mouth: Mouth) -> None:
        self.mouth = mouth
        self.state = "begin"
        self.held = ""

    def feed(self, text: str) -> str:
        """Return the text that is no thinking."""
        if self.state == "after":
            return text
        self.held += text
        if self.state == "begin":
            opened = _THINK_OPEN.match(self.held)
            if opened:
                self.state, self.held = "inside", self.held[opened.end() :]
            elif len(self.held.lstrip()) < _LONGEST_TAG and self.held.lstrip()[:1] in ("", "<", "[", "◁"):
                return ""
            else:
                self.state = "after"
                return self._rest()
        closed = _THINK_CLOSE.search(self.held)
        if closed:
            self.mouth.say("thought", self.held[: closed.start()])
            self.held = self.held[closed.end() :]
            self.state = "after"
            return self._rest()
        sure = len(self.held) - _LONGEST_TAG
        last = max(self.held.rfind(sign, max(0, sure)) for sign in "<[◁")
        end = len(self.held) if last < 0 else last
        self.mouth.say("thought", self.held[:end])
        self.held = self.held[end:]
        return ""

    def _rest(self) -> str:
        rest, self.held = self.held, ""
        return rest


# -- labelled lines --------------------------------------------------------------------------

_LONGEST_LABEL = 64


class LabelListener:
    """Thought/Action lines: thoughts and the answer are given out once their labels are sure."""

    def __init__(self, mouth: Mouth, names: tuple[str, ...]) -> None:
        self.mouth = mouth
        self.names = names
        self.thinking = _Thinking(mouth)
        self.part = ""
        self.line = ""
        self.fresh = True
        self.silent = False
        self.begun = False

    def feed(self, text: str) -> None:
        """Take a piece of text."""
        text = self.thinking.feed(text)
        if self.silent or not text:
            return
        self.line += text
        while self.line and not self.silent:
            line, newline, rest = self.line.partition("\n")
            if self.fresh and not newline and not self._sure(line):
                return
            if self.fresh:
                self._begin_line(line)
            if not self.silent:
                self._speak(self._body + newline if self.fresh else line + newline)
            self.fresh = bool(newline)
            self.line = rest

    def _sure(self, line: str) -> bool:
        """Whether the beginning of a line can no longer become a label."""
        found = re.search(r"[:：]", line)
        if found:
            # A bold label closes after its colon.
            return len(line) > found.end() + 2
        return len(line) > _LONGEST_LABEL

    def _begin_line(self, line: str) -> None:
        self._body = line
        if not self.begun and line.strip():
            self.begun = True
            if line.lstrip().startswith(("```", "~~~", "{", "[", "<")):
                self.silent = True
                return
        if _THINK_ANY.search(line) or line.lstrip().startswith(("```", "~~~")):
            # A fence may hold the step; a think tag here is nothing that can be shown as it comes.
            self.silent = self.part != "answer" or bool(_THINK_ANY.search(line))
            return
        label = next_label(line + "\n" if len(line) < _LONGEST_LABEL else line, 0)
        if label is None or line[: label.start].strip():
            return
        if self.part == "answer" or label.part == "observation" or label.part not in ("thought", "answer"):
            # An answer may end here; an action is shown when it is complete.
            self.silent = True
            return
        self.silent = not label.strong
        if label.part == "thought" and self.mouth.said.get("thought") and self.part:
            self.silent = True
        self.part = label.part
        self._body = line[label.end :]

    def _speak(self, text: str) -> None:
        if self.part in ("thought", "answer"):
            if "<" in text or "</" in text or text.rstrip().endswith(("*", "_")):
                self.silent = True
                return
            self.mouth.say(self.part, text)


# -- plain text ------------------------------------------------------------------------------

_KEYS = sorted({*NAME_KEYS, *ARGUMENT_KEYS, *WRAPPERS, *SIDE_KEYS, *THOUGHT_KEYS, "tool_uses"}, key=len, reverse=True)
_CALL_OBJECT = re.compile(rf"[{{\[｛［][\s{{\[]*[\"'“]?(?:{'|'.join(map(re.escape, _KEYS))})\b", re.IGNORECASE)
_TOKEN = re.compile(
    r"<[|｜]|</?[a-zA-Z_:]*(?:tool|function|invoke|think|call|action|reason)|\[/?[A-Z_]{3,}|<(?:end|start|/?s>|escape)"
)
_WINDOW = 48


class PlainListener:
    """Text with calls of the server's own: text is given out, markup that may be a call is held."""

    def __init__(self, mouth: Mouth, names: tuple[str, ...]) -> None:
        self.mouth = mouth
        self.names = names
        self.thinking = _Thinking(mouth)
        self.text = ""
        self.silent = False
        self.begun = False

    def feed(self, text: str) -> None:
        """Take a piece of text."""
        if self.silent:
            return
        self.text += self.thinking.feed(text)
        if not self.begun:
            start = self.text.lstrip()
            if not start or any(n.startswith(start[: len(n)]) and len(start) < len(n) for n in self.names):
                return
            labelled = begins_step(start)
            if labelled is None:
                return
            self.begun = True
            if labelled or any(start.startswith(n) for n in self.names):
                self.silent = True
                return
        while self.text and not self.silent:
            at = next((i for i, c in enumerate(self.text) if c in "<[{`｛［f>"), -1)
            if at < 0:
                return self._speak(len(self.text))
            self._speak(at)
            if not self._passed():
                return

    def _speak(self, end: int) -> None:
        if end:
            self.mouth.say("answer", self.text[:end])
            self.text = self.text[end:]

    def _passed(self) -> bool:
        """Whether the sign at the beginning of the text is text; else it is waited for, or silence falls."""
        sign = self.text[0]
        if sign in "f>":
            return self._passed_word()
        if len(self.text) < _WINDOW:
            return False
        if sign == "`":
            if self.text.startswith("```"):
                # A fence may be a call, whose braces count only with what comes after it.
                self.silent = True
                return False
            self._speak(1)
            return True
        held = self.text[: 2 * _WINDOW]
        names = any(re.match(rf"\[\s*{re.escape(n)}\s*\(|{{\s*[\"']{re.escape(n)}", held) for n in self.names)
        if names or _TOKEN.match(held) or OPENING.match(held) or FUNCTION_TAG.match(held) or _CALL_OBJECT.match(held):
            self.silent = True
            return False
        self._speak(1)
        return True

    def _passed_word(self) -> bool:
        for word in ("functools[", ">>>"):
            if self.text.startswith(word):
                self.silent = True
                return False
            if len(self.text) < len(word) and word.startswith(self.text):
                return False
        self._speak(1)
        return True


# -- one JSON step ---------------------------------------------------------------------------

_STOP = re.compile(r'["\\]')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"'}
_SIGN = re.compile(r'["{}\[\],:]')


class JsonListener:
    """A JSON step: `thought` and `answer` are given out while they are written, calls once they close."""

    def __init__(self, mouth: Mouth, names: tuple[str, ...]) -> None:
        self.mouth = mouth
        self.plain: PlainListener | None = None
        self.names = names
        self.held: str = ""
        self.at: int = 0
        self.depth = 0
        self.key = ""
        self.key_next = False
        self.begun = False
        self.silent = False
        self.string: int | None = None
        self.part = ""
        self.calls = False
        self.call_start = -1

    def feed(self, text: str) -> None:
        """Take a piece of text."""
        if self.plain is not None:
            return self.plain.feed(text)
        if self.silent:
            return
        self.held += text
        if not self.begun and not self._begin():
            return
        while not self.silent and self.at < len(self.held):
            if not (self._in_string() if self.string is not None else self._between()):
                return

    def _begin(self) -> bool:
        start = self.held.lstrip()
        if not start:
            return False
        if start[0] != "{":
            self.plain = PlainListener(self.mouth, self.names)
            self.plain.feed(self.held)
            return False
        self.begun = True
        self.at = len(self.held) - len(start)
        return True

    def _between(self) -> bool:
        """Read structure up to the next string; False if more text is needed."""
        found = _SIGN.search(self.held, self.at)
        if found is None:
            self.at = len(self.held)
            return False
        sign, self.at = found.group(), found.end()
        if sign == '"':
            self.string = self.at
            value = self.depth == 1 and not self.key_next
            self.part = self._spoken() if value else ""
        elif sign in "{[":
            self.depth += 1
            self.key_next = sign == "{" if self.depth == 1 else self.key_next
            if sign == "{" and self.key == "calls" and self.depth == 3:
                self.call_start = found.start()
        elif sign in "}]":
            if sign == "}" and self.depth == 3 and self.call_start >= 0:
                self._call(self.held[self.call_start : self.at])
            self.depth -= 1
            if self.depth <= 0:
                self.silent = True
        elif sign == "," and self.depth == 1:
            self.key_next = True
        elif sign == ":" and self.depth == 1:
            self.key_next = False
        return True

    def _spoken(self) -> str:
        if self.key in THOUGHT_KEYS:
            return "thought"
        return "answer" if self.key in ANSWER_KEYS and not self.calls else ""

    def _call(self, text: str) -> None:
        self.calls = True
        try:
            call = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            return
        if call.get("name") in self.names and isinstance(call.get("arguments"), dict):
            self.mouth.call(call["name"], call["arguments"])

    def _in_string(self) -> bool:
        found = _STOP.search(self.held, self.at)
        end = found.start() if found else len(self.held)
        self._say(self.held[self.at : end])
        self.at = end
        if found is None:
            return False
        if found.group() == '"':
            if self.depth == 1 and self.key_next:
                self.key = self.held[self.string : end]
            self.string, self.part = None, ""
            self.at = end + 1
            return True
        return self._escape(end)

    def _escape(self, at: int) -> bool:
        """Read one escape, and both halves of a character that is written as two; False if it is not whole yet."""
        kind = self.held[at + 1 : at + 2]
        if not kind:
            return False
        if kind != "u":
            self._say(_ESCAPES.get(kind, "\\" + kind))
            self.at = at + 2
            return True
        found = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u([0-9a-f]{4})", re.I).match(self.held, at)
        code = self.held[at + 2 : at + 6]
        if len(code) < 4 or (code[:1] in "dD" and code[1:2] in "89abAB" and len(self.held) < at + 12):
            return False
        if found is None:
            self.silent = True
            return False
        self._say(json.loads(f'"{found.group()}"'))
        self.at = found.end()
        return True

    def _say(self, text: str) -> None:
        if self.part and text:
            self.mouth.say(self.part, text)
