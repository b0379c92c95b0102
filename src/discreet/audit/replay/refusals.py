"""What a cut that was not made says of the people it would have parted.

A cut is refused because on one side some value would have had more rows than 1 in l. The groups tell how many
rows of each value can have been on a side at most. A *case* is a value and a side on which it can have had too many.
If in every case each group had to give all it could, then whoever stands where such a row must stand holds the value.
What is possible for a row is a word of bits, one for each value of its group in the order of the histogram; values
that no case allows are struck out (`narrow`), and what is left over inside a group follows (`settle`).

Nothing is concluded of groups with more than 64 values, nor of cuts with more than `CASES` cases.
Cost: a cut costs the rows of its cell, and the values of their groups once for each case.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

CASES = 8
BITS = 64
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE = np.uint64(1)


class Shown(NamedTuple):
    """What a release shows of its groups: an entry per group and value; those of group g start at `starts[g]`.

    `l` and `fewest` are what the guarantee asks: no value in more than 1/l of the rows, and so many rows in all.
    """

    starts: npt.NDArray[np.int64]
    values: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int64]
    l: int
    fewest: int


class Scratch(NamedTuple):
    """All zero before and after: the rows of each group on the left, and what each value can have on the two sides."""

    left: npt.NDArray[np.int32]
    most: npt.NDArray[np.int32]


def scratch_for(shown: Shown) -> Scratch:
    """Scratch arrays, all zero."""
    kinds = int(shown.values.max(initial=-1)) + 1
    return Scratch(np.zeros(shown.sizes.size, np.int32), np.zeros((kinds, 2), np.int32))


@nb.njit(cache=True, nogil=True)
def narrow(cell, groups, on_left, shown, scratch, rows, possible):  # type: ignore[no-untyped-def]
    """Strike out of `possible` what cannot be, since a cell was not cut so.

    `cell` lists the groups that make it up, `groups` the group of each of its `rows`.
    """
    n, size = groups.size, 0
    for i in range(n):
        scratch.left[groups[i]] += on_left[i]
        size += on_left[i]
    limits = size // shown.l + 1, (n - size) // shown.l + 1
    cases = np.empty((CASES, 2), np.int64)
    found = _cases(cell, limits, shown, scratch, cases)
    if found > 0:
        for i in range(n):
            possible[rows[i]] &= _open(groups[i], on_left[i], cases[:found], shown, scratch)
    for g in cell:
        scratch.left[g] = 0


@nb.njit(cache=True, nogil=True)
def _cases(cell, limits, shown, scratch, cases):  # type: ignore[no-untyped-def]
    """Write all cases; return how many, 0 if they are too many or one has rows to spare: then nothing follows."""
    for g in cell:
        for entry in range(shown.starts[g], shown.starts[g + 1]):
            v, count = shown.values[entry], np.int64(shown.counts[entry])
            scratch.most[v, 0] += min(count, scratch.left[g])
            scratch.most[v, 1] += min(count, shown.sizes[g] - scratch.left[g])
    found = 0
    for g in cell:
        for entry in range(shown.starts[g], shown.starts[g + 1]):
            v = shown.values[entry]
            for side in range(2):
                if scratch.most[v, side] >= limits[side] and found >= 0:
                    if scratch.most[v, side] > limits[side] or found == CASES:
                        found = -1
                    else:
                        cases[found, 0], cases[found, 1] = v, side
                        found += 1
                scratch.most[v, side] = 0  # each value is looked at once
    return max(found, 0)


@nb.njit(cache=True, nogil=True)
def _open(g, on_left, cases, shown, scratch):  # type: ignore[no-untyped-def]
    """The values that a row of group g on one side may hold in one case, at least."""
    first = shown.starts[g]
    mine = 0 if on_left else 1
    may = np.uint64(0)
    for i in range(cases.shape[0]):
        entry, side = first, cases[i, 1]
        while entry < shown.starts[g + 1] and shown.values[entry] != cases[i, 0]:
            entry += 1
        if entry == shown.starts[g + 1]:
            return ALL  # the case says nothing of this group
        bit = ONE << np.uint64(entry - first)
        there = np.int64(scratch.left[g])
        if side == 1:
            there = shown.sizes[g] - there
        spare = shown.counts[entry] - there  # rows with the value that cannot be on the side of the case
        if side == mine:
            may |= bit if spare >= 0 else ALL
        else:
            may |= ALL if spare > 0 else ~bit
    return may


@nb.njit(cache=True, nogil=True)
def rule_out_by_trying(values, cuts, l, may):  # type: ignore[no-untyped-def]
    """Write which values each row of one small group holds in any order of them for which every cut is refused.

    `values` are the numbers of the group's values in ascending order, and `cuts` tell for each cut which rows are on
    its left. Exact: what one refused cut leaves open, another may rule out.
    """
    may[:] = 0
    counts = np.zeros((2, values.size), np.int64)
    while True:
        every = True
        for cut in range(cuts.shape[0]):
            every = every and _breaks(values, cuts[cut], l, counts)
        if every:
            for i in range(values.size):
                may[i] |= ONE << np.uint64(values[i])
        if not _next(values):
            return


@nb.njit(cache=True, nogil=True)
def _breaks(values, on_left, l, counts):  # type: ignore[no-untyped-def]
    """Whether one side of a cut holds a value too often; `counts` is all zero before and after."""
    size, top, top_right = 0, 0, 0
    for i in range(values.size):
        size += on_left[i]
        if on_left[i]:
            counts[0, values[i]] += 1
            top = max(top, counts[0, values[i]])
        else:
            counts[1, values[i]] += 1
            top_right = max(top_right, counts[1, values[i]])
    counts[:] = 0
    return top * l > size or top_right * l > values.size - size


@nb.njit(cache=True, nogil=True)
def _next(values):  # type: ignore[no-untyped-def]
    """Bring the values into the next of their different orders; false after the last."""
    i = values.size - 2
    while i >= 0 and values[i] >= values[i + 1]:
        i -= 1
    if i < 0:
        return False
    j = values.size - 1
    while values[j] <= values[i]:
        j -= 1
    values[i], values[j] = values[j], values[i]
    values[i + 1 :] = values[i + 1 :][::-1].copy()
    return True


@nb.njit(cache=True, nogil=True)
def certain(order, shown, possible):  # type: ignore[no-untyped-def]
    """The value of each row that can hold only one, else -1; `order` has the rows of each group side by side."""
    known = np.full(order.size, -1, np.int32)
    end = 0
    for g in range(shown.sizes.size):
        members = order[end : end + shown.sizes[g]]
        end += shown.sizes[g]
        values = shown.starts[g + 1] - shown.starts[g]
        struck = False
        for row in members:
            struck = struck or possible[row] != ALL
        if not struck or values > BITS:
            continue
        every = ALL >> np.uint64(BITS - values)
        for row in members:
            possible[row] &= every
        settle(members, g, shown, possible)
        for row in members:
            for v in range(values):
                if possible[row] == ONE << np.uint64(v):
                    known[row] = shown.values[shown.starts[g] + v]
    return known


@nb.njit(cache=True, nogil=True)
def settle(members, g, shown, possible):  # type: ignore[no-untyped-def]
    """Strike out what follows inside group g, whose rows are `members`: a value has as many rows as are counted."""
    first, values = shown.starts[g], shown.starts[g + 1] - shown.starts[g]
    changed = True
    while changed:
        changed = False
        for v in range(values):
            bit = ONE << np.uint64(v)
            may, must = 0, 0
            for row in members:
                may += possible[row] & bit != 0
                must += possible[row] == bit
            count = shown.counts[first + v]
            for row in members:
                word = possible[row]
                if may == count and word & bit != 0:
                    word = bit
                elif must == count and word != bit:
                    word &= ~bit
                changed = changed or word != possible[row]
                possible[row] = word
