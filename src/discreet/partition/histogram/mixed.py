"""Mixed: deal, then let groups trade values at random, so that groups differ in what they hold.

Dealing gives every group nearly the same values, so that nobody can tell from groups which values go with which rows.
After rounds of trades they differ as much as the guarantee allows, and are as many and as large as before.

In a round all groups are paired at random, and what two of them hold is divided anew (`partition/trades.py`). At last,
groups that hold two values of one row each, which nobody could tell apart, trade until none does.
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

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition import Placed
from discreet.partition.histogram import deal
from discreet.partition.histogram.plan import carry_out
from discreet.partition.kernels import IntArray, shuffle
from discreet.partition.spatial.local import cells as cut
from discreet.partition.trades import ROUNDS, Chance
from discreet.values.kernel import kernel
from discreet.values.random import RandomSource
from discreet.values.rule import Rule, among

PARTED = 30  # rounds to part values of one row: each parts half of those that are together


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
    chance = Chance.of(starts, counts.size, rule, secret)
    for _ in range(rounds if groups > 1 else 0):
        chance.trade(held, starts, shuffle(secret.words(groups)))
    places = np.repeat(np.arange(groups, dtype=np.int32), np.diff(starts))
    for _ in range(PARTED):
        partners = parted(np.bincount(places[counts[held] == 1], minlength=groups), secret)
        if not partners.size:
            break
        chance.trade(held, starts, partners)
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


@kernel
def by_group(planned, counts, starts):  # type: ignore[no-untyped-def]
    """The values that each group holds, group after group."""
    held, end, row = np.empty(planned.size, np.int32), starts.copy(), 0
    for value in range(counts.size):
        for _ in range(counts[value]):
            held[end[planned[row]]] = value
            end[planned[row]] += 1
            row += 1
    return held


@kernel
def by_value(held, counts, starts, planned):  # type: ignore[no-untyped-def]
    """The groups that hold each value, value after value: what `by_group` was given."""
    end, at = np.empty(counts.size, np.int64), 0
    for value in range(counts.size):
        end[value] = at
        at += counts[value]
    for group in range(starts.size - 1):
        for value in held[starts[group] : starts[group + 1]]:
            planned[end[value]] = group
            end[value] += 1
