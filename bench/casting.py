"""How long cast and validate take, next to pydantic's lax mode and jsonschema: medians over many calls.

Run: python bench/casting.py [--json]
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, Literal

import jsonschema
from pydantic import BaseModel, Field

from glassloop.tools.schema import cast


class Contact(BaseModel):
    name: str
    email: str = Field(pattern=r"^[^@\s]+@[^@\s]+$")
    phone: str | None = None


class Line(BaseModel):
    article: str
    count: int = Field(ge=1, le=100)
    price: float


class Order(BaseModel):
    reference: str = Field(min_length=3)
    customer: Contact
    lines: list[Line]
    currency: Literal["EUR", "USD", "CNY"] = "EUR"
    express: bool = False
    tags: list[str] = []
    note: str | None = None
    discount: float = Field(0.0, ge=0, le=1)
    weekday: int = Field(1, ge=1, le=7)
    channel: Literal["web", "phone"] = "web"


SCHEMA = Order.model_json_schema()
RIGHT: dict[str, Any] = {
    "reference": "R-1042",
    "customer": {"name": "Lin", "email": "lin@example.com", "phone": "555"},
    "lines": [{"article": "tea", "count": 2, "price": 4.5}, {"article": "cup", "count": 1, "price": 7.0}],
    "currency": "EUR",
    "express": True,
    "tags": ["gift"],
    "note": "ring twice",
    "discount": 0.1,
    "weekday": 3,
    "channel": "web",
}
REPAIRABLE: dict[str, Any] = {
    **RIGHT,
    "lines": [{"article": "tea", "count": "2", "price": "4.5"}, {"article": "cup", "count": 1.0, "price": 7}],
    "express": "yes",
    "weekday": "3",
}


def median(call: Callable[[], Any], rounds: int = 3000) -> float:
    """Median seconds of one call."""
    for _ in range(100):
        call()
    times: list[float] = []
    for _ in range(rounds):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def measure() -> dict[str, float]:
    """Medians in milliseconds, by what was measured."""
    oracle = jsonschema.Draft202012Validator(SCHEMA)
    assert cast(SCHEMA, RIGHT).ok and not cast(SCHEMA, RIGHT).repairs
    assert cast(SCHEMA, REPAIRABLE).ok
    return {
        "glassloop, right": median(lambda: cast(SCHEMA, RIGHT)) * 1e3,
        "glassloop, repairable": median(lambda: cast(SCHEMA, REPAIRABLE)) * 1e3,
        "pydantic lax, right": median(lambda: Order.model_validate(RIGHT)) * 1e3,
        "pydantic lax, repairable": median(lambda: Order.model_validate(REPAIRABLE)) * 1e3,
        "jsonschema, right": median(lambda: list(oracle.iter_errors(RIGHT)), 500) * 1e3,
    }


def main() -> int:
    """Print the medians; exit 1 when the promise of 0.1 ms is broken."""
    found = measure()
    if "--json" in sys.argv:
        print(json.dumps({k: round(v, 5) for k, v in found.items()}))
    else:
        for name, milliseconds in found.items():
            print(f"{name:26} {milliseconds:8.4f} ms")
        ours = found["glassloop, right"]
        print(f"{'ratio to pydantic':26} {ours / found['pydantic lax, right']:8.1f}")
        print(f"{'ratio to jsonschema':26} {ours / found['jsonschema, right']:8.2f}")
    return 0 if found["glassloop, right"] < 0.1 else 1


if __name__ == "__main__":
    raise SystemExit(main())
