"""Min_max: groups of neighbouring values, the widest of which is as narrow as possible.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, problem 6.3.
Cost: one linear sweep per width that is tried, at most 65 and mostly far fewer, once the values are counted.
Claim: min_max_is_optimal — no (k,e)-anonymous partition of stretches of values has a narrower widest group.
Claim: min_max_is_at_most_twice_exact — overlapping groups could at best halve the widest range (theorem 4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.kernels import IntArray, MarkArray
from discreet.partition.ranges.stretches import assign_sorted, lay_out, wide
from discreet.values.kernel import kernel
from discreet.values.random import RandomSource


def assign(quasi: Sequence[IntArray], sensitive: IntArray, guarantee: Guarantee, secret: RandomSource) -> IntArray:
    """The group of every row; quasi-identifiers are not looked at."""
    return assign_sorted(plan, sensitive, guarantee, secret)


def plan(counts: IntArray, marks: MarkArray, k: int, e: float) -> IntArray:
    """The group of the i-th row when rows are sorted by value."""
    below = _at_least(marks, k, e)  # often enough; if not, the answer lies above it
    failed, needed = _sweep(counts, marks, k, e, below, np.empty(0, np.int32), 0)
    if failed[-1] >= 0:
        return _carried(failed, counts)
    found, _ = _sweep(counts, marks, k, e, marks[-1] - marks[0], failed, 0)
    low, high, same = _key(needed, marks) - 1, _widest(found, counts, marks), 0
    while high - low > 1:
        # Where a width that fails and one that does not agree, every width between them does: no need to look again.
        same = _agree(failed, found, same)
        middle = np.int64(low + (high - low) // 2).view(marks.dtype)
        tried, needed = _sweep(counts, marks, k, e, middle, found, same)
        if tried[-1] >= 0:
            found, high = tried, _widest(tried, counts, marks)
        else:
            failed, low = tried, _key(needed, marks) - 1
    return _carried(found, counts)


def _carried(start: IntArray, counts: IntArray) -> IntArray:
    groups: IntArray = lay_out(counts, *_trace(counts, start))
    return groups


def _widest(start: IntArray, counts: IntArray, marks: MarkArray) -> int:
    """The widest group that was really made: often narrower than was allowed."""
    firsts, lasts = _trace(counts, start)
    return _key((marks[lasts] - marks[firsts]).max(), marks)


def _key(width: float, marks: MarkArray) -> int:
    """A whole number for every width, in their order: the width itself, or the bits of a float (0 or more)."""
    return int(marks.dtype.type(width).view(np.int64))


@kernel
def _at_least(marks, k, e):  # type: ignore[no-untyped-def]
    """A width that no partition can stay below: the narrowest group of the smallest or of the largest value."""
    n = marks.size
    first, last = n - 1, 0
    while not wide(marks, first, n - 1, k, e):
        first -= 1
    while not wide(marks, 0, last, k, e):
        last += 1
    return max(marks[last] - marks[0], marks[n - 1] - marks[first])


@kernel
def _sweep(counts, marks, k, e, width, known, same):  # type: ignore[no-untyped-def]
    """For every value the start of a last group that ends there, no wider than `width`, or -1; and the next width.

    The starts of a group that may end at a value lie in a window, and of those that the groups before it
    can reach, the latest is taken. Up to `same`, the starts are `known`. The next width is the least at
    which anything would change.
    """
    n = marks.size
    start = np.full(n, -1, np.int32)
    for b in range(same):
        start[b] = known[b]
    reached = np.empty(n, np.int32)  # the latest start, up to here, that the groups before can reach
    reached[0] = 0
    for b in range(1, same):
        reached[b] = b if start[b - 1] >= 0 or (start[b] >= 0 and counts[b] > 1) else reached[b - 1]
    after, earliest = 0, 0  # the end of the window, and its start
    needed = marks[n - 1] - marks[0]
    for b in range(same, n):
        while wide(marks, after, b, k, e):
            after += 1
        while marks[b] - marks[earliest] > width:
            earliest += 1
        if after > 0:
            found = reached[after - 1]
            if found >= earliest:
                start[b] = found
            else:
                needed = min(needed, marks[b] - marks[found])
        if b > 0:
            reached[b] = b if start[b - 1] >= 0 or (start[b] >= 0 and counts[b] > 1) else reached[b - 1]
        if start[b] < 0 and reached[b] < min(earliest, after):
            break  # nothing further up can be reached any more, and the latest start has told what it needs
    return start, needed


@kernel
def _agree(failed: IntArray, found: IntArray, same: int) -> int:
    """How far two sweeps go the same way."""
    while same < failed.size and failed[same] == found[same]:
        same += 1
    return same


@kernel
def _trace(counts: IntArray, start: IntArray) -> tuple[IntArray, IntArray]:
    """Follow the groups back from the last."""
    n = start.size
    firsts, lasts = np.empty(n, np.int32), np.empty(n, np.int32)
    at, end = n, n - 1
    while True:
        at -= 1
        firsts[at], lasts[at] = start[end], end
        if start[end] == 0:
            return firsts[at:], lasts[at:]
        first = start[end]
        end = first - 1 if start[first - 1] >= 0 else first
