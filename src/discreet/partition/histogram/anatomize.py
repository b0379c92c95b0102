"""Anatomize: every group takes one row from each of the l values that most rows still hold.

Source: Xiao and Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006, figure 3.
Cost: linear in the rows (plus log of the number of values per group), on the histogram alone.
Claim: anatomize_is_figure_3 — floor(n/l) groups of l or more rows, all values in a group distinct.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.histogram.plan import carry_out
from discreet.partition.kernels import IntArray, UIntArray, below
from discreet.values.kernel import kernel, kernel_with
from discreet.values.random import RandomSource


def assign(quasi: Sequence[IntArray], sensitive: IntArray, guarantee: Guarantee, secret: RandomSource) -> IntArray:
    """The group of every row; quasi-identifiers are not looked at."""
    l = guarantee.rule.l
    counts = np.bincount(sensitive)
    return carry_out(plan(counts, l, secret.words(l)), sensitive, counts, secret)


def plan(counts: IntArray, l: int, words: UIntArray) -> IntArray:
    """The group of the i-th row when rows are sorted by value; needs counts that allow l.

    `words` are random, one per residue row (at most l - 1).
    """
    start, by_size = np.append(0, np.cumsum(counts)), np.argsort(-counts, kind="stable")
    groups: IntArray = _take(start, by_size, counts[by_size].astype(np.int64), l, words)
    return groups


@kernel
def _take(start, by_size, left, l, words):  # type: ignore[no-untyped-def]
    """The group of the i-th row; rows of a value begin at its `start`, and `left` are those of each by size."""
    groups, out = start[-1] // l, np.empty(start[-1], np.int32)

    # Values by remaining rows, most first. Lines 3-8: while the top l lose a row each, ties at
    # the edge of the top l are taken from the far end of their run, so the order stays sorted.
    for group in range(groups):
        edge = left[l - 1]
        first = _first_at_most(left, edge)
        after = _first_at_most(left, edge - 1)
        for i in range(l):
            at = i if i < first else after - (l - i)
            v = by_size[at]
            left[at] -= 1
            out[start[v] + left[at]] = group

    # Lines 9-12: each row left over joins a random group that lacks its value.
    holds = np.zeros(groups, np.bool_)
    for at in range(by_size.size):
        if left[at] == 0:
            break
        v = by_size[at]
        mine = out[start[v] + 1 : start[v + 1]]
        for group in mine:
            holds[group] = True
        pick = below(words[at], groups - mine.size)
        for group in range(groups):
            if not holds[group]:
                if pick == 0:
                    out[start[v]] = group
                    break
                pick -= 1
        for group in mine:
            holds[group] = False
    return out


@kernel_with(inline="always")
def _first_at_most(descending: IntArray, limit: int) -> int:
    low, high = 0, descending.size
    while low < high:
        middle = (low + high) // 2
        if descending[middle] <= limit:
            high = middle
        else:
            low = middle + 1
    return low
