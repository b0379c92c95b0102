"""Halves of `cluster`: compiled steps that part rows in two, around two extreme points.

Each try takes the rows in a new order, drawn from secret words, one per row, that are mixed with the place of the
part and the number of the try: so it does not matter which thread does it.
Where a side breaks the promises, rows are put in the order of how much more one side's box would grow for them
than the other's, and parted at the place nearest to the first size at which both sides keep the promises.
Which rows go over is decided by where they lie, never by their sensitive value.
What a part must keep is told by the `rule` (see `values.rule`).
Claim: boundaries_move_as_little_as_possible — no size nearer to the first one would keep the promises.
"""

from __future__ import annotations

import numpy as np

from discreet.partition.kernels import below, divide
from discreet.partition.spatial.boxes import growth, include, new_box, start
from discreet.partition.spatial.packed import TREE
from discreet.values.kernel import kernel, kernel_with
from discreet.values.ordered import order_of
from discreet.values.rule import fewest_rows, keeps, only_rows, surely, sweep

DEEP, SHARE = 64, 8  # below so many levels each side needs one row in so many: few rows far out cannot cost long

MANY, RUN = 1 << 14, 16


@kernel
def part(points, values, rows, words, low, high, deep, coarse, tries, moved, blind, kinds, frame, rule):  # type: ignore[no-untyped-def]
    """Part rows low..high in place while they are more than `coarse`; return where parts start, and their depth."""
    d, longest, fewest = points.shape[1], high - low, fewest_rows(rule)
    left, right, least, most = new_box(frame), new_box(frame), np.empty(d), np.empty(d)
    counts, works, margins = np.zeros(kinds, np.int32), np.empty(longest + 1, np.bool_), np.empty(longest)
    goes_right, held, order = np.empty(longest, np.bool_), np.empty(longest, np.int32), np.empty(longest, np.int32)
    spare_points, spare = np.empty((longest, d)), np.empty(longest, np.int32)
    starts, depths = np.empty(longest, np.int64), np.empty(longest, np.int64)
    found = 0
    stack = [(low, high, deep)]
    while stack:
        a, b, depth = stack.pop()
        n, size = b - a, 0
        here, theirs, right_side = points[a:b], values[a:b], goes_right[: b - a]
        if n > coarse and n >= 2 * fewest and _extremes(here, least, most, frame):
            share = n // SHARE if depth >= DEEP else 0
            given = words[a:b], a, tries, moved, share, least, most, frame
            scratch = left, right, counts, works, margins, held, order, spare_points, spare
            asked = only_rows(surely(theirs, rule, counts), rule) if blind else rule
            size = _halve(here, theirs, asked, right_side, given, scratch)
        if not size:
            starts[found], depths[found] = a, depth
            found += 1
            continue
        for lines in (values, rows):
            divide(lines[a:b], right_side, spare)
        divide(here, right_side, spare_points)
        stack.append((a + size, b, depth + 1))
        stack.append((a, a + size, depth + 1))
    return starts[:found].copy(), depths[:found].copy()


@kernel
def _halve(here, theirs, rule, right_side, given, scratch):  # type: ignore[no-untyped-def]
    """Say which of these rows go to the right side; return how many go left, 0 if they are not parted."""
    words, place, tries, moved, share, least, most, frame = given
    left, right, counts, works, margins, held, order, spare_points, spare = scratch
    n, d = here.shape
    fewer, turns = max(fewest_rows(rule), share), order[:n]
    for attempt in range(tries if n >= 2 * fewer else 0):
        draw(words, place, attempt, turns)
        for i in range(n):  # apart from the rest, since these are what the processor waits for
            for j in range(d):
                spare_points[i, j] = here[turns[i], j]
        first = _attract(spare_points[:n], turns, least, most, left, right, frame, right_side)
        for i in range(n):
            held[i] = theirs[i]
        divide(held[:n], right_side, spare)
        if fewer <= first <= n - fewer and keeps(held[:first], rule, counts) and keeps(held[first:n], rule, counts):
            return first
        if moved:
            _weigh(spare_points[:n], left, right, frame, margins)
            by_margin = order_of(margins[:n])
            for i in range(n):
                by_margin[i] = turns[by_margin[i]]
            size = move(by_margin, theirs, first, fewer, rule, counts, works[: n + 1], held, right_side)
            if size:
                return size
    return 0


@kernel
def draw(words, low, attempt, order):  # type: ignore[no-untyped-def]
    """Write a random order of the rows from `low` on, another for every part and attempt.

    Many rows, which stand in random order anyway, are drawn in runs of neighbours, since memory is slow.
    """
    salt = _mix(_mix(_mix(np.uint64(low)) ^ np.uint64(words.size)) ^ np.uint64(attempt))
    length = RUN if words.size > MANY else 1
    runs = words.size // length
    for i in range(runs):
        j = below(_mix(words[i] ^ salt), i + 1)
        order[i] = order[j]
        order[j] = i
    for i in range(runs - 1, -1, -1):
        first = order[i] * length
        for j in range(length):
            order[i * length + j] = first + j
    for i in range(runs * length, words.size):
        order[i] = i


@kernel_with(inline="always", wraps=True)
def _mix(word):  # type: ignore[no-untyped-def]
    """Another word for every word, without a trace of their order: SplitMix64 (Steele, Lea and Flood, 2014)."""
    word = word + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def _extremes(points, least, most, frame):  # type: ignore[no-untyped-def]
    """Write the extreme points, of trees by the place of a code; return whether they differ."""
    for j in range(points.shape[1]):
        places = frame.places[frame.starts[j] :]
        first = last = points[0, j]
        if frame.forms[j] == TREE:
            for i in range(points.shape[0]):
                x = points[i, j]
                if places[np.int64(x)] < places[np.int64(first)]:
                    first = x
                elif places[np.int64(x)] > places[np.int64(last)]:
                    last = x
        else:
            for i in range(points.shape[0]):
                first, last = min(first, points[i, j]), max(last, points[i, j])
        least[j], most[j] = first, last
    differ = False
    for j in range(least.size):
        differ = differ or least[j] != most[j]
    return differ


@kernel
def _attract(points, order, least, most, left, right, frame, goes_right):  # type: ignore[no-untyped-def]
    """Say which points go to the right side; return how many go left. The extreme points count as one row each.

    The points are in the order in which they come, which is told so that the side of each can be said of its row.
    """
    start(left, most, frame)
    start(right, least, frame)
    lefts, rights = 1, 1
    left_cost, right_cost = 0.0, 0.0
    for i in range(order.size):
        more_left, more_right = growth(left, points[i], frame), growth(right, points[i], frame)
        to_left, to_right = (lefts + 1) * more_left + left_cost, (rights + 1) * more_right + right_cost
        goes_left = to_left < to_right or (to_left == to_right and lefts < rights)
        goes_right[order[i]] = not goes_left
        if goes_left:
            lefts += 1
            if more_left > 0:
                include(left, points[i], frame)
                left_cost += more_left
        else:
            rights += 1
            if more_right > 0:
                include(right, points[i], frame)
                right_cost += more_right
    return lefts - 1


@kernel
def _weigh(points, left, right, frame, margins):  # type: ignore[no-untyped-def]
    """Write how much more the left box would grow for each point than the right one."""
    for i in range(points.shape[0]):
        margins[i] = growth(left, points[i], frame) - growth(right, points[i], frame)


@kernel
def move(order, values, wanted, fewer, rule, counts, works, held, goes_right):  # type: ignore[no-untyped-def]
    """Part rows in this order, nearest to the size wanted (the smaller of two); return the size, 0 if none works."""
    n = values.size
    for i in range(n):
        held[i] = values[order[i]]
    sweep(held[:n], rule, counts, works)
    for far in range(n):
        for size in (wanted - far, wanted + far):
            if fewer <= size <= n - fewer and works[size]:
                for i in range(n):
                    goes_right[order[i]] = i >= size
                return size
    return 0
