"""Which characters the bytes of a text file mean.

Owes: `decode`: UTF-8, UTF-16 and UTF-32 with or without a mark, GB18030 and Big5 told apart by which of the two reads
as common characters, else Windows-1252.
"""

from __future__ import annotations

import codecs

from ...errors import KnowledgeError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 100_000


def decode(data: bytes) -> str:
    """The text of a file's bytes.

    Raises:
        KnowledgeError: It is no text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    sample = data[:_SAMPLE]
    if b"\0" in sample:
        if encoding := _utf16(sample):
            return data.decode(encoding, "replace")
        raise KnowledgeError("is no text file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # A file cut short in the middle of a character, or with a few bad bytes, is still UTF-8.
        if error.start > len(data) - 4 or _mostly_utf8(sample):
            return data.decode("utf-8", "replace")
    return data.decode(_legacy(sample), "replace")


def _utf16(sample: bytes) -> str | None:
    """UTF-16 without a mark, if the bytes read as common characters in one of its two orders."""
    for encoding in ("utf-16-le", "utf-16-be"):
        text = sample[: len(sample) // 2 * 2].decode(encoding, "replace")
        plain = sum(1 for c in text if c.isascii() and (c.isprintable() or c in "\t\r\n"))
        wide = [c for c in text if "\u4e00" <= c <= "\u9fff"]
        marks = sum(
            1 for c in text if "\u3000" <= c <= "\u303f" or "\uff00" <= c <= "\uffef" or "\xa0" <= c <= "\u024f"
        )
        # Two letters of plain text read as one rare Chinese character: only common ones count.
        common = sum(1 for c in wide if _level_one(c, "gb2312", 0xB0, 0xD7) or _level_one(c, "big5", 0xA4, 0xC6))
        if plain + common + marks > 0.9 * len(text):
            return encoding
    return None


def _level_one(character: str, encoding: str, first: int, last: int) -> bool:
    raw = character.encode(encoding, "ignore")
    return len(raw) == 2 and first <= raw[0] <= last


def _mostly_utf8(sample: bytes) -> bool:
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    right = sum(1 for character in text if character > "\x7f") - wrong
    return right > 10 * wrong


def _legacy(sample: bytes) -> str:
    if encoding := _utf16(sample):
        return encoding
    high = sum(1 for byte in sample if byte > 0x7F)
    paired = sum(1 for first, second in zip(sample, sample[1:], strict=False) if first > 0x7F and second > 0x3F)
    # Letters with accents stand alone between plain ones.
    if high * 8 < len(sample) and _alone(sample) > 0.7 * high:
        return "cp1252"
    scores = {
        "gb18030": _commonness(sample, "gb18030", 0xB0, 0xD7),
        "big5hkscs": _commonness(sample, "big5hkscs", 0xA4, 0xC6),
    }
    best = max(scores, key=lambda encoding: scores[encoding])
    return best if scores[best] > 0.3 and paired else "cp1252"


def _alone(sample: bytes) -> int:
    """How many high bytes have plain ones on both sides."""
    framed = b" " + sample + b" "
    return sum(
        1
        for before, byte, after in zip(framed, framed[1:], framed[2:], strict=False)
        if byte > 0x7F and before < 0x80 and (after < 0x40 or 0x61 <= after <= 0x7A)
    )


def _commonness(sample: bytes, encoding: str, first: int, last: int) -> float:
    """Share of the decoded wide characters that belong to the encoding's block of common ones."""
    text = sample.decode(encoding, "ignore")
    wide = [character for character in text if character > "\x7f"]
    if not wide:
        return 0.0
    bad = sample.decode(encoding, "replace").count("\ufffd")
    common = 0
    for character in wide:
        raw = character.encode(encoding, "ignore")
        ordinary_tail = encoding != "gb18030" or (len(raw) == 2 and raw[1] >= 0xA1)
        common += len(raw) == 2 and first <= raw[0] <= last and ordinary_tail
        # Punctuation speaks for an encoding as well.
        common += character in "，。、；：？！「」『』（）《》“”"
    return (common - 5 * bad) / len(wide)
