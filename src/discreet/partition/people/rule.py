"""What a group of people must keep where some have several rows, as compiled kernels see it.

    k   at least k people
    l   c · r · l <= n for every value: of the group's n rows, c hold it, and nobody in the group has more than r

Proof of what `l` promises. Everybody has r rows at most, so n <= r · people. Whoever holds a value in any row is one
of at most c people, and c <= n / (r · l) <= people / l. And whoever knows which rows are a person's, and takes every
pairing of the group's rows and values for equally likely, finds the value in one given row with probability c / n, so
in any of r rows with r · c / n <= 1 / l at most (the union bound). With one row each, r = 1, it is `l` as ever.

Two groups that keep it keep it as one if r is the same for both: so r is a cap that holds for a whole stratum, no less
than the most rows that anybody in a group has, and whatever keeps the rule with the cap keeps it without.
Claim: people_rule_is_monotone — under one cap, the union of groups that keep the rule keeps it.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np


class PeopleRule(NamedTuple):
    """At least `k` people; and of every value at most one in `weight` rows, l times the most rows of one person."""

    k: int
    weight: int


@nb.njit(cache=True, nogil=True)
def kept(people, rows, top, rule):  # type: ignore[no-untyped-def]
    """Whether so many people with so many rows keep it, of which `top` hold the most frequent value."""
    return people >= rule.k and np.int64(top) * rule.weight <= rows


@nb.njit(cache=True, nogil=True)
def keeps(order, starts, values, rule, counts):  # type: ignore[no-untyped-def]
    """Whether the people in `order` keep it as one group; `counts`, one per value, are zero before and after."""
    rows = 0
    for p in order:
        rows += starts[p + 1] - starts[p]
    return kept(order.size, rows, top_of(order, starts, values, counts), rule)


@nb.njit(cache=True, nogil=True)
def top_of(order, starts, values, counts):  # type: ignore[no-untyped-def]
    """How many rows of the people in `order` hold the most frequent value."""
    top = 0
    for p in order:
        for i in range(starts[p], starts[p + 1]):
            counts[values[i]] += 1
            top = max(top, counts[values[i]])
    for p in order:
        for i in range(starts[p], starts[p + 1]):
            counts[values[i]] = 0
    return top
