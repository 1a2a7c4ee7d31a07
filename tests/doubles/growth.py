"""What a call costs, so that a test can hold two sizes against each other: growth is a promise, seconds are not."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def cost(call: Callable[[], object], times: int = 5) -> float:
    """Seconds of processor time of the cheapest of several calls.

    Only good for a ratio of two costs of the same process. The collector rests meanwhile: what it does depends on
    everything the suite has made so far, not on the call.
    """
    call()
    best = float("inf")
    gc.collect()
    gc.disable()
    try:
        for _ in range(times):
            began = time.process_time()
            call()
            best = min(best, time.process_time() - began)
    finally:
        gc.enable()
    return best
