"""The statistics of repeats: 95 % intervals, pass^k, and whether a drop is more than noise.

Nothing but the standard library: the counts are small, so everything exact is affordable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

Z = 1.959963984540054
# Student's t for 95 %, by degrees of freedom; beyond 30 the normal value is within 4 %.
# fmt: off
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)
# fmt: on


def wilson(passed: int, total: int) -> tuple[float, float]:
    """95 % interval of a share. Never leaves 0..1, and 3 of 3 is not taken for certainty."""
    if total == 0:
        return 0.0, 1.0
    share, square = passed / total, Z * Z / total
    middle = (share + square / 2) / (1 + square)
    half = Z * math.sqrt(share * (1 - share) / total + square / (4 * total)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean of measured values with its 95 % interval (Student); one value alone has no width to tell."""
    mean = fmean(values) if values else 0.0
    if len(values) < 2:
        return mean, mean, mean
    freedom = len(values) - 1
    half = (_T[freedom - 1] if freedom <= len(_T) else Z) * stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def pass_hat(passed: int, total: int, k: int) -> float:
    """pass^k of one case: how likely k runs drawn from its repeats all pass."""
    return math.comb(passed, k) / math.comb(total, k) if k <= total else 0.0


def fisher(before: tuple[int, int], after: tuple[int, int]) -> float:
    """How likely a drop at least as large would be by chance, for one case: Fisher's exact test, one-sided.

    Args:
        before: Runs passed, and runs made, in the baseline.
        after: The same now.
    """
    passed, total = before[0] + after[0], before[1] + after[1]
    ways = math.comb(total, passed)
    low = max(0, passed - before[1])
    return sum(math.comb(after[1], k) * math.comb(before[1], passed - k) for k in range(low, after[0] + 1)) / ways


def redealt(pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> float:
    """How likely an overall drop at least as large would be by chance, over all cases.

    An exact permutation test: within every case the passes of both sides are dealt out anew. With one run a
    case this is the sign test on the cases that changed.

    Args:
        pairs: For each case, runs passed and made before, and now.
    """
    scale = 1
    for before, after in pairs:
        scale = math.lcm(scale, before[1], after[1])
        if scale > 10**6:  # very uneven repeats: a share rounded to a millionth does not matter
            scale = 10**6
            break

    def drop(b: int, nb: int, a: int, na: int) -> int:
        return round(b * scale / nb) - round(a * scale / na)

    seen = sum(drop(b[0], b[1], a[0], a[1]) for b, a in pairs)
    chances = {0: 1.0}
    for (b, nb), (a, na) in pairs:
        passed, ways = b + a, math.comb(nb + na, b + a)
        if passed in (0, nb + na):
            continue
        deals = [
            (drop(k, nb, passed - k, na), math.comb(nb, k) * math.comb(na, passed - k) / ways)
            for k in range(max(0, passed - na), min(nb, passed) + 1)
        ]
        following: dict[int, float] = {}
        for total, chance in chances.items():
            for step, share in deals:
                following[total + step] = following.get(total + step, 0.0) + chance * share
        chances = following
    return min(1.0, sum(chance for total, chance in chances.items() if total >= seen))
