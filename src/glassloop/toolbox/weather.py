"""Current weather from Open-Meteo, which needs no key: one look-up of the place, one of the weather.

Without a network the tool says so and nothing else; it never makes a forecast up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, cast

from ..tools.declare import Tool, tool
from .client import Unreachable, get_json

GEOCODING_URL = "https://geocoding-api.open-meteo.com/v1/search"
FORECAST_URL = "https://api.open-meteo.com/v1/forecast"
GEOCODING_VARIABLE = "GLASSLOOP_GEOCODING_URL"
FORECAST_VARIABLE = "GLASSLOOP_FORECAST_URL"

_NOW = "temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m"
_TODAY = "temperature_2m_max,temperature_2m_min,precipitation_probability_max"
_SKIES = {
    (0,): ("clear sky", "晴"),
    (1,): ("mainly clear", "大部晴朗"),
    (2,): ("partly cloudy", "多云"),
    (3,): ("overcast", "阴"),
    (45, 48): ("fog", "雾"),
    (51, 53, 55): ("drizzle", "毛毛雨"),
    (56, 57): ("freezing drizzle", "冻毛毛雨"),
    (61,): ("light rain", "小雨"),
    (63,): ("rain", "中雨"),
    (65,): ("heavy rain", "大雨"),
    (66, 67): ("freezing rain", "冻雨"),
    (71,): ("light snow", "小雪"),
    (73, 77): ("snow", "中雪"),
    (75,): ("heavy snow", "大雪"),
    (80, 81): ("rain showers", "阵雨"),
    (82,): ("violent rain showers", "强阵雨"),
    (85, 86): ("snow showers", "阵雪"),
    (95,): ("thunderstorm", "雷暴"),
    (96, 99): ("thunderstorm with hail", "雷暴伴冰雹"),
}
"""WMO weather codes as Open-Meteo uses them."""


def weather_tool(*, geocoding_url: str | None = None, forecast_url: str | None = None, timeout: float = 10.0) -> Tool:
    """Make the weather tool.

    Args:
        geocoding_url: Where places are looked up; else `GLASSLOOP_GEOCODING_URL`, else Open-Meteo's own address.
        forecast_url: Where the weather is asked for; else `GLASSLOOP_FORECAST_URL`, else Open-Meteo's own address.
        timeout: Seconds for each of the two requests.
    """

    @tool(timeout=2 * timeout + 5, retries=1)
    async def get_weather(city: str) -> dict[str, Any]:
        """Current weather of a city and today's range: sky, temperature, humidity, wind, chance of rain.

        Use it for rain, clothing, umbrellas, laundry (晾衣服) and being outdoors.

        Args:
            city: City name as the user wrote it, for example Munich or 慕尼黑.
        """
        chinese = re.search(r"[\u4e00-\u9fff]", city) is not None
        place = await _place(
            geocoding_url or os.environ.get(GEOCODING_VARIABLE) or GEOCODING_URL, city, chinese, timeout
        )
        url = forecast_url or os.environ.get(FORECAST_VARIABLE) or FORECAST_URL
        where = {"latitude": place["latitude"], "longitude": place["longitude"]}
        asked = {**where, "current": _NOW, "daily": _TODAY, "timezone": "auto", "forecast_days": 1}
        answer = await get_json(url, asked, service="the weather service", timeout=timeout)
        return _report(place, answer, chinese)

    return get_weather


async def _place(url: str, city: str, chinese: bool, timeout: float) -> Mapping[str, Any]:
    name = city.strip().removesuffix("市") or city
    asked = {"name": name, "count": 1, "language": "zh" if chinese else "en", "format": "json"}
    answer = await get_json(url, asked, service="the place look-up of the weather service", timeout=timeout)
    results: Any = answer.get("results")
    if not results:
        raise LookupError(f"no place called {city!r} is known: check the spelling, or give a larger city nearby")
    place: Any = results[0]
    if not isinstance(place, dict) or not {"latitude", "longitude"} <= set(cast("dict[str, Any]", place)):
        raise Unreachable("the place look-up of the weather service answered without coordinates")
    return cast("dict[str, Any]", place)


def _report(place: Mapping[str, Any], answer: Mapping[str, Any], chinese: bool) -> dict[str, Any]:
    now: Any = answer.get("current")
    if not isinstance(now, dict):
        raise Unreachable("the weather service answered without current weather")
    now = cast("dict[str, Any]", now)
    daily = cast("dict[str, Any]", answer.get("daily") or {})

    def today(name: str) -> Any:
        values = daily.get(name) or [None]
        return values[0]

    code = now.get("weather_code")
    sky = next((texts[chinese] for codes, texts in _SKIES.items() if code in codes), None)
    return {
        "place": ", ".join(str(place[k]) for k in ("name", "admin1", "country") if place.get(k)),
        "local_time": now.get("time"),
        "sky": sky,
        "temperature_celsius": now.get("temperature_2m"),
        "feels_like_celsius": now.get("apparent_temperature"),
        "humidity_percent": now.get("relative_humidity_2m"),
        "precipitation_mm": now.get("precipitation"),
        "wind_kmh": now.get("wind_speed_10m"),
        "today_min_celsius": today("temperature_2m_min"),
        "today_max_celsius": today("temperature_2m_max"),
        "today_chance_of_rain_percent": today("precipitation_probability_max"),
    }


get_weather = weather_tool()
