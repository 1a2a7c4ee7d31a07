"""String formats: which texts have the form a schema names, and which common forms say the same.

Owes: `has_format` for the formats tool schemas use (an unknown one fits everything), and
`to_format`, which rewrites dates, times and identifiers only when there is one reading:
03/04/2025 may be March or April and stays what it is.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
import uuid
from collections.abc import Callable
from datetime import date, time

MAX_CHARS = 2_048
"""No date, address or identifier is longer; longer texts are not looked at."""

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)?")
_DURATION = re.compile(
    r"P(?!$)(\d+(\.\d+)?Y)?(\d+(\.\d+)?M)?(\d+(\.\d+)?W)?(\d+(\.\d+)?D)?"
    r"(T(?=\d)(\d+(\.\d+)?H)?(\d+(\.\d+)?M)?(\d+(\.\d+)?S)?)?"
)
_EMAIL = re.compile(r"[^@\s<>\"(),:;\\\[\]]+@[^@\s<>\"(),:;\\\[\]_]+\.[^@\s<>\"(),:;\\\[\]_.]+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_HOST = re.compile(r"(?!-)[\w-]{1,63}(?<!-)(\.(?!-)[\w-]{1,63}(?<!-))*")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)

_MONTHS = {
    word: number
    for number, words in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|"
        "october oct|november nov|december dec".split("|"),
        1,
    )
    for word in words.split()
}
_YEAR_FIRST = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*[日号]?")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_DAY_NAMED = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?([a-z]+)\.?,?[\s-]+(\d{4})", re.I)
_MONTH_NAMED = re.compile(r"([a-z]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})", re.I)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(\.\d+)?)?\s*([ap])?\.?(?:m\.?)?\s*(z|[+-]\d\d:?\d\d)?", re.I)
_HOUR = re.compile(r"(\d{1,2})\s*([ap])\.?m\.?", re.I)
_ZH_CLOCK = re.compile(
    r"(凌晨|早上|上午|中午|下午|傍晚|晚上)?\s*(\d{1,2})\s*[点时:](?:\s*(半|(\d{1,2})\s*分?))?(?:\s*(\d{1,2})\s*秒)?"
)
_ZH_EVENING = ("下午", "傍晚", "晚上")


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    return found is not None and _date(*found.groups()) is not None


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = (int(found[i]) for i in (1, 2, 3))
    offset = found[5] or "Z"
    good = offset in "Zz" or (int(offset[1:3]) < 24 and int(offset[4:]) < 60)
    return good and hour < 24 and minute < 60 and second < 61


def _is_datetime(text: str) -> bool:
    return len(text) > 10 and text[10] in "Tt" and _is_date(text[:10]) and _is_time(text[11:])


def _is_ip(kind: type[ipaddress.IPv4Address] | type[ipaddress.IPv6Address]) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            kind(text)
        except ValueError:
            return False
        return True

    return fits


def _whole(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_datetime,
    "datetime": _is_datetime,
    "duration": _whole(_DURATION),
    "email": _whole(_EMAIL),
    "uri": _whole(_URI),
    "url": _whole(_URI),
    "uuid": _whole(_UUID),
    "hostname": _whole(_HOST),
    "ipv4": _is_ip(ipaddress.IPv4Address),
    "ipv6": _is_ip(ipaddress.IPv6Address),
}
"""The formats that are checked. A time or date-time without an offset is taken: models rarely know one."""

EXAMPLES: dict[str, str] = {
    "date": "2025-03-01",
    "time": "14:30:00",
    "date-time": "2025-03-01T14:30:00",
    "datetime": "2025-03-01T14:30:00",
    "duration": "PT30M",
    "email": "name@example.com",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


def has_format(text: str, name: str) -> bool:
    """Whether `text` has the format; every text has one we do not know."""
    check = FORMATS.get(name)
    return check is None or (len(text) <= MAX_CHARS and check(text))


def to_format(text: str, name: str) -> str | None:
    """Rewrite a common form of a date, time or identifier; None when there is no reading, or more than one."""
    if len(text) > MAX_CHARS:
        return None
    plain = unicodedata.normalize("NFKC", text).strip().strip("\"'“”‘’「」").strip()
    if name == "date":
        found = _read_date(plain)
    elif name in ("date-time", "datetime"):
        found = _read_datetime(plain)
    elif name == "time":
        found = _read_time(plain)
    elif name == "uuid":
        found = _read_uuid(plain)
    else:
        found = plain
    return found if found is not None and found != text and has_format(found, name) else None


def ambiguous_date(text: str) -> bool:
    """Whether the text is a date whose day and month may be swapped."""
    found = _YEAR_LAST.fullmatch(unicodedata.normalize("NFKC", text[:MAX_CHARS]).strip())
    return found is not None and 0 < int(found[1]) <= 12 and 0 < int(found[3]) <= 12 and int(found[1]) != int(found[3])


def _date(year: str | int, month: str | int, day: str | int) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _read_date(text: str) -> str | None:
    if found := _YEAR_FIRST.fullmatch(text) or _COMPACT.fullmatch(text):
        return _date(*found.groups())
    if found := _YEAR_LAST.fullmatch(text):
        one, two, year = int(found[1]), int(found[3]), found[4]
        if one == two or two > 12:
            return _date(year, one, two)
        return _date(year, two, one) if one > 12 else None
    if (found := _DAY_NAMED.fullmatch(text)) and found[2].lower() in _MONTHS:
        return _date(found[3], _MONTHS[found[2].lower()], found[1])
    if (found := _MONTH_NAMED.fullmatch(text)) and found[1].lower() in _MONTHS:
        return _date(found[3], _MONTHS[found[1].lower()], found[2])
    if len(text) > 10 and _is_date(text[:10]):  # a moment is a date only at midnight: nothing may be lost
        moment = text if _is_datetime(text) else _read_datetime(text)
        if moment is not None and re.fullmatch(r"00:00:00(\.0+)?", moment[11:]):
            return moment[:10]
    return None


def _read_time(text: str) -> str | None:
    hour, minute, second, rest = 0, 0, 0, ""
    half = ""
    if found := _CLOCK.fullmatch(text):
        hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
        offset = (found[6] or "").upper()
        rest = (found[4] or "") + (f"{offset[:3]}:{offset[3:]}" if len(offset) == 5 else offset)
        half = (found[5] or "").lower()
    elif found := _HOUR.fullmatch(text):
        hour, half = int(found[1]), found[2].lower()
    elif found := _ZH_CLOCK.fullmatch(text):
        hour = int(found[2])
        minute = 30 if found[3] == "半" else int(found[4] or 0)
        second = int(found[5] or 0)
        half = "" if found[1] is None or hour > 12 else "p" if found[1] in _ZH_EVENING or found[1] == "中午" else "a"
        if found[1] in ("中午", "晚上") and hour in (11, 12):
            if found[1] == "晚上" and hour == 12:
                return None  # midnight of which day?
            half = "" if found[1] == "中午" else half
    else:
        return None
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return time(hour, minute, second).isoformat() + rest


def _read_datetime(text: str) -> str | None:
    if found := re.fullmatch(r"(\d{8})[Tt](\d\d)(\d\d)(\d\d)?([Zz]?)", text):
        day = _read_date(found[1])
        return f"{day}T{found[2]}:{found[3]}:{found[4] or '00'}{found[5].upper()}" if day else None
    cuts = [m.start() for m in re.finditer(r"[T\s日号]", text)][-4:]
    for cut in cuts:
        # A space is part of "1 March 2025 9:30 PM" in several places; one cut gives a date and a time.
        end = cut + 1 if text[cut] in "日号" else cut
        day, clock = _read_date(text[:end].strip().rstrip(",")), text[end:].lstrip("T ").strip()
        moment = clock if _is_time(clock) else _read_time(clock)
        if day and moment:
            return f"{day}T{moment}"
    return None


def _read_uuid(text: str) -> str | None:
    try:
        return str(uuid.UUID(text)) if len(text) <= 45 else None
    except ValueError:
        return None
