"""Check the windows of a swapped table from its files: they follow from the values that are shown.

What a window is, is written here again, from its meaning and value by value.
Source: Koudas et al. (ICDE 2007), section 7.1 (6). Cost: v log n for v distinct values of n rows.
Claim: windows_follow_from_what_is_shown — whoever holds the swapped table can compute its windows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines import Engine
from discreet.release.layouts.file import column, named
from discreet.release.manifest import Promise, Window
from discreet.release.verify.check import Check, check

DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
MOST = 2**63 - 1


def swapped(engine: Engine, promise: Promise) -> Iterator[Check]:
    """Swapping promises nothing; the windows in the file must be those that anyone computes from the values shown."""
    window = promise.member(Window, "window")
    yield Check("guarantee", ok=True, detail="none: swapping is a baseline for comparison")
    value, names = column(promise.sensitive_column), (promise.count, window.low, window.high)
    shown = exp.select(value, "COUNT(*)").from_(named("swapped file")).group_by(value.copy()).order_by(value.copy())
    told = exp.select(value.copy(), *map(column, names)).from_(named("windows file")).order_by(value.copy())
    values, counts = (part.combine_chunks() for part in engine.run(shown).columns)
    told_values, *told_numbers = (part.combine_chunks() for part in engine.run(told).columns)
    numbers = np.stack([part.to_numpy(zero_copy_only=False) for part in told_numbers], axis=1)
    wrong = None
    if not values.equals(told_values) or not np.array_equal(counts.to_numpy(), numbers[:, 0]):
        wrong = "`windows` has other values or counts than `swapped`"
    elif (meant := windows(values, counts.to_numpy(), window)) is None:
        wrong = "there are fewer than k distinct values, or they span less than e: no window has that size"
    elif not np.array_equal(meant, numbers[:, 1:]):
        wrong = "the low or high of a window is not the one that follows from the values in `swapped`"
    yield check("windows", wrong, "windows follow from the values shown, and tell nothing new")


def windows(values: pa.Array, counts: npt.NDArray[np.int64], window: Window) -> npt.NDArray[np.int64] | None:
    """The first and the last rank of every value's window, given the values in ascending order; None if it has none."""
    marks = _marks(values)
    if marks is None:
        return None
    exact, unit = marks
    e = float(window.e) if exact.dtype == np.float64 else min(ceil(Fraction(repr(window.e)) * unit), MOST)
    if counts.size < window.k or exact[-1] - exact[0] < e:
        return None
    first = _first_ranks(counts, exact, window.k, e)
    last = counts.sum() + 1 - _first_ranks(counts[::-1], -exact[::-1], window.k, e)[::-1]
    return np.stack([first, last], axis=1)


def _marks(values: pa.Array) -> tuple[npt.NDArray[Any], int] | None:
    """Numbers that lie as far apart as the values, and how many make one of a range; None if there are none."""
    kind = values.type
    if values.null_count or not len(values):
        return None
    if pa.types.is_floating(kind):
        floats = values.cast(pa.float64()).to_numpy()
        return (floats, 1) if np.isfinite(floats).all() else None
    if pa.types.is_decimal(kind):
        numbers, unit = [int(Fraction(value) * 10**kind.scale) for value in values.to_pylist()], 10**kind.scale
    elif pa.types.is_date(kind):
        numbers, unit = values.cast(pa.date32()).cast(pa.int32()).to_pylist(), 1
    elif pa.types.is_timestamp(kind):
        numbers, unit = values.cast(pa.int64()).to_pylist(), DAY[kind.unit]
    elif pa.types.is_integer(kind):
        numbers, unit = values.to_pylist(), 1
    else:
        return None
    if numbers[-1] - numbers[0] > MOST:
        return None
    return np.array([number - numbers[0] for number in numbers], np.int64), unit


def _first_ranks(counts: npt.NDArray[np.int64], marks: npt.NDArray[Any], k: int, e: float) -> npt.NDArray[np.int64]:
    """For each value the first rank that its first rank may have been swapped with: the one that reached the other."""
    upto, places = np.cumsum(counts), np.arange(counts.size)
    n, first = int(upto[-1]), upto - counts + 1

    def enough(start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether the values from one place to another are k distinct ones that span e."""
        return np.asarray((end - start + 1 >= k) & (marks[end] - marks[start] >= e))

    def does(l: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        ends = np.maximum(first - l, 1), np.minimum(first + l, n)
        return enough(*(np.searchsorted(upto, end) for end in ends))

    reached = np.maximum(first - _least(np.zeros_like(first), np.full_like(first, n), does), 1)
    # A rank r before `first` reaches it unless the ranks from 2r - first + 1 to first - 1 do already: unless
    # the former is at most `enough_from`, the last rank from which those up to first - 1 are enough.
    too_late = _least(np.zeros_like(places), places, lambda start: ~enough(start, places - 1))
    enough_from = np.where(too_late > 0, upto[too_late - 1], 0)
    reaching = np.where(enough_from > 0, (enough_from + first - 1) // 2 + 1, 1)
    return np.asarray(np.minimum(reached, reaching))


def _least(
    low: npt.NDArray[np.int64],
    high: npt.NDArray[np.int64],
    does: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.bool_]],
) -> npt.NDArray[np.int64]:
    """Place by place the least number that does, and with it all above; the highest if none below it does."""
    while (low < high).any():
        middle = (low + high) // 2
        found = does(middle)
        low, high = np.where(found | (low == high), low, middle + 1), np.where(found, middle, high)
    return low
