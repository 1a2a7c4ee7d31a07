"""HTML as Markdown.

Owes: `load_html`, and `html_to_markdown` for the other formats that contain HTML. Headings, lists, tables and code
keep their shape; scripts, styles, navigation and page furniture are left out. The tree is walked without recursion, so
that a page of a million nested elements is only a slow page.
"""

from __future__ import annotations

import re
from typing import Any

from ...errors import KnowledgeError, MissingExtra
from ..load import Loaded, tidy
from .encoding import decode

MOST_BYTES = 50 << 20
_MOST_DEPTH = 5_000
_DROPPED = frozenset(
    "script style noscript template svg canvas iframe object nav footer button select form head".split()
)
_BLOCKS = frozenset(
    "p div section article main header aside ul ol dl dt dd figure figcaption blockquote address table tbody thead "
    "details summary hr fieldset".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{2,20})", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_UNCLOSED = frozenset(
    "p li td th tr dt dd option thead tbody tfoot br img hr input meta link area base col embed source wbr".split()
)
_SPACES = re.compile(r"[\s\u00a0]+")


def load_html(data: bytes, name: str) -> Loaded:
    """A page as Markdown."""
    if len(data) > MOST_BYTES:
        raise KnowledgeError(f"is refused: an HTML file of {len(data) >> 20} MB; split it")
    text, title = html_to_markdown(_decoded(data))
    return Loaded(text, "markdown", title=title)


def _decoded(data: bytes) -> str:
    declared = _CHARSET.search(data[:4096])
    if declared and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        encoding = declared.group(1).decode("ascii").lower()
        # Pages that say GB2312 use the larger set.
        encoding = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs"}.get(encoding, encoding)
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(data)


def html_to_markdown(html: str) -> tuple[str, str]:
    """The text of a page, and its title."""
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as error:
        raise MissingExtra("selectolax", "documents", "read HTML") from error
    if html.count("<") > 3_000_000:
        raise KnowledgeError(f"is refused: HTML with {html.count('<'):,} tags")
    if (depth := _depth(html)) > _MOST_DEPTH:
        raise KnowledgeError(f"is refused: HTML nested {depth:,} deep")
    tree: Any = LexborHTMLParser(html)
    title_node = tree.css_first("title")
    title = _SPACES.sub(" ", title_node.text()).strip() if title_node else ""
    root = tree.css_first("main") or tree.body or tree.root
    if root is None:
        return "", title
    writer = _Writer()
    _walk(root, writer)
    return tidy(writer.text()), title


def _depth(html: str) -> int:
    """How deep elements stand in each other, roughly: parsers take time with the square of it."""
    depth = deepest = 0
    for closing, name in _TAG.findall(html):
        if name.lower() in _UNCLOSED:
            continue
        depth = max(0, depth - 1) if closing else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _walk(root: Any, writer: _Writer) -> None:
    """Depth first, by the links between nodes."""
    node, depth = root, 0
    while node is not None:
        tag = node.tag or ""
        entered = tag not in _DROPPED and depth < _MOST_DEPTH
        if tag == "-text":
            writer.words(node.text(deep=False))
        elif entered and not tag.startswith("-"):
            writer.open(tag, node)
            if (child := node.child) is not None:
                node, depth = child, depth + 1
                continue
            writer.close(tag)
        while node is not None and node.next is None:
            if depth == 0:
                return
            node, depth = node.parent, depth - 1
            writer.close(node.tag or "")
            if depth == 0:
                return
        if depth == 0:
            return
        node = node.next if node is not None else None


class _Writer:
    """Collects Markdown while the tree is walked."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._lists: list[int] = []
        """For each open list the number of its next item; 0 for bullets."""
        self._pre = 0
        self._row: list[str] | None = None
        self._cell: list[str] | None = None
        self._rows = 0

    def words(self, text: str) -> None:
        """Text of the page."""
        if self._cell is not None:
            self._cell.append(_SPACES.sub(" ", text))
        elif self._pre:
            self._parts.append(text)
        else:
            flat = _SPACES.sub(" ", text)
            if flat == " " and (not self._parts or self._parts[-1].endswith((" ", "\n"))):
                return
            if self._parts and self._parts[-1].endswith(("\n", " ")) and not self._parts[-1].endswith("- "):
                flat = flat.lstrip(" ") if self._parts[-1].endswith("\n") else flat
            self._parts.append(flat)

    def open(self, tag: str, node: Any) -> None:
        """An element begins."""
        if self._cell is not None:
            if tag in ("br", "p", "div", "li"):
                self._cell.append(" ")
            return
        if tag in _HEADINGS:
            self._break(2)
            self._parts.append("#" * _HEADINGS[tag] + " ")
        elif tag == "pre":
            self._break(2)
            self._parts.append("```\n")
            self._pre += 1
        elif tag in ("ul", "ol"):
            self._lists.append(1 if tag == "ol" else 0)
            self._break(1)
        elif tag == "li":
            self._item()
        elif tag == "tr":
            self._break(1)
            self._row = []
        elif tag in ("td", "th") and self._row is not None:
            self._cell = []
        elif tag == "br":
            self._parts.append("\n")
        elif tag in _BLOCKS:
            self._break(1 if self._lists else 2)

    def close(self, tag: str) -> None:
        """An element ends."""
        if tag in ("td", "th") and self._cell is not None and self._row is not None:
            self._row.append(_SPACES.sub(" ", "".join(self._cell)).strip().replace("|", "\\|"))
            self._cell = None
        elif self._cell is not None:
            return
        elif tag == "tr" and self._row is not None:
            if any(self._row):
                self._parts.append("| " + " | ".join(self._row) + " |\n")
            self._row = None
        elif tag in _HEADINGS:
            self._break(2)
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self._break(1)
            self._parts.append("```\n\n")
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            self._break(1 if self._lists else 2)
        elif tag in _BLOCKS and not self._lists:
            self._break(2)

    def text(self) -> str:
        """All that was written."""
        return "".join(self._parts)

    def _item(self) -> None:
        self._break(1)
        indent = "  " * max(0, len(self._lists) - 1)
        if self._lists and self._lists[-1]:
            self._parts.append(f"{indent}{self._lists[-1]}. ")
            self._lists[-1] += 1
        else:
            self._parts.append(f"{indent}- ")

    def _break(self, lines: int) -> None:
        """At least so many line ends before what comes; an item's mark stays with its first words."""
        if not self._parts:
            return
        tail = "".join(self._parts[-3:])
        if re.search(r"(?:^|\n)\s*(?:-|\d+\.) $", tail):
            return
        self._parts.append("\n" * (lines - (len(tail) - len(tail.rstrip("\n")))))
