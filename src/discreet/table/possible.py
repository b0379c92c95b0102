"""Which guarantees a sensitive column allows, and what each would cost, before anything is published.

Of l: whether all rows together keep it, or else the smallest share of rows to leave out so that the others do; how
often a blind guess inside a group is right; and how wide hard bounds are of a count of people with one value among a
tenth of all, relative to the count itself: groups of l rows, drawn at random, hold (1 - 0.9^l - 0.1^l) / 0.1 times as
many in doubt. Of (k, e): the average range of a group's values, if neighbours are put together as soon as they keep it.
What real questions cost, `discreet compare --sweep` measures.
Cost: sorting the counts; for each e, the groups it makes.
Claim: costs_are_those_of_the_definition — of every l the fewest rows to leave out, and of (k, e) the ranges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, log10

import numpy as np
import numpy.typing as npt

from discreet.values.codes import Codes
from discreet.values.columns import is_ordered
from discreet.values.positions import measured

LS = (2, 3, 5, 10, 20)
KS = (2, 5, 10)
PARTS = (0.01, 0.05, 0.2)  # of the range of all values, for e
TENTH = 0.1  # of all people, whom a question is about
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PossibleL:
    """What `l` would cost: the share of rows to leave out, what guesses are right, how wide bounds of a count are."""

    l: int
    left_out: float | None  # None: there are not so many different values
    guess: float
    width: float


@dataclass(frozen=True, slots=True)
class PossibleRange:
    """What `k` and `e` would cost: the average range of the values of a row's group; None if they cannot be kept."""

    k: int
    e: float
    average: float | None


def of_l(counts: Counts) -> tuple[PossibleL, ...]:
    """What each of some l would cost a column whose values have these counts, and the largest that costs no rows."""
    counts = np.sort(counts[counts > 0])
    if not counts.size:
        return ()
    largest = int(counts.sum() // counts[-1])
    return tuple(
        PossibleL(l, left_out(counts, l), 1 / l, (1 - (1 - TENTH) ** l - TENTH**l) / TENTH)
        for l in sorted({*LS, largest} - {0, 1})
    )


def left_out(counts: Counts, l: int) -> float | None:
    """The smallest share of rows to leave out so that no value has more than 1 in l of the others."""
    counts = np.sort(counts)
    if counts.size < l:
        return None
    low, high = 0, int(counts[-1])  # the most rows that a value may keep
    while low < high:
        most = (low + high + 1) // 2
        if int(np.minimum(counts, most).sum()) >= l * most:
            low = most
        else:
            high = most - 1
    return 1 - int(np.minimum(counts, low).sum()) / int(counts.sum()) if low else None


def of_ranges(codes: Codes) -> tuple[PossibleRange, ...]:
    """What (k, e) would cost a column of numbers or dates; nothing of others."""
    if not is_ordered(codes.domain.type) or len(codes.domain) < 2:
        return ()
    places = measured(codes.domain)
    counts = codes.counts()[: places.size]
    extent = float(places[-1] - places[0])
    if not np.isfinite(extent) or extent <= 0:
        return ()
    return tuple(
        _range(places, counts, k, e) for k in KS for e in dict.fromkeys(_round(extent * part) for part in PARTS)
    )


def _range(places: npt.NDArray[np.float64], counts: Counts, k: int, e: float) -> PossibleRange:
    starts = list(_starts(places, k, e))
    if not starts:
        return PossibleRange(k, e, None)
    first = np.array(starts)
    last = np.append(first[1:], places.size) - 1
    rows = np.add.reduceat(counts, first)
    return PossibleRange(k, e, float(np.average(places[last] - places[first], weights=rows)))


def _starts(places: npt.NDArray[np.float64], k: int, e: float) -> Iterator[int]:
    """Where groups of neighbours start that have k values and the range e each; what is left joins the last one."""
    start = 0
    while (end := max(start + k - 1, int(np.searchsorted(places, places[start] + e)))) < places.size:
        yield start
        start = end + 1
        if start >= places.size:
            return


def _round(number: float) -> float:
    """A number of one digit that is not larger."""
    unit = 10.0 ** floor(log10(number))
    found = floor(number / unit) * unit
    return float(round(found)) if found >= 1 else found
