"""From what was added up over groups to estimate, stderr, low and high: one function per aggregate.

They say in arrays, one row per key, what `plan.aggregates` says in SQL; there the formulas are explained.
Claim: the_pass_equals_the_plan — every answer is that of the plain plan, but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.answer.accelerate.kernels import Floats, Longs
from discreet.answer.question.question import Aggregate
from discreet.values.coded import to_arrow

Array = npt.NDArray[Any]
SURE = 1 - 1e-9


@dataclass(frozen=True)
class Totals:
    """What was added up of one subject, by cell; what was not wanted is empty.

    `counts` and `rows` are those of `sums.counted`, `sums` of `sums.summed`, `weight` of `sums.weighed`,
    `nearest` of `sums.nearest` for MIN and MAX, `ends` of `sums.runs` or, for these, `sums.edges`.
    """

    counts: Floats
    rows: Longs
    sums: Floats
    weight: Floats
    nearest: Mapping[str, Floats]
    ends: Longs
    values: pa.Array
    numbers: Floats

    @property
    def fewest(self) -> Longs:
        return self.rows[:, 0]

    @property
    def most(self) -> Longs:
        return self.rows[:, 1]


def finish(aggregate: Aggregate, totals: Totals) -> tuple[Array, dict[str, pa.Array]]:
    """The cells in which anybody may match, and the columns of the answer there."""
    cells = np.flatnonzero(totals.most)
    with np.errstate(all="ignore"):
        columns = FINISH[aggregate.function](aggregate, totals, cells)
    return cells, {**columns, "least": to_arrow(totals.fewest[cells])}


def _columns(estimate: Array, stderr: Array | None, low: Array, high: Array) -> dict[str, pa.Array]:
    """Rounding must not carry the estimate over a bound, nor these over each other."""
    low, high = np.minimum(low, high), np.maximum(low, high)
    inside = np.where(np.isnan(estimate), estimate, np.minimum(np.maximum(estimate, low), high))
    return {
        "estimate": to_arrow(inside),
        "stderr": pa.nulls(len(low), pa.float64()) if stderr is None else to_arrow(stderr),
        "low": to_arrow(low),
        "high": to_arrow(high),
    }


def _count(_: Aggregate, totals: Totals, cells: Array) -> dict[str, pa.Array]:
    return {
        "estimate": to_arrow(totals.counts[cells, 0]),
        "stderr": to_arrow(np.sqrt(totals.counts[cells, 1])),
        "low": to_arrow(totals.fewest[cells]),
        "high": to_arrow(totals.most[cells]),
    }


def _sum(_: Aggregate, totals: Totals, cells: Array) -> dict[str, pa.Array]:
    sums = totals.sums[cells].T
    return _columns(sums[0], np.sqrt(sums[3] + sums[4]), sums[1], sums[2])


def _avg(_: Aggregate, totals: Totals, cells: Array) -> dict[str, pa.Array]:
    sums, expected = totals.sums[cells].T, totals.counts[cells, 0]
    estimate = sums[0] / expected
    off = estimate - np.nan_to_num(sums[5])
    around = sums[7] - 2 * off * sums[6] + off * off * totals.counts[cells, 1]
    stderr = np.sqrt(sums[3] + np.maximum(around, 0)) / expected
    if (totals.fewest[cells] == totals.most[cells]).all():  # so many rows for sure
        return _columns(estimate, stderr, sums[1] / totals.fewest[cells], sums[2] / totals.fewest[cells])
    numbers, ends = totals.numbers, _parts(totals, cells)
    low = _mean_of_steps(numbers, ends[0], ends[1])
    high = _mean_of_steps(numbers[::-1], ends[2, :, ::-1], ends[3, :, ::-1])
    return _columns(estimate, stderr, np.nanmin(low, axis=1), np.nanmax(high, axis=1))


def _mean_of_steps(numbers: Floats, forced: Longs, free: Longs) -> Floats:
    """The mean of all forced candidates and the free ones up to each value."""
    sums = (numbers * forced).sum(axis=1, keepdims=True) + np.cumsum(numbers * free, axis=1)
    found: Floats = sums / (forced.sum(axis=1, keepdims=True) + np.cumsum(free, axis=1))
    return found


def _extreme(aggregate: Aggregate, totals: Totals, cells: Array) -> dict[str, pa.Array]:
    """MIN from the smallest value on; MAX is the same from the largest."""
    step = 1 if aggregate.function == "min" else -1
    weight, ends = totals.nearest[aggregate.function][cells, ::step], _parts(totals, cells)[:, :, ::step]
    from_here, from_there = (ends[0] + ends[1], ends[2] + ends[3])[::step]
    last = weight.shape[1] - 1 - np.argmax(from_there[:, ::-1] > 0, axis=1)
    reached = (np.cumsum(weight, axis=1) >= SURE) & (weight > 0)
    certain = (ends[2] if step == 1 else ends[0]) > 0
    near = np.argmax(from_here > 0, axis=1)
    far = np.where(certain.any(axis=1), np.argmax(certain, axis=1), last)
    estimate = np.where(reached.any(axis=1), np.argmax(reached, axis=1), last)
    low, high = (near, far) if step == 1 else (far, near)
    return _valued(totals, *(place if step == 1 else weight.shape[1] - 1 - place for place in (estimate, low, high)))


def _valued(totals: Totals, estimate: Array, low: Array, high: Array) -> dict[str, pa.Array]:
    values = totals.values
    return {
        "estimate": values.take(to_arrow(estimate)),
        "stderr": pa.nulls(len(low), pa.float64()),
        "low": values.take(to_arrow(low)),
        "high": values.take(to_arrow(high)),
    }


def _quantile_places(aggregate: Aggregate, totals: Totals, cells: Array) -> tuple[Array, Array, Array]:
    """The places of the discrete quantile among the values: expected, low and high."""
    p, q = aggregate.fraction.as_integer_ratio()
    weight, ends = totals.weight[cells], _parts(totals, cells)
    some, least = weight > 0, totals.fewest[cells][:, None]
    expected = np.cumsum(weight, axis=1)
    reached = some & (q * expected >= p * expected[:, -1:] * SURE)
    at, free = np.cumsum(ends[0] + ends[1], axis=1), np.cumsum(ends[1], axis=1)
    low = some & (at > 0) & (q * at >= p * (least + free))
    at, free = (np.cumsum(part[:, ::-1], axis=1)[:, ::-1] for part in (ends[2] + ends[3], ends[3]))
    # the fraction 0 asks for the first row: all rows at or above it, but never more than all
    high = some & ((q * at > (q - p) * (least + free)) if p else (at > 0) & (at >= least + free))
    last = weight.shape[1] - 1 - np.argmax(high[:, ::-1], axis=1)
    return np.argmax(reached, axis=1), np.argmax(low, axis=1), last


def _quantile_disc(aggregate: Aggregate, totals: Totals, cells: Array) -> dict[str, pa.Array]:
    estimate, low, high = _quantile_places(aggregate, totals, cells)
    return _valued(totals, np.minimum(np.maximum(estimate, low), high), low, high)


def _quantile_cont(aggregate: Aggregate, totals: Totals, cells: Array) -> dict[str, pa.Array]:
    numbers, weight, ends = totals.numbers, totals.weight[cells], _parts(totals, cells)
    expected, _, _ = _quantile_places(aggregate, totals, cells)
    p, q = aggregate.fraction.as_integer_ratio()
    low, high = np.empty(cells.size), np.empty(cells.size)
    for i, some in enumerate(weight > 0):
        held, own = numbers[some], ends[:, i, some]
        low[i] = _lowest(held, own[0], own[1], p, q)
        high[i] = -_lowest(-held[::-1], own[2, ::-1], own[3, ::-1], q - p, q)
    return _columns(numbers[expected], None, low, high)


@nb.njit(cache=True, nogil=True)
def _lowest(values: Floats, forced: Longs, free: Longs, p: int, q: int) -> float:
    """The lowest interpolated quantile over all numbers of free candidates; see `plan.aggregates`."""
    forced_at, free_at = np.cumsum(forced), np.cumsum(free)
    all_forced, all_free = forced_at[-1], free_at[-1]
    turn = np.int64(-1)
    for i in range(values.size):
        under = free_at[i] - free[i]
        if free[i] > 0 and q * (forced_at[i] - forced[i] + under) > p * (all_forced + under - 1):
            turn = under
            break
    best = _quantile(values, forced_at, free_at, all_free, p, q)
    if turn < 0:
        return best
    best = min(best, _quantile(values, forced_at, free_at, turn, p, q))
    for i in range(values.size):
        under = free_at[i] - free[i]
        between = q * (forced_at[i] - forced[i] + turn - 1) <= p * (all_forced + turn - 1)
        if free[i] > 0 and under >= turn and between:
            for taken in (under, under + 1, free_at[i]):
                best = min(best, _quantile(values, forced_at, free_at, taken, p, q))
    return best


@nb.njit(cache=True, nogil=True)
def _quantile(values: Floats, forced_at: Longs, free_at: Longs, taken: int | np.int64, p: int, q: int) -> float:
    """The interpolated quantile of all forced and `taken` free candidates; infinite if these are none."""
    drawn = forced_at[-1] + taken
    if drawn <= 0:
        return np.inf
    place = p * (drawn - 1)
    before, after = _place(forced_at, free_at, taken, q, place), _place(forced_at, free_at, taken, q, place + q - 1)
    return float(values[before] + (place % q) / q * (values[after] - values[before]))


@nb.njit(cache=True, nogil=True)
def _place(forced_at: Longs, free_at: Longs, taken: int | np.int64, q: int, beyond: int) -> int:
    """The first value up to which more than `beyond` / q candidates are drawn."""
    low, high = 0, forced_at.size - 1
    while low < high:
        middle = (low + high) // 2
        if q * (forced_at[middle] + min(free_at[middle], taken)) > beyond:
            high = middle
        else:
            low = middle + 1
    return low


def _parts(totals: Totals, cells: Array) -> Longs:
    """The runs by what they count: forced and free among the smallest, forced and free among the largest."""
    found: Longs = np.moveaxis(totals.ends[cells], 2, 0)
    return found


FINISH: dict[str, Callable[[Aggregate, Totals, Array], dict[str, pa.Array]]] = {
    "count": _count,
    "sum": _sum,
    "avg": _avg,
    "min": _extreme,
    "max": _extreme,
    "quantile_disc": _quantile_disc,
    "quantile_cont": _quantile_cont,
}
