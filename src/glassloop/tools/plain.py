"""Any Python object as JSON-ready data, for the journal and for what a model reads.

Owes: `plain` never raises, always ends, and gives only dicts with text keys, lists, text,
finite numbers, booleans and None. What has no JSON form becomes a short text that says what
it is, without addresses in memory. numpy, pandas and pydantic are recognised by what their
objects can do; nothing is imported.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import enum
import hashlib
import inspect
import math
import numbers
import os
import re
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any, cast

MAX_DEPTH = 40
MAX_DRAWN = 1_000
"""Most items drawn from an iterator, which may have no end."""
MAX_ITEMS = 100_000
MAX_VALUES = 300_000
"""Most values in all: lists that hold the same list twice, over and over, unfold without end."""
MAX_BYTES = 48
"""Bytes up to this many are shown; more are described."""
MAX_DIGITS = 4_000
_ADDRESS = re.compile(r"\s+at 0x[0-9a-fA-F]+")
_KINDS = (
    (b"\x89PNG", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"RIFF", "RIFF media"),
)


def plain(data: Any) -> Any:
    """Turn any Python object into JSON-ready data. Never raises; draws at most 1,000 items from an iterator."""
    return _plain(data, _Walk())


class _Walk:
    """Where we are in the data, and how much of it may still be told."""

    __slots__ = ("above", "left")

    def __init__(self) -> None:
        self.above: list[int] = []
        self.left = MAX_VALUES


def _plain(value: Any, walk: _Walk) -> Any:
    walk.left -= 1
    if value is None or value is True or value is False:
        return value
    kind = cast("type[Any]", type(value))
    if kind is str:
        return _text(value)
    if kind is int:
        return _integer(value)
    if kind is float:
        return _float(value)
    if len(walk.above) >= MAX_DEPTH or walk.left < 0:
        return f"<{kind.__name__}, {'nested too deep' if walk.left >= 0 else 'too much to tell'}>"
    if id(value) in walk.above:
        return f"<{kind.__name__} that contains itself>"
    walk.above.append(id(value))
    try:
        return _object(value, walk)
    except Exception as error:  # an object may fail at anything it is asked; it is still told of
        return f"<{kind.__name__} that cannot be shown: {type(error).__name__}>"
    finally:
        walk.above.pop()


def _object(value: Any, walk: _Walk) -> Any:
    for types, convert in _SINGLE:
        if isinstance(value, types):
            return convert(value)
    if isinstance(value, enum.Enum):
        return _plain(value.value, walk)
    if isinstance(value, str):
        return _text(str.__str__(value))
    if isinstance(value, Mapping):
        return _mapping(cast("Mapping[Any, Any]", value), walk)
    packaged = _packaged(value)
    if packaged is not _UNKNOWN:
        return _plain(packaged, walk)
    if isinstance(value, tuple) and hasattr(cast("Any", value), "_asdict"):
        return _mapping(cast("Any", value)._asdict(), walk)
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(v, walk) for v in islice(cast("set[Any]", value), MAX_ITEMS)), key=repr)
    if isinstance(value, numbers.Number):
        return _number(value)
    if isinstance(value, Iterator):
        return _drawn(cast("Iterator[Any]", value), walk)
    if isinstance(value, Collection):
        return _listed(cast("Collection[Any]", value), walk)
    return _foreign(value, walk)


_UNKNOWN: Any = object()


def _packaged(value: Any) -> Any:
    """The data inside dataclasses, pydantic models, arrays and tables; `_UNKNOWN` for other objects."""
    kind = cast("type[Any]", type(value))
    if isinstance(value, type):
        return _UNKNOWN
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if hasattr(kind, "model_dump") and hasattr(kind, "model_fields"):
        return value.model_dump()
    package = kind.__module__.partition(".")[0]
    if package in ("pandas", "polars", "numpy", "torch", "pyarrow"):
        if hasattr(kind, "to_dicts"):
            return value.to_dicts()
        if kind.__name__ == "DataFrame":
            return value.to_dict(orient="records")
        if kind.__name__ == "Series" and hasattr(kind, "to_dict"):
            index = value.index
            return value.tolist() if type(index).__name__ == "RangeIndex" else value.to_dict()
        if hasattr(kind, "tolist"):
            return value.tolist()
        if hasattr(kind, "item"):
            return value.item()
    if hasattr(kind, "__attrs_attrs__"):
        return {a.name: getattr(value, a.name) for a in cast("Any", kind).__attrs_attrs__}
    return _UNKNOWN


# -- single values ---------------------------------------------------------------------------


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # lone surrogates: pairs are joined, halves replaced
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _integer(value: int) -> int | str:
    if value.bit_length() > MAX_DIGITS * 3.32:  # Python itself refuses to write it out
        return f"<integer of about {int(value.bit_length() * 0.30103) + 1:,} digits>"
    return int(value)


def _float(value: float) -> float | str:
    if math.isfinite(value):
        return float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _decimal(value: Decimal) -> int | float | str:
    """A number where no digit is lost by it, else the decimal text."""
    if not value.is_finite():
        return "NaN" if value.is_nan() else _float(float(value))
    if abs(value.adjusted()) > 300:
        return str(value)
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)


def _number(value: Any) -> Any:
    """Numbers of other libraries: exact ones as integers, real ones as floats, the rest as text."""
    if isinstance(value, numbers.Integral):
        return _integer(int(value))
    if isinstance(value, numbers.Rational):
        return str(value)
    return _float(float(value)) if isinstance(value, numbers.Real) else _text(str(value))


def _bytes(value: Any) -> str:
    raw = bytes(value)
    kind = next((name for start, name in _KINDS if raw.startswith(start)), "")
    if not kind:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            if all(c.isprintable() or c in "\r\n\t" for c in text):
                return text
        if len(raw) <= MAX_BYTES:
            return f"<{len(raw)} bytes, base64 {base64.b64encode(raw).decode()}>"
    return f"<{len(raw):,} bytes{', ' + kind if kind else ''}, sha256 {hashlib.sha256(raw).hexdigest()[:16]}>"


def _exception(value: BaseException) -> str:
    text = _text(str(value)).strip()
    return f"{type(value).__name__}: {text}" if text else type(value).__name__


def _named(value: Any) -> str:
    return f"<{'class' if isinstance(value, type) else 'function'} {getattr(value, '__name__', '?')}>"


def _pattern(value: Any) -> str:
    return _text(str(value.pattern))


def _path(value: Any) -> str:
    return _text(os.fsdecode(cast("Any", os.fspath(value))))


def _moment(value: Any) -> str:
    return str(value.isoformat())


_SINGLE: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (bool, bool),
    ((datetime.datetime, datetime.date, datetime.time), _moment),
    (datetime.timedelta, str),
    (Decimal, _decimal),
    ((bytes, bytearray, memoryview), _bytes),
    (os.PathLike, _path),
    (uuid.UUID, str),
    (BaseException, _exception),
    (re.Pattern, _pattern),
    ((type,), _named),
)


# -- containers ------------------------------------------------------------------------------


def _mapping(value: Mapping[Any, Any], walk: _Walk) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, item in islice(value.items(), MAX_ITEMS):
        name = key if type(key) is str else _plain(key, walk)
        text = _text(name) if isinstance(name, str) else "null" if name is None else str(name)
        while text in out:  # 1 and "1" are two keys in Python
            text += "′"
        out[text] = _plain(item, walk)
    return out


def _listed(value: Collection[Any], walk: _Walk) -> list[Any]:
    out = [_plain(item, walk) for item in islice(value, MAX_ITEMS)]
    if len(value) > MAX_ITEMS:
        out.append(f"<{len(value) - MAX_ITEMS:,} more items>")
    return out


def _drawn(value: Iterator[Any], walk: _Walk) -> list[Any]:
    out = [_plain(item, walk) for item in islice(value, MAX_DRAWN)]
    if len(out) == MAX_DRAWN:
        out.append("<more items were not drawn>")
    return out


def _foreign(value: Any, walk: _Walk) -> Any:
    """An object of nobody's protocol: its own words if it has any, else its public attributes, else its name."""
    kind = cast("type[Any]", type(value))
    if inspect.isroutine(value):
        return _named(value)
    own_words = kind.__str__ is not object.__str__ or kind.__repr__ is not object.__repr__
    if own_words:
        text = _ADDRESS.sub("", _text(str(value))).strip()
        if text and not inspect.isawaitable(value):
            return text
    held = {k: v for k, v in cast("dict[str, Any]", getattr(value, "__dict__", {})).items() if not k.startswith("_")}
    if held:
        return {"type": kind.__name__, **_mapping(held, walk)}
    return f"<{kind.__name__}>"
