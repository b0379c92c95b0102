"""Compiled steps of rolling up: sort rows by a digit, make keys, number equal keys alike, tally values by group.

All are linear in what they are given.
"""

from __future__ import annotations

from typing import TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.partition.space import Codes

Counts: TypeAlias = npt.NDArray[np.int64]


@nb.njit(cache=True, nogil=True)
def sort_by(digits, span, order):  # type: ignore[no-untyped-def]
    """Sort rows by their digit; rows with the same keep their order."""
    next_of_digit = np.zeros(span + 1, np.int64)
    for digit in digits:
        next_of_digit[digit + 1] += 1
    next_of_digit = np.cumsum(next_of_digit)
    out = np.empty_like(order)
    for row in order:
        out[next_of_digit[digits[row]]] = row
        next_of_digit[digits[row]] += 1
    return out


@nb.njit(cache=True, nogil=True)
def add(keys, column, rows, worth):  # type: ignore[no-untyped-def]
    """Add to each key what the code of its row in a column is worth."""
    for i in range(rows.size):
        keys[i] += worth[column[rows[i]]]


def merge(keys: Counts, span: int, counts: Counts, places: Codes) -> tuple[Codes, Codes, Counts]:
    """Number equal keys (from 0 to below `span`) alike, in the order in which they come.

    Returned are the number of each key, where each number came first, and the counts summed by number.
    """
    found, firsts, totals = _by_place(keys, counts, places) if span <= places.size else _by_hash(keys, counts)
    return found, firsts, totals


@nb.njit(cache=True, nogil=True)
def _by_place(keys, counts, places):  # type: ignore[no-untyped-def]
    """One place per key; all are -1 before and after."""
    n, number = keys.size, 0
    found, firsts, totals = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
    for i in range(n):
        now = places[keys[i]]
        if now < 0:
            now = number
            places[keys[i]], firsts[now], totals[now] = now, i, 0
            number += 1
        found[i] = now
        totals[now] += counts[i]
    for i in range(number):
        places[keys[firsts[i]]] = -1
    return found, firsts[:number].copy(), totals[:number].copy()


@nb.njit(cache=True, nogil=True)
def _by_hash(keys, counts):  # type: ignore[no-untyped-def]
    """Open addressing; the hash is a multiplication by 2**64 over the golden ratio."""
    n, number, bits = keys.size, 0, 1
    while 1 << bits < 2 * n:
        bits += 1
    found, firsts, totals = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
    slots = np.full(2 << bits, -1, np.int64)  # key and number side by side
    for i in range(n):
        at = 2 * np.int64((np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
        while slots[at] >= 0 and slots[at] != keys[i]:
            at = (at + 2) & (slots.size - 1)
        if slots[at] < 0:
            slots[at], slots[at + 1] = keys[i], number
            firsts[number], totals[number] = i, 0
            number += 1
        now = slots[at + 1]
        found[i] = now
        totals[now] += counts[i]
    return found, firsts[:number].copy(), totals[:number].copy()


@nb.njit(cache=True, nogil=True)
def tally(groups, values, counts, number, kinds):  # type: ignore[no-untyped-def]
    """The groups and values that occur together, one group after the other, and how often: a counting sort by group."""
    n = groups.size
    next_of_group = np.zeros(number + 1, np.int64)
    for i in range(n):
        next_of_group[groups[i] + 1] += 1
    next_of_group = np.cumsum(next_of_group)
    sorted_values, sorted_counts = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        at = next_of_group[groups[i]]
        sorted_values[at], sorted_counts[at] = values[i], counts[i]
        next_of_group[groups[i]] += 1
    # next_of_group[g] is now the end of g's run
    out_groups, out_counts = np.empty(n, np.int32), np.empty(n, np.int32)
    held = np.zeros(kinds, np.int32)
    entries, at = 0, 0
    for group in range(number):
        first = entries
        while at < next_of_group[group]:
            value = sorted_values[at]
            if held[value] == 0:
                sorted_values[entries], out_groups[entries] = value, group
                entries += 1
            held[value] += sorted_counts[at]
            at += 1
        for i in range(first, entries):
            out_counts[i] = held[sorted_values[i]]
            held[sorted_values[i]] = 0
    return out_groups[:entries].copy(), sorted_values[:entries].copy(), out_counts[:entries].copy()
