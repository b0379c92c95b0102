"""Where to cut a part of the rows in one dimension: in a range, in a tree, or in a set of names.

Each finder is given the codes of the part's rows in one dimension and their sensitive values, in one order.
All work in time linear in the rows, if codes are not many times more than rows; arrays that they write to are
the caller's, so that nothing is allocated for the many small parts.
Claim: range_cuts_are_nearest — of all cuts that keep the promises, the one nearest to the middle is found.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from discreet.partition.frame import common_level
from discreet.partition.promises import fewest_rows, keeps, only_counts, sweep


@nb.njit(cache=True, nogil=True)
def cut_range(codes, values, low, high, rule, relaxed, counts, histogram, order, works):  # type: ignore[no-untyped-def]
    """The code that starts the right part, how many of its rows are left of it, and all rows left of it; 0 if none.

    Codes lie between `low` and `high`, which differ. If `relaxed`, the rows of one code may fall on both sides,
    the first of them to the left.
    """
    n, fewest = codes.size, fewest_rows(rule)
    half = n // 2
    none = np.int64(0), np.int64(0), np.int64(0)
    wide = high - low > 4 * n
    if only_counts(rule):
        code, under, upto = _middle_value(codes, half, low, high, wide, histogram)
        if relaxed:
            return code, half - under, half
        if n - 2 * under <= 2 * upto - n:
            size = under
        else:
            code, size = code + 1, upto
        return none if min(size, n - size) < fewest else (code, np.int64(0), size)
    _arrange(codes, low, high, wide, histogram, order)
    ordered = values[order[:n]]
    sweep(ordered, rule, counts, works)
    for far in range(half - fewest + 1):
        for size in (half - far, n - half + far):
            if works[size] and (relaxed or codes[order[size - 1]] != codes[order[size]]):
                code, take = codes[order[size]], 0
                while take < size and codes[order[size - take - 1]] == code:
                    take += 1
                return np.int64(code), np.int64(take), np.int64(size)
    return none


@nb.njit(cache=True, nogil=True)
def _middle_value(codes, half, low, high, wide, histogram):  # type: ignore[no-untyped-def]
    """The code in the middle, the rows under it, and the rows up to it."""
    if wide:
        ordered = np.sort(codes)
        code = ordered[half]
        under = np.searchsorted(ordered, code, side="left")
        return np.int64(code), np.int64(under), np.int64(np.searchsorted(ordered, code, side="right"))
    histogram[: high - low + 1] = 0
    for i in range(codes.size):
        histogram[codes[i] - low] += 1
    under, at = 0, 0
    while under + histogram[at] <= half:
        under += histogram[at]
        at += 1
    return np.int64(low + at), np.int64(under), np.int64(under + histogram[at])


@nb.njit(cache=True, nogil=True)
def _arrange(codes, low, high, wide, histogram, order):  # type: ignore[no-untyped-def]
    """Write the rows in the order of their codes, those of one code as they stand."""
    n = codes.size
    if wide:
        order[:n] = np.argsort(codes, kind="mergesort")
        return
    histogram[: high - low + 2] = 0
    for i in range(n):
        histogram[codes[i] - low + 1] += 1
    for c in range(high - low + 1):
        histogram[c + 1] += histogram[c]
    for i in range(n):
        at = codes[i] - low
        order[histogram[at]] = i
        histogram[at] += 1


@nb.njit(cache=True, nogil=True)
def cut_tree(codes, values, j, frame, rule, counts, histogram, order, part_of, number, sizes):  # type: ignore[no-untyped-def]
    """Write the part of each code and the rows of each part: one per child of the common node that occurs.

    Return how many parts there are, 0 if one of them cannot stand alone. `number` is all -1 before and after.
    """
    n, fewest = codes.size, fewest_rows(rule)
    nodes = frame.roots[j] + (common_level(codes, j, frame) - 1) * frame.sizes[j]
    parts = 0
    for i in range(n):
        child = frame.nodes[nodes + codes[i]]
        if number[child] < 0:
            number[child] = parts
            sizes[parts] = 0
            parts += 1
        part_of[codes[i]] = number[child]
        sizes[number[child]] += 1
    for i in range(n):
        number[frame.nodes[nodes + codes[i]]] = -1
    if sizes[:parts].min() < fewest:
        return 0
    return parts if _all_keep(codes, values, rule, counts, histogram, order, part_of, sizes[:parts]) else 0


@nb.njit(cache=True, nogil=True)
def _all_keep(codes, values, rule, counts, histogram, order, part_of, sizes):  # type: ignore[no-untyped-def]
    """Whether each part keeps all promises; none has too few rows."""
    if only_counts(rule):
        return True
    at = 0
    for part in range(sizes.size):
        histogram[part] = at
        at += sizes[part]
    for i in range(codes.size):
        part = part_of[codes[i]]
        order[histogram[part]] = values[i]
        histogram[part] += 1
    at = 0
    for size in sizes:
        if not keeps(order[at : at + size], rule, counts):
            return False
        at += size
    return True


@nb.njit(cache=True, nogil=True)
def cut_set(codes, values, rule, counts, histogram, order, works, part_of, number, sizes):  # type: ignore[no-untyped-def]
    """Write the side, 0 or 1, of each code and the rows of each side; return 2, or 0 if no cut was found.

    Values are taken by falling frequency, each to the side with fewer rows; if that breaks a promise, the
    frequent values are parted from the others, as evenly as is possible. Equally frequent values are told apart
    by which stands first, never by their codes. `number` is all -1 before and after.
    """
    n, distinct = codes.size, 0
    seen, rows = np.empty(min(n, part_of.size), np.int64), np.zeros(min(n, part_of.size), np.int64)
    for i in range(n):
        if number[codes[i]] < 0:
            number[codes[i]] = distinct
            seen[distinct] = codes[i]
            distinct += 1
        rows[number[codes[i]]] += 1
    by_frequency = np.argsort(-rows[:distinct], kind="mergesort")
    sizes[:2] = 0
    for value in by_frequency:
        side = np.int64(sizes[1] < sizes[0])
        part_of[seen[value]] = side
        sizes[side] += rows[value]
    found = 2
    if min(sizes[0], sizes[1]) < fewest_rows(rule) or not _all_keep(
        codes, values, rule, counts, histogram, order, part_of, sizes[:2]
    ):
        rank, ranks = np.empty(distinct, np.int64), np.empty(n, codes.dtype)
        for place in range(distinct):
            rank[by_frequency[place]] = place
        for i in range(n):
            ranks[i] = rank[number[codes[i]]]
        first, _, size = cut_range(ranks, values, 0, distinct - 1, rule, False, counts, histogram, order, works)
        found = 2 if size else 0
        sizes[0], sizes[1] = size, n - size
        for value in range(distinct):
            part_of[seen[value]] = rank[value] >= first
    for value in range(distinct):
        number[seen[value]] = -1
    return found
