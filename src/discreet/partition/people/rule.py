"""What a group of people must keep where some have several rows, as compiled kernels see it.

A group has n rows, nobody in it more than r, and c of the rows hold a value. With one row each, r = 1, all is as ever.

    k           at least k people
    l           c · r · l <= n for every value
    distinct_l  (c + 1) · r <= n for the c rows of any l - 1 values; the k of (k,e) likewise
    e           (c + 1) · r <= n for the c rows within any range that is shorter than e
    beta        c / n <= (1 + beta) · p / (1 + (r - 1) · p) for a value that has the share p of the table's rows

Everybody has r rows at most, so n <= r · people. Whoever holds a value in any row is one of at most c people. So at
most 1 in l people holds a value; and somebody in the group holds none of any l - 1 values, and nothing in a range
shorter than e. `docs/promise.md` has what follows for those who guess, and why no cut and no group tells them more.

All of it is that a group has enough rows for the values it holds (`need`). Two groups that keep it keep it as one if r
is the same for both: so r is a cap that holds for a whole stratum, no less than the most rows that anybody in a group
has, and whatever keeps the rule with the cap keeps it without.
Claim: people_rule_is_monotone — under one cap, the union of groups that keep the rule keeps it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.values.kernel import kernel
from discreet.values.rule import Marks, rows_for, within

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee


class PeopleRule(NamedTuple):
    """The thresholds of all promises for people who have at most `cap` rows each; 1 asks nothing.

    `marks`, `e` and `shares` are as in `values/rule.py`; without lines, nothing is asked of shares.
    """

    k: int
    cap: int
    l: int = 1
    distinct_l: int = 1
    e: int | float = 0
    marks: Marks = np.zeros(0, np.int64)
    shares: npt.NDArray[np.int64] = np.zeros((0, 2), np.int64)

    @classmethod
    def of(cls, guarantee: Guarantee, cap: int, lots: int = 1) -> PeopleRule:
        """The rule of a guarantee; over several lots, each may add its part to what is believed of somebody."""
        rule = guarantee.of_people(cap)
        shares = np.asarray(rule.shares, np.int64).reshape(-1, 2)
        return cls(rule.k, cap, rule.l * lots if rule.l > 1 else 1, rule.distinct_l, rule.e, rule.marks, shares)


@kernel
def need(held, times, rule):  # type: ignore[no-untyped-def]
    """The rows that a group must have in which these values, ascending, are held so many times."""
    top = times.max() * rule.l * rule.cap if rule.l > 1 else np.int64(0)
    return max(top, need_to_differ(held, times, rule))


@kernel
def need_to_differ(held, times, rule):  # type: ignore[no-untyped-def]
    """The same as far as it is not about `l`."""
    rows = np.int64(0)
    if rule.distinct_l > 1:
        rows = (np.sort(times)[max(times.size - rule.distinct_l + 1, 0) :].sum() + 1) * rule.cap
    if rule.marks.size and rule.e > 0:
        rows = max(rows, (within(held, times, rule) + 1) * rule.cap)
    if rule.shares.shape[0]:
        for i in range(held.size):
            wanted = rows_for(held[i], times[i], rule)
            if wanted > times[i]:  # else it may fill a group
                rows = max(rows, wanted)
    return rows


@kernel
def fewest(rule):  # type: ignore[no-untyped-def]
    """No fewer rows than these keep it, whatever they hold."""
    rows = rule.cap * max(rule.l, rule.distinct_l) if max(rule.l, rule.distinct_l) > 1 else 1
    return max(rows, 2 * rule.cap if rule.marks.size and rule.e > 0 else 1)


@kernel
def kept(people, rows, needed, rule):  # type: ignore[no-untyped-def]
    """Whether so many people with so many rows keep it, whose values need so many."""
    return people >= rule.k and needed <= rows


@kernel
def keeps(order, starts, values, rule, counts):  # type: ignore[no-untyped-def]
    """Whether the people in `order` keep it as one group; `counts`, one per value, are zero before and after."""
    rows = 0
    for p in order:
        rows += starts[p + 1] - starts[p]
    return kept(order.size, rows, need_of(order, starts, values, rule, counts), rule)


@kernel
def need_of(order, starts, values, rule, counts):  # type: ignore[no-untyped-def]
    """The rows that the values of the people in `order` need."""
    rows, found = 0, 0
    for p in order:
        rows += starts[p + 1] - starts[p]
    held = np.empty(rows, np.int32)
    for p in order:
        for i in range(starts[p], starts[p + 1]):
            if counts[values[i]] == 0:
                held[found] = values[i]
                found += 1
            counts[values[i]] += 1
    held = np.sort(held[:found])
    times = np.empty(found, np.int64)
    for i in range(found):
        times[i] = counts[held[i]]
        counts[held[i]] = 0
    return need(held, times, rule)
