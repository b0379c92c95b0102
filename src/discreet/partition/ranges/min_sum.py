"""Min_sum: groups of neighbouring values whose ranges add up to as little as possible.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, section 6.1, with
the recurrence that Algorithm 1 means. Of equally good groups it takes the longest, as Algorithm 1 does.
Cost: linear in the rows, once their values are counted.
Claim: min_sum_is_optimal — no (k,e)-anonymous partition has a smaller sum of ranges.
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


def plan(counts: IntArray, marks: MarkArray, k: int, e: float) -> IntArray:
    """The group of the i-th row when rows are sorted by value."""
    starts = _starts(marks, k, e)
    lasts = np.append(starts[1:] - 1, marks.size - 1)
    groups: IntArray = lay_out(counts, starts, lasts)
    return groups


@kernel
def _starts(marks: MarkArray, k: int, e: float) -> IntArray:
    """Where the groups start, ascending.

    Ranges add up to the range of all values less the gaps between groups, so the best partition has
    the most gap: most(b) = max of most(a - 1) + gap(a) over the starts a of a group that may end at b.
    These are a prefix of the values that grows with b. Dividing the rows of a value leaves no gap.
    """
    n = marks.size
    most = np.empty(n, marks.dtype)
    start = np.empty(n, np.int32)  # of the best last group that ends here
    best, best_start, a = marks[0] - marks[0], 0, 0
    for b in range(n):
        while wide(marks, a, b, k, e):
            if a > 0 and start[a - 1] >= 0:
                gap = most[a - 1] + (marks[a] - marks[a - 1])
                if gap > best:
                    best, best_start = gap, a
            a += 1
        most[b] = best
        start[b] = best_start if a > 0 else -1
    groups, end = 0, n - 1
    while end >= 0:
        groups += 1
        end = start[end] - 1
    starts = np.empty(groups, np.int64)
    end = n - 1
    while end >= 0:
        groups -= 1
        starts[groups] = start[end]
        end = start[end] - 1
    return starts
