"""Reading values from text: ordered patterns, each with the small function that turns a match into a `Fact`.

The patterns run one after the other over the text; what one has read is blanked for the next, so the order
is the precedence (a date before a number). Every repetition is bounded and every alternative guarded at its
start: reading is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from .facts import SCALES, UNITS, Fact, Role
from .numerals import ZH_DIGITS, Number, chinese, english, whole

Match = re.Match[str]

_KEPT_WIDE = "，；？！"  # sentence marks: as half-width commas they would join figures
_WIDTH = {
    **{c: c - 0xFEE0 for c in range(0xFF01, 0xFF5F) if chr(c) not in _KEPT_WIDE},
    **dict.fromkeys((0x3000, 0x00A0, 0x202F, 0x2009), 32),
    0x2212: 45,
}

_MONTHS: Sequence[str] = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?:[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|[Mm]ar(?:ch)?|[Aa]pr(?:il)?|May|[Jj]une?|[Jj]uly?|[Aa]ug(?:ust)?"
    r"|[Ss]ept?(?:ember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)"
)
_ZD = "〇○零一二两三四五六七八九"
_ZN = _ZD + "十百千万亿"
_Z2 = rf"[{_ZD}]?十[{_ZD}]?|[{_ZD}]"
_HALF = r"(?:上午|下午|早上|早晨|晚上|中午|凌晨|傍晚|清晨|夜里|今晚|明晚)"
_B = r"(?<![A-Za-z0-9_])"
_SIGNS = sorted((u for u in UNITS if not re.fullmatch(r"[a-z]+|° ?[cf]", u)), key=len, reverse=True)
_WORDS = sorted((u for u in UNITS if re.fullmatch(r"[a-z]+", u)), key=len, reverse=True)
_UNIT = (
    rf"(?:\s{{0,2}}(?P<sign>° ?[CFcf](?![A-Za-z])|{'|'.join(map(re.escape, _SIGNS))})"
    rf"|[ -]?(?P<word>(?i:degrees (?:celsius|fahrenheit)|degrees [CF]|per cent|{'|'.join(_WORDS)}|[CF])(?![A-Za-z]))"
    r"(?:\s(?P<scale2>[Cc]elsius|[Ff]ahrenheit))?)?"
)
_SCALE = (
    r"(?P<scale>\s?(?i:million|billion|trillion|thousand|mn|bn)(?![A-Za-z])"
    r"|\s?(?:万亿|千万|百万|十亿|亿|万|千(?!米|克)|百(?!分))|[kKMB](?![A-Za-z]))?"
)
_EN = (
    "(?:zero|one|two|three|four|five|sixteen|six|seventeen|seven|eighteen|eight|nineteen|nine|ten|eleven|twelve"
    "|thirteen|fourteen|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|nearly|almost|over|approximately|approx\.?|more than|some)"
    r"|≈|~|约|大概|将近|超过|左右|近)\s{0,2}[$€£¥￥]?$",
    re.I,
)
HOURLY = re.compile(
    r"(?:\b(?:at|by|until|till|before|after|around|between|open[s]?|closes?|starts?)|从|于|到|至|点前|@)\s?$", re.I
)
"""Words after which a plain number may be an hour."""
_LEAD = re.compile(r"(?:零下|负|\bminus )\s?$", re.I)
_TRAIL = re.compile(r"\s?(?:below zero|below freezing)", re.I)


def _at(m: Match, kind: str, value: object, **more: object) -> Fact:
    return Fact(kind, m[0].strip(), m.start(), m.end(), value, **more)  # type: ignore[arg-type]


def _int(text: str | None) -> int | None:
    if not text:
        return None
    value = int(text) if text.isascii() and text.isdigit() else chinese(text)
    return value if isinstance(value, int) else None


def _date(m: Match, year: str | None, month: int | None, day: str | None) -> Fact | None:
    y, d = _int(year), _int(day)
    if year and len(year) == 2 and y is not None and y < 100:
        y += 2000
    if (month is not None and not 1 <= month <= 12) or (d is not None and not 1 <= d <= 31):
        return None
    return _at(m, "date", (y, month, d))


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1


def _numeric_date(m: Match) -> Fact | None:
    first, second = int(m[1]), int(m[3])
    readings = [(int(m[4]), a, b) for a, b in ((first, second), (second, first)) if 1 <= a <= 12 and 1 <= b <= 31]
    return _at(m, "date", readings[0], parts=tuple(readings[1:])) if readings else None


def _clock(m: Match, half: str | None, hour: int | None, minute: int, letter: str | None = None) -> Fact | None:
    if hour is None or hour > 24 or minute > 59:
        return None
    open_half = hour <= 12
    if letter or half:
        open_half = False
        late = letter.lower() == "p" if letter else half in ("下午", "晚上", "傍晚", "今晚", "明晚", "夜里")
        if late and hour < 12:
            hour += 12
        elif (letter and not late and hour == 12) or (half in ("凌晨", "夜里") and hour == 12):
            hour = 0
    return _at(m, "time", hour % 24 * 60 + minute, unit="12" if open_half else "")


def _zh_clock(m: Match) -> Fact | None:
    # 三点建议 is no time: an hour in words needs a half of the day, minutes, 整, 半 or 钟 beside it
    if not m[1] and not m[3] and not m[4] and m[0].rstrip()[-1] not in "整钟" and not m[2].isdigit():
        return None
    return _clock(m, m[1], _int(m[2]), 30 if m[3] else _int(m[4]) or 0)


def _unit(m: Match) -> str:
    word = (m["sign"] or m["word"] or "").lower().replace(" ", "")
    if m["scale2"]:
        word = m["scale2"].lower()
    word = word.removeprefix("degrees") or word
    return {"c": "C", "f": "F", "percent": "%"}.get(word) or UNITS.get(word, "")


def _number(m: Match) -> Fact | None:
    digits, scale = m["digits"], (m["scale"] or "").strip().lower()
    plain = digits.replace(",", "")
    mantissa = re.split("[eE]", plain)[0]
    decimals = len(mantissa.partition(".")[2])
    value: Number = Fraction(plain) if decimals or "e" in plain.lower() else int(plain)
    step: Number = Fraction(1, 10**decimals) if decimals else 1
    unit, before = _unit(m), m.string[max(0, m.start() - 12) : m.start()]
    if scale:
        factor = SCALES[scale]
        value, step = whole(value * factor), whole(step * factor)
    if m["lead"] == "-" or _LEAD.search(before) or _TRAIL.match(m.string, m.end()):
        value = -value
    unit = unit or UNITS.get((m["money"] or "").strip().lower(), "")
    parts = tuple(int(p) for p in digits.split(",")) if "," in digits and "." not in digits else ()
    about, hour = bool(_ABOUT.search(before)), not unit and bool(HOURLY.search(before))
    return _at(m, "number", whole(value), unit=unit, step=step, parts=parts, about=about, hour=hour)


def _zh_number(m: Match) -> Fact | None:
    numeral, share = m["zh"], m[0].startswith("百分之")
    value = chinese(numeral)
    if value is None:
        return None
    unit = "%" if share else _unit(m)
    if not unit and len(numeral) > 1 and not any(c in ZH_DIGITS for c in numeral):
        return None  # 千万, 百万, 万一, 十分: words, not figures
    before = m.string[max(0, m.start() - 4) : m.start()]
    if _LEAD.search(before):
        value = -value
    strong = (unit and value != 1) or (len(numeral) > 1 and any(c in "十百千万亿点" for c in numeral))
    role: Role = "figure" if strong else "weak"
    step: Number = Fraction(1, 10 ** len(numeral.partition("点")[2])) if "点" in numeral else 1
    return _at(m, "number", value, unit=unit, step=step, role=role, about=bool(_ABOUT.search(before)))


def _en_number(m: Match) -> Fact | None:
    value = english(m["en"])
    if value is None:
        return None
    unit = _unit(m)
    role: Role = "figure" if value > 12 or (unit and value != 1) else "weak"
    before = m.string[max(0, m.start() - 16) : m.start()]
    if _LEAD.search(before) or _TRAIL.match(m.string, m.end()):
        value = -value
    about, hour = bool(_ABOUT.search(before)), not unit and bool(HOURLY.search(before))
    return _at(m, "number", value, unit=unit, role=role, about=about, hour=hour)


def _id(m: Match) -> Fact:
    return _at(m, "id", fold_id(m[0]))


def _url(m: Match) -> Fact:
    text = m[0].rstrip(".,;:!?")
    return Fact("id", text, m.start(), m.start() + len(text), text.lower().rstrip("/"))


def _ordinal(m: Match) -> Fact | None:
    value = _int(re.sub(r"[^\d" + _ZN + "]", "", m[0]))
    return None if value is None else _at(m, "number", value, role="ordinal")


def fold_id(text: str) -> str:
    """Fold an id for comparison: case and the separators people add or leave out do not count."""
    return re.sub(r"[\s_#()./-]+", "", text.lower()).lstrip("+")


Reader = Callable[[Match], "Fact | None"]


def _rule(needs: str, pattern: str, read: Reader | None) -> tuple[str, re.Pattern[str], Reader | None]:
    return needs, re.compile(pattern), read


_RULES = (
    _rule("a", r"(?<![A-Za-z0-9])(?:https?://|www\.)[^\s<>\"'`()\[\]【】《》「」“”，。；、]{1,1000}", _url),
    _rule("@", r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6}",
          lambda m: _at(m, "id", m[0].lower())),
    _rule("d", rf"{_B}[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}(?![A-Za-z0-9])", _id),
    _rule("d", rf"{_B}24/7(?!\d)|{_B}(?:UTC|GMT)\s?[+-]\s?\d{{1,2}}(?::?\d{{2}})?(?!\d)", None),
    _rule("d", r"(?<![A-Za-z0-9.-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)(?:T(?=\d\d:))?",
          lambda m: _date(m, m[1], int(m[3]), m[4])),
    _rule("d", r"(?<![A-Za-z0-9.-])((?:19|20)\d\d)-(0[1-9]|1[0-2])(?![\d-])",
          lambda m: _date(m, m[1], int(m[2]), None)),
    _rule("d", r"(?<![\d/.-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)", _numeric_date),
    _rule("月", rf"(?<![{_ZN}\d])(?:(\d{{4}}|\d{{2}}|[{_ZD}]{{4}})\s?年\s?)?(\d{{1,2}}|{_Z2})\s?月份?"
               rf"(?:\s?(\d{{1,2}}|[{_ZD}]?十[{_ZD}]?|[{_ZD}])\s?[日号])?",
          lambda m: _date(m, m[1], _int(m[2]), m[3])),
    _rule("年", rf"(?<![{_ZN}\d])(\d{{4}}|[{_ZD}]{{4}})\s?年(?![前后内间])", lambda m: _date(m, m[1], None, None)),
    _rule("d", rf"{_B}({_MONTH})\.?\s{{1,2}}(\d{{1,2}})(?:st|nd|rd|th)?(?!\d|:\d|,\d{{3}}(?!\d))"
               r"(?:,?\s{1,2}(\d{4})(?!\d))?",
          lambda m: _date(m, m[3], _month(m[1]), m[2])),
    _rule("d", rf"{_B}(\d{{1,2}})(?:st|nd|rd|th)?\s{{1,2}}(?:of\s)?({_MONTH})(?![a-z])\.?"
               r"(?:,?\s{1,2}(\d{4})(?!\d))?",
          lambda m: _date(m, m[3], _month(m[2]), m[1])),
    _rule("d", rf"{_B}({_MONTH})\.?,?\s{{1,2}}(\d{{4}})(?!\d)", lambda m: _date(m, m[2], _month(m[1]), None)),
    _rule("日", rf"(?<![{_ZN}\d.])(\d{{1,2}})\s?日(?![元币])", lambda m: _date(m, None, None, m[1])),
    _rule(":", rf"(?<![\d:.])({_HALF})?\s?(\d{{1,2}}):(\d{{2}})(?::\d{{2}}(?:\.\d{{1,6}})?)?(?![\d:])"
               r"(?:\s?([aApP])\.?\s?[mM](?![A-Za-z]))?",
          lambda m: _clock(m, m[1], int(m[2]), int(m[3]), m[4])),
    _rule("d", rf"{_B}(\d{{1,2}})\s?(?:([aApP])\.?[mM](?![A-Za-z])|o['’]clock)",
          lambda m: _clock(m, None, int(m[1]), 0, m[2])),
    _rule("点", rf"({_HALF})?\s?(?<![{_ZN}\d.])(\d{{1,2}}|{_Z2})\s?[点](?![{_ZD}\d]{{1,3}}(?:[度元%]|个))"
               rf"(?:(半)|(\d{{1,2}}|[{_ZD}]?十[{_ZD}]?|[{_ZD}]{{1,2}})\s?分(?!钟)|整|钟)?", _zh_clock),
    _rule("时", rf"({_HALF})?\s?(?<![{_ZN}\d.])(\d{{1,2}})\s?时(?:(半)|(\d{{1,2}})\s?分(?!钟)|整)?(?![间候段长代区])",
          _zh_clock),
    _rule("d", r"(?<![A-Za-z0-9_.])(?:v?\d{1,6}(?:\.\d{1,6}){2,5}|v\d{1,4}\.\d{1,6})(?![A-Za-z0-9_]|\.\d)",
          lambda m: _at(m, "id", m[0].lower().lstrip("v"))),
    _rule("d", r"(?<![\d+-])(?:\+\d{1,3}[ -]?\(?\d{2,4}\)?(?:[ -]?\d{3,4}){1,3}|\+\d{1,3}(?:[ -]\d{2}){4,5}"
               r"|\d{3,4}-\d{7,8}|\d{3}-\d{3,4}-\d{4})(?![\d-])", _id),
    _rule("d", rf"{_B}(?<![.,]\d)(?<!\d[.,])(?:0\d{{1,40}}(?![\d.,])|\d{{1,20}}[A-Za-z]{{1,20}}\d[A-Za-z0-9]{{0,64}}"
               r"|\d{1,20}[a-f][0-9a-f]{7,64})(?![A-Za-z0-9])", _id),
    _rule("d", rf"{_B}\d{{1,4}}(?:st|nd|rd|th)(?![A-Za-z])", _ordinal),
    _rule("第", rf"第\s?(?:\d{{1,4}}|[{_ZN}]{{1,6}})", _ordinal),
    _rule("d", r"(?<![A-Za-z0-9_])(?!(?:USD|CNY|RMB|EUR|GBP|JPY|HKD)\d)[A-Za-z][A-Za-z_]{0,20}[-_#]?\d"
               r"[A-Za-z0-9_]{0,40}(?:-[A-Za-z0-9_]{1,40}){0,6}(?![A-Za-z0-9_])", _id),
    _rule("d", r"(?P<lead>(?<![\w.)%°+-])[-+](?=[\d.$€£¥￥]))?"
               r"(?P<money>US\$|(?<![A-Za-z])(?:USD|CNY|RMB|EUR|GBP)\s?|[$€£¥￥]\s?)?"
               r"(?<![A-Za-z0-9_.])(?P<digits>(?:\d{1,3}(?:,\d{3}){1,9}(?!\d|,\d)(?:\.\d{1,40})?|\d{1,80}(?:\.\d{1,40})?|\.\d{1,40})"
               rf"(?:[eE][+-]?\d{{1,3}}(?![\dA-Za-z]))?){_SCALE}{_UNIT}", _number),
    _rule("z", rf"(?<![{_ZN}])(?!零下)(?:百分之)?(?P<zh>[{_ZN}]{{1,20}}(?:点[{_ZD}]{{1,10}})?){_UNIT}", _zh_number),
    _rule("a", rf"{_B}(?P<en>(?i:{_EN}(?:[ -](?:and )?(?:{_EN}|hundred|thousand|million|billion)(?![A-Za-z])){{0,8}}))"
               rf"(?![A-Za-z]){_UNIT}", _en_number),
)  # fmt: skip

_HAS_DIGIT, _HAS_ZN, _HAS_WORD = re.compile("[0-9]"), re.compile(f"[{_ZN}]"), re.compile("[A-Za-z]{2}")
_QUOTED = re.compile(
    r"“([^“”\n]{1,80})”|「([^「」\n]{1,80})」|『([^『』\n]{1,80})』|《([^《》\n]{1,80})》"
    r"|(?<![\w\"])\"([^\"\n]{1,80})\"(?!\w)|(?<![\w'])'([A-Za-z0-9][^'\n]{1,80})'(?!\w)|(?<!`)`([^`\n]{1,80})`(?!`)"
)


def narrow(text: str) -> str:
    """Return the text with full-width letters, digits and spaces made half-width, character for character."""
    return text.translate(_WIDTH)


def scan(text: str) -> list[Fact]:
    """Read every value of a text, in order of place."""
    rest = narrow(text)
    facts: list[Fact] = []
    present = {"d": bool(_HAS_DIGIT.search(rest)), "z": bool(_HAS_ZN.search(rest)), "a": bool(_HAS_WORD.search(rest))}
    for needs, pattern, read in _RULES:
        if not present[needs] if needs in present else needs not in rest:
            continue
        pieces: list[str] = []
        done = 0
        for m in pattern.finditer(rest):
            fact = read(m) if read else None
            if read and fact is None:
                continue
            if fact:
                facts.append(fact)
            end = fact.end if fact else m.end()
            pieces += [rest[done : m.start()], "\x00" * (end - m.start())]
            done = end
        if done:
            rest = "".join(pieces) + rest[done:]
    facts += _names(text)
    facts.sort(key=lambda f: (f.start, f.end))
    return facts


def _names(text: str) -> list[Fact]:
    out: list[Fact] = []
    for m in _QUOTED.finditer(text):
        inner = next(g for g in m.groups() if g)
        out.append(Fact("name", inner, m.start(), m.end(), fold_text(inner)))
    return out


def fold_text(text: str) -> str:
    """Fold words for comparison: width, case, white space and end marks do not count."""
    return re.sub(r"\s+", " ", narrow(text)).strip(" .,;:!?。，；：！？、").casefold()
