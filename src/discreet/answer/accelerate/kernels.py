"""Compiled steps of the pass, first half: what each group of a block has, by key.

A block is some groups in a row. Entries of a side (rows, or values that `n` rows of the group hold) have a label: the
number of their key, or -1 if they do not satisfy the condition. Linear in the entries, but for
sorting those of a group.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[Any]  # of one, two or four bytes


class Counts(NamedTuple):
    """Per group, the keys that occur and how often."""

    offsets: Longs
    keys: Ints
    n: Ints

    @classmethod
    def room(cls, groups: int, entries: int) -> Counts:
        """Room for so many groups and entries."""
        return cls(np.zeros(groups + 1, np.int64), np.empty(entries, np.int32), np.empty(entries, np.int32))


class Candidates(NamedTuple):
    """Per group, a segment for every key: its candidates in the order of their values, and sums from both ends.

    Segment i has the entries `first[i]` to `first[i + 1]`; `upto` is how many candidates there are up to an entry, it
    and its sums included.
    """

    offsets: Longs
    keys: Ints
    total: Ints
    first: Longs
    mean: Floats
    spread: Floats
    negative: Ints
    positive: Ints
    value: Ints
    upto: Ints
    smallest: Floats
    largest: Floats

    @classmethod
    def room(cls, groups: int, entries: int, *, sums: bool) -> Candidates:
        """Room for so many groups and entries."""

        def ints() -> Ints:
            return np.empty(entries, np.int32)

        def floats() -> Floats:
            return np.empty(entries if sums else 0)

        offsets, first = np.zeros(groups + 1, np.int64), np.empty(entries + 1, np.int64)
        keys, total, negative, positive, value, upto = (ints() for _ in range(6))
        mean, spread, smallest, largest = (floats() for _ in range(4))
        return cls(offsets, keys, total, first, mean, spread, negative, positive, value, upto, smallest, largest)


@nb.njit(cache=True, nogil=True, error_model="numpy")
def in_order(offsets: Longs, codes: Codes) -> bool:
    """Whether the codes of each group ascend."""
    for g in range(offsets.size - 1):
        for i in range(offsets[g] + 1, offsets[g + 1]):
            if codes[i - 1] > codes[i]:
                return False
    return True


@nb.njit(cache=True, nogil=True, error_model="numpy")
def label(codes: Codes, lut: Ints, labels: Ints) -> None:
    """What each code means."""
    for i in range(codes.size):
        labels[i] = lut[codes[i]]


@nb.njit(cache=True, nogil=True, error_model="numpy")
def label_too(codes: Codes, lut: Ints, size: int, labels: Ints) -> None:
    """The same beside labels that are there; of these new ones there are `size`."""
    for i in range(codes.size):
        new = lut[codes[i]]
        labels[i] = labels[i] * size + new if labels[i] >= 0 and new >= 0 else -1


@nb.njit(cache=True, nogil=True, error_model="numpy")
def matched(offsets: Longs, labels: Ints, n: Ints, seen: Ints, found: Counts) -> None:
    """How many entries of each group match, by key; `seen` is all 0, with a place for no key and for each."""
    end = 0
    for g in range(offsets.size - 1):
        start, stop = offsets[g] - offsets[0], offsets[g + 1] - offsets[0]
        found.offsets[g] = begin = end
        if seen.size == 2:
            count = 0
            for i in range(start, stop):
                count += (n[i] if n.size else 1) * (labels[i] >= 0)
            found.keys[end], found.n[end] = 0, count
            end += count > 0
            continue
        seen[0] = 1  # no key is new; and no branch is to be guessed
        for i in range(start, stop):
            key = labels[i] + 1
            found.keys[end] = key - 1
            end += seen[key] == 0
            seen[key] += n[i] if n.size else 1
        for i in range(begin, end):
            found.n[i] = seen[found.keys[i] + 1]
            seen[found.keys[i] + 1] = 0
    found.offsets[offsets.size - 1] = end


@nb.njit(cache=True, nogil=True, error_model="numpy")
def fill(
    offsets: Longs,
    labels: Ints,
    n: Ints,
    numbers: Floats,
    shift: int,
    in_order: bool,  # noqa: FBT001
    scratch: Longs,
    found: Candidates,
) -> None:
    """The candidates of each group by key and value; a label is key << shift | value, `numbers` are what to add up."""
    sums, low_bits = numbers.size > 0, (1 << shift) - 1
    end = segments = 0
    for g in range(offsets.size - 1):
        found.offsets[g] = segments
        here = 0
        for i in range(offsets[g] - offsets[0], offsets[g + 1] - offsets[0]):
            scratch[here] = np.int64(labels[i]) << 32 | (n[i] if n.size else 1)
            here += labels[i] >= 0
        if not in_order and here > 1:
            _sort(scratch, here)
        at = 0
        while at < here:
            key, start, total, added = scratch[at] >> (32 + shift), end, 0, 0.0
            under = over = 0
            while at < here and scratch[at] >> (32 + shift) == key:
                times, held = scratch[at] & 0x7FFFFFFF, (scratch[at] >> 32) & low_bits
                total += times
                found.value[end], found.upto[end] = held, total
                if sums:
                    added += times * numbers[held]
                    found.smallest[end] = added
                    under += times * (numbers[held] < 0)
                    over += times * (numbers[held] > 0)
                end += 1
                at += 1
            found.keys[segments], found.first[segments], found.total[segments] = key, start, total
            if sums:
                average, around, added = added / total, 0.0, 0.0
                for back in range(1, end - start + 1):
                    times, number = scratch[at - back] & 0x7FFFFFFF, numbers[found.value[end - back]]
                    added += times * number
                    found.largest[end - back] = added
                    around += times * (number - average) * (number - average)
                found.mean[segments], found.spread[segments] = average, around
                found.negative[segments], found.positive[segments] = under, over
            segments += 1
    found.offsets[offsets.size - 1], found.first[segments] = segments, end


@nb.njit(cache=True, nogil=True, error_model="numpy")
def _sort(scratch: Longs, count: int) -> None:
    if count > 32:
        scratch[:count].sort()
        return
    for i in range(1, count):
        moved, j = scratch[i], i - 1
        while j >= 0 and scratch[j] > moved:
            scratch[j + 1] = scratch[j]
            j -= 1
        scratch[j + 1] = moved
