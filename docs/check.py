"""Check the documents against the code: `python docs/check.py`. Exits 1 with one line for everything that is wrong.

- Links resolve: files exist, headings exist, and a link to a source line points at the definition it names.
- Python blocks run, one document at a time in one namespace, in an empty folder, without a model or a network. A
  comment in column 0 under a `print` is its output, and so is a ```text block right after the Python one. Blocks
  marked `live` need a model and are only compiled.
- Every `glassloop COMMAND` that is written exists, and every command stands in the README's table.
- English and Chinese have the same files, headings and code blocks.
- Generated documents are as the code says now (`make docs` writes them).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import make_reference

from glassloop.cli import COMMANDS

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
GENERATED = {DOCS / "reference.md", DOCS / "commands.md"}
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)|<img [^>]*src=\"([^\"]+)\"")
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```[ \t]*\n?", re.M | re.S)
WRITTEN = re.compile(r"\bglassloop ([a-z][a-z-]*)")
NOT_COMMANDS = {"command", "is", "and", "does", "import"}


@dataclass
class Block:
    """One fenced block: the words after the fence, the text, and the text block right after it."""

    info: str
    text: str
    line: int
    output: str | None


def documents() -> list[Path]:
    """Return every Markdown document of the project."""
    return sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("llms.txt")])


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a document."""
    found = list(FENCE.finditer(text))
    for number, match in enumerate(found):
        after = found[number + 1] if number + 1 < len(found) else None
        follows = after is not None and not text[match.end() : after.start()].strip() and after[1].strip() == "text"
        yield Block(match[1].strip(), match[2], text.count("\n", 0, match.start()) + 1, after[2] if follows else None)


def headings(text: str) -> list[str]:
    """Return the headings of a document, code blocks left out."""
    return re.findall(r"^(#+ .+)$", FENCE.sub("", text), re.M)


def anchors(text: str) -> set[str]:
    """Return the names under which a document's headings can be linked, as the common hosts make them."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lstrip("# ").lower()) for heading in headings(text))
    return {name.strip().replace(" ", "-") for name in plain}


def links(document: Path, text: str) -> Iterator[str]:
    """Yield what is wrong with a document's links."""
    for match in LINK.finditer(re.sub(r"`[^`\n]+`(?!\])", "", FENCE.sub("", text))):
        target = next(filter(None, match.groups()))
        if re.match(r"[a-z]+:", target):
            continue
        where, _, anchor = target.partition("#")
        file = (document.parent / where).resolve() if where else document
        if not file.exists():
            yield f"there is no {target}"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"{where or 'this document'} has no heading #{anchor}"
    for match in make_reference.SOURCE_LINK.finditer(text):
        if make_reference.line_of((document.parent / match[2]).resolve(), match[1]) is None:
            yield f"{match[2]} defines no {match[1]}"


def python(document: Path, text: str) -> Iterator[str]:
    """Yield what is wrong with a document's Python blocks: they are run, and their output is compared."""
    program = ["import contextlib as _c, io as _i, json as _j, sys as _s", "_n = {'__name__': '__main__'}"]
    found = [b for b in blocks(text) if b.info.split()[:1] == ["python"]]
    for block in found:
        code = repr("\n" * block.line + block.text)
        if "live" in block.info.split():
            program.append(f"compile({code}, {document.name!r}, 'exec')")
            continue
        program += [
            "_o = _i.StringIO()",
            f"with _c.redirect_stdout(_o): exec(compile({code}, {document.name!r}, 'exec'), _n)",
            f"_s.stderr.write('\\x01' + _j.dumps([{block.line}, _o.getvalue()]) + '\\n')",
        ]
    if not found:
        return
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "OLLAMA_"))},
        "PYTHONPATH": str(ROOT / "src"),
        "HF_HUB_OFFLINE": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-c", "\n".join(program)],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    outputs = dict(eval_json(line) for line in ran.stderr.splitlines() if line.startswith("\x01"))
    if ran.returncode:
        yield "a Python block fails: " + " ".join(ran.stderr.strip().splitlines()[-3:])
    for block in found:
        if block.line in outputs:
            yield from compared(block, outputs[block.line])


def eval_json(line: str) -> tuple[int, str]:
    """Return a line number and what the block there printed."""
    import json

    number, printed = json.loads(line[1:])
    return int(number), str(printed)


def compared(block: Block, printed: str) -> Iterator[str]:
    """Yield where the output that a document shows is not what was printed."""
    said = [line.rstrip() for line in printed.splitlines()]
    if block.output is not None:
        if [line.rstrip() for line in block.output.splitlines()] != said:
            yield f"the block at line {block.line} prints\n{printed}"
        return
    at = re.finditer(r"^[ \t]*print\(.*\n((?:# .*\n?)+)", block.text, re.M)
    for line in (line[2:].rstrip() for match in at for line in match[1].splitlines()):
        if line not in said:
            yield f"the block at line {block.line} never prints {line!r}; it prints\n{printed}"


def commands(text: str) -> Iterator[str]:
    """Yield every command that is written and does not exist."""
    code = "\n".join([*re.findall(r"`([^`\n]+)`", text), *(b.text for b in blocks(text) if b.info != "python")])
    for name in sorted(set(WRITTEN.findall(code)) - set(COMMANDS) - NOT_COMMANDS):
        yield f"there is no command glassloop {name}"


def pairs() -> Iterator[tuple[Path, Path]]:
    """Yield every English document with its Chinese one."""
    yield ROOT / "README.md", ROOT / "README.zh.md"
    names = {p.name for p in (DOCS / "guide").rglob("*.md")}
    for name in sorted(names):
        yield DOCS / "guide" / "en" / name, DOCS / "guide" / "zh" / name


def twins(english: Path, chinese: Path) -> Iterator[str]:
    """Yield where the two languages part."""
    for file, other in ((english, chinese), (chinese, english)):
        if not file.exists():
            yield f"{other.relative_to(ROOT)}: the other language has no {file.name}"
            return
    one, two = english.read_text(encoding="utf-8"), chinese.read_text(encoding="utf-8")
    shapes = [([len(h.split()[0]) for h in headings(t)], [b.info for b in blocks(t)]) for t in (one, two)]
    if shapes[0][0] != shapes[1][0]:
        yield f"{chinese.relative_to(ROOT)}: its headings are not those of the English one"
    if shapes[0][1] != shapes[1][1]:
        yield f"{chinese.relative_to(ROOT)}: its code blocks are not those of the English one"


def problems() -> Iterator[str]:
    """Yield everything that is wrong, each with its document."""
    for document in documents():
        text = document.read_text(encoding="utf-8")
        checks = [links(document, text)]
        if document not in GENERATED:
            checks += [commands(text), python(document, text)]
        for check in checks:
            for problem in check:
                yield f"{document.relative_to(ROOT)}: {problem}"
    for english, chinese in pairs():
        yield from twins(english, chinese)
    for readme in (ROOT / "README.md", ROOT / "README.zh.md"):
        text = readme.read_text(encoding="utf-8")
        yield from (f"{readme.name}: glassloop {c} is not in it" for c in COMMANDS if f"glassloop {c}" not in text)
    for file, text in make_reference.made().items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            yield f"{file.relative_to(ROOT)}: not as the code says now; run make docs"


def main() -> int:
    """Print every problem, or that there is none."""
    found = list(problems())
    for problem in found:
        print(problem)
    print(f"{len(documents())} documents, {len(found)} problem{'s' if len(found) != 1 else ''}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
