"""Numbers for passages that say where a passage stands.

Owes: an id of 63 bits: document, section, place inside the section. The neighbours inside a section are `id - 1` and
`id + 1`; at a section's border there is nobody, so a hit that grows by its neighbours never leaves its section. Ids
rise with the document number, so a later document stands behind an earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence

from .passage import Passage

_PLACE_BITS = 20
_SECTION_BITS = 20
DOCUMENT_SHIFT = _PLACE_BITS + _SECTION_BITS
"""How far to shift an id right for the number of its document."""
_MOST = (1 << _PLACE_BITS) - 2


def number_passages(document: int, passages: Sequence[Passage]) -> list[int]:
    """The ids of a document's passages, rising, in their order."""
    ids: list[int] = []
    section, place = -1, 0
    for passage in passages:
        if passage.section != section:
            section, place = passage.section, 0
        place += 1
        if place >= _MOST or section >= _MOST:
            raise ValueError(f"{passage.source} has more than a million passages; split the file")
        ids.append((document << DOCUMENT_SHIFT) | (section << _PLACE_BITS) | place)
    return ids


def document_of(passage_id: int) -> int:
    """The number of the document a passage belongs to."""
    return passage_id >> DOCUMENT_SHIFT
