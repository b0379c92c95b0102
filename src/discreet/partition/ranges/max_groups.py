"""Max_groups: as many groups of neighbouring values as possible.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, section 7.1. The best
number of groups never falls as values are added, so closing every group as early as possible is optimal.
Cost: linear in the rows, once their values are counted.
Claim: max_groups_is_optimal — no (k,e)-anonymous partition of stretches of values has more groups.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.kernels import IntArray, MarkArray
from discreet.partition.ranges.stretches import assign_sorted, lay_out, wide
from discreet.values.kernel import kernel
from discreet.values.random import RandomSource


def assign(quasi: Sequence[IntArray], sensitive: IntArray, guarantee: Guarantee, secret: RandomSource) -> IntArray:
    """The group of every row; quasi-identifiers are not looked at."""
    return assign_sorted(plan, sensitive, guarantee, secret)


@kernel
def plan(counts: IntArray, marks: MarkArray, k: int, e: float) -> IntArray:
    """The group of the i-th row when rows are sorted by value."""
    firsts, lasts = np.empty(marks.size, np.int32), np.empty(marks.size, np.int32)
    groups, first = 0, 0
    for last in range(marks.size):
        if wide(marks, first, last, k, e):
            firsts[groups], lasts[groups] = first, last
            groups += 1
            first = last if counts[last] > 1 else last + 1
    lasts[groups - 1] = marks.size - 1  # what is left over is too little for a group
    found: IntArray = lay_out(counts, firsts[:groups], lasts[:groups])
    return found
