"""What a server or a chat template accepts, as one value. Declared, never guessed from a model's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast


@dataclass(frozen=True)
class Profile:
    """The demands of one chat template. The default is what any OpenAI-compatible server takes.

    Attributes:
        strict_alternation: User and assistant must take turns, the user first.
        single_leading_system: At most one system message, at the very front.
        system_role: Whether system messages exist at all; else their text goes before the first user message.
        tool_role: Whether calls and tool messages exist; else both are written as ordinary text.
        parallel_calls: Whether one assistant message may hold several calls; else a batch becomes a sequence.
        text_with_calls: Whether an assistant message may hold text next to its calls; else the text is left out.
        user_after_tool: Whether a user message may follow a tool result directly.
        short_ids: Call ids are exactly nine letters and digits.
        ascii_names: Tool names are ASCII letters, digits, `_` and `-`, at most 64.
        object_arguments: Arguments are JSON objects, not strings of JSON, and content is one text.
    """

    strict_alternation: bool = False
    single_leading_system: bool = False
    system_role: bool = True
    tool_role: bool = True
    parallel_calls: bool = True
    text_with_calls: bool = True
    user_after_tool: bool = True
    short_ids: bool = False
    ascii_names: bool = False
    object_arguments: bool = False


PROFILES: dict[str, Profile] = {
    "openai": Profile(ascii_names=True),
    "mistral": Profile(
        strict_alternation=True,
        single_leading_system=True,
        text_with_calls=False,
        user_after_tool=False,
        short_ids=True,
        ascii_names=True,
    ),
    "gemma": Profile(strict_alternation=True, single_leading_system=True, system_role=False, tool_role=False),
    "llama": Profile(single_leading_system=True, parallel_calls=False),
    "ollama": Profile(object_arguments=True),
}
"""Profiles by name, for the `profile` argument of `prepare_messages`."""

_TARGETS = {"ollama_native": "ollama", "ollama": "ollama", "openai": "openai", "mistral": "mistral"}
_OPPOSITES = {
    "no_system": "system_role",
    "no_system_role": "system_role",
    "no_tools": "tool_role",
    "no_tool_role": "tool_role",
}
_ALIASES = {
    "alternation": "strict_alternation",
    "alternating_roles": "strict_alternation",
    "merge_consecutive": "strict_alternation",
    "single_system": "single_leading_system",
    "system": "system_role",
    "supports_system": "system_role",
    "tools": "tool_role",
    "tool_calls": "tool_role",
    "supports_tools": "tool_role",
    "parallel_tool_calls": "parallel_calls",
    "arguments_as_objects": "object_arguments",
    "nine_char_ids": "short_ids",
}


def profile_of(profile: Any, target: Any = None) -> Profile:
    """Return the `Profile` meant by a name, a mapping of its fields, or a `Profile`; anything else is the default.

    Args:
        profile: For example `"mistral"`, `{"tool_role": False}` or `{"name": "gemma", "system_role": True}`.
        target: A wire form beside the template: `"ollama_native"` wants arguments as objects.
    """
    if isinstance(profile, Profile):
        found = profile
    elif isinstance(profile, str):
        found = PROFILES.get(profile.strip().lower(), Profile())
    elif isinstance(profile, Mapping):
        found = _from_mapping(cast("Mapping[Any, Any]", profile))
    else:
        found = Profile()
    if isinstance(target, str):
        wire = PROFILES.get(_TARGETS.get(target.strip().lower(), ""), Profile())
        found = replace(
            found,
            object_arguments=found.object_arguments or wire.object_arguments,
            short_ids=found.short_ids or wire.short_ids,
            ascii_names=found.ascii_names or wire.ascii_names,
        )
    return found


def _from_mapping(data: Mapping[Any, Any]) -> Profile:
    base = data.get("name", data.get("base"))
    found = PROFILES.get(base.lower(), Profile()) if isinstance(base, str) else Profile()
    known = {f.name for f in fields(Profile)}
    changes: dict[str, bool] = {}
    for key, value in data.items():
        if not isinstance(key, str) or not (isinstance(value, bool) or value in (0, 1)):
            continue
        if key in _OPPOSITES:
            changes[_OPPOSITES[key]] = not value
        elif _ALIASES.get(key, key) in known:
            changes[_ALIASES.get(key, key)] = bool(value)
    return replace(found, **changes)
