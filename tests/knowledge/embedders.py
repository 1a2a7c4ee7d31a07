"""A small embedder for tests: hashed words and character pairs, so that texts with common words are near."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glassloop.knowledge.index import normalised
from glassloop.knowledge.terms import terms_of


class HashEmbedder:
    """Deterministic, without a model; `calls` counts the texts it was asked for."""

    calibration = (0.1, 0.6)

    def __init__(self, name: str = "hash", dimensions: int = 64) -> None:
        self.name = name
        self.dimensions = dimensions
        self.calls = 0

    def passages(self, texts: Sequence[str]) -> Any:
        self.calls += len(texts)
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms_of(text).tolist():
                mixed = (term * 0x9E3779B97F4A7C15) & (2**64 - 1)
                row[(mixed >> 20) % self.dimensions] += 1 if mixed >> 63 else -1
        return normalised(rows)

    def query(self, text: str) -> Any:
        return self.passages([text])[0]
