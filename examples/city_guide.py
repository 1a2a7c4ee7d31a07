"""Offline tools of a small city guide, for the demo: no network, the same answers every day.

glassloop ask "上海现在适合晨跑吗？另外 4783×926 等于多少？" --tools examples/city_guide.py
glassloop ask "Is the botanical garden in Oslo still open at 20:00?" --tools examples/city_guide.py
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from typing import Any, Literal

from glassloop import tool
from glassloop.toolbox.calculator import calculator


@dataclass(frozen=True)
class City:
    english: str
    chinese: str
    sky: str
    celsius: int
    wind_kmh: int
    air_quality: int

    @property
    def name(self) -> str:
        return f"{self.chinese} {self.english}"


CITIES = (
    City("Shanghai", "上海", "晴 sunny", 21, 9, 38),
    City("Chengdu", "成都", "多云 cloudy", 24, 5, 132),
    City("Hangzhou", "杭州", "大雨 heavy rain", 18, 31, 24),
    City("Harbin", "哈尔滨", "小雪 light snow", -13, 17, 61),
    City("Oslo", "奥斯陆", "晴 sunny", 12, 14, 15),
    City("Lisbon", "里斯本", "晴 sunny", 36, 22, 44),
)
PLACES = {
    ("Shanghai", "museum"): ("上海博物馆 Shanghai Museum", time(9), time(17)),
    ("Shanghai", "park"): ("世纪公园 Century Park", time(6), time(18)),
    ("Chengdu", "museum"): ("金沙遗址博物馆 Jinsha Site Museum", time(9), time(18)),
    ("Chengdu", "park"): ("人民公园 People's Park", time(6), time(22)),
    ("Hangzhou", "garden"): ("杭州植物园 Hangzhou Botanical Garden", time(7), time(17, 30)),
    ("Oslo", "garden"): ("奥斯陆植物园 Oslo Botanical Garden", time(7), time(21)),
    ("Lisbon", "market"): ("河岸市场 Ribeira Market", time(10), time(23)),
}


def find(name: str) -> City:
    """The city, however it is written; an error says which cities there are."""
    wanted = name.strip().lower().removesuffix("市").split(",")[0].strip()
    for city in CITIES:
        if wanted in (city.english.lower(), city.chinese, city.name.lower()):
            return city
    raise LookupError(f"the guide has no city {name!r}; it knows {', '.join(c.name for c in CITIES)}")


@tool
def city_conditions(city: str) -> dict[str, Any]:
    """Weather and air of a city right now: sky, temperature, wind and air quality.
    Use it for questions about clothing, umbrellas, laundry or the weather (天气、穿衣、带伞).

    Args:
        city: City name as the user wrote it, for example Chengdu or 成都.
    """
    found = find(city)
    return {
        "city": found.name,
        "sky": found.sky,
        "temperature_celsius": found.celsius,
        "wind_kmh": found.wind_kmh,
        "air_quality_index": found.air_quality,
    }


@tool
def running_advice(city: str) -> dict[str, Any]:
    """Whether it is good to run outdoors in a city right now, with the reasons.
    Use it for questions about morning runs and jogging (晨跑、跑步).

    Args:
        city: City name as the user wrote it, for example Chengdu or 成都.
    """
    found = find(city)
    against: list[str] = []
    if not 0 <= found.celsius <= 30:
        against.append(f"气温 temperature {found.celsius} °C")
    if found.air_quality > 100:
        against.append(f"空气质量指数 air quality index {found.air_quality}")
    if "rain" in found.sky or "snow" in found.sky:
        against.append(found.sky)
    good = f"{found.sky}, {found.celsius} °C, 空气质量指数 air quality index {found.air_quality}"
    return {
        "city": found.name,
        "suitable": not against,
        "advice": "不适合跑步 better stay in" if against else "适合跑步 good for running",
        "reasons": against or [good],
    }


@tool
def opening_hours(city: str, kind: Literal["museum", "park", "garden", "market"]) -> dict[str, Any]:
    """Opening and closing time of a sight in a city.
    Use it for questions about when a place opens, closes, or whether it is open at an hour (开放时间、几点关门).

    Args:
        city: City name as the user wrote it, for example Oslo or 奥斯陆.
        kind: What kind of place it is, for example museum (博物馆), park (公园) or garden (植物园).
    """
    found = find(city)
    if (found.english, kind) not in PLACES:
        there = ", ".join(k for english, k in PLACES if english == found.english) or "no place at all"
        raise LookupError(f"the guide has no {kind} in {found.name}; it has {there}")
    place, opens, closes = PLACES[found.english, kind]
    return {"place": place, "opens": f"{opens:%H:%M}", "closes": f"{closes:%H:%M}"}


TOOLS = [city_conditions, running_advice, opening_hours, calculator]
