"""What the lint rules look at: a tool, its arguments at every depth, and what its name sounds like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from ..types import Declaration
from .lint_text import is_chinese, name_words

Severity = Literal["error", "warning"]

_READ_VERBS = frozenset(
    "get list find search read show count check describe fetch lookup query view is has calculate compute".split()
)
_DESTROY = frozenset(
    "delete remove drop erase destroy wipe purge truncate kill terminate revoke uninstall overwrite".split()
)
_WRITE = frozenset(
    "send pay post publish write create update insert save upload buy purchase book transfer charge refund email"
    " notify submit approve move rename deploy restart reset cancel reply add edit set put patch sign install enable"
    " disable".split()
)
_OTHER_VERBS = frozenset(
    "calculate compute convert translate summarise summarize run open close play start stop".split()
)
_READ_ZH = re.compile(r"^(查|获取|列出|读取|搜索|统计|计算|显示|检查)")
_DESTROY_ZH = re.compile(r"删除|清空|移除|注销|销毁|抹除|卸载|撤销")
_WRITE_ZH = re.compile(
    r"发送|支付|付款|转账|下单|购买|创建|新建|新增|修改|更新|写入|保存|上传|提交|预订|发布|退款|取消|回复|添加"
)


@dataclass(frozen=True)
class Subject:
    """A tool as the rules see it."""

    declaration: Declaration
    original: str
    stated: bool
    file: str = ""
    line: int = 0

    @property
    def zh(self) -> bool:
        """Whether proposals should be Chinese."""
        return is_chinese(self.declaration.description or self.original)

    @property
    def topic(self) -> str:
        """What the name says the tool is about, for proposals."""
        words = [w for w in name_words(self.original) if w not in _READ_VERBS]
        return "".join(words) if is_chinese(self.original) else " ".join(words or name_words(self.original))

    @property
    def occasion(self) -> str:
        """When the user wants it, for proposals: "asks about weather", "wants to send a message"."""
        words = name_words(self.original)
        if words and words[0] in _WRITE | _DESTROY | _OTHER_VERBS:
            return f"wants to {words[0]} {'a ' + ' '.join(words[1:]) if words[1:] else 'something'}"
        return f"asks about {self.topic}"


@dataclass(frozen=True)
class Limits:
    """Where a rule begins to complain."""

    max_tools: int = 12
    max_tokens: int = 2_000
    max_tokens_per_tool: int = 300
    max_arguments: int = 8
    max_depth: int = 2
    similarity: float = 0.35


@dataclass(frozen=True)
class Found:
    """One complaint; `severity` only where it differs from the rule's."""

    message: str
    proposal: str
    severity: Severity | None = None


@dataclass(frozen=True)
class Argument:
    """One argument, also inside objects and lists: its path, its schema, whether it stands at the top."""

    path: str
    schema: dict[str, Any]
    top: bool

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2].removesuffix("[]")

    @property
    def described(self) -> str:
        """Its description."""
        return str(self.schema.get("description") or "")

    @property
    def kinds(self) -> set[str]:
        """Its JSON types, without null."""
        options = [self.schema, *cast("list[dict[str, Any]]", self.schema.get("anyOf", []))]
        kinds: set[str] = set()
        for option in options:
            kind = option.get("type")
            kinds |= set(cast("list[str]", kind)) if isinstance(kind, list) else {str(kind)} if kind else set()
        return kinds - {"null"}

    def has(self, *keywords: str) -> bool:
        """Whether its schema, or one of its alternatives, has one of these keywords with a value."""
        options = [self.schema, *cast("list[dict[str, Any]]", self.schema.get("anyOf", []))]
        return any(option.get(keyword) is not None for option in options for keyword in keywords)


def arguments(schema: dict[str, Any], above: str = "", depth: int = 0) -> Iterator[Argument]:
    """Every argument of a schema, with those inside objects and lists of objects."""
    if depth > 6:
        return
    for name, sub in cast("dict[str, Any]", schema.get("properties") or {}).items():
        if not isinstance(sub, dict):
            continue
        sub = cast("dict[str, Any]", sub)
        path = f"{above}.{name}" if above else name
        yield Argument(path, sub, depth == 0)
        for option in [sub, *cast("list[dict[str, Any]]", sub.get("anyOf", []))]:
            yield from arguments(option, path, depth + 1)
            items = option.get("items")
            if isinstance(items, dict):
                yield from arguments(cast("dict[str, Any]", items), f"{path}[]", depth + 1)


def sounds_like(name: str) -> str | None:
    """The risk that a name sounds like, or None: what it does is said by its verb."""
    words = name_words(name)
    if not words or words[0] in _READ_VERBS or _READ_ZH.match(name):
        return None
    if any(w in _DESTROY for w in words) or _DESTROY_ZH.search(name):
        return "destructive"
    return "write" if words[0] in _WRITE or _WRITE_ZH.search(name) else None
