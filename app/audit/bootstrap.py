"""Intervals by resampling files. In: figures of each file. Out: the pooled rate with its 95 % interval. Pure and
seeded: the same figures give the same interval; any thread.

Percentile bootstrap over files (Efron 1979), since the words of one recording are no independent draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_RESAMPLES = 2000
_SEED = 7
_EDGES = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class Interval:
    """`low` to `high` holds 95 % of the resamples."""

    value: float
    low: float
    high: float


def pooled(parts: Sequence[float], wholes: Sequence[float]) -> Interval:
    """Interval of sum(parts) / sum(wholes), one entry for each file. No wholes at all: 0 to 0."""
    numerator, denominator = np.asarray(parts, float), np.asarray(wholes, float)
    if not denominator.sum():
        return Interval(0.0, 0.0, 0.0)
    drawn = _draws(len(numerator))
    below = denominator[drawn].sum(axis=1)
    # A draw of nothing but files without a term says nothing.
    rates = numerator[drawn].sum(axis=1)[below > 0] / below[below > 0]
    return _interval(float(numerator.sum() / denominator.sum()), rates)


def difference(first: Sequence[float], second: Sequence[float], wholes: Sequence[float]) -> Interval:
    """Interval of the second rate less the first, the same files drawn on both sides."""
    return pooled([b - a for a, b in zip(first, second, strict=True)], wholes)


def _draws(files: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.random.default_rng(_SEED).integers(0, files, size=(_RESAMPLES, files))


def _interval(value: float, resampled: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Interval:
    low, high = np.percentile(resampled, _EDGES)
    # The seen value lies in its own interval, also when rounding or a lone file says otherwise.
    return Interval(value, min(value, float(low)), max(value, float(high)))
