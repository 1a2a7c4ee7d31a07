"""Zip files that may be bombs, and XML that may be one.

Owes: `open_archive`, which refuses an archive whose members would unpack to too much, and `refuse_entities`, which
refuses XML whose entities would grow; both name the size.
"""

from __future__ import annotations

import io
import re
import zipfile

from ...errors import KnowledgeError

MOST_UNPACKED = 500 << 20
_MOST_RATIO = 200
_RATIO_MATTERS = 20 << 20
_MOST_MEMBERS = 20_000
_MOST_EXPANDED = 5_000_000
_ENTITY = re.compile(rb"<!ENTITY\s+(?:%\s+)?([\w.:-]+)\s+(?:(?:SYSTEM|PUBLIC)\b|\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_REFERENCE = re.compile(rb"[&%]([\w.:-]+);")


def open_archive(data: bytes) -> zipfile.ZipFile:
    """The archive, if what it unpacks to is of a sane size."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise KnowledgeError("is broken: its archive cannot be opened") from error
    total = sum(member.file_size for member in members)
    if len(members) > _MOST_MEMBERS:
        raise KnowledgeError(f"is refused: its archive holds {len(members):,} files")
    if total > MOST_UNPACKED or (total > _RATIO_MATTERS and total > _MOST_RATIO * len(data)):
        raise KnowledgeError(f"is refused: it would unpack from {_size(len(data))} to {_size(total)}")
    if any(member.flag_bits & 1 for member in members):
        raise KnowledgeError("is encrypted; save it without a password")
    return archive


def read_member(archive: zipfile.ZipFile, name: str, most: int = MOST_UNPACKED) -> bytes:
    """One member; sizes in an archive's directory can lie, so reading stops at the limit."""
    try:
        with archive.open(name) as member:
            data = member.read(most + 1)
    except KeyError as error:
        raise KnowledgeError(f"is broken: it has no {name}") from error
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise KnowledgeError(f"is broken: its part {name} cannot be unpacked") from error
    except Exception as error:  # zlib.error and lzma.LZMAError share no base
        raise KnowledgeError(f"is broken: its part {name} cannot be unpacked") from error
    if len(data) > most:
        raise KnowledgeError(f"is refused: its part {name} unpacks to more than {_size(most)}")
    return data


def check_members(archive: zipfile.ZipFile) -> None:
    """Unpack every XML part once: sizes that lie and entities that grow are found before a library reads them."""
    left = MOST_UNPACKED
    for member in archive.infolist():
        if member.filename.lower().endswith((".xml", ".rels", ".opf", ".ncx")):
            data = read_member(archive, member.filename, left)
            left -= len(data)
            refuse_entities(data, member.filename)


def refuse_entities(data: bytes, name: str) -> None:
    """Refuse XML whose entities would grow beyond measure ("billion laughs")."""
    head = data[: 1 << 20]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.decode("utf-16", "replace").encode()
    if b"<!ENTITY" not in head and b"<!entity" not in head:
        return
    values = {m.group(1): m.group(2) or m.group(3) or b"" for m in _ENTITY.finditer(head)}
    sizes: dict[bytes, int] = {}
    largest = max((_expanded(entity, values, sizes, ()) for entity in values), default=0)
    if largest > _MOST_EXPANDED:
        raise KnowledgeError(f"is refused: an entity in {name} would grow to {_size(largest)}")


def _expanded(entity: bytes, values: dict[bytes, bytes], sizes: dict[bytes, int], above: tuple[bytes, ...]) -> int:
    if entity in sizes:
        return sizes[entity]
    if entity in above or len(above) > 200:
        return _MOST_EXPANDED + 1
    value = values.get(entity, b"")
    size = len(_REFERENCE.sub(b"", value))
    for reference in _REFERENCE.findall(value):
        if reference in values:
            size += _expanded(reference, values, sizes, (*above, entity))
    sizes[entity] = min(size, 1 << 60)
    return sizes[entity]


def _size(count: int) -> str:
    if count < 1 << 20:
        return f"{max(1, count >> 10):,} kB"
    return f"{count >> 20:,} MB"
