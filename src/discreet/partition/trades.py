"""Trades: what two groups hold is divided anew between them at random, so that groups differ in what they hold.

Of each value, the copies that do not fit into one group stay in the other, and where the rest goes is drawn uniformly.
Where no group may hold a value twice, that is a "curveball" trade (Verhelst, 2008; Strona et al., 2014). How many
copies fit follows from a group's size and the guarantee: so `l` and beta stay kept, and sizes keep `k`. Where distinct
values or a range are promised and would be broken, the two groups trade less: only values that one of them holds once
and the other not at all, and neither the smallest nor the largest of a group. Harmless values are traded for harmless
ones only. No quasi-identifier is looked at.

In cells of similar rows the groups of a cell trade with each other, once they are dealt (`in_cells`). What follows from
the cell's histogram and chance is which values each group gets, and rows come to the places of their value in random
order. So inside a group every assignment of its values to its rows is as likely as any other.
Cost: linear in the rows, in every round; two random bytes per row and round. Rows of a cell are sorted by value twice.
Claim: trades_in_cells_tell_nothing — every table with the groups' values is brought to these groups in as many ways.
Claim: trades_stay_in_cells — each cell has the groups, sizes and values that dealing gives it, and every group keeps
    all promises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.partition.kernels import IntArray, UIntArray, below, deal_cells, shuffle_cells
from discreet.values.kernel import kernel, kernel_with
from discreet.values.ordered import order_of
from discreet.values.random import RandomSource
from discreet.values.rule import FAR, Rule, at_most, is_harmless, keeps

ROUNDS = 6  # more make groups differ no more: `bench/mixed.py` prints it


def in_cells(
    edges: IntArray, values: IntArray, rows: IntArray, rule: Rule, secret: RandomSource, rounds: int = ROUNDS
) -> IntArray:
    """The group of every row: each cell is dealt by itself, then its groups trade; numbered in the order of the cells.

    Under promises that bound no value's share, dealing spreads values better than promised, and nothing is traded.
    """
    shuffle_cells(edges, values, rows, secret.words(rows.size))
    groups: IntArray = deal_cells(edges, values, rows, rule)
    if rule.l <= 1:
        return groups
    starts = np.append(0, np.cumsum(np.bincount(groups)))
    held, first = sensitive_by_group(groups, values, rows, starts), np.searchsorted(starts, edges)
    chance = Chance.of(starts, int(values.max(initial=0)) + 1, rule, secret)
    for _ in range(rounds):
        chance.trade(held, starts, pairs(first, secret.words(starts.size - 1)))
    take_places(edges, values, rows, held, starts, groups)
    return groups


@dataclass(frozen=True, eq=False)
class Chance:
    """What rounds of trades take: the promises, chance, and scratch, more of it where a trade may break a promise."""

    rule: Rule
    secret: RandomSource
    counts: IntArray  # of each value, in one group and the other
    drawn: IntArray  # the values of two groups, twice
    before: IntArray | None

    @classmethod
    def of(cls, starts: IntArray, values: int, rule: Rule, secret: RandomSource) -> Chance:
        """For groups that begin at `starts`, of so many different values."""
        drawn = np.empty((3, 2 * int(np.diff(starts).max())), np.int32)
        return cls(rule, secret, np.zeros((2, values), np.int32), drawn[:2], drawn[2] if may_break(rule) else None)

    def trade(self, held: IntArray, starts: IntArray, partners: IntArray) -> None:
        """One round, with bits of its own."""
        draws = (1 if self.before is None else 2) * held.size // 2
        bits = self.secret.words(draws // 2 + 1).view(np.uint32)
        trade(held, starts, partners, bits, self.rule, self.counts, self.drawn, self.before)


@kernel
def sensitive_by_group(groups: IntArray, values: IntArray, rows: IntArray, starts: IntArray) -> IntArray:
    """The values that each group holds, group after group."""
    held, end = np.empty(values.size, np.int32), starts.copy()
    for i in range(rows.size):
        g = groups[rows[i]]
        held[end[g]] = values[i]
        end[g] += 1
    return held


@kernel
def pairs(first: IntArray, words: UIntArray) -> IntArray:
    """Who trades with whom: two and two, drawn among the groups first[c] to first[c + 1] of each cell."""
    found, size = np.empty(words.size, np.int32), 0
    for cell in range(first.size - 1):
        a, groups = first[cell], first[cell + 1] - first[cell]
        for i in range(groups):  # Fisher and Yates, inside out
            j = below(words[a + i], i + 1)
            found[size + i] = found[size + j]
            found[size + j] = a + i
        size += groups - groups % 2  # one that is left over trades with nobody
    return found[:size]


@kernel
def take_places(edges, values, rows, held, starts, groups):  # type: ignore[no-untyped-def]
    """Bring the rows of every cell, in the order in which they stand, to the places of their value."""
    place = np.empty(held.size, np.int32)
    for g in range(starts.size - 1):
        for i in range(starts[g], starts[g + 1]):
            place[i] = g
    for cell in range(edges.size - 1):
        a, b = edges[cell], edges[cell + 1]
        of, to = order_of(values[a:b]), order_of(held[a:b])
        for i in range(b - a):
            groups[rows[a + of[i]]] = place[a + to[i]]


@kernel_with(inline="always")
def _below(bits, m):  # type: ignore[no-untyped-def]
    """The integer in [0, m) that 32 random bits fall on; that some are likelier by m in 2**32 breaks no promise."""
    return int((np.uint64(bits) * np.uint64(m)) >> np.uint64(32))


def may_break(rule: Rule) -> bool:
    """Whether more is promised than that no group has too many rows of a value."""
    return rule.distinct_l > 1 or rule.marks.size > 0


@kernel
def trade(held, starts, partners, bits, rule, counts, drawn, before):  # type: ignore[no-untyped-def]
    """One round: groups that stand beside each other among the `partners`, two and two, trade in place.

    Group g holds held[starts[g]:starts[g + 1]]. The smaller of two groups draws: for each of its places there are 32
    random bits, twice as many where a trade may break a promise: then there is scratch for what two groups held
    `before`, and without it what mends a broken promise is not compiled.
    """
    left, right, free, fixed, at = counts[0], counts[1], drawn[0], drawn[1], 0
    for pair in range(partners.size // 2):
        a, b = partners[2 * pair], partners[2 * pair + 1]
        if starts[a + 1] - starts[a] > starts[b + 1] - starts[b]:
            a, b = b, a
        mine, yours = held[starts[a] : starts[a + 1]], held[starts[b] : starts[b + 1]]
        n = mine.size
        if before is not None:
            _copy(mine, before)
            _copy(yours, before[n:])
        end = at + n
        for harmless in (False, True):
            if at < end:
                at += _divide(mine, yours, harmless, rule, left, right, free, fixed, bits[at:])
        if before is not None:
            if not (keeps(mine, rule, left) and keeps(yours, rule, left)):
                _copy(before[:n], mine)
                _copy(before[n : n + yours.size], yours)
                _exchange(mine, yours, rule, left, free, fixed, bits[at:])
            at += n


@kernel
def _copy(values, to):  # type: ignore[no-untyped-def]
    """Compiles ten times as fast as an assignment to a slice."""
    for i in range(values.size):
        to[i] = values[i]


@kernel
def _divide(mine, yours, harmless, rule, left, right, free, fixed, bits):  # type: ignore[no-untyped-def]
    """Divide anew what two groups hold of harmless values, or of all others; return how many places the first has.

    A value with t copies has at least as many here as do not fit there, at most as many as fit here, and the rest is
    drawn from. `left` and `right` are all zero before and after.
    """
    here, there = np.int64(0), np.int64(0)
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


@kernel
def _fit(value, rows, alike, harmless, rule):  # type: ignore[no-untyped-def]
    """How many copies of a value a group of so many rows may hold, those of them `alike` that are as harmless."""
    most = min(np.int64(alike), at_most(value, rows, rule))
    if harmless:
        return most
    if rule.l > 1:
        most = min(most, alike // rule.l)
    return min(most, alike - max(rule.distinct_l, 1) + 1)


@kernel
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


@kernel
def _ends(group, rule):  # type: ignore[no-untyped-def]
    """The smallest and the largest value of a group, without harmless ones."""
    low, high = np.int32(FAR), np.int32(-1)
    for v in group:
        if not is_harmless(v, rule):
            low, high = min(low, v), max(high, v)
    return low, high
