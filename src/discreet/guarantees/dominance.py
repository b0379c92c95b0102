"""When one value fills a group: how large a share it has, and whether that tells much more than the table as a whole.

A value dominates a group if more than 9 in 10 of its rows hold it, and whoever guesses it of one of them errs less than
half as often as one who guesses it of anybody in the table. Where 94 in 100 hold a 0, a group in which 94 or 96 do
tells little; one in which 999 of 1,000 do tells nearly all.
Cost: linear in the entries of the histograms.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.guarantees.histograms import Histograms
from discreet.guarantees.promise import Counts

PARTS = 10_000  # a share is told in these, rounded up


def largest_share(histograms: Histograms, harmless: npt.NDArray[np.bool_] | None = None) -> float:
    """The largest share of a group that one value has, at most 1 in 10,000 too large; harmless rows do not count."""
    seen = histograms if harmless is None else histograms.without(harmless)[1]
    return int((-(-seen.tops.astype(np.int64) * PARTS // seen.sizes)).max(initial=0)) / PARTS


def dominating(
    histograms: Histograms, population: Counts, harmless: npt.NDArray[np.bool_] | None = None
) -> tuple[int, int, int] | None:
    """Of the group that a value dominates most: that value, the rows that hold it, all rows; None if there is none."""
    seen = histograms
    if harmless is not None:
        _, seen = histograms.without(harmless)
        population = np.where(harmless, 0, population)
    sizes, everybody = seen.sizes[seen.groups], int(population.sum())
    others, at_large = sizes - seen.counts, everybody - population[seen.values]
    # exact up to 3 billion rows: below that, products stay under 2**63
    found = (10 * others < sizes) & (2 * others * everybody < sizes * at_large)
    if not found.any():
        return None
    worst = int(np.where(found, seen.counts / sizes, 0).argmax())
    return int(seen.values[worst]), int(seen.counts[worst]), int(sizes[worst])
