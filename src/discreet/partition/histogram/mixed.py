"""Mixed: deal, then let groups trade values at random, so that groups differ in what they hold.

Dealing gives every group nearly the same values, so that nobody can tell from groups which values go with which rows.
After rounds of trades they differ as much as the guarantee allows, and are as many and as large as before.

In a round all groups are paired at random, and what two of them hold is divided anew. Of each value, the copies that do
not fit into one group stay in the other, and where the rest goes is drawn uniformly. Where no group may hold a value
twice, that is a "curveball" trade (Verhelst, 2008; Strona et al., 2014). How many copies fit follows from its size
and the guarantee: so `l` and beta stay kept, and sizes keep `k`. Where distinct values or a range are promised and
would be broken, the two groups trade less: only values that one of them holds once and the other not at all, and
neither the smallest nor the largest of a group. Harmless values are traded for harmless ones only.
At last, groups that hold two values of one row each, which nobody could tell apart, trade until none does.
Everything follows from the histogram and chance; which of a value's rows takes which place is drawn at the end.

If `cells` are wanted, rows are brought together first, by the blind cuts of `local`, until a cell has fewer than two
shares of so many; then each cell is a table of its own. Groups are numbered cell by cell, so that cells can be shown.
They tell nothing of a group's rows: to exchange values inside a group changes no cell's histogram, and so no cut.
Cost: linear in the rows, in every round; two random bytes per row and round.
Claim: trades_keep_counts_sizes_and_promises — each value and each group has as many rows as `deal` gives it.
Claim: cells_tell_nothing — every table with the groups' values has the same cells, by the same chance.
Claim: mixed_looks_at_no_quasi_identifier — whatever they are, by the same chance the groups are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numba as nb
import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition import Placed
from discreet.partition.histogram import deal
from discreet.partition.histogram.plan import carry_out
from discreet.partition.kernels import IntArray, shuffle
from discreet.partition.spatial.local import cells as cut
from discreet.values.random import RandomSource
from discreet.values.rule import FAR, Rule, among, at_most, is_harmless, keeps

PARTED = 30  # rounds to part values of one row: each parts half of those that are together
ROUNDS = 6  # more make groups differ no more: `bench/mixed.py` prints it


def assign(
    quasi: Sequence[IntArray],
    sensitive: IntArray,
    guarantee: Guarantee,
    secret: RandomSource,
    *,
    rounds: int = ROUNDS,
    cells: int = 1,
) -> IntArray | Placed:
    """The group of every row; quasi-identifiers are looked at to cut cells, at most so many, and for nothing else."""
    rule = guarantee.rule
    if cells == 1:
        return mix(sensitive, rule, secret, rounds)
    large = rule._replace(k=max(rule.k, -(-sensitive.size // cells)))
    rows, values, edges = cut(quasi, sensitive, large, secret, blind=True)
    groups, made = np.empty(rows.size, np.int32), [0]
    for low, high in pairwise(edges):
        held, numbers = np.unique(values[low:high], return_inverse=True)
        own = mix(numbers.astype(np.int32), among(held, rule), secret, rounds)
        groups[rows[low:high]] = own + made[-1]
        made.append(made[-1] + int(own.max()) + 1)
    return Placed(groups, tuple(map(int, np.diff(made))))


def mix(sensitive: IntArray, rule: Rule, secret: RandomSource, rounds: int) -> IntArray:
    """The group of every row, by the values of all of them."""
    counts = np.bincount(sensitive)
    return carry_out(plan(counts, rule, secret, rounds), sensitive, counts, secret)


def plan(counts: IntArray, rule: Rule, secret: RandomSource, rounds: int) -> IntArray:
    """The group of the i-th row when rows are sorted by value."""
    planned = deal.plan(counts, rule)
    starts = np.append(0, np.cumsum(np.bincount(planned)))
    held, groups = by_group(planned, counts, starts), starts.size - 1
    draws = (2 if may_break(rule) else 1) * held.size // 2
    for _ in range(rounds if groups > 1 else 0):
        partners, bits = shuffle(secret.words(groups)), secret.words(draws // 2 + 1).view(np.uint32)
        trade(held, starts, partners, bits, rule, counts.size)
    places = np.repeat(np.arange(groups, dtype=np.int32), np.diff(starts))
    for _ in range(PARTED):
        partners = parted(np.bincount(places[counts[held] == 1], minlength=groups), secret)
        if not partners.size:
            break
        trade(held, starts, partners, secret.words(draws // 2 + 1).view(np.uint32), rule, counts.size)
    by_value(held, counts, starts, planned)
    return planned


def parted(singles: IntArray, secret: RandomSource) -> IntArray:
    """Who is to trade with whom: each group that holds several values of one row, with one that holds none.

    Two such values in one group could never be told apart.
    """
    crowded, others = np.flatnonzero(singles > 1), np.flatnonzero(singles == 0)
    if not crowded.size:
        return crowded
    chosen = others[shuffle(secret.words(others.size))][: crowded.size]
    return np.column_stack([crowded[: chosen.size], chosen]).astype(np.int32).ravel()


@nb.njit(cache=True, nogil=True)
def by_group(planned, counts, starts):  # type: ignore[no-untyped-def]
    """The values that each group holds, group after group."""
    held, end, row = np.empty(planned.size, np.int32), starts.copy(), 0
    for value in range(counts.size):
        for _ in range(counts[value]):
            held[end[planned[row]]] = value
            end[planned[row]] += 1
            row += 1
    return held


@nb.njit(cache=True, nogil=True)
def by_value(held, counts, starts, planned):  # type: ignore[no-untyped-def]
    """The groups that hold each value, value after value: what `by_group` was given."""
    end = np.cumsum(counts) - counts
    for group in range(starts.size - 1):
        for value in held[starts[group] : starts[group + 1]]:
            planned[end[value]] = group
            end[value] += 1


@nb.njit(cache=True, nogil=True, inline="always")
def _below(bits, m):  # type: ignore[no-untyped-def]
    """The integer in [0, m) that 32 random bits fall on; that some are likelier by m in 2**32 breaks no promise."""
    return int((np.uint64(bits) * np.uint64(m)) >> np.uint64(32))


@nb.njit(cache=True, nogil=True)
def may_break(rule):  # type: ignore[no-untyped-def]
    """Whether more is promised than that no group has too many rows of a value."""
    return rule.distinct_l > 1 or rule.marks.size > 0


@nb.njit(cache=True, nogil=True)
def trade(held, starts, partners, bits, rule, values):  # type: ignore[no-untyped-def]
    """One round: groups that stand beside each other among the `partners`, two and two, trade in place.

    Group g holds held[starts[g]:starts[g + 1]], out of so many `values`. The smaller of two groups draws: for each of
    its places there are 32 random bits, twice as many where a trade may break a promise.
    """
    largest = 0
    for g in range(starts.size - 1):
        largest = max(largest, starts[g + 1] - starts[g])
    left, right = np.zeros(values, np.int32), np.zeros(values, np.int32)
    free, fixed = np.empty(2 * largest, np.int32), np.empty(2 * largest, np.int32)
    before = np.empty(2 * largest, np.int32)
    at = 0
    for pair in range(partners.size // 2):
        a, b = partners[2 * pair], partners[2 * pair + 1]
        if starts[a + 1] - starts[a] > starts[b + 1] - starts[b]:
            a, b = b, a
        mine, yours = held[starts[a] : starts[a + 1]], held[starts[b] : starts[b + 1]]
        n = mine.size
        _copy(mine, before)
        _copy(yours, before[n:])
        end = at + n
        for harmless in (False, True):
            if at < end:
                at += _divide(mine, yours, harmless, rule, left, right, free, fixed, bits[at:])
        if may_break(rule):
            if not (keeps(mine, rule, left) and keeps(yours, rule, left)):
                _copy(before[:n], mine)
                _copy(before[n : n + yours.size], yours)
                _exchange(mine, yours, rule, left, free, fixed, bits[at:])
            at += n


@nb.njit(cache=True, nogil=True)
def _copy(values, to):  # type: ignore[no-untyped-def]
    """Compiles ten times as fast as an assignment to a slice."""
    for i in range(values.size):
        to[i] = values[i]


@nb.njit(cache=True, nogil=True)
def _divide(mine, yours, harmless, rule, left, right, free, fixed, bits):  # type: ignore[no-untyped-def]
    """Divide anew what two groups hold of harmless values, or of all others; return how many places the first has.

    A value with t copies has at least as many here as do not fit there, at most as many as fit here, and the rest is
    drawn from. `left` and `right` are all zero before and after.
    """
    here, there = 0, 0
    for v in mine:
        if is_harmless(v, rule) == harmless:
            left[v] += 1
            here += 1
    for v in yours:
        if is_harmless(v, rule) == harmless:
            right[v] += 1
            there += 1
    first, last, drawn = 0, here + there, 0  # of `fixed`: what stays here from the front, what goes there from the end
    for group in (mine, yours):
        for v in group:
            t = left[v] + right[v]
            if t and is_harmless(v, rule) == harmless:
                left[v] = right[v] = 0
                most = min(t, _fit(v, mine.size, here, harmless, rule))
                least = max(0, t - _fit(v, yours.size, there, harmless, rule))
                for i in range(t):
                    if i < least:
                        fixed[first] = v
                        first += 1
                    elif i < most:
                        free[drawn] = v
                        drawn += 1
                    else:
                        last -= 1
                        fixed[last] = v
    for i in range(here - first):  # Fisher and Yates, as far as needed
        j = i + _below(bits[i], drawn - i)
        free[i], free[j] = free[j], free[i]
    at = 0
    for group in (mine, yours):
        for i in range(group.size):
            if is_harmless(group[i], rule) == harmless:
                group[i] = fixed[at] if at < first or at >= last else free[at - first]
                at += 1
    return here


@nb.njit(cache=True, nogil=True)
def _fit(value, rows, alike, harmless, rule):  # type: ignore[no-untyped-def]
    """How many copies of a value a group of so many rows may hold, those of them `alike` that are as harmless."""
    most = min(np.int64(alike), at_most(value, rows, rule))
    if harmless:
        return most
    if rule.l > 1:
        most = min(most, alike // rule.l)
    return min(most, alike - max(rule.distinct_l, 1) + 1)


@nb.njit(cache=True, nogil=True)
def _exchange(mine, yours, rule, left, free, fixed, bits):  # type: ignore[no-untyped-def]
    """Shuffle the values that one of two groups holds once and the other does not, among the places they have.

    What a group has at its ends stays, so that it reaches as far as before, and it has as many distinct values.
    """
    ends = _ends(mine, rule), _ends(yours, rule)
    for group in (mine, yours):
        for v in group:
            left[v] += 1
    here, single = 0, 0
    for g in range(2):
        group = mine if g == 0 else yours
        for i in range(group.size):
            v = group[i]
            inside = rule.marks.size == 0 or ends[g][0] < v < ends[g][1]
            if left[v] == 1 and inside and not is_harmless(v, rule) and at_most(v, mine.size, rule):
                fixed[single], free[single] = i, v
                single += 1
                here += g == 0
    for group in (mine, yours):
        for v in group:
            left[v] = 0
    for i in range(here):
        j = i + _below(bits[i], single - i)
        free[i], free[j] = free[j], free[i]
        mine[fixed[i]] = free[i]
    for i in range(here, single):
        yours[fixed[i]] = free[i]


@nb.njit(cache=True, nogil=True)
def _ends(group, rule):  # type: ignore[no-untyped-def]
    """The smallest and the largest value of a group, without harmless ones."""
    low, high = np.int32(FAR), np.int32(-1)
    for v in group:
        if not is_harmless(v, rule):
            low, high = min(low, v), max(high, v)
    return low, high
