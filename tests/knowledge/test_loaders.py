"""Files of every kind become documents, and what cannot is refused with one sentence."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable

import pytest

from glassloop.errors import KnowledgeError
from glassloop.knowledge import chunk
from glassloop.knowledge.load import load_bytes

CHINESE = "这台机器的过滤器需要每个月清洗一次。请先断开电源，然后打开盖子。"
TRADITIONAL = "這台機器的過濾器需要每個月清洗一次。請先斷開電源，然後打開蓋子。"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings(encoding: str) -> None:
    assert load_bytes(CHINESE.encode(encoding), "a.txt").text == CHINESE


def test_big5_is_not_taken_for_gb18030() -> None:
    assert load_bytes(TRADITIONAL.encode("big5"), "a.txt").text == TRADITIONAL
    assert load_bytes(TRADITIONAL.encode("gb18030"), "a.txt").text == TRADITIONAL


def test_western_and_damaged_texts() -> None:
    german = "Die Höhe über dem Meer beträgt für gewöhnlich fünf Meter."
    assert load_bytes(german.encode("cp1252"), "a.txt").text == german
    assert "机器" in load_bytes(CHINESE.encode()[:-1], "a.txt").text
    with pytest.raises(KnowledgeError, match="is no text file"):
        load_bytes(bytes(range(256)) * 20, "a.txt")


@pytest.mark.parametrize("data", [b"", b"   \n\n", b"\xef\xbb\xbf", b"\0\0\0"])
def test_empty_files(data: bytes) -> None:
    with pytest.raises(KnowledgeError, match="is empty"):
        load_bytes(data, "a.md")


def test_html_keeps_its_shape_and_loses_its_furniture() -> None:
    page = """<!doctype html><html><head><title>Manual</title><style>p{}</style></head><body>
    <nav><a href="/">Home</a></nav><h1>Pump</h1><p>First  <b>bold</b> words.</p>
    <h2>Steps</h2><ol><li>Open</li><li>Close<ul><li>slowly</li></ul></li></ol>
    <table><tr><th>Pin</th><th>Colour</th></tr><tr><td>1</td><td>black</td></tr></table>
    <pre>x = 1
y = 2</pre><script>alert(1)</script><footer>imprint</footer></body></html>"""
    loaded = load_bytes(page.encode(), "a.html")
    assert loaded.title == "Manual"
    assert loaded.text == (
        "# Pump\n\nFirst bold words.\n\n## Steps\n\n1. Open\n2. Close\n  - slowly\n\n"
        "| Pin | Colour |\n| 1 | black |\n\n```\nx = 1\ny = 2\n```\n"
    )


def test_html_in_gb2312() -> None:
    page = f'<html><head><meta charset="gb2312"></head><body><p>{CHINESE}</p></body></html>'
    assert load_bytes(page.encode("gbk"), "a.html").text.strip() == CHINESE


def test_html_bombs() -> None:
    with pytest.raises(KnowledgeError, match="refused: HTML nested 200,000 deep"):
        load_bytes(b"<div>" * 200_000 + b"bottom", "deep.html")
    assert "bottom" in load_bytes(b"<div>" * 2_000 + b"bottom", "deep.html").text
    with pytest.raises(KnowledgeError, match="refused: HTML with 3,000,001 tags"):
        load_bytes(b"<" * 3_000_001 + b"x", "many.html")
    with pytest.raises(KnowledgeError, match="refused: an HTML file of 51 MB"):
        load_bytes(b"x" * (51 << 20), "large.html")


def test_tables_name_their_columns_in_every_row() -> None:
    assert load_bytes(b"Model;Weight;Price\nA-100;3 kg;20\nA-200;;30\n", "a.csv").text == (
        "Model; Weight; Price\nModel: A-100; Weight: 3 kg; Price: 20\nModel: A-200; Price: 30\n"
    )
    assert load_bytes("型号\t重量\nA\t3\n".encode(), "a.tsv").text == "型号; 重量\n型号: A; 重量: 3\n"
    assert load_bytes(b"1,2\n3,4\n", "a.csv").text == "| 1 | 2 |\n| 3 | 4 |\n"


def test_records() -> None:
    value = [{"question": "How to reset?", "answer": "Hold it.", "tags": ["a", "b"], "more": {"pages": [{"n": 1}]}}]
    expected = "## How to reset?\n\nanswer: Hold it.\ntags: a, b\nmore.pages.n: 1\n"
    assert load_bytes(json.dumps(value).encode(), "a.json").text == expected
    lines = json.dumps(value[0]) + "\nnot json\n" + json.dumps({"x": True}) + "\n"
    loaded = load_bytes(lines.encode(), "a.jsonl")
    assert loaded.text == expected + "\nx: true\n"
    assert loaded.note == "1 lines are no JSON and were left out"
    with pytest.raises(KnowledgeError, match="is no JSON"):
        load_bytes(b"{", "a.json")
    with pytest.raises(KnowledgeError, match="is no JSON"):
        load_bytes(b"[" * 200_000, "a.json")


def docx_file() -> bytes:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading("泵 P-200", 1)
    document.add_paragraph("The pump moves water.")
    document.add_heading("Wiring", 2)
    document.add_paragraph("red", style="List Bullet")
    table = document.add_table(2, 2)
    for cell, text in zip([*table.rows[0].cells, *table.rows[1].cells], ["Pin", "Colour", "1", "black"], strict=True):
        cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def xlsx_file() -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Parts"
    for row in (["Part", "Weight"], ["A-100", 3], ["A-200", None]):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def epub_file() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "META-INF/container.xml", '<container><rootfiles><rootfile full-path="b/x.opf"/></rootfiles></container>'
        )
        archive.writestr(
            "b/x.opf",
            '<package xmlns:dc="d"><metadata><dc:title>Book</dc:title></metadata><manifest>'
            '<item id="1" href="one.xhtml"/>'
            '<item id="2" href="two%20x.xhtml"/></manifest><spine><itemref idref="2"/><itemref idref="1"/>'
            '<itemref idref="9"/></spine></package>',
        )
        archive.writestr("b/one.xhtml", "<html><body><h1>One</h1><p>Last.</p></body></html>")
        archive.writestr("b/two x.xhtml", "<html><body><h1>Two</h1><p>First.</p></body></html>")
    return out.getvalue()


def test_word() -> None:
    loaded = load_bytes(docx_file(), "a.docx")
    assert loaded.text == (
        "# 泵 P-200\n\nThe pump moves water.\n\n## Wiring\n\n- red\n\n| Pin | Colour |\n| 1 | black |\n"
    )
    assert load_bytes(docx_file(), "wrong-name.bin").text == loaded.text


def test_excel() -> None:
    assert load_bytes(xlsx_file(), "a.xlsx").text == "## Parts\n\nPart; Weight\nPart: A-100; Weight: 3\nPart: A-200\n\n"


def test_books() -> None:
    loaded = load_bytes(epub_file(), "a.epub")
    assert loaded.text == "# Two\n\nFirst.\n\n# One\n\nLast.\n"
    assert (loaded.title, loaded.note) == ("Book", "1 pages of the book are missing")


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


LAUGHS = (
    b'<!DOCTYPE l [<!ENTITY a0 "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10))
    + b"]><l>&a9;</l>"
)


def test_a_zip_bomb_is_refused_with_its_size() -> None:
    bomb = zipped({"word/document.xml": b"0" * (100 << 20)})
    with pytest.raises(KnowledgeError, match=r"is refused: it would unpack from \d+ kB to 100 MB"):
        load_bytes(bomb, "a.docx")


def test_a_zip_that_lies_about_its_size_is_refused() -> None:
    honest = bytearray(zipped({"word/document.xml": b"0" * (30 << 20)}))
    at = honest.rfind(b"PK\x01\x02")
    honest[at + 24 : at + 28] = (1000).to_bytes(4, "little")
    with pytest.raises(KnowledgeError):
        load_bytes(bytes(honest), "a.docx")


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.epub"])
def test_billion_laughs_are_refused_with_their_size(name: str) -> None:
    part = {"a.docx": "word/document.xml", "a.xlsx": "xl/workbook.xml", "a.epub": "META-INF/container.xml"}[name]
    with pytest.raises(KnowledgeError, match=r"is refused: an entity in .* would grow to 1,907 MB"):
        load_bytes(zipped({part: LAUGHS}), name)


def test_billion_laughs_in_plain_xml() -> None:
    with pytest.raises(KnowledgeError, match="would grow to 1,907 MB"):
        load_bytes(LAUGHS, "a.xml")
    circle = b'<!DOCTYPE l [<!ENTITY a "&b;"><!ENTITY b "&a;">]><l>&a;</l>'
    with pytest.raises(KnowledgeError, match="would grow"):
        load_bytes(circle, "a.xml")
    assert load_bytes(b'<!DOCTYPE l [<!ENTITY a "x">]><l>&a;</l>', "a.xml").format == "code"


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"PK\x03\x04broken", "a.docx", "is broken: its archive cannot be opened"),
        (b"no zip at all", "a.docx", "is no DOCX file"),
        (b"no pdf at all", "a.pdf", "is no PDF file"),
        (b"%PDF-1.7\nbroken", "a.pdf", "is no PDF file, or a broken one"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 100, "a.docx", "old or encrypted Office file"),
        (zipped({"a.txt": b"x"}), "a.zip", "is an archive; unpack it first"),
        (zipped({"word/document.xml": b"<w"}), "a.docx", "is no DOCX file, or a broken one"),
        (zipped({"xl/workbook.xml": b"<w"}), "a.xlsx", "is no XLSX file, or a broken one"),
        (zipped({"META-INF/container.xml": b"<w"}), "a.epub", "is no EPUB file, or a broken one"),
    ],
)
def test_broken_files_are_refused_in_one_sentence(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(KnowledgeError, match=reason) as caught:
        load_bytes(data, name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", [docx_file, xlsx_file, epub_file])
def test_files_cut_anywhere_never_break_the_loader(make: Callable[[], bytes]) -> None:
    data = make()
    for length in range(4, len(data), max(1, len(data) // 25)):
        try:
            load_bytes(data[:length], "a." + make.__name__.split("_")[0])
        except KnowledgeError as error:
            assert "\n" not in str(error)


def test_source_files_are_cut_at_their_margin() -> None:
    code = '"""Doc."""\n\nimport os\n\n\ndef one():\n    x = 1\n\n    return x\n\n\ndef two():\n    return 2\n'
    loaded = load_bytes(code.encode(), "tool.py")
    passages = chunk(loaded.text, size=60, format=loaded.format, title=loaded.title)
    assert any(p.text.startswith("def one") and "return x" in p.text for p in passages)
    assert passages[0].headings == ("tool.py",)
