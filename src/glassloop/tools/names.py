"""Finding the tool a model meant: exactly, or by case, width and prefix; never by guessing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_PREFIX = re.compile(r"^(functions?|tools?|default_api|namespace)[.:/]+", re.IGNORECASE)


def plain_name(name: str) -> str:
    """A name without case, width, surrounding marks, prefixes, and with one kind of separator."""
    text = unicodedata.normalize("NFKC", name).strip().strip("`'\"*[](){}<>.:;,")
    text = _PREFIX.sub("", text)
    return re.sub(r"[\s_\-]+", "_", text).lower()


def resolve(name: str, names: Iterable[str]) -> str | None:
    """Return the tool a name stands for, or None. Two tools that differ only in case are never mixed up."""
    known = list(names)
    if name in known:
        return name
    same = [n for n in known if plain_name(n) == plain_name(name)]
    return same[0] if len(same) == 1 else None


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the one tool whose name is like `name`, for a hint; None when none or several are."""
    import difflib

    by_plain = {plain_name(n): n for n in names}
    near = difflib.get_close_matches(plain_name(name), by_plain, n=2, cutoff=0.75)
    return by_plain[near[0]] if len(near) == 1 else None
