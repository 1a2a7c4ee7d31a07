"""EPUB books.

Owes: `load_epub`, the chapters in reading order as one Markdown text. The format is a zip of XHTML pages with a list
of them; the one library for it that is widely used has a licence (AGPL) that does not allow everything.
"""

from __future__ import annotations

import posixpath
from urllib.parse import unquote
from xml.etree import ElementTree

from ...errors import KnowledgeError
from ..load import Loaded
from .archive import check_members, open_archive, read_member
from .web import html_to_markdown

_PAGE_BYTES = 50 << 20


def load_epub(data: bytes, name: str) -> Loaded:
    """A book as Markdown."""
    archive = open_archive(data)
    check_members(archive)
    try:
        container = ElementTree.fromstring(read_member(archive, "META-INF/container.xml"))
        root_file = next(node.attrib["full-path"] for node in container.iter() if node.tag.endswith("rootfile"))
        package = ElementTree.fromstring(read_member(archive, root_file))
    except (ElementTree.ParseError, StopIteration, KeyError) as error:
        raise KnowledgeError("is no EPUB file, or a broken one: its list of pages cannot be read") from error
    folder = posixpath.dirname(root_file)
    items = {node.attrib.get("id", ""): node.attrib.get("href", "") for node in package.iter() if _tag(node) == "item"}
    titles = [node.text or "" for node in package.iter() if _tag(node) == "title"]
    names = set(archive.namelist())
    parts: list[str] = []
    missing = 0
    for node in package.iter():
        if _tag(node) != "itemref":
            continue
        page = posixpath.normpath(posixpath.join(folder, unquote(items.get(node.attrib.get("idref", ""), ""))))
        if page not in names:
            missing += 1
            continue
        text, _ = html_to_markdown(read_member(archive, page, _PAGE_BYTES).decode("utf-8", "replace"))
        if text.strip():
            parts.append(text)
    note = f"{missing} pages of the book are missing" if missing else ""
    return Loaded("\n".join(parts), "markdown", title=titles[0].strip() if titles else "", note=note)


def _tag(node: ElementTree.Element) -> str:
    return node.tag.rsplit("}", 1)[-1]
