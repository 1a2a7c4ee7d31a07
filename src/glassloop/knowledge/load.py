"""From a file to a document.

Owes: `load(path)` and `load_bytes(data, name)`: Markdown, text, HTML, PDF, DOCX, CSV, TSV, XLSX, JSON, JSONL, EPUB and
source files. What cannot be read is refused with one sentence: broken, encrypted, empty, scanned, too large, a bomb.
A file is read once, as bytes: it cannot change between its hash and its text.

Offsets of passages count characters of the text that comes out of here: for Markdown, text and source files that is
the file's own text, decoded; for all others the text extracted from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..errors import KnowledgeError
from .passage import Document, Format

MOST_BYTES = 300 << 20
MOST_CHARACTERS = 60_000_000
"""Some thirty thousand pages; more is a bomb or a database, not a document."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a loader gives: a text and how to cut it."""

    text: str
    format: Format = "markdown"
    title: str = ""
    pages: tuple[int, ...] = ()
    note: str = ""
    """One sentence where the file could not be read as one would wish."""
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


Loader = Callable[[bytes, str], Loaded]

_MARKDOWN = frozenset(".md .markdown .mdown .mkd .mdx .rst".split())
_TEXT = frozenset(".txt .text .log .org .tex .adoc .asciidoc .srt .vtt .eml".split())
_CODE = frozenset(
    ".py .pyi .js .mjs .cjs .ts .tsx .jsx .java .kt .scala .go .rs .c .h .cc .cpp .cxx .hpp .hh .cs .swift .rb .php "
    ".pl .lua .r .jl .sh .bash .zsh .fish .ps1 .bat .sql .toml .yaml .yml .ini .cfg .conf .env .xml .css .scss .vue "
    ".dart .ex .exs .erl .hs .ml .clj .groovy .gradle .proto .graphql .tf .dockerfile .cmake .mk .asm .v .vhdl".split()
)
_NAMES = frozenset("readme license licence changelog makefile dockerfile contributing authors notice".split())


def hash_bytes(data: bytes) -> str:
    """The content hash by which unchanged files are known."""
    return blake2b(data, digest_size=16).hexdigest()


def suffixes() -> frozenset[str]:
    """All suffixes that can be read."""
    return _MARKDOWN | _TEXT | _CODE | frozenset(_loaders())


def readable(path: Path) -> bool:
    """Whether a file in a folder is taken for a document, by its name."""
    return path.suffix.lower() in suffixes() or (not path.suffix and path.name.lower() in _NAMES)


def load(path: str | Path, *, source: str = "") -> Document:
    """Read a file.

    Raises:
        KnowledgeError: It cannot be read; the message is one sentence that says why and what to do.
    """
    file = Path(path)
    loaded = load_bytes(read_bytes(file), file.name)
    return as_document(loaded, source or file.name)


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """A file's bytes, all of one moment."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise KnowledgeError(f"cannot be read ({error.strerror or error}); check its permissions") from error
    if len(data) > most:
        raise KnowledgeError(f"is larger than {most >> 20} MB; split it")
    return data


def load_bytes(data: bytes, name: str) -> Loaded:
    """The text of a file's bytes; `name` tells its type, and its first bytes correct a wrong name."""
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf"):
        raise KnowledgeError("is empty")
    suffix = _kind(data, name)
    loader = _loaders().get(suffix)
    loaded = loader(data, name) if loader else _plain(data, name, suffix)
    if len(loaded.text) > MOST_CHARACTERS:
        raise KnowledgeError(f"has more than {MOST_CHARACTERS:,} characters; split it")
    if not loaded.text.strip():
        raise KnowledgeError("has no text")
    return loaded


def as_document(loaded: Loaded, source: str) -> Document:
    """A loaded text under the name it has in a base."""
    return Document(
        source=source,
        text=loaded.text,
        format=loaded.format,
        title=loaded.title or (Path(source).stem if loaded.format in ("code", "table") else ""),
        pages=loaded.pages,
        metadata=loaded.metadata,
    )


def _kind(data: bytes, name: str) -> str:
    suffix = Path(name).suffix.lower()
    head = data[:1024]
    if head.lstrip().startswith(b"%PDF-"):
        return ".pdf"
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        raise KnowledgeError("is an old or encrypted Office file; save it as .docx or .xlsx without a password")
    if head.startswith(b"PK\x03\x04"):
        return suffix if suffix in (".docx", ".xlsx", ".xlsm", ".epub") else _kind_of_zip(data)
    if suffix in (".docx", ".xlsx", ".xlsm", ".epub", ".pdf"):
        raise KnowledgeError(f"is no {suffix[1:].upper()} file, or a broken one")
    return suffix


def _kind_of_zip(data: bytes) -> str:
    from .loaders.archive import open_archive

    names = set(open_archive(data).namelist())
    for member, suffix in (("word/document.xml", ".docx"), ("xl/workbook.xml", ".xlsx")):
        if member in names:
            return suffix
    if "META-INF/container.xml" in names:
        return ".epub"
    raise KnowledgeError("is an archive; unpack it first")


def _plain(data: bytes, name: str, suffix: str) -> Loaded:
    from .loaders.encoding import decode

    text = decode(data)
    if suffix == ".xml":
        from .loaders.archive import refuse_entities

        refuse_entities(data, name)
    if suffix in _MARKDOWN:
        return Loaded(text, "markdown")
    if suffix in _CODE:
        return Loaded(text, "code", title=name)
    return Loaded(text, "text")


def _loaders() -> dict[str, Loader]:
    from .loaders import data, epub, office, pdf, web

    loaders: dict[str, Loader] = {}

    def serve(names: Iterable[str], loader: Loader) -> None:
        loaders.update(dict.fromkeys(names, loader))

    serve((".html", ".htm", ".xhtml"), web.load_html)
    serve((".pdf",), pdf.load_pdf)
    serve((".docx",), office.load_docx)
    serve((".xlsx", ".xlsm"), office.load_xlsx)
    serve((".csv",), data.load_csv)
    serve((".tsv", ".tab"), data.load_tsv)
    serve((".json",), data.load_json)
    serve((".jsonl", ".ndjson"), data.load_jsonl)
    serve((".epub",), epub.load_epub)
    return loaders


def tidy(text: str) -> str:
    """Extracted text without trailing blanks and without more than one empty line in a row."""
    text = re.sub(r"[ \t\u00a0]+(?=\n)", "", text.replace("\r\n", "\n").replace("\r", "\n"))
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"
