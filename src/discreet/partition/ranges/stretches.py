"""Cut the sorted sensitive values into groups that each have k distinct values and a range of e.

What the partitions for (k,e) share. They see the distinct values in ascending order: how many rows
hold each, and its mark. A group is a stretch of values; the rows of one value may be divided between
the group that ends there and the group that starts there.
Claim: cut_rows_stay_in_their_group — a group gets rows of all its values and of no others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.histogram.plan import carry_out
from discreet.partition.kernels import IntArray, MarkArray
from discreet.values.kernel import kernel, kernel_with
from discreet.values.random import RandomSource

Plan: TypeAlias = Callable[[IntArray, MarkArray, int, float], IntArray]


def assign_sorted(plan: Plan, sensitive: IntArray, guarantee: Guarantee, secret: RandomSource) -> IntArray:
    """The group of every row, by a plan made from the counts and marks of the values that occur."""
    counts = np.bincount(sensitive)
    held = np.flatnonzero(counts)
    rule = guarantee.rule
    made = plan(counts[held], rule.marks[held], rule.distinct_l, rule.e)
    return carry_out(made, sensitive, counts, secret)


@kernel_with(inline="always")
def wide(marks: MarkArray, first: int, last: int, k: int, e: float) -> bool:
    """Whether the values from `first` to `last` are enough for a group; then every longer stretch is, too."""
    return last - first + 1 >= k and marks[last] - marks[first] >= e


@kernel
def lay_out(counts: IntArray, firsts: IntArray, lasts: IntArray) -> IntArray:
    """The group of the i-th row when rows are sorted by value; groups are stretches of values in ascending order.

    Where a group starts at the value at which the one before it ends, they share its rows evenly.
    """
    total, at = 0, 0
    for v in range(counts.size):
        total += counts[v]
    out = np.empty(total, np.int32)
    shared = False
    for group in range(firsts.size):
        first, last = firsts[group], lasts[group]
        for v in range(first, last + 1):
            rows = counts[v]
            if shared and v == first:
                rows -= rows // 2
            elif v == last and group + 1 < firsts.size and firsts[group + 1] == last:
                rows //= 2
            for _ in range(rows):
                out[at] = group
                at += 1
        shared = group + 1 < firsts.size and firsts[group + 1] == last
    return out
