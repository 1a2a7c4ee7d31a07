"""The clock: by zone, by city in two languages, by offset; what is unknown is said with near names."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from glassloop.toolbox.time import current_time, find_zone


@pytest.mark.parametrize(
    ("asked", "zone"),
    [
        ("Asia/Tokyo", "Asia/Tokyo"),
        ("tokyo", "Asia/Tokyo"),
        ("东京", "Asia/Tokyo"),
        ("北京市", "Asia/Shanghai"),
        ("New York", "America/New_York"),
        ("Munich", "Europe/Berlin"),
        ("Paris, France", "Europe/Paris"),
        ("utc", "UTC"),
        ("UTC+8", "UTC+08:00"),
        ("GMT-3:30", "UTC-03:30"),
        ("+05:30", "UTC+05:30"),
    ],
)
def test_zones(asked: str, zone: str) -> None:
    assert find_zone(asked)[1] == zone


def test_the_time_is_now_in_that_place() -> None:
    told = current_time("UTC+8")
    instant = datetime.fromisoformat(f"{told['date']}T{told['time']}{told['utc_offset']}")
    assert abs((datetime.now(timezone.utc) - instant).total_seconds()) < 5
    assert told["utc_offset"] == "+08:00"
    assert told["weekday"] == f"{instant:%A} 星期{'一二三四五六日'[instant.weekday()]}"


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_without_a_place_it_is_the_users_own(nothing: str | None) -> None:
    assert current_time(nothing)["date"] == datetime.now().astimezone().strftime("%Y-%m-%d")


@pytest.mark.parametrize(
    ("asked", "said"), [("Asia/Shangai", "Asia/Shanghai"), ("UTC+20", "-12"), ("火星", "for|like")]
)
def test_unknown_zones_are_told(asked: str, said: str) -> None:
    with pytest.raises(LookupError, match=said):
        current_time(asked)
