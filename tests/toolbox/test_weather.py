"""The weather tool against a loopback server that speaks Open-Meteo's format, and against no server at all."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from loopback import Answer, LoopbackServer, as_json, free_port

from glassloop.toolbox.client import Unreachable
from glassloop.toolbox.weather import get_weather, weather_tool

PLACES = {
    "北海": {"name": "北海", "admin1": "广西", "country": "中国", "latitude": 21.48, "longitude": 109.1},
    "Galway": {"name": "Galway", "country": "Ireland", "latitude": 53.27, "longitude": -9.05},
}
FORECAST = {
    "current": {
        "time": "2031-05-06T07:15",
        "temperature_2m": 17.4,
        "apparent_temperature": 16.0,
        "relative_humidity_2m": 71,
        "precipitation": 0.2,
        "weather_code": 61,
        "wind_speed_10m": 12.5,
    },
    "daily": {
        "temperature_2m_max": [19.1],
        "temperature_2m_min": [11.0],
        "precipitation_probability_max": [80],
    },
}


def meteo(server: LoopbackServer, path: str, body: dict[str, Any]) -> Answer:
    asked = {k: v[0] for k, v in parse_qs(urlsplit(path).query).items()}
    if path.startswith("/search"):
        place = PLACES.get(asked["name"])
        return as_json({"results": [place]} if place else {"generationtime_ms": 0.2})
    assert "temperature_2m" in asked["current"] and asked["timezone"] == "auto"
    return as_json(FORECAST)


def ask(server: LoopbackServer, city: str, timeout: float = 60.0) -> Any:
    made = weather_tool(geocoding_url=f"{server.url}/search", forecast_url=f"{server.url}/forecast", timeout=timeout)
    return asyncio.run(made.invoke({"city": city}))


def test_current_weather_in_the_language_of_the_city() -> None:
    with LoopbackServer(meteo) as server:
        chinese, english = ask(server, "北海市"), ask(server, "Galway")
    assert chinese["place"] == "北海, 广西, 中国" and chinese["sky"] == "小雨"
    assert english["place"] == "Galway, Ireland" and english["sky"] == "light rain"
    assert english["temperature_celsius"] == 17.4 and english["today_chance_of_rain_percent"] == 80
    assert "language=zh" in server.requests[0][0] and "latitude=21.48" in server.requests[1][0]
    assert "language=en" in server.requests[2][0]


def test_addresses_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer(meteo) as server:
        monkeypatch.setenv("GLASSLOOP_GEOCODING_URL", f"{server.url}/search")
        monkeypatch.setenv("GLASSLOOP_FORECAST_URL", f"{server.url}/forecast")
        assert asyncio.run(get_weather.invoke({"city": "Galway"}))["sky"] == "light rain"


def test_an_unknown_place_is_told() -> None:
    with LoopbackServer(meteo) as server, pytest.raises(LookupError, match="no place called 'Atlantis'"):
        ask(server, "Atlantis")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (as_json({"error": True, "reason": "Daily limit exceeded"}, 429), "status 429: Daily limit exceeded"),
        (Answer(500, (b"oops",)), "status 500"),
        (Answer(200, (b"<html>",), content_type="text/html"), "not a JSON object"),
        (as_json([1, 2]), "not a JSON object"),
        (as_json({"results": [{"name": "X"}]}), "without coordinates"),
        (Answer(200, (b'{"resul',), cut=True), "cannot be reached"),
        (Answer(200, (b"{}",), held=True), "did not answer within"),
    ],
)
def test_a_bad_service_is_an_honest_error(answer: Answer, said: str) -> None:
    with LoopbackServer(lambda *_: answer) as server, pytest.raises(Unreachable, match=said):
        ask(server, "Galway", timeout=0.5 if answer.held else 60.0)


def test_no_network_is_an_honest_error() -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/search"
    made = weather_tool(geocoding_url=nowhere, forecast_url=nowhere)
    with pytest.raises(Unreachable, match="network may be off"):
        asyncio.run(made.invoke({"city": "Galway"}))
