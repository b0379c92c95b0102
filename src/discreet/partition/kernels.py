"""Compiled steps that more than one partition takes: draw at random, deal sorted rows out, divide.

All are linear in the rows they are given and hold no more than a few integers per row.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.values.capacity import capacity
from discreet.values.kernel import kernel, kernel_with
from discreet.values.ordered import order_of
from discreet.values.rule import is_harmless

IntArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]
UIntArray: TypeAlias = npt.NDArray[np.uint64]
MarkArray: TypeAlias = npt.NDArray[Any]

FINE = 4  # codes for each row, at most, that are counted one by one


@kernel_with(inline="always")
def below(word: np.uint64, m: int) -> int:
    """The integer in [0, m) that a uniform 64-bit word falls on: floor(word * m / 2**64), m < 2**32."""
    high, low, m64 = word >> np.uint64(32), word & np.uint64(0xFFFFFFFF), np.uint64(m)
    return int((high * m64 + ((low * m64) >> np.uint64(32))) >> np.uint64(32))


@kernel
def shuffle(words: UIntArray) -> IntArray:
    """A uniform permutation of 0..n-1 from n random words (Fisher and Yates, inside out)."""
    order = np.empty(words.size, np.int32)
    for i in range(words.size):
        j = below(words[i], i + 1)
        order[i] = order[j]
        order[j] = i
    return order


@kernel
def shuffle_by_value(values: IntArray, counts: IntArray, words: UIntArray) -> IntArray:
    """Row numbers ordered by value and, within a value, uniformly at random."""
    start, end = np.empty(counts.size, np.int64), np.empty(counts.size, np.int64)
    order, at = np.empty(values.size, np.int32), 0
    for v in range(counts.size):
        start[v] = end[v] = at
        at += counts[v]
    for row in range(values.size):
        v = values[row]
        j = start[v] + below(words[row], end[v] - start[v] + 1)
        order[end[v]] = order[j]
        order[j] = row
        end[v] += 1
    return order


@kernel
def deal_out(counts, held, rule, groups, out, first):  # type: ignore[no-untyped-def]
    """Deal sorted rows round-robin: write to `out` the group of each row, rows being sorted by value.

    Every value lays down one row per group before any value lays down a second, so a group
    holds as many distinct values as the counts allow. With no count above `groups` this is the
    plain deal of Li et al. (2015), Algorithm 1. Harmless values come last: the others are dealt as if they were alone.
    """
    turn = 0
    for harmless in (False, True):
        for again in (False, True):
            at = 0
            for v in range(counts.size):
                c = counts[v]
                if is_harmless(held[v], rule) == harmless:
                    for i in range(groups if again else 0, c if again else min(c, groups)):
                        out[at + i] = first + turn
                        turn += 1
                        if turn == groups:
                            turn = 0
                at += c


@kernel
def deal_cells(edges, values, rows, rule):  # type: ignore[no-untyped-def]
    """Deal every cell by itself; groups are numbered in the order of the cells."""
    groups = np.empty(values.size, np.int32)
    first, largest = np.int64(0), 0
    for cell in range(edges.size - 1):
        largest = max(largest, edges[cell + 1] - edges[cell])
    counts, held, dealt = np.empty(largest, np.int64), np.empty(largest, np.int32), np.empty(largest, np.int32)
    for cell in range(edges.size - 1):
        a, b = edges[cell], edges[cell + 1]
        by_value = order_of(values[a:b])
        runs = 0
        for i in range(b - a):
            if i == 0 or values[a + by_value[i]] != held[runs - 1]:
                counts[runs], held[runs] = 0, values[a + by_value[i]]
                runs += 1
            counts[runs - 1] += 1
        g = capacity(counts[:runs], held[:runs], rule)
        deal_out(counts[:runs], held[:runs], rule, g, dealt, first)
        for i in range(b - a):
            groups[rows[a + by_value[i]]] = dealt[i]
        first += g
    return groups


@kernel
def shuffle_cells(edges, values, rows, words):  # type: ignore[no-untyped-def]
    """Put the rows of every cell in a new random order, their values with them."""
    for cell in range(edges.size - 1):
        a = edges[cell]
        for i in range(a + 1, edges[cell + 1]):
            j = a + below(words[i], i - a + 1)
            values[i], values[j] = values[j], values[i]
            rows[i], rows[j] = rows[j], rows[i]


@kernel
def median(codes, least, most, histogram):  # type: ignore[no-untyped-def]
    """The median of codes that lie between two, how many are under it, and how many at it.

    The histogram has room for what lies between, or for `FINE` times as many numbers as there are codes.
    """
    n, under = codes.size, 0
    while True:  # count 2**shift codes together if they lie far apart; then look only at those in the middle
        shift = 0
        while most - least >> shift >= FINE * n:
            shift += 1
        for at in range((most - least >> shift) + 1):
            histogram[at] = 0
        for i in range(n):
            c = np.int64(codes[i])
            if least <= c <= most:
                histogram[c - least >> shift] += 1
        at = 0
        while under + histogram[at] <= n // 2:
            under += histogram[at]
            at += 1
        if shift == 0:
            return np.int64(least + at), np.int64(under), np.int64(histogram[at])
        least, most = least + (at << shift), min(most, least + (at + 1 << shift) - 1)


@kernel
def divide(lines, goes_right, spare):  # type: ignore[no-untyped-def]
    """Bring those that go left to the front; the order of each side stays."""
    left, right = 0, 0
    for i in range(lines.shape[0]):
        if lines.ndim == 1:  # both are written, one of them for good: nobody can guess which
            spare[right] = lines[left] = lines[i]
            right += goes_right[i]
            left += not goes_right[i]
        elif goes_right[i]:
            for j in range(lines.shape[1]):
                spare[right, j] = lines[i, j]
            right += 1
        else:
            for j in range(lines.shape[1]):
                lines[left, j] = lines[i, j]
            left += 1
    for i in range(right):
        if lines.ndim == 1:
            lines[left + i] = spare[i]
        else:
            for j in range(lines.shape[1]):
                lines[left + i, j] = spare[i, j]
