"""What can this model do, through this server? A dozen tiny questions instead of a guess from its name.

Each question has one right outcome that plain code can see. A request the server
refuses is an answer too: it cannot do that. Both languages are asked the same.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, cast

from glassloop.errors import ModelError, ModelRefused, ModelUnavailable
from glassloop.gears import Model
from glassloop.models.profile import Labels, Profile, load_profile, profiles_directory, save_profile
from glassloop.prompts import LANGUAGES, load, text
from glassloop.types import Reply, Request

__all__ = ["Profile", "load_profile", "probe", "profiles_directory", "save_profile"]

Say = Callable[[str, int, int], None]
Check = Callable[[Reply], bool]

_SEA = {
    "type": "object",
    "properties": {
        "sea": {"type": "string", "enum": ["calm", "rough"]},
        "waves": {"type": "integer", "minimum": 3, "maximum": 5},
    },
    "required": ["sea", "waves"],
    "additionalProperties": False,
}
_NUMBER = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 7, "maximum": 9}},
    "required": ["n"],
    "additionalProperties": False,
}
_MUCH = 160
_CLEAR = 2
"""So many more right outcomes in one language make it the language of prompts; less is chance."""


@dataclass(frozen=True)
class _Question:
    """A request, what it finds out, and whether a reply shows that the model can do it."""

    about: Literal["native", "parallel", "schema", "stop", "labels", "plain"]
    language: str
    request: Request
    right: Check


@dataclass
class _Results:
    done: list[tuple[_Question, bool]] = field(default_factory=list[tuple[_Question, bool]])
    notes: dict[str, None] = field(default_factory=dict[str, None])
    tokens: int = 0
    seconds: float = 0.0
    answered: int = 0

    def all(self, about: str) -> bool:
        found = [right for question, right in self.done if question.about == about]
        return bool(found) and all(found)

    def in_language(self, language: str, *abouts: str) -> int:
        return sum(
            right
            for question, right in self.done
            if question.language == language and (not abouts or question.about in abouts)
        )


async def probe(model: Model, say: Say | None = None) -> Profile:
    """Ask a model a dozen tiny questions and return what it and its server can do.

    Args:
        model: The model.
        say: Told before each question: what it is about, how many are done, how many there are.

    Returns:
        The profile; `asked` is 0 when nothing at all was answered, and `notes` say why.

    Raises:
        ModelUnavailable: Nobody answers.
    """
    begun = time.perf_counter()
    questions = _questions()
    results = _Results()
    for number, question in enumerate(questions):
        if say is not None:
            say(f"{question.about} ({question.language})", number, len(questions))
        results.done.append((question, await _ask(model, question, results)))
    if say is not None:
        say("done", len(questions), len(questions))
    labelled = [language for language in LANGUAGES if results.in_language(language, "labels")]
    labels = cast("Labels", "both" if len(labelled) > 1 else labelled[0] if labelled else "none")
    lead = results.in_language("en") - results.in_language("zh")
    free = [right for question, right in results.done if question.about in ("labels", "plain", "stop")]
    return Profile(
        model=model.name,
        measured=datetime.now().astimezone().date().isoformat(),
        native_tools=results.all("native"),
        json_schema=results.all("schema"),
        stop=results.all("stop"),
        labels=labels,
        parallel_calls=results.all("parallel"),
        follows=sum(free),
        asked=len(free) if results.answered else 0,
        tokens_per_second=round(results.tokens / results.seconds, 1) if results.seconds else 0.0,
        seconds=round(time.perf_counter() - begun, 1),
        prompt_language="en" if lead >= _CLEAR else "zh" if -lead >= _CLEAR else "auto",
        notes=tuple(results.notes),
    )


async def _ask(model: Model, question: _Question, results: _Results) -> bool:
    try:
        reply = await model.complete(question.request)
    except ModelUnavailable:
        raise
    except ModelError as error:
        if not isinstance(error, ModelRefused) or not results.answered:
            results.notes[f"{question.about}: {error}"] = None
        return False
    results.answered += 1
    if reply.seconds and reply.usage.completion:
        results.tokens += reply.usage.completion
        results.seconds += reply.seconds
    return question.right(reply)


def _questions() -> list[_Question]:
    # By kind, not by language: neighbours then share the beginning of their prompts in the server's cache.
    return [
        make(language) for make in (_plain, _stop, _labels, _native, _parallel, _sea, _number) for language in LANGUAGES
    ]


def _request(key: str, language: str, **more: Any) -> Request:
    messages = ({"role": "user", "content": text("probe", language, key)},)
    return Request(messages, temperature=0.0, max_tokens=_MUCH, seed=7, timeout=120.0, purpose="probe", **more)


def _plain(language: str) -> _Question:
    wanted = {"en": "blue", "zh": "蓝色"}[language]
    return _Question(
        "plain",
        language,
        _request("plain", language),
        lambda reply: reply.text.strip().strip("。.\"“”'") == wanted,
    )


def _stop(language: str) -> _Question:
    def right(reply: Reply) -> bool:
        digits = re.findall(r"\d", reply.text)
        return "4" in digits and not {"6", "7", "8", "9"} & set(digits)

    return _Question("stop", language, _request("stop", language, stop=("6",)), right)


def _labels(language: str) -> _Question:
    words = load("text", language)

    def right(reply: Reply) -> bool:
        found = [_after(words[label], reply.text) for label in ("thought", "action", "action_input")]
        return all(found) and found[1].strip("`* ") == "weather" and _city(found[2], language)

    return _Question("labels", language, _request("labels", language), right)


def _after(label: str, written: str) -> str:
    found = re.search(rf"^\s*\**{re.escape(label)}\**\s*[:：]\s*(.+)$", written, re.M)
    return found[1].strip() if found else ""


def _native(language: str) -> _Question:
    def right(reply: Reply) -> bool:
        return len(reply.tool_calls) == 1 and _cities(reply) == [text("probe", language, "city")]

    return _Question("native", language, _request("one_call", language, tools=(_tool(language),)), right)


def _parallel(language: str) -> _Question:
    wanted = sorted((text("probe", language, "city"), text("probe", language, "other_city")))

    def right(reply: Reply) -> bool:
        ids = [call.get("id") for call in reply.tool_calls]
        return sorted(_cities(reply)) == wanted and len(set(map(str, ids))) == len(ids)

    return _Question("parallel", language, _request("two_calls", language, tools=(_tool(language),)), right)


def _sea(language: str) -> _Question:
    def right(reply: Reply) -> bool:
        data = _object(reply.text)
        return set(data) == {"sea", "waves"} and data["sea"] in ("calm", "rough") and data["waves"] in (3, 4, 5)

    return _Question("schema", language, _request("schema", language, schema=_SEA), right)


def _number(language: str) -> _Question:
    def right(reply: Reply) -> bool:
        data = _object(reply.text)
        return set(data) == {"n"} and data["n"] in (7, 8, 9)

    return _Question("schema", language, _request("schema_number", language, schema=_NUMBER), right)


def _tool(language: str) -> dict[str, Any]:
    city = {"type": "string", "description": text("probe", language, "tool_city")}
    parameters = {"type": "object", "properties": {"city": city}, "required": ["city"]}
    function = {"name": "weather", "description": text("probe", language, "tool"), "parameters": parameters}
    return {"type": "function", "function": function}


def _cities(reply: Reply) -> list[str]:
    """The cities of the structured calls; a call of another tool or without a readable city counts as an empty one."""
    out: list[str] = []
    calls: Sequence[dict[str, Any]] = reply.tool_calls
    for call in calls:
        function = cast("dict[str, Any]", call.get("function") or {})
        given = function.get("arguments")
        data = _object(given) if isinstance(given, str) else cast("dict[str, Any]", given or {})
        city = str(data.get("city", "")).removesuffix("市")
        out.append(city.split(",")[0].strip() if function.get("name") == "weather" else "")
    return out


def _city(written: str, language: str) -> bool:
    return text("probe", language, "city") in str(_object(written.strip("`")).get("city", ""))


def _object(written: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(written)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
