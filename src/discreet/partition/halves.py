"""Halves of `cluster`: compiled steps that part rows in two, around two extreme points.

Where a side breaks the promises, rows are put in the order of how much more one side's box would grow for them
than the other's, and parted at the place nearest to the first size at which both sides keep the promises.
Which rows go over is decided by where they lie, never by their sensitive value.
Each try draws a new order by mixing the secret words of the part's rows with its ends and the number of the try,
so that it does not matter which thread does it.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from discreet.partition.boxes import growth, include, new_box, start
from discreet.partition.frame import TREE
from discreet.partition.kernels import below, divide
from discreet.partition.promises import fewest_rows, keeps, sweep

DEEP, SHARE = 64, 8  # below so many levels each side needs one row in so many: few rows far out cannot cost long


@nb.njit(cache=True, nogil=True)
def part(points, values, rows, words, low, high, deep, coarse, tries, moved, kinds, frame, rule):  # type: ignore[no-untyped-def]
    """Part rows low..high in place while they are more than `coarse`; return where parts start, and their depth."""
    d, longest, fewest = points.shape[1], high - low, fewest_rows(rule)
    left, right, least, most = new_box(frame), new_box(frame), np.empty(d), np.empty(d)
    counts, works = np.zeros(kinds, np.int32), np.empty(longest + 1, np.bool_)
    goes_right, order, held = np.empty(longest, np.bool_), np.empty(longest, np.int32), np.empty(longest, np.int32)
    spare_points, spare, margins = np.empty((longest, d)), np.empty(longest, np.int32), np.empty(longest)
    starts, depths = np.empty(longest, np.int64), np.empty(longest, np.int64)
    found = 0
    stack = [(low, high, deep)]
    while stack:
        a, b, depth = stack.pop()
        n, size = b - a, 0
        if n > coarse and n >= 2 * fewest and _extremes(points[a:b], least, most, frame):
            fewer = max(fewest, n // SHARE if depth >= DEEP else 0)
            for attempt in range(tries):
                draw(words[a:b], a, attempt, order)
                first = _attract(points[a:b], least, most, order, left, right, frame, goes_right)
                held[:n] = values[a:b]
                divide(held[:n], goes_right, spare)
                if fewer <= first <= n - fewer:
                    if keeps(held[:first], rule, counts) and keeps(held[first:n], rule, counts):
                        size = first
                        break
                if moved:
                    _margins(points[a:b], order, left, right, frame, margins)
                    by = np.argsort(margins[:n], kind="mergesort")
                    for i in range(n):
                        held[i] = values[a + order[by[i]]]
                    sweep(held[:n], rule, counts, works)
                    size = _nearest(works[: n + 1], first, fewer)
                    if size:
                        for i in range(n):
                            goes_right[order[by[i]]] = i >= size
                        held[:n] = values[a:b]
                        divide(held[:n], goes_right, spare)
                        break
        if size == 0:
            starts[found], depths[found] = a, depth
            found += 1
            continue
        values[a:b] = held[:n]
        divide(points[a:b], goes_right, spare_points)
        divide(rows[a:b], goes_right, spare)
        stack.append((a + size, b, depth + 1))
        stack.append((a, a + size, depth + 1))
    return starts[:found].copy(), depths[:found].copy()


@nb.njit(cache=True, nogil=True)
def draw(words, low, attempt, order):  # type: ignore[no-untyped-def]
    """Write a random order of the rows, one for each attempt at the part that starts at `low`."""
    salt = _mix(_mix(np.uint64(low)) + _mix(np.uint64(words.size)) + np.uint64(attempt))
    for i in range(words.size):
        j = below(_mix(words[i] ^ salt), i + 1)
        order[i] = order[j]
        order[j] = i


@nb.njit(cache=True, nogil=True, inline="always")
def _mix(word):  # type: ignore[no-untyped-def]
    """A one-to-one map that leaves no trace of order: SplitMix64 (Steele, Lea and Flood, 2014)."""
    word = word + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@nb.njit(cache=True, nogil=True)
def _extremes(points, least, most, frame):  # type: ignore[no-untyped-def]
    """Write the extreme points, of trees by the place of a code; return whether they differ."""
    least[:], most[:] = points[0], points[0]
    for i in range(1, points.shape[0]):
        for j in range(points.shape[1]):
            x = points[i, j]
            if _place(x, j, frame) < _place(least[j], j, frame):
                least[j] = x
            elif _place(x, j, frame) > _place(most[j], j, frame):
                most[j] = x
    return (least != most).any()


@nb.njit(cache=True, nogil=True, inline="always")
def _place(x, j, frame):  # type: ignore[no-untyped-def]
    return frame.places[frame.starts[j] + np.int64(x)] if frame.forms[j] == TREE else x


@nb.njit(cache=True, nogil=True)
def _attract(points, least, most, order, left, right, frame, goes_right):  # type: ignore[no-untyped-def]
    """Say which points go to the right side; return how many go left. The extreme points count as one row each."""
    start(left, most, frame)
    start(right, least, frame)
    d = points.shape[1]
    lefts, rights = 1, 1
    left_cost, right_cost = 0.0, 0.0
    forms, roots, sizes, nodes, shares = frame.forms, frame.roots, frame.sizes, frame.nodes, frame.shares
    l1, h1, c1 = left.low, left.high, left.costs
    l2, h2, c2 = right.low, right.high, right.costs
    for i in range(points.shape[0]):
        row = order[i]
        more_left, more_right = 0.0, 0.0
        for j in range(d):
            x = points[row, j]
            if forms[j] == 0:
                if x < l1[j]:
                    more_left += min(h1[j] - x, 1.0) - c1[j]
                elif x > h1[j]:
                    more_left += min(x - l1[j], 1.0) - c1[j]
                if x < l2[j]:
                    more_right += min(h2[j] - x, 1.0) - c2[j]
                elif x > h2[j]:
                    more_right += min(x - l2[j], 1.0) - c2[j]
            else:
                more_left += _climb(l1[j], h1[j], c1[j], x, j, roots, sizes, nodes, shares)
                more_right += _climb(l2[j], h2[j], c2[j], x, j, roots, sizes, nodes, shares)
        to_left, to_right = (lefts + 1) * more_left + left_cost, (rights + 1) * more_right + right_cost
        goes_left = to_left < to_right or (to_left == to_right and lefts < rights)
        goes_right[row] = not goes_left
        if goes_left:
            lefts += 1
            if more_left > 0:
                include(left, points[row], frame)
                left_cost += more_left
        else:
            rights += 1
            if more_right > 0:
                include(right, points[row], frame)
                right_cost += more_right
    return lefts - 1

@nb.njit(cache=True, nogil=True)
def _climb(low, high, cost, x, j, roots, sizes, nodes, shares):
    level, code, held = np.int64(low), np.int64(x), np.int64(high)
    at = roots[j] + level * sizes[j]
    grew = False
    while nodes[at + code] != nodes[at + held]:
        grew = True
        at += sizes[j]
    return shares[at + code] - cost if grew else 0.0


@nb.njit(cache=True, nogil=True)
def _margins(points, order, left, right, frame, margins):  # type: ignore[no-untyped-def]
    """Write how much more the left box would grow for each point than the right one, in the order of the try."""
    for i in range(points.shape[0]):
        point = points[order[i]]
        margins[i] = growth(left, point, frame) - growth(right, point, frame)


@nb.njit(cache=True, nogil=True)
def _nearest(works, wanted, fewer):  # type: ignore[no-untyped-def]
    """The size that works nearest to the one wanted, the smaller of two, leaving enough rows to each side; 0 if none."""
    n = works.size - 1
    for far in range(n):
        for size in (wanted - far, wanted + far):
            if fewer <= size <= n - fewer and works[size]:
                return size
    return 0
