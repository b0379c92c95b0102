"""Random: scan the rows in random order and close a group as soon as it has k distinct values and a range of e.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, section 7.1, where it is
the baseline: its groups are wide, and so are the bounds of answers from them.
Cost: linear in the rows.
Claim: random_closes_groups_early — without its last scanned row, and without leftovers, no group would do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.kernels import IntArray, MarkArray, shuffle
from discreet.values.kernel import kernel
from discreet.values.random import RandomSource


def assign(quasi: Sequence[IntArray], sensitive: IntArray, guarantee: Guarantee, secret: RandomSource) -> IntArray:
    """The group of every row; quasi-identifiers are not looked at.

    The paper scans rows as they stand. Neighbours in the table would then share a group, and the
    order of the table, which may follow anything, would reach the release; so the order is drawn.
    """
    rule = guarantee.rule
    order = shuffle(secret.words(sensitive.size))
    groups: IntArray = _scan(order, sensitive, rule.marks, rule.distinct_l, rule.e)
    return groups


@kernel
def _scan(order: IntArray, values: IntArray, marks: MarkArray, k: int, e: float) -> IntArray:
    """The group of every row, when rows are scanned in this order."""
    out = np.empty(values.size, np.int32)
    seen_by = np.full(marks.size, -1, np.int32)  # the last group that has met this value
    least, most = np.empty(values.size // k + 1, np.int32), np.empty(values.size // k + 1, np.int32)
    group, distinct, closed_at = 0, 0, 0
    for i in range(order.size):
        v = values[order[i]]
        out[order[i]] = group
        if seen_by[v] != group:
            seen_by[v] = group
            least[group] = v if distinct == 0 else min(least[group], v)
            most[group] = v if distinct == 0 else max(most[group], v)
            distinct += 1
            if distinct >= k and marks[most[group]] - marks[least[group]] >= e:
                group += 1
                distinct = 0
                closed_at = i + 1
    joins = _nearest(least[:group], most[:group], marks)
    for i in range(closed_at, order.size):
        out[order[i]] = joins[values[order[i]]]
    return out


@kernel
def _nearest(least: IntArray, most: IntArray, marks: MarkArray) -> IntArray:
    """For every value the group that it would widen least."""
    below, above = np.full(marks.size, -1, np.int32), np.full(marks.size, -1, np.int32)
    for group in range(least.size):
        v = least[group]
        if below[v] < 0 or most[group] > most[below[v]]:
            below[v] = group
        above[v] = group
    # below: of the groups that start at a value or under it, the one that reaches highest
    for v in range(1, marks.size):
        if below[v] < 0 or (below[v - 1] >= 0 and most[below[v - 1]] > most[below[v]]):
            below[v] = below[v - 1]
    # above: the first that starts at a value or over it
    for v in range(marks.size - 2, -1, -1):
        if above[v] < 0:
            above[v] = above[v + 1]
    joins = np.empty(marks.size, np.int32)
    for v in range(marks.size):
        under, over = below[v], above[v]
        if under < 0:
            joins[v] = over
        elif over < 0 or most[under] >= v or marks[v] - marks[most[under]] <= marks[least[over]] - marks[v]:
            joins[v] = under
        else:
            joins[v] = over
    return joins
