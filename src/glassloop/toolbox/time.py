"""The clock, for any place: by zone name, by city in English or Chinese, or by offset."""

from __future__ import annotations

import difflib
import re
from datetime import datetime, timedelta, tzinfo
from datetime import timezone as fixed_offset
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from ..tools.declare import tool

_PLACES = {
    "Asia/Shanghai": "北京 上海 广州 深圳 成都 重庆 杭州 武汉 西安 南京 中国 beijing shenzhen guangzhou chengdu china",
    "Asia/Hong_Kong": "香港",
    "Asia/Macau": "澳门",
    "Asia/Taipei": "台北",
    "Asia/Tokyo": "东京 大阪 日本 osaka kyoto",
    "Asia/Seoul": "首尔 韩国",
    "Asia/Singapore": "新加坡",
    "Asia/Bangkok": "曼谷 泰国",
    "Asia/Kolkata": "新德里 孟买 印度 delhi mumbai bangalore",
    "Asia/Dubai": "迪拜",
    "Australia/Sydney": "悉尼",
    "Australia/Melbourne": "墨尔本",
    "Pacific/Auckland": "奥克兰",
    "Pacific/Fiji": "斐济",
    "Europe/London": "伦敦 英国",
    "Europe/Paris": "巴黎 法国",
    "Europe/Berlin": "柏林 德国 munich hamburg frankfurt",
    "Europe/Madrid": "马德里 barcelona",
    "Europe/Rome": "罗马 milan",
    "Europe/Moscow": "莫斯科",
    "Europe/Zurich": "苏黎世 geneva",
    "America/New_York": "纽约 华盛顿 波士顿 washington boston miami est edt",
    "America/Chicago": "芝加哥 houston dallas",
    "America/Los_Angeles": "洛杉矶 旧金山 西雅图 seattle pst pdt",
    "America/Toronto": "多伦多",
    "America/Vancouver": "温哥华",
    "America/Sao_Paulo": "圣保罗",
    "Africa/Cairo": "开罗",
}
_WEEKDAYS = "一二三四五六日"
_OFFSET = re.compile(r"(?:utc|gmt)?\s*([+-])\s*(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)


@tool
def current_time(timezone: str | None = None) -> dict[str, str]:
    """Current date, time and weekday in a place. Use it for what time or date it is, and for today, tomorrow or now.

    Args:
        timezone: Time zone or city, for example Pacific/Fiji, 斐济 or UTC+8; the user's own when left out.
    """
    if timezone is None or not timezone.strip():
        now = datetime.now().astimezone()
        name = str(now.tzinfo)
    else:
        zone, name = find_zone(timezone)
        now = datetime.now(zone)
    offset = now.strftime("%z")
    return {
        "timezone": name,
        "date": now.strftime("%Y-%m-%d"),
        "time": now.strftime("%H:%M:%S"),
        "weekday": f"{now:%A} 星期{_WEEKDAYS[now.weekday()]}",
        "utc_offset": f"{offset[:3]}:{offset[3:5]}",
    }


def find_zone(text: str) -> tuple[tzinfo, str]:
    """Return the time zone a name, city or offset stands for, and its name.

    Raises:
        LookupError: There is none; the message names near ones.
    """
    wanted = text.strip().replace("−", "-").replace("＋", "+")
    offset = _OFFSET.fullmatch(wanted)
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        if minutes > 14 * 60:
            raise LookupError(f"there is no time zone {text!r}: offsets go from -12 to +14, for example UTC+8")
        shift = timedelta(minutes=minutes if offset[1] == "+" else -minutes)
        zone = fixed_offset(shift)
        return zone, str(zone)
    names = _zones()
    key = wanted.lower().removesuffix("市").strip().replace(" ", "_")
    for candidate in (key, key.split(",")[0].strip("_")):
        if candidate in names:
            return ZoneInfo(names[candidate]), names[candidate]
    near = difflib.get_close_matches(key, names, n=3, cutoff=0.7)
    hint = " or ".join(dict.fromkeys(names[n] for n in near)) or "Asia/Tokyo or UTC+9"
    raise LookupError(f"there is no time zone {text!r}: give a name like {hint}")


@lru_cache(maxsize=1)
def _zones() -> dict[str, str]:
    """Every way to write a zone, in lower case: its full name, its city, and the places of the table above."""
    names: dict[str, str] = {}
    for zone in sorted(available_timezones()):
        city = zone.rpartition("/")[2].lower()
        if "/" in zone and not zone.startswith(("Etc/", "posix/", "right/", "SystemV/")):
            names.setdefault(city, zone)
        names[zone.lower()] = zone
    for zone, places in _PLACES.items():
        names.update(dict.fromkeys(places.split(), zone))
    return names
