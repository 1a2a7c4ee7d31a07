"""The runs in a browser: a small Starlette app over the journal, for this machine only (extra `view`)."""

from __future__ import annotations

from .app import viewer

__all__ = ["viewer"]
