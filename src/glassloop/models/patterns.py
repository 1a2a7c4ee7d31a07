r"""Regular expressions in the small language that llama.cpp's grammar compiler reads.

It owes a pattern that means the same, or None. The compiler wants anchors at both
ends and knows literals, classes, groups, alternatives and counts; it has no `\d`, no
look-around, no back-references and no lazy counts, and prints a warning to the
terminal when it meets one.
"""

from __future__ import annotations

_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": " \\t\\n\\r"}
_PLAIN_ESCAPES = frozenset(r"^$.[]|()*+?{}\/-") | {"t", "n", "r"}


def portable_pattern(pattern: str) -> str | None:
    """Return an equal pattern with anchors that llama.cpp reads, or None if there is none."""
    if len(pattern) > 500:
        return None
    starts, ends = pattern.startswith("^"), pattern.endswith("$") and not pattern.endswith("\\$")
    body = pattern[1 if starts else 0 : len(pattern) - 1 if ends else None]
    alternatives = "|" in body
    if alternatives and not (body.startswith("(") and body.endswith(")")) and (starts or ends):
        # `^a|b$` anchors each side once; putting both anchors around both would narrow it.
        return None
    translated = _translate(body)
    if translated is None:
        return None
    if alternatives:
        translated = f"({translated})"
    # A pattern without an anchor may match anywhere inside the text.
    return f"^{'' if starts else '.*'}{translated}{'' if ends else '.*'}$"


def _translate(body: str) -> str | None:
    out: list[str] = []
    inside = False
    i = 0
    while i < len(body):
        c = body[i]
        if c == "\\":
            if i + 1 == len(body):
                return None
            escape = body[i + 1]
            if escape in _CLASSES:
                out.append(_CLASSES[escape] if inside else f"[{_CLASSES[escape]}]")
            elif escape in _PLAIN_ESCAPES:
                out.append(escape if escape == "/" or (escape == "-" and not inside) else c + escape)
            else:
                return None
            i += 2
            continue
        if not inside and (c in "^$" or body.startswith("(?", i)):
            return None
        if not inside and c in "?+" and i and body[i - 1] in "*+?}" and not _escaped_before(body, i - 1):
            return None  # lazy or possessive counts
        if c == "[" and not inside:
            inside = True
        elif c == "]" and inside:
            inside = False
        out.append(c)
        i += 1
    return None if inside else "".join(out)


def _escaped_before(body: str, i: int) -> bool:
    count = 0
    while i > 0 and body[i - 1] == "\\":
        count, i = count + 1, i - 1
    return count % 2 == 1
