"""A better description for the tool that is most often confused: made by rules, or by a model when asked.

The words come from what is known: the confusion table says with which tool, the declarations say what
each is for, and lint says what a small model trips over. What is proposed is measured before anybody takes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..tools.declare import Tool
from ..tools.lint import Finding, lint
from ..types import Record, Request
from .metrics import NOTHING
from .summary import Report

MOST = 3
"""Other tools that a description is set apart from; more makes it long and no clearer."""
WORDS = {
    "en": {
        "use": "Use it for questions about {subject}.",
        "always": "Always call it when the answer needs {subject}; do not answer from memory.",
        "not": "Not for {what}: that is {other}.",
        "sparing": "Do not call it when the question does not ask for {subject}.",
        "needs": "It needs {names}.",
        "and": " and ",
    },
    "zh": {
        "use": "凡涉及{subject}的问题都用它。",
        "always": "只要回答需要{subject}，就必须调用，不要凭记忆回答。",
        "not": "不用于{what}，那是 {other} 的事。",
        "sparing": "问题没有问到{subject}时不要调用。",
        "needs": "需要{names}。",
        "and": "和",
    },
}
_PROMPT = (
    "A language model often calls the wrong tool. Write a better description for the tool {tool}, at most three short "
    "sentences: what it does, when to use it, when not. Name the other tool where it is confused with one.\n"
    "Present description: {before}\nConfused with: {others}\nReply with the new description alone."
)


@dataclass(frozen=True)
class Suggestion(Record):
    """A description to try.

    Attributes:
        tool: The tool.
        before: Its description now.
        after: The one proposed.
        confusions: What it was confused with, how, and how often.
        advice: What lint found in its declaration.
        by: `rules`, or the model that wrote it.
    """

    tool: str
    before: str
    after: str
    confusions: tuple[tuple[str, str, int], ...]
    advice: tuple[str, ...] = ()
    by: str = "rules"


def most_confused(report: Report) -> str | None:
    """The tool with the most confusions on either side of the table; None when there is none."""
    count: Counter[str] = Counter()
    for column in report.columns:
        for expected, called, times in column.confusion:
            if expected != called:
                # the description of the tool that should have been found is the one to better, hence the weight
                count.update({expected: 2 * times, called: times})
    del count[NOTHING]
    return min(count, key=lambda name: (-count[name], name)) if count else None


def suggest(report: Report, tools: Iterable[Tool]) -> Suggestion | None:
    """Make a better description by rule for the most confused tool.

    Args:
        report: The evaluation.
        tools: All tools of its cases.

    Returns:
        The suggestion, or None when no tool was confused.
    """
    by_name = {tool.name: tool for tool in tools}
    name = most_confused(report)
    if name is None or name not in by_name:
        return None
    pairs: Counter[tuple[str, str]] = Counter()
    for column in report.columns:
        for expected, called, times in column.confusion:
            if expected != called and name in (expected, called):
                pairs[expected, called] += times
    tool = by_name[name]
    findings = [f for f in lint(by_name.values()) if f.tool in (name, tool.original_name)]
    after = _written(tool, pairs, by_name)
    confusions = tuple((a, b, n) for (a, b), n in pairs.most_common())
    return Suggestion(name, tool.description, after, confusions, tuple(map(_advice, findings)))


def _written(tool: Tool, pairs: Counter[tuple[str, str]], tools: dict[str, Tool]) -> str:
    language = "zh" if re.search(r"[一-鿿]", tool.description) else "en"
    words = WORDS[language]
    subject = _subject(tool, language)
    sentences = [_closed(tool.description.strip() or _spaced(tool.name), language)]

    def add(text: str) -> None:
        if text not in " ".join(sentences):
            sentences.append(text)

    add(words["use"].format(subject=subject))
    if any(expected == tool.name and called == NOTHING for expected, called in pairs):
        add(words["always"].format(subject=subject))
    if any(expected == NOTHING for expected, _ in pairs):
        add(words["sparing"].format(subject=subject))
    others = [a if b == tool.name else b for (a, b), _ in pairs.most_common()]
    for other in [o for o in dict.fromkeys(others) if o in tools][:MOST]:
        add(words["not"].format(what=_subject(tools[other], language), other=other))
    required = list(tool.parameters.get("required", ()))
    if required and not all(name in tool.description for name in required):
        add(words["needs"].format(names=words["and"].join(required)))
    return ("" if language == "zh" else " ").join(sentences)


def _subject(tool: Tool, language: str) -> str:
    """What a tool is about: the first clause of its description without its verb, or else its name."""
    first = re.split(r"[.。;；:：\n]|\buse (?:it|this)\b", tool.description.strip(), maxsplit=1, flags=re.I)[0]
    if language == "zh":
        first = re.sub(r"^(查询|获取|返回|查看|查找|计算|得到|搜索)", "", first)
    else:
        verbs = r"^(?:gets?|returns?|finds?|looks? up|fetch(?:es)?|shows?|lists?|gives?|search(?:es)?|tells?)\s+"
        first = re.sub(verbs, "", first, flags=re.I)
        first = first[:1].lower() + first[1:]
    return first.strip()[:80] or _spaced(tool.name)


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _closed(text: str, language: str) -> str:
    return text if text[-1:] in ".。!！?？" else text + ("。" if language == "zh" else ".")


def _advice(finding: Finding) -> str:
    return f"{finding.rule}: {finding.message} {finding.proposal}".strip()


async def ask_model(suggestion: Suggestion, model: Any) -> Suggestion:
    """Have a model write the description instead; the rules' own stays when it says nothing of use.

    Raises:
        ModelError: The model gave no reply.
    """
    others = "; ".join(f"expected {a}, called {b}, {n} times" for a, b, n in suggestion.confusions)
    prompt = _PROMPT.format(tool=suggestion.tool, before=suggestion.before, others=others)
    reply = await model.complete(Request(({"role": "user", "content": prompt},), temperature=0.0, max_tokens=200))
    said = " ".join(reply.text.strip().strip("\"'`").split())
    if not 20 <= len(said) <= 600:
        return suggestion
    return Suggestion(
        suggestion.tool, suggestion.before, said, suggestion.confusions, suggestion.advice, reply.model or "model"
    )


def touched(report: Report, suggestion: Suggestion, cases: Sequence[Any]) -> list[Any]:
    """The cases that the tool has to do with: it is wanted or forbidden there, or offered and was wrongly called."""
    failed = {row.case for row in report.cases if row.passed < row.total}
    return [
        case
        for case in cases
        if suggestion.tool in {*(c.tool for c in case.calls or ()), *case.forbid} or case.id in failed
    ]
