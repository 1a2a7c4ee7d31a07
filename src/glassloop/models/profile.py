"""What a model was measured to be able to do, as a value that is kept.

It owes one file a model, keyed by its name: those measured here in the user's cache
folder, those that ship with the library as package data. A profile that cannot be
read is as good as none; nothing here asks a model anything.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from glassloop.types import Record

VERSION = 1
"""Raised when the questions change so much that older profiles no longer say the same."""

Labels = Literal["en", "zh", "both", "none"]


@dataclass(frozen=True)
class Profile(Record):
    """A model's measured abilities, through the server it was asked at.

    Attributes:
        model: The model's name as the library shows it, `llamacpp:NAME` and so on.
        measured: The day of the measurement, `2026-12-01`.
        native_tools: Function calls come back as structured calls, with the right arguments.
        json_schema: Replies fit the schema that was asked for, also where the words ask for something else.
        stop: Generation ends before a stop sequence.
        labels: The languages in which labelled lines (Thought, Action, …) come back as asked.
        parallel_calls: Two calls asked for at once come back as two, each with its own arguments.
        follows: Of the tiny tasks without any constraint, how many were done as asked.
        asked: How many of these there were.
        tokens_per_second: Speed of writing.
        seconds: What the whole measurement took.
        prompt_language: The language of prompts that serves this model best; `auto` follows the question.
        notes: What went wrong on the way, one sentence each.
    """

    model: str
    measured: str = ""
    native_tools: bool = False
    json_schema: bool = False
    stop: bool = False
    labels: Labels = "none"
    parallel_calls: bool = False
    follows: int = 0
    asked: int = 0
    tokens_per_second: float = 0.0
    seconds: float = 0.0
    prompt_language: Literal["en", "zh", "auto"] = "auto"
    notes: tuple[str, ...] = ()
    version: int = VERSION

    @property
    def protocol(self) -> str:
        """The protocol that these abilities speak for, the most certain first."""
        return "constrained" if self.json_schema else "native" if self.native_tools else "text"

    def lines(self) -> list[str]:
        """For people, one ability a line."""
        labels = {"both": "English and Chinese", "en": "English", "zh": "Chinese", "none": "no"}[self.labels]
        language = {"auto": "as the question", "en": "English", "zh": "Chinese"}[self.prompt_language]
        lines = [
            f"protocol            {self.protocol}",
            f"schemas held        {_word(self.json_schema)}",
            f"native calling      {_word(self.native_tools)}",
            f"several at once     {_word(self.parallel_calls)}",
            f"stop sequences      {_word(self.stop)}",
            f"labelled lines      {labels}",
            f"tasks as asked      {self.follows} of {self.asked}",
            f"language of prompts {language}",
            f"speed               {self.tokens_per_second:.1f} tokens a second",
        ]
        return [*lines, *(f"note: {note}" for note in self.notes)]

    def summary(self) -> str:
        """For people, in one line."""
        calls = "native calls" if self.native_tools else "no native calls"
        schema = "schemas held" if self.json_schema else "schemas not held"
        return f"{self.protocol} · {schema} · {calls} · {self.tokens_per_second:.0f} tokens/s · {self.measured}"


def profiles_directory() -> Path:
    """Return where measured profiles are kept: `GLASSLOOP_PROFILES`, else the user's cache folder. Creates nothing."""
    named = os.environ.get("GLASSLOOP_PROFILES")
    if named:
        return Path(named).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "glassloop" / "profiles"


def save_profile(profile: Profile, directory: Path | None = None) -> Path:
    """Keep a profile under its model's name and return the file.

    Raises:
        OSError: The folder cannot be written to.
    """
    path = (directory or profiles_directory()) / _file_name(profile.model)
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    half.write_text(json.dumps(profile.to_dict(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    half.replace(path)
    return path


def load_profile(model: str, directory: Path | None = None) -> Profile | None:
    """Return a model's profile: the one measured on this machine, else the one that ships, else None."""
    name = _file_name(model)
    shipped = resources.files("glassloop.models").joinpath("profiles")

    def text_here() -> str:
        return ((directory or profiles_directory()) / name).read_text("utf-8")

    def text_shipped() -> str:
        return shipped.joinpath(name).read_text("utf-8")

    return _read(text_here, model) or _read(text_shipped, model)


def _read(text: Callable[[], str], model: str) -> Profile | None:
    try:
        profile = Profile.from_dict(json.loads(text()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    # Another model may share a file name once its signs are flattened; an older version asked other questions.
    return profile if profile.model == model and profile.version == VERSION else None


def _file_name(model: str) -> str:
    return re.sub(r"[^\w.-]+", "-", model).strip("-.") + ".json"


def _word(able: bool) -> str:
    return "yes" if able else "no"


def known_profiles(models: Iterable[str]) -> dict[str, Profile]:
    """Return the profiles there are for these models, by name."""
    found = ((model, load_profile(model)) for model in models)
    return {model: profile for model, profile in found if profile is not None}
