"""The tools of our own golden cases: a small island harbour. Offline, deterministic, fresh for every run.

`make_tools()` gives tools that share one new harbour book, so that no run sees what another one wrote.
"""

from __future__ import annotations

from typing import Any, Literal

from glassloop import tool
from glassloop.tools.declare import Tool

FERRIES = {
    "Skarvoy": [
        {"departs": "07:40", "arrives": "09:05", "price_eur": 18},
        {"departs": "16:15", "arrives": "17:40", "price_eur": 22},
    ],
    "Lunde": [{"departs": "10:20", "arrives": "11:00", "price_eur": 9}],
    "望潮岛": [
        {"departs": "08:30", "arrives": "09:50", "price_eur": 35},
        {"departs": "13:45", "arrives": "15:05", "price_eur": 35},
    ],
    "白沙岛": [{"departs": "11:10", "arrives": "12:00", "price_eur": 14}],
}
TIDES = {"Skarvoy": ("05:52", 2.7), "Lunde": ("06:18", 3.1), "望潮岛": ("04:35", 4.4), "白沙岛": ("07:03", 1.9)}
BERTHS = {
    "B-204": {"length_m": 12.5, "free": True, "price_eur": 46},
    "B-311": {"length_m": 18, "free": False, "price_eur": 71},
    "B-117": {"length_m": 9, "free": True, "price_eur": 33},
}
BOATS = {
    "Alkekonge": {"owner": "Ragnhild Moe", "length_m": 11.8, "berth": "B-117", "built": 1987},
    "海燕号": {"owner": "林望舒", "length_m": 15.2, "berth": "B-311", "built": 2009},
    "Teist": {"owner": "Oskar Vang", "length_m": 8.4, "berth": "B-204", "built": 1996},
}
RULES = [
    {"id": "R7", "text": "Dogs may come ashore on Lunde only on a lead, from October to April also without one."},
    {"id": "R12", "text": "The speed limit inside the breakwater is 4 knots. Exceeding it costs 130 EUR."},
    {"id": "R15", "text": "港内夜间静音时间为 22:30 至 06:30，违者罚款 85 欧元。"},
    {"id": "R21", "text": "Shore power is included up to 16 kWh a night; every further kWh costs 0.42 EUR."},
]


@tool
def ferry_times(island: str) -> dict[str, Any]:
    """Departures of the ferry to an island today: times and prices. Use it for any question about ferries.

    Args:
        island: Name of the island as the user wrote it, for example Skarvoy.
    """
    if island not in FERRIES:
        return {"island": island, "departures": [], "note": f"No ferry goes to {island}."}
    return {"island": island, "departures": FERRIES[island]}


@tool
def high_water(island: str) -> dict[str, Any]:
    """Time and height of the next high water (tide) at an island. Use it for questions about tide or water level.

    Args:
        island: Name of the island as the user wrote it, for example Lunde.
    """
    if island not in TIDES:
        raise LookupError(f"there is no tide gauge at {island}")
    at, height = TIDES[island]
    return {"island": island, "high_water": at, "height_m": height}


@tool
def boat_record(name: str) -> dict[str, Any]:
    """Owner, length in metres, berth and year of build of a registered boat. Use it for questions about a boat.

    Args:
        name: Name of the boat, for example Teist.
    """
    if name not in BOATS:
        raise LookupError(f"no boat named {name} is registered")
    return {"name": name, **BOATS[name]}


@tool
def berth_status(berth: str) -> dict[str, Any]:
    """Length, price of a night and whether a berth is free. Use it for questions about one berth.

    Args:
        berth: Number of the berth, for example B-204.
    """
    if berth not in BERTHS:
        raise LookupError(f"there is no berth {berth}")
    return {"berth": berth, **BERTHS[berth]}


@tool
def knots_to_kmh(knots: float) -> dict[str, Any]:
    """Convert a speed from knots to kilometres an hour.

    Args:
        knots: Speed in knots, for example 5.5.
    """
    return {"knots": knots, "kmh": round(knots * 1.852, 2)}


@tool
def mooring_fee(length_m: float, nights: int, shore_power: bool = False) -> dict[str, Any]:
    """Compute the mooring fee in euros for a boat's length and a number of nights. Use it for what mooring costs.

    Args:
        length_m: Length of the boat in metres, for example 9.5.
        nights: Number of nights, for example 2.
        shore_power: Whether shore power is wanted.
    """
    if not 1 <= nights <= 60:
        raise ValueError("nights must be from 1 to 60")
    total = round(length_m * 2.4 * nights + (6 * nights if shore_power else 0), 2)
    return {"length_m": length_m, "nights": nights, "shore_power": shore_power, "total_eur": total}


@tool
def harbour_rules(topic: str) -> dict[str, Any]:
    """Search the harbour's rule book and return matching rules. Use it for what is allowed, fines and limits.

    Args:
        topic: What to look for, in a few words, for example speed limit.
    """
    words = [w for w in topic.lower().replace(",", " ").split() if len(w) > 2]
    marks = [topic[i : i + 2] for i in range(len(topic) - 1) if ord(topic[i]) > 0x2E80]
    hits = [
        r for r in RULES if any(w.rstrip("s") in r["text"].lower() for w in words) or any(m in r["text"] for m in marks)
    ]
    return {"rules": hits}


def make_tools() -> list[Tool]:
    """All tools around a new, empty harbour book."""
    bookings: list[dict[str, Any]] = []

    @tool(risk="write")
    def book_berth(berth: str, boat: str, nights: int) -> dict[str, Any]:
        """Book a berth for a boat. Use it only when the user asks for a booking.

        Args:
            berth: Number of the berth, for example B-204.
            boat: Name of the boat.
            nights: Number of nights.
        """
        if berth not in BERTHS or not BERTHS[berth]["free"]:
            raise ValueError(f"berth {berth} is not free")
        bookings.append({"berth": berth, "boat": boat, "nights": nights})
        return {"booking": f"HB-{400 + len(bookings)}", "berth": berth, "boat": boat, "nights": nights}

    @tool(risk="write")
    def radio_message(
        boat: str, text: str, priority: Literal["routine", "safety", "urgency"] = "routine"
    ) -> dict[str, Any]:
        """Send a radio message to a boat. Use it only when the user asks for a message to be sent.

        Args:
            boat: Name of the boat.
            text: What to say.
            priority: How urgent it is.
        """
        return {"sent_to": boat, "priority": priority, "characters": len(text)}

    @tool(risk="destructive")
    def strike_boat(name: str) -> dict[str, Any]:
        """Strike a boat from the register for good. Use it only when the user asks for exactly that.

        Args:
            name: Name of the boat.
        """
        if name not in BOATS:
            raise LookupError(f"no boat named {name} is registered")
        return {"struck": name}

    reading = [ferry_times, high_water, boat_record, berth_status, knots_to_kmh, mooring_fee, harbour_rules]
    return [*reading, book_berth, radio_message, strike_boat]


TOOLS = make_tools()
