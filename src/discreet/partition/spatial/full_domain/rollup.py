"""Compiled steps of rolling up: sort rows by a digit, number equal keys alike, tally values by group.

All are linear in what they are given.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.partition.spatial.space import Codes
from discreet.values.kernel import kernel, kernel_with

Counts: TypeAlias = npt.NDArray[np.int64]
Columns: TypeAlias = tuple[npt.NDArray[Any], ...]  # of one type


@kernel
def sort_by(digits, span, order):  # type: ignore[no-untyped-def]
    """Sort rows by their digit; rows with the same keep their order."""
    next_of_digit = np.zeros(span + 1, np.int64)
    for digit in digits:
        next_of_digit[digit + 1] += 1
    for digit in range(span):
        next_of_digit[digit + 1] += next_of_digit[digit]
    out = np.empty_like(order)
    for row in order:
        out[next_of_digit[digits[row]]] = row
        next_of_digit[digits[row]] += 1
    return out


def merge(
    found: Codes, columns: Columns, worth: tuple[Counts, ...], span: int, counts: Counts, places: Codes, *, told: bool
) -> tuple[Codes, Codes, Counts]:
    """Number equal keys (from 0 to below `span`) alike, in the order in which they come.

    A key is the number found so far, if any, and what the code in each column is worth. Returned are the
    number of each key, if it is to be told, where each number came first, and the counts summed by number.
    """
    by_key = _by_place if span <= places.size else _by_hash
    numbers, firsts, totals = by_key(found, columns, worth, counts, places, told)
    return numbers, firsts, totals


@kernel
def _by_place(found, columns, worth, counts, places, told):  # type: ignore[no-untyped-def]
    """One place per key; all are -1 before and after."""
    n, number = counts.size, 0
    numbers, keys = np.empty(n if told else 0, np.int32), np.empty(n, np.int64)
    firsts, totals = np.empty(n, np.int32), np.empty(n, np.int64)
    for i in range(n):
        key = _key(i, found, columns, worth)
        now = places[key]
        if now < 0:
            now = number
            places[key], keys[now], firsts[now], totals[now] = now, key, i, counts[i]
            number += 1
        else:
            totals[now] += counts[i]
        if told:
            numbers[i] = now
    for i in range(number):
        places[keys[i]] = -1
    return numbers, firsts[:number].copy(), totals[:number].copy()


@kernel
def _by_hash(found, columns, worth, counts, places, told):  # type: ignore[no-untyped-def]
    """Open addressing."""
    n, number, bits = counts.size, 0, 1
    while 1 << bits < 2 * n:
        bits += 1
    numbers, firsts, totals = np.empty(n if told else 0, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
    slots = np.full(2 << bits, -1, np.int64)  # key and number side by side
    for i in range(n):
        key = _key(i, found, columns, worth)
        at = 2 * _hash(key, bits)
        while slots[at] >= 0 and slots[at] != key:
            at = (at + 2) & (slots.size - 1)
        if slots[at] < 0:
            slots[at], slots[at + 1] = key, number
            firsts[number], totals[number] = i, 0
            number += 1
        now = slots[at + 1]
        totals[now] += counts[i]
        if told:
            numbers[i] = now
    return numbers, firsts[:number].copy(), totals[:number].copy()


@kernel_with(inline="always", wraps=True)
def _hash(key, bits):  # type: ignore[no-untyped-def]
    """So many bits of a key: those at the front, once it is multiplied by 2**64 over the golden ratio."""
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))


@kernel_with(inline="always")
def _key(i, found, columns, worth):  # type: ignore[no-untyped-def]
    key = np.int64(found[i]) if found.size else np.int64(0)
    for j in range(len(columns)):
        key += worth[j][columns[j][i]]
    return key


@kernel
def tally(groups, values, counts, number, kinds):  # type: ignore[no-untyped-def]
    """The groups and values that occur together, one group after the other, and how often: a counting sort by group."""
    n = groups.size
    next_of_group = np.zeros(number + 1, np.int64)
    for i in range(n):
        next_of_group[groups[i] + 1] += 1
    for group in range(number):
        next_of_group[group + 1] += next_of_group[group]
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
