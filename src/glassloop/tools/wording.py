"""The words about problems, in English and Chinese: what was wanted, and what to do about it.

Owes: short texts for a model, made from the schema alone. Both tables have the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .formats import EXAMPLES, ambiguous_date
from .outline import BRANCH_WORDS, as_schema, own_kinds, schema_list, schema_map
from .problems import Problem, shown

MAX_CHOICES = 12

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "null": "null",
        "boolean": "true or false",
        "integer": "an integer",
        "number": "a number",
        "string": "text",
        "array": "a list",
        "object": "an object",
        "any": "a value",
        "or": " or ",
        "comma": ", ",
        "list_of": "a list of {items}",
        "object_with": "an object with {names}",
        "one_of": "one of {choices}",
        "exactly": "exactly {choices}",
        "more": "and {n} more",
        "formatted": "{format} text such as {example}",
        "format_only": "{format} text",
        "minimum": "at least {limit}",
        "maximum": "at most {limit}",
        "exclusiveMinimum": "more than {limit}",
        "exclusiveMaximum": "less than {limit}",
        "multipleOf": "a multiple of {limit}",
        "minLength": "text of at least {limit} characters",
        "maxLength": "text of at most {limit} characters",
        "pattern": "text that fits the pattern {limit}",
        "minItems": "a list of at least {limit} items",
        "maxItems": "a list of at most {limit} items",
        "uniqueItems": "a list without repeated items",
        "contains": "a list that holds {limit}",
        "maxContains": "a list that holds this at most {limit} times",
        "minProperties": "an object with at least {limit} fields",
        "maxProperties": "an object with at most {limit} fields",
        "dependentRequired": "{limit} as well",
        "propertyNames": "other field names",
        "unknown": "only the known fields: {limit}",
        "unknown_none": "no such field",
        "oneOf": "what fits exactly one of the allowed forms",
        "not": "something else: this form is excluded",
        "false": "nothing: no value is allowed here",
        "arguments": "an object with the arguments",
        "depth": "a value that is less deeply nested",
        "internal": "a value that can be checked",
        "hint_required": "Add it.",
        "hint_unknown_given": "{names} is not an argument here.",
        "hint_unknown_given_many": "{names} are not arguments here.",
        "hint_near": "Did you mean {names}?",
        "hint_unknown": "Leave it out.",
        "hint_ambiguous": "Day and month cannot be told apart: write the year first, as in 2025-03-01.",
        "hint_date_time": "Give both the date and the time of day.",
        "hint_integer": "Write a whole number in digits.",
        "hint_number": "Write only the number, in digits, without a unit.",
        "hint_boolean": "Write true or false, without quotes.",
        "hint_string": "Write plain text in quotes.",
        "hint_array": "Write a JSON list in [ ].",
        "hint_object": "Write a JSON object in {{ }}.",
        "hint_echo": "This is the description of the argument, not a value for it.",
        "nothing": "nothing",
        "path": "the arguments",
        "result": "the result",
        "line": "{path}: given {given}, wanted {wanted}.",
        "line_missing": "{path} is missing, wanted {wanted}.",
        "line_unknown": "{path} is not known; the known names are {names}.",
        "reason_one": "{name} was not called, an argument is wrong. {lines}",
        "reason": "{name} was not called, {n} arguments are wrong. {lines}",
        "again": "Call {name} again with all arguments right.",
        "example": "Form of a right call: {example}",
        "gap": " ",
    },
    "zh": {
        "null": "null",
        "boolean": "true 或 false",
        "integer": "整数",
        "number": "数字",
        "string": "文本",
        "array": "列表",
        "object": "对象",
        "any": "一个值",
        "or": "或",
        "comma": "、",
        "list_of": "列表，每项为{items}",
        "object_with": "含有 {names} 的对象",
        "one_of": "{choices} 之一",
        "exactly": "只能是 {choices}",
        "more": "等另外 {n} 个",
        "formatted": "{format} 格式的文本，如 {example}",
        "format_only": "{format} 格式的文本",
        "minimum": "不小于 {limit}",
        "maximum": "不大于 {limit}",
        "exclusiveMinimum": "大于 {limit}",
        "exclusiveMaximum": "小于 {limit}",
        "multipleOf": "{limit} 的倍数",
        "minLength": "至少 {limit} 个字符的文本",
        "maxLength": "至多 {limit} 个字符的文本",
        "pattern": "符合模式 {limit} 的文本",
        "minItems": "至少 {limit} 项的列表",
        "maxItems": "至多 {limit} 项的列表",
        "uniqueItems": "没有重复项的列表",
        "contains": "包含{limit}的列表",
        "maxContains": "其中此类项至多 {limit} 个的列表",
        "minProperties": "至少有 {limit} 个字段的对象",
        "maxProperties": "至多有 {limit} 个字段的对象",
        "dependentRequired": "同时给出 {limit}",
        "propertyNames": "其他字段名",
        "unknown": "只用已知字段：{limit}",
        "unknown_none": "不要这个字段",
        "oneOf": "恰好符合一种允许的形式",
        "not": "其他值：这种形式被排除",
        "false": "不给值：此处不允许任何值",
        "arguments": "由参数组成的对象",
        "depth": "嵌套较浅的值",
        "internal": "可以检查的值",
        "hint_required": "请补上。",
        "hint_unknown_given": "{names} 不是这里的参数。",
        "hint_unknown_given_many": "{names} 不是这里的参数。",
        "hint_near": "是否指 {names}？",
        "hint_unknown": "请去掉。",
        "hint_ambiguous": "无法分清日和月：请把年份写在最前，如 2025-03-01。",
        "hint_date_time": "日期和时刻都要写明。",
        "hint_integer": "请用阿拉伯数字写整数。",
        "hint_number": "只写阿拉伯数字，不带单位。",
        "hint_boolean": "请写 true 或 false，不加引号。",
        "hint_string": "请写加引号的普通文本。",
        "hint_array": "请用 [ ] 写 JSON 列表。",
        "hint_object": "请用 {{ }} 写 JSON 对象。",
        "hint_echo": "这是参数的说明，不是参数的值。",
        "nothing": "空",
        "path": "整个参数",
        "result": "结果",
        "line": "{path}：给出的是 {given}，应为{wanted}。",
        "line_missing": "{path}：未给出，应为{wanted}。",
        "line_unknown": "{path} 不是已知的参数，已知的有 {names}。",
        "reason_one": "没有调用 {name}，有一个参数不对。{lines}",
        "reason": "没有调用 {name}，有 {n} 个参数不对。{lines}",
        "again": "请改正全部参数后重新调用 {name}。",
        "example": "正确调用的形式：{example}",
        "gap": "",
    },
}
"""Every text by language; a `{word}` in it is filled in."""


def say(key: str, language: str, **values: Any) -> str:
    """Return the text `key` in a language with its places filled; an unknown language is English."""
    return WORDS.get(language, WORDS["en"])[key].format(**values)


def describe(schema: Any, language: str = "en", depth: int = 0) -> str:
    """Say in a few words what values a schema wants."""
    found = as_schema(schema)
    if not isinstance(found, dict):
        return say("any", language)
    if "const" in found:
        return say("exactly", language, choices=shown(found["const"]))
    choices = schema_list(found.get("enum"))
    if choices:
        return _choices(choices, language)
    for word in BRANCH_WORDS:
        options = schema_list(found.get(word))
        if options and depth < 2:
            texts = dict.fromkeys(describe(o, language, depth + 1) for o in options)
            return say("or", language).join(texts)
    kinds = sorted(own_kinds(found) or ())
    if not kinds and found.get("properties"):
        kinds = ["object"]
    texts = [_kind(kind, found, language, depth) for kind in kinds if kind != "null" or len(kinds) == 1]
    return say("or", language).join(texts) or say("any", language)


def _choices(choices: list[Any], language: str) -> str:
    texts = [shown(c, 40) for c in choices[:MAX_CHOICES]]
    if len(choices) > MAX_CHOICES:
        texts.append(say("more", language, n=len(choices) - MAX_CHOICES))
    return say("one_of", language, choices=say("comma", language).join(texts))


def _kind(kind: str, schema: Mapping[str, Any], language: str, depth: int) -> str:
    if kind == "string" and isinstance(schema.get("format"), str):
        name = schema["format"]
        if name in EXAMPLES:
            return say("formatted", language, format=name, example=shown(EXAMPLES[name]))
        return say("format_only", language, format=name)
    if kind == "array" and isinstance(schema.get("items"), dict) and depth < 2:
        items = describe(schema["items"], language, depth + 1)
        plural = {"an integer": "integers", "a number": "numbers", "text": "texts", "an object": "objects"}
        return say("list_of", language, items=plural.get(items, items))
    if kind == "object" and schema.get("properties") and depth < 2:
        needed = schema_list(schema.get("required")) or list(schema_map(schema["properties"]))
        return say("object_with", language, names=say("comma", language).join(str(n) for n in needed[:MAX_CHOICES]))
    return say(kind, language)


def wanted(rule: str, limit: Any, language: str = "en") -> str:
    """Say what the broken rule asks for."""
    if rule in ("type", "required", "anyOf"):
        return describe(limit, language)
    if rule == "enum":
        return _choices(schema_list(limit), language)
    if rule == "const":
        return say("exactly", language, choices=shown(limit))
    if rule == "format":
        return _kind("string", {"format": limit}, language, 0)
    if rule == "contains":
        return say(rule, language, limit=describe(limit, language, 1))
    if rule in ("unknown", "dependentRequired"):
        listed = say("comma", language).join(str(n) for n in schema_list(limit)[: 2 * MAX_CHOICES])
        return say(rule, language, limit=listed) if listed else say("unknown_none", language)
    return say(rule, language, limit=shown(limit))


def hint(rule: str, limit: Any, given: Any, extra: tuple[str, ...], language: str = "en") -> str:
    """Say what to do about it; empty when what is wanted says it all.

    Args:
        rule: The broken rule.
        limit: What the schema says under it.
        given: The value as it was given, or its short JSON text.
        extra: A near name, or unknown names that were given.
        language: `en` or `zh`.
    """
    names = say("comma", language).join(extra)
    if rule == "required":
        text = say("hint_required", language)
        if extra:
            key = "hint_unknown_given" if len(extra) == 1 else "hint_unknown_given_many"
            text += say("gap", language) + say(key, language, names=names)
        return text
    if rule in ("unknown", "enum") and extra:
        return say("hint_near", language, names=names)
    if rule == "unknown":
        return say("hint_unknown", language)
    if rule == "format":
        text = str(given).strip('"')
        if ambiguous_date(text):
            return say("hint_ambiguous", language)
        return say("hint_date_time", language) if limit in ("date-time", "datetime") else ""
    if rule == "type":
        if extra == ("echo",):
            return say("hint_echo", language)
        shape = as_schema(limit)
        kinds = (isinstance(shape, dict) and own_kinds(shape) or frozenset[str]()) - {"null"}
        kind = next(iter(kinds), "") if len(kinds) == 1 else ""
        return say(f"hint_{kind}", language) if kind and f"hint_{kind}" in WORDS["en"] else ""
    return ""


def problem(path: str, given: Any, rule: str, limit: Any = None, extra: tuple[str, ...] = ()) -> Problem:
    """Make a problem with its English texts."""
    text = say("nothing", "en") if rule == "required" else shown(given)
    return Problem(path, text, wanted(rule, limit), hint(rule, limit, text, extra), rule, limit, extra)
