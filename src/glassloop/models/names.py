"""Which of the known names did the person mean?"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def near(name: str, known: Iterable[str], *, limit: int = 3) -> list[str]:
    """Return up to `limit` known names that are close to `name`, the closest first.

    A name that begins with, or is begun by, the wanted one counts as close:
    people leave out tags (`qwen3` for `qwen3:4b`) more often than they misspell.
    """
    names = list(dict.fromkeys(known))
    wanted = name.casefold()
    begun = [n for n in names if wanted and (n.casefold().startswith(wanted) or wanted.startswith(n.casefold()))]
    folded = {n.casefold(): n for n in names}
    close = [folded[c] for c in difflib.get_close_matches(wanted, folded, n=limit, cutoff=0.5)]
    return list(dict.fromkeys([*begun, *close]))[:limit]


def suggest(name: str, known: Iterable[str], *, otherwise: str = "name one that the server lists.") -> str:
    """End a sentence about an unknown name: the near ones, else some of the known ones, else `otherwise`."""
    names = list(dict.fromkeys(known))
    if close := near(name, names):
        return f"did you mean {' or '.join(close)}?"
    if names:
        more = ", …" if len(names) > 8 else ""
        return f"it has {', '.join(names[:8])}{more}."
    return otherwise
