"""Compiled steps that more than one partition takes: draw at random, deal sorted rows out, divide.

All are linear in the rows they are given and hold no more than a few integers per row.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.values.rule import capacity, is_harmless

IntArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]
UIntArray: TypeAlias = npt.NDArray[np.uint64]
MarkArray: TypeAlias = npt.NDArray[Any]


@nb.njit(cache=True, nogil=True, inline="always")
def below(word: np.uint64, m: int) -> int:
    """The integer in [0, m) that a uniform 64-bit word falls on: floor(word * m / 2**64), m < 2**32."""
    high, low, m64 = word >> np.uint64(32), word & np.uint64(0xFFFFFFFF), np.uint64(m)
    return int((high * m64 + ((low * m64) >> np.uint64(32))) >> np.uint64(32))


@nb.njit(cache=True, nogil=True)
def shuffle(words: UIntArray) -> IntArray:
    """A uniform permutation of 0..n-1 from n random words (Fisher and Yates, inside out)."""
    order = np.empty(words.size, np.int32)
    for i in range(words.size):
        j = below(words[i], i + 1)
        order[i] = order[j]
        order[j] = i
    return order


@nb.njit(cache=True, nogil=True)
def shuffle_by_value(values: IntArray, counts: IntArray, words: UIntArray) -> IntArray:
    """Row numbers ordered by value and, within a value, uniformly at random."""
    start = np.zeros(counts.size + 1, np.int64)
    start[1:] = np.cumsum(counts)
    end = start[:-1].copy()
    order = np.empty(values.size, np.int32)
    for row in range(values.size):
        v = values[row]
        j = start[v] + below(words[row], end[v] - start[v] + 1)
        order[end[v]] = order[j]
        order[j] = row
        end[v] += 1
    return order


@nb.njit(cache=True, nogil=True)
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


@nb.njit(cache=True, nogil=True)
def deal_cells(edges, values, rows, rule):  # type: ignore[no-untyped-def]
    """Deal every cell by itself; groups are numbered in the order of the cells."""
    groups = np.empty(values.size, np.int32)
    first = 0
    for cell in range(edges.size - 1):
        a, b = edges[cell], edges[cell + 1]
        by_value = np.argsort(values[a:b], kind="mergesort")
        counts, held = np.empty(b - a, np.int64), np.empty(b - a, np.int32)
        runs = 0
        for i in range(b - a):
            if i == 0 or values[a + by_value[i]] != held[runs - 1]:
                counts[runs], held[runs] = 0, values[a + by_value[i]]
                runs += 1
            counts[runs - 1] += 1
        g = capacity(counts[:runs], held[:runs], rule)
        dealt = np.empty(b - a, np.int32)
        deal_out(counts[:runs], held[:runs], rule, g, dealt, first)
        for i in range(b - a):
            groups[rows[a + by_value[i]]] = dealt[i]
        first += g
    return groups


@nb.njit(cache=True, nogil=True)
def shuffle_cells(edges, values, rows, words):  # type: ignore[no-untyped-def]
    """Put the rows of every cell in a new random order, their values with them."""
    for cell in range(edges.size - 1):
        a = edges[cell]
        for i in range(a + 1, edges[cell + 1]):
            j = a + below(words[i], i - a + 1)
            values[i], values[j] = values[j], values[i]
            rows[i], rows[j] = rows[j], rows[i]


@nb.njit(cache=True, nogil=True)
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
    lines[left:] = spare[:right]
