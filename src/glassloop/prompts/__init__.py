"""The words sent to a model and read from it, as data files: one group and language a file, equal keys.

A text is a string or a list of lines. `$name` marks a value; a value that is not
given is an error, so that no prompt ever goes out with a hole in it.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from string import Template
from typing import Any

LANGUAGES = ("en", "zh")


@cache
def load(group: str, language: str) -> dict[str, Any]:
    """Return the texts of one group, for example `load("protocol", "zh")`."""
    name = f"{group}.{language if language in LANGUAGES else 'en'}.json"
    return json.loads(resources.files(__name__).joinpath(name).read_text(encoding="utf-8"))


def text(group: str, language: str, key: str, **values: Any) -> str:
    """Return one text with its values filled in.

    Raises:
        KeyError: The key does not exist or a value of the template is missing.
    """
    found: str | list[str] = load(group, language)[key]
    template = "\n".join(found) if isinstance(found, list) else found
    return Template(template).substitute(values)


_HAN, _LATIN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+"), re.compile("[A-Za-z]+")


def language_of(question: str) -> str:
    """Return `zh` for text with a noticeable share of Chinese characters, else `en`."""
    han = sum(map(len, _HAN.findall(question)))
    words = sum(map(len, _LATIN.findall(question))) if han else 0
    return "zh" if han and han * 4 >= words else "en"
