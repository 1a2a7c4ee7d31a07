"""Every lint rule with its stable id, its severity, and why a small model trips over what it finds.

Ids are written in configuration files: one that is taken away is never given again.
The rules that look at a whole library of tools are here; those for one tool are in
`lint_rules.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from . import lint_rules as one
from .lint_rules import declaration_tokens
from .lint_subject import Found, Limits, Severity, Subject
from .lint_text import name_words, overlaps


def overlapping(tools: Sequence[Subject], limits: Limits) -> Iterator[tuple[Subject, Found]]:
    """GL007."""
    texts = [f"{t.original.replace('_', ' ')}. {t.declaration.description}" for t in tools]
    for pair in overlaps(texts, least=limits.similarity):
        first, second = tools[pair.first], tools[pair.second]
        words = ", ".join(pair.shared)
        proposal = (
            f"在两者的说明里各加一句区别，例如“不要用于……，那是 {second.original}”。"
            if first.zh
            else f'Say in both how they differ, for example "Not for …: that is {second.original}."'
        )
        yield (
            first,
            Found(
                f"the description overlaps with that of {second.original!r} (similarity {pair.similarity:.2f}; "
                f"both say {words})",
                proposal,
            ),
        )


def too_many_tools(tools: Sequence[Subject], limits: Limits) -> Iterator[tuple[Subject | None, Found]]:
    """GL010."""
    if len(tools) > limits.max_tools:
        yield (
            None,
            Found(
                f"there are {len(tools)} tools, more than {limits.max_tools}",
                "Hand each agent only the tools its task needs, or let one agent call others.",
            ),
        )


def too_many_tokens(tools: Sequence[Subject], limits: Limits) -> Iterator[tuple[Subject | None, Found]]:
    """GL012."""
    cost = sum(declaration_tokens(t.declaration) for t in tools)
    if cost > limits.max_tokens:
        dearest = sorted(tools, key=lambda t: -declaration_tokens(t.declaration))[:3]
        yield (
            None,
            Found(
                f"all declarations together cost about {cost:,} tokens, more than {limits.max_tokens:,}",
                f"Shorten the dearest first: {', '.join(t.original for t in dearest)}.",
            ),
        )


def like_names(tools: Sequence[Subject], _: Limits) -> Iterator[tuple[Subject, Found]]:
    """GL016."""
    seen: dict[str, Subject] = {}
    for tool in tools:
        key = "".join(w.removesuffix("s") if len(w) > 3 else w for w in name_words(tool.original))
        other = seen.setdefault(key, tool)
        if other is tool:
            continue
        same = other.declaration.name == tool.declaration.name
        what = "is taken by another tool" if same else f"differs from {other.original!r} only in spelling"
        yield (
            tool,
            Found(f"the name {tool.original!r} {what}", "Rename one by what sets it apart.", "error" if same else None),
        )


@dataclass(frozen=True)
class Rule:
    """A rule: its stable id, severity, and why a small model trips over what it finds."""

    id: str
    severity: Severity
    why: str
    one: Callable[[Subject, Limits], Iterator[Found]] | None = None
    every: Callable[[Sequence[Subject], Limits], Iterator[tuple[Subject | None, Found]]] | None = None


RULES: tuple[Rule, ...] = (
    Rule("GL001", "error", "Without a description a model chooses by the name alone, and guesses.", one.no_description),
    Rule("GL002", "warning", "A description that repeats the name gives nothing to choose by.", one.says_nothing),
    Rule(
        "GL003",
        "warning",
        "Small models match the words of the question against the description, so it must hold the situations.",
        one.no_situation,
    ),
    Rule(
        "GL004",
        "error",
        "An argument without a description is filled with what its name suggests.",
        one.argument_undescribed,
    ),
    Rule(
        "GL005",
        "warning",
        "One example fixes form, language and unit better than any rule in words.",
        one.argument_without_example,
    ),
    Rule("GL006", "warning", "A name that says nothing is confused with others.", one.vague_names),
    Rule(
        "GL007",
        "warning",
        "Two tools with the same trigger words are called in turn, or the wrong one first.",
        every=overlapping,
    ),
    Rule(
        "GL008",
        "warning",
        "Values listed only in words are translated, capitalised and misspelt; an enum cannot be.",
        one.missing_enum,
    ),
    Rule("GL009", "warning", "Double negatives are read the wrong way round: no_cache=false.", one.negative_boolean),
    Rule(
        "GL010",
        "warning",
        "Each further tool makes the choice harder; small models fail beyond about a dozen.",
        every=too_many_tools,
    ),
    Rule("GL011", "warning", "Long declarations push the question out of a small model's attention.", one.too_long),
    Rule(
        "GL012",
        "warning",
        "Declarations are in every prompt; they cost time and context at each step.",
        every=too_many_tokens,
    ),
    Rule("GL013", "error", "A tool that writes and is declared a read runs without asking anybody.", one.open_risk),
    Rule(
        "GL014",
        "warning",
        "With many arguments small models forget required ones and fill in the rest.",
        one.too_many_arguments,
    ),
    Rule("GL015", "warning", "Braces nested deep are closed wrongly by small models.", one.too_deep),
    Rule("GL016", "warning", "Names that differ by a letter are mixed up.", every=like_names),
)
"""Every rule, by id."""
