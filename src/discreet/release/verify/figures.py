"""What is promised of groups, held against what runs told of them: the figures that the engine would count.

Cost: linear in the groups.
Claim: figures_are_those_of_the_engine — of the same groups, the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.values.buffers import flags, numbers

Flags = npt.NDArray[np.bool_]
DAY = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
FAR = 2**62  # whole numbers below it, or above -FAR, lie no further apart than such a number can say


def figures(rows: pa.Table, held: pa.Table, guarantee: Mapping[str, float]) -> list[int] | None:
    """The figures of all groups, then how many break each promise, in its order; None if that is left to the engine."""
    if not np.array_equal(_column(rows, "grp"), _column(held, "grp")):
        return None
    groups, sizes, of_rows = _column(held, "grp"), _column(held, "size"), _column(rows, "size")
    top, others = _column(held, "top"), _column(held, "others")
    broken = [_broken(held, name, threshold, values="e" in guarantee) for name, threshold in guarantee.items()]
    whole = [int(each.sum()) for each in broken if each is not None]
    if len(whole) < len(broken):
        return None
    there = others > 0
    shares = np.ceil(10_000 * top[there] / others[there])
    sums = [int(_column(held, name).sum()) for name in ("missing", "odd", "infinite")]
    unlike, least = int(np.count_nonzero(of_rows != sizes)), int(_column(held, "least").min())
    told = int(of_rows.sum()), groups.size, int(groups.min()), int(groups.max()), unlike, least
    return [*told, *sums, int(shares.max(initial=0)), *whole]


def _broken(held: pa.Table, name: str, threshold: float, *, values: bool) -> Flags | None:
    """Which groups break a promise, if that can be told here; beside e, k counts `values` and not rows."""
    kinds = _column(held, "kinds")
    if name == "e":
        narrow = _narrow(held, threshold)
        return None if narrow is None else narrow | (kinds == 0)
    least = min(int(threshold), FAR)
    if name == "k" and not values:
        return np.asarray(_column(held, "size") < least)
    if name == "l":
        return np.asarray((kinds == 0) | (_column(held, "top") > _column(held, "others") // least))
    return np.asarray(kinds < least) if name in {"k", "distinct_l"} else None


def _narrow(held: pa.Table, shortest: float) -> Flags | None:
    """In which groups the values lie too near together; days apart, where they are dates or times."""
    type_, steps = held["low"].type, Fraction(repr(shortest))
    there = flags(held["low"].combine_chunks().is_valid())  # groups of missing values alone are looked at elsewhere
    if pa.types.is_floating(type_):
        low, high = (np.where(there, _column(held, end), 0).astype(np.float64) for end in ("low", "high"))
        with np.errstate(invalid="ignore"):  # infinite ones, which are told apart
            return np.asarray(there & (high - low < float(shortest)))
    if pa.types.is_timestamp(type_):
        steps, type_ = steps * DAY[type_.unit], pa.int64()
    elif pa.types.is_date32(type_):
        type_ = pa.int32()
    if not pa.types.is_integer(type_):
        return None
    low, high = (np.where(there, _column(held, end, type_), 0) for end in ("low", "high"))
    if not -FAR < int(low.min()) <= int(high.max()) < FAR:
        return None
    return np.asarray(there & (high.astype(np.int64) - low.astype(np.int64) < min(ceil(steps), 2 * FAR - 1)))


def _column(table: pa.Table, name: str, type_: pa.DataType | None = None) -> npt.NDArray[Any]:
    column = table[name].combine_chunks()
    return numbers(column if type_ is None else column.view(type_))
