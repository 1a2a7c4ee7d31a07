"""The lint rules that look at one tool, one function each; why they exist is in `lint_catalogue.py`.

A rule yields what it found: a message, a proposal and, where it is not the rule's
own, a severity.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from ..types import Declaration
from .lint_subject import Found, Limits, Subject, arguments, sounds_like
from .lint_text import is_chinese, name_words, tokens, trigger_words

# -- descriptions ---------------------------------------------------------------------------

_WHEN = re.compile(
    r"\buse (it|this|when|for|to|only|if|whenever|before|after|instead)\b|\bwhen(ever)?\b|\bif the user\b"
    r"|\bfor questions\b|\bcall (it|this)\b|\buseful (for|when)\b|\bsuitable for\b"
    r"|用于|用来|适用|适合|可用|时使用|时调用|如果用户|用户(问|询问|想|需要|要求|提到)|当.{1,40}时|需要.{1,40}时|场景|问到|凡是",
    re.IGNORECASE,
)


def no_description(tool: Subject, _: Limits) -> Iterator[Found]:
    """GL001."""
    if not tool.declaration.description.strip():
        proposal = (
            f"“{tool.topic}的……（给出什么）。用户询问{tool.topic}时使用。”"
            if tool.zh
            else f'"{tool.topic.capitalize()} of … (what it gives). Use it when the user {tool.occasion}."'
        )
        yield Found("the tool has no description", f"Write two sentences: {proposal}")


def says_nothing(tool: Subject, _: Limits) -> Iterator[Found]:
    """GL002."""
    text = tool.declaration.description.strip()
    if not text:
        return
    own = set(trigger_words(tool.original.replace("_", " ")))
    new = [w for w in trigger_words(text) if w not in own]
    if len(new) < 2:
        proposal = (
            f"写明给出什么，例如“{tool.topic}：包括哪些字段、什么单位、什么时候的数据。”"
            if tool.zh
            else f'Say what it gives, for example "{tool.topic.capitalize()}: which fields, in which unit, as of when."'
        )
        yield Found("the description says no more than the name", proposal)


def no_situation(tool: Subject, _: Limits) -> Iterator[Found]:
    """GL003."""
    text = tool.declaration.description.strip()
    if text and not _WHEN.search(text):
        end = "" if text[-1] in ".。!！?？" else "。" if tool.zh else "."
        proposal = (
            f"{text}{end}用户询问{tool.topic}时使用。"
            if tool.zh
            else f"{text}{end} Use it when the user {tool.occasion}."
        )
        yield Found("the description does not say when to use the tool", proposal)


# -- arguments ------------------------------------------------------------------------------

_EXAMPLE = re.compile(
    r"\bfor (example|instance)\b|\be\.?g\b|\bsuch as\b|\bexamples?\b\s*:|\blike\b"
    r"|例如|比如|譬如|例：|例:|示例|形如|诸如|[\"“「'‘`].+?[\"”」'’`]",
    re.IGNORECASE,
)


def argument_undescribed(tool: Subject, _: Limits) -> Iterator[Found]:
    """GL004."""
    for each in arguments(tool.declaration.parameters):
        if each.described or (not each.top and each.has("enum", "const")):
            continue
        words = "".join(name_words(each.name)) if is_chinese(each.name) else " ".join(name_words(each.name))
        proposal = f"{each.name}: {words}，例如……。" if tool.zh else f"{each.name}: The {words}, for example …."
        yield Found(f"argument {each.path!r} has no description", proposal, None if each.top else "warning")


def argument_without_example(tool: Subject, _: Limits) -> Iterator[Found]:
    """GL005."""
    for each in arguments(tool.declaration.parameters):
        if not each.described or not each.kinds & {"string", "array"} or not each.top:
            continue
        if each.has("enum", "const", "format", "examples", "example", "default") or _EXAMPLE.search(each.described):
            continue
        if "enum" in cast("dict[str, Any]", each.schema.get("items") or {}):
            continue
        text = each.described.rstrip(".。")
        proposal = f"{each.name}: {text}，例如……。" if tool.zh else f"{each.name}: {text}, for example …."
        yield Found(f"argument {each.path!r} has no example", proposal)


_VAGUE_TOOL = frozenset(
    "do run go process handle execute exec tool func function helper util utils main test foo bar action perform work"
    " task call api service data info get set query request 工具 函数 处理 执行 操作 测试".split()
)
_VAGUE_ARGUMENT = frozenset(
    "a b c d e f g h i j k m n o p q r s t u v w x y z arg args arg1 arg2 param params param1 input inputs data val var"
    " tmp temp foo bar obj object item thing stuff misc options kwargs payload 参数 数据 输入 内容 值".split()
)


def vague_names(tool: Subject, _: Limits) -> Iterator[Found]:
    """GL006."""
    words = [w for w in name_words(tool.original) if not w.isdigit()]
    if not words or all(w in _VAGUE_TOOL or len(w) == 1 and w.isascii() for w in words):
        topic = [w for w in trigger_words(tool.declaration.description) if w.isascii()][:2]
        yield Found(
            f"the name {tool.original!r} does not tell what the tool does",
            f"Name it verb_object, for example {'_'.join(['get', *topic]) if topic else 'get_weather'}.",
        )
    for each in arguments(tool.declaration.parameters):
        if each.top and each.name.lower() in _VAGUE_ARGUMENT:
            words = [w for w in trigger_words(each.described) if w.isascii()][:2]
            better = "_".join(words) if words else "city, start_date or order_id"
            yield Found(f"the argument name {each.name!r} does not tell what to give", f"Name it {better}.")


_LEAD = (
    r"(?:one of|either|must be|can be|allowed(?: values?)?|possible values?|options?|values?"
    r"|取值(?:为|范围)?|可选(?:值|项)?|可以是|只能是|必须是|包括)"
)
_ITEM = r"[\"'“‘`]?[\w\u4e00-\u9fff+-]{1,24}[\"'”’`]?"
_SEPARATOR = r"\s*(?:,\s*or\s+|,\s*and\s+|,|/|\||\bor\b|\band\b|、|，|或者|或|和)\s*"
_WHOLE = re.compile(rf"^(?:[^:：]{{1,40}}[:：]\s*)?({_ITEM}(?:{_SEPARATOR}{_ITEM})+)[.。]?$", re.IGNORECASE)
_LISTED = (
    re.compile(rf"{_LEAD}\s*(?:are|is|为|是)?\s*[:：(（]?\s*({_ITEM}(?:{_SEPARATOR}{_ITEM})+)", re.IGNORECASE),
    _WHOLE,
    re.compile(rf"([\"“‘'`][\w-]{{1,24}}[\"”’'`](?:{_SEPARATOR}[\"“‘'`][\w-]{{1,24}}[\"”’'`])+)"),
    re.compile(r"((?<![\w|])[\w-]{1,24}(?:\s*\|\s*[\w-]{1,24})+)"),
)
_EXAMPLES_AHEAD = re.compile(r"(for (example|instance)|e\.?g\.?|such as|like|例如|比如|如)[,:：]?\s*$", re.IGNORECASE)


def listed_values(text: str) -> list[str]:
    """The values that a description lists as the only ones, or none. Examples are not a list of the only ones."""
    for pattern in _LISTED:
        if pattern is _WHOLE and (_EXAMPLE.search(text) or "，" in text):
            continue  # clauses, not values
        match = pattern.search(text)
        if match is None or _EXAMPLES_AHEAD.search(text[: match.start(1)]):
            continue
        values = [v.strip(" \"'“”‘’`") for v in re.split(_SEPARATOR, match[1]) if v.strip(" \"'“”‘’`")]
        if len(values) >= 2:
            return list(dict.fromkeys(values))
    return []


def missing_enum(tool: Subject, _: Limits) -> Iterator[Found]:
    """GL008."""
    for each in arguments(tool.declaration.parameters):
        if "string" not in each.kinds or each.has("enum", "const"):
            continue
        values = listed_values(each.described)
        if values:
            written = ", ".join(json.dumps(v, ensure_ascii=False) for v in values)
            yield Found(
                f"argument {each.path!r} lists its values in words but takes any string",
                f"Type it Literal[{written}], so that the schema says so.",
            )


_NEGATIVE = frozenset(
    "no not non without disable disabled skip exclude ignore hide dont never deny forbid suppress".split()
)


def negative_boolean(tool: Subject, _: Limits) -> Iterator[Found]:
    """GL009."""
    for each in arguments(tool.declaration.parameters):
        if "boolean" not in each.kinds:
            continue
        words = name_words(each.name)
        if set(words) & _NEGATIVE or re.match(r"[不非禁无未别]|跳过|忽略|排除", each.name):
            positive = "_".join(w for w in words if w not in _NEGATIVE) or "include"
            yield Found(
                f"the boolean {each.path!r} is named in the negative",
                f"Name it in the positive and turn the default round, for example {positive}: bool = True.",
            )


# -- size -----------------------------------------------------------------------------------


def too_long(tool: Subject, limits: Limits) -> Iterator[Found]:
    """GL011."""
    cost = declaration_tokens(tool.declaration)
    if cost > limits.max_tokens_per_tool:
        texts = [("description", tool.declaration.description)]
        texts += [(f"argument {a.path}", a.described) for a in arguments(tool.declaration.parameters)]
        where = max(texts, key=lambda t: tokens(t[1]))
        yield Found(
            f"the declaration costs about {cost} tokens, more than {limits.max_tokens_per_tool}",
            f"Shorten it; the longest text is the {where[0]} (about {tokens(where[1])} tokens).",
        )


def declaration_tokens(declaration: Declaration) -> int:
    """Estimate what one declaration costs in every prompt."""
    return tokens(json.dumps(declaration.openai()["function"], ensure_ascii=False, default=str))


def too_many_arguments(tool: Subject, limits: Limits) -> Iterator[Found]:
    """GL014."""
    count = sum(1 for a in arguments(tool.declaration.parameters) if a.top)
    if count > limits.max_arguments:
        yield Found(
            f"the tool has {count} arguments, more than {limits.max_arguments}",
            "Split it into two tools, or give defaults to what is rarely needed and leave it out.",
        )


def too_deep(tool: Subject, limits: Limits) -> Iterator[Found]:
    """GL015."""
    for each in arguments(tool.declaration.parameters):
        if each.path.count(".") == limits.max_depth:
            yield Found(
                f"argument {each.path!r} lies {limits.max_depth + 1} levels deep",
                "Make the inner fields arguments of their own, for example customer_name instead of customer.name.",
            )
            return


def open_risk(tool: Subject, _: Limits) -> Iterator[Found]:
    """GL013."""
    risk = sounds_like(tool.original)
    if risk and not tool.stated and tool.declaration.risk == "read":
        yield Found(
            f"the name {tool.original!r} sounds {'destructive' if risk == 'destructive' else 'like a write'} "
            "and the risk is left open, so it runs without asking",
            f'Say what it is: @tool(risk="{risk}"), or risk="read" if it changes nothing.',
        )
