"""PDFs: pages, headings, tables, whole words, no running lines."""

from __future__ import annotations

import io
from typing import Any

import pytest

from glassloop.errors import KnowledgeError
from glassloop.knowledge import KnowledgeBase, chunk
from glassloop.knowledge.load import as_document, load_bytes

canvas = pytest.importorskip("reportlab.pdfgen.canvas")
A4 = (595.27, 841.89)


def manual(pages: int = 5, *, outline: bool = False, password: str = "") -> bytes:
    out = io.BytesIO()
    options: dict[str, Any] = {}
    if password:
        from reportlab.lib.pdfencrypt import StandardEncryption

        options["encrypt"] = StandardEncryption(password)
    pdf = canvas.Canvas(out, pagesize=A4, **options)
    for page in range(1, pages + 1):
        pdf.setFont("Helvetica", 8)
        pdf.drawString(72, 810, "ACME Manual, edition 4")
        pdf.drawString(280, 30, f"Page {page} of {pages}")
        pdf.setFont("Helvetica-Bold", 16)
        pdf.drawString(72, 760, f"{page} Device number {page}")
        if outline:
            pdf.bookmarkPage(f"p{page}")
            pdf.addOutlineEntry(f"{page} Device number {page}", f"p{page}", 0)
        pdf.setFont("Helvetica-Bold", 12)
        pdf.drawString(72, 735, "Safety")
        pdf.setFont("Helvetica", 10)
        lines = [
            f"The device {page} has a reset button which stands at the back of the exam-",
            "ple shown above. It has to be held for ten seconds until the lamp blinks and",
            "the motor stops.",
        ]
        for place, line in enumerate(lines):
            pdf.drawString(72, 715 - 12 * place, line)
        pdf.drawString(72, 660, f"Another paragraph of page {page} stands here alone.")
        for row, cells in enumerate(
            [("Model", "Weight", "Price"), (f"A-{page}00", "3 kg", "EUR 20"), ("B-1", "4 kg", "EUR 9")]
        ):
            for column, cell in enumerate(cells):
                pdf.drawString(72 + 130 * column, 620 - 12 * row, cell)
        pdf.showPage()
    pdf.save()
    return out.getvalue()


def chinese() -> bytes:
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    out = io.BytesIO()
    pdf = canvas.Canvas(out, pagesize=A4)
    pdf.setFont("STSong-Light", 18)
    pdf.drawString(72, 780, "第一章 安装")
    pdf.setFont("STSong-Light", 11)
    for place, line in enumerate(["这台机器的过滤器需要每个月清洗一次，请先断开电源，然后打开盖", "子，取出过滤器。"]):
        pdf.drawString(72, 750 - 15 * place, line)
    pdf.save()
    return out.getvalue()


@pytest.mark.parametrize("outline", [False, True])
def test_a_manual_becomes_clean_markdown(outline: bool) -> None:
    loaded = load_bytes(manual(outline=outline), "m.pdf")
    first = loaded.text[: loaded.pages[1]]
    heading = "## Safety" if not outline else "Safety"
    assert first.strip() == (
        f"# 1 Device number 1\n\n{heading}\n\n"
        "The device 1 has a reset button which stands at the back of the example shown above. It has to be held "
        "for ten seconds until the lamp blinks and the motor stops.\n\n"
        "Another paragraph of page 1 stands here alone.\n\n"
        "| Model | Weight | Price |\n| A-100 | 3 kg | EUR 20 |\n| B-1 | 4 kg | EUR 9 |"
    )
    assert "edition 4" not in loaded.text
    assert "Page 3" not in loaded.text


def test_every_page_is_accounted_for() -> None:
    loaded = load_bytes(manual(7), "m.pdf")
    assert len(loaded.pages) == 7
    document = as_document(loaded, "m.pdf")
    passages = chunk(document.text, pages=document.pages, source="m.pdf")
    for page in range(1, 8):
        assert next(p for p in passages if f"page {page} stands" in p.text).page == page


def test_chinese_lines_meet_without_a_space() -> None:
    loaded = load_bytes(chinese(), "c.pdf")
    assert (
        loaded.text == "# 第一章 安装\n\n这台机器的过滤器需要每个月清洗一次，请先断开电源，然后打开盖子，取出过滤器。\n"
    )


def test_an_encrypted_pdf_is_refused() -> None:
    with pytest.raises(KnowledgeError, match="is encrypted; save it without a password"):
        load_bytes(manual(1, password="secret"), "m.pdf")


def test_a_scanned_pdf_is_refused() -> None:
    out = io.BytesIO()
    pdf = canvas.Canvas(out, pagesize=A4)
    for _ in range(3):
        pdf.rect(100, 100, 50, 50)
        pdf.showPage()
    pdf.save()
    with pytest.raises(KnowledgeError, match="has 3 pages but no text: it is scanned"):
        load_bytes(out.getvalue(), "scan.pdf")


def test_three_thousand_pages() -> None:
    data = manual(3000)
    loaded = load_bytes(data, "large.pdf")
    assert len(loaded.pages) == 3000
    assert "page 3000 stands" in loaded.text
    base = KnowledgeBase(embedder=None)
    base.add([as_document(loaded, "large.pdf")])
    assert base.search("paragraph of page 2345", budget=0)[0].page == 2345


def test_a_pdf_cut_anywhere_never_breaks_the_loader() -> None:
    data = manual(2)
    for length in range(10, len(data), max(1, len(data) // 25)):
        try:
            load_bytes(data[:length], "m.pdf")
        except KnowledgeError as error:
            assert "\n" not in str(error)
