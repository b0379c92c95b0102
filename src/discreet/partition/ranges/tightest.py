"""Tightest: neighbouring values grouped so that answers have the narrowest bounds to be expected.

If half of a group's rows match a question, the bounds of their sum lie as far apart as the group's values
deviate, in total, from its median. So first the sorted rows are cut into groups with the least total
deviation; then groups are divided further into pieces that keep the promise: halved where each half can borrow
the values that it lacks, and else dealt. A finer partition never has wider bounds. Where values repeat, groups
come out nearly all of one value, with single rows of others: see the page on partitions in the docs.
Source: the problem of Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, section 6,
with this criterion in place of ranges. Its cost satisfies the quadrangle inequality, so the best start of a
group never moves back as its end moves on (Galil and Park, 1992), and a queue of starts finds it.
Cost: rows x log(rows), once the values are counted; sums of floats are rounded.
Claim: tightest_deviates_least — before groups are divided, no cuts give less total deviation.
Claim: tightest_only_divides — every group lies inside one of the groups that were cut first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.kernels import IntArray, MarkArray, deal_out
from discreet.partition.ranges.stretches import assign_sorted
from discreet.values.capacity import capacity
from discreet.values.kernel import kernel, kernel_with
from discreet.values.random import RandomSource
from discreet.values.rule import Rule


def assign(quasi: Sequence[IntArray], sensitive: IntArray, guarantee: Guarantee, secret: RandomSource) -> IntArray:
    """The group of every row; quasi-identifiers are not looked at."""
    return assign_sorted(plan, sensitive, guarantee, secret)


def plan(counts: IntArray, marks: MarkArray, k: int, e: float) -> IntArray:
    """The group of the i-th row when rows are sorted by value."""
    places, edges, values = cuts(counts, marks, k, e)
    groups: IntArray = _divide(edges, places, values, counts, marks, k, e)
    return groups


def cuts(counts: IntArray, marks: MarkArray, k: int, e: float) -> tuple[IntArray, IntArray, IntArray]:
    """Places where sorted rows may be cut, which of them are, and the value of the rows after each place."""
    places, values = _places(counts)
    lengths = marks - marks[0]
    if lengths.dtype == np.int64 and int(lengths[-1]) * int(places[-1]) >= 2**63:
        lengths = lengths.astype(np.float64)
    edges = _cut(places, _ends(values, marks, k, e), _sums(places, values, counts, lengths))
    return places, edges, values


@kernel
def _places(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Where sorted rows may be cut, as numbers of rows, and the value of the rows from each such place on.

    Inside the rows of one value only after the first and before the last: the deviation of the two groups
    is concave in how many of the rows the lower one takes, so it is least where one of them takes one.
    """
    pieces = 0
    for c in counts:
        pieces += min(c, 3)
    places, values = np.empty(pieces + 1, np.int64), np.empty(pieces, np.int32)
    piece, rows = 0, 0
    for v in range(counts.size):
        c = counts[v]
        for i in range(min(c, 3)):
            places[piece], values[piece] = rows + (c - 1 if i == 2 else i), v
            piece += 1
        rows += c
    places[pieces] = rows
    return places, values


@kernel
def _ends(values: IntArray, marks: MarkArray, k: int, e: float) -> IntArray:
    """For every place the first place at which a group that starts there may end; past the last if there is none."""
    pieces = values.size
    ends = np.empty(pieces + 1, np.int32)
    end = 0
    for start in range(pieces):
        a = values[start]
        while end <= pieces and (end == 0 or values[end - 1] - a + 1 < k or marks[values[end - 1]] - marks[a] < e):
            end += 1
        ends[start] = end
    ends[pieces] = pieces + 1
    return ends


@kernel
def _sums(places, values, counts, lengths):  # type: ignore[no-untyped-def]
    """What a deviation is computed from in constant time.

    The rows and their sum below every place and below every value; the value of every row; the values.
    """
    below = np.zeros(counts.size + 1, np.int64)
    sum_below = np.zeros(counts.size + 1, lengths.dtype)
    value_of = np.empty(places[-1], np.int32)
    for v in range(counts.size):
        below[v + 1] = below[v] + counts[v]
        sum_below[v + 1] = sum_below[v] + lengths[v] * counts[v]
        for row in range(below[v], below[v + 1]):
            value_of[row] = v
    sums = np.empty(places.size, lengths.dtype)
    for p in range(values.size):
        v = values[p]
        sums[p] = sum_below[v] + lengths[v] * (places[p] - below[v])
    sums[-1] = sum_below[-1]
    return places, sums, below, sum_below, value_of, lengths


@kernel_with(inline="always")
def _deviation(start, end, rows):  # type: ignore[no-untyped-def]
    """The total deviation of a group's rows from their median."""
    places, sums, below, sum_below, value_of, lengths = rows
    a, b = places[start], places[end]
    v = value_of[(a + b - 1) // 2]
    total = lengths[0]  # zero, of the right type
    if below[v] > a:
        total += lengths[v] * (below[v] - a) - (sum_below[v] - sums[start])
    if below[v + 1] < b:
        total += (sums[end] - sum_below[v + 1]) - lengths[v] * (b - below[v + 1])
    return total


@kernel
def _cut(places, ends, rows):  # type: ignore[no-untyped-def]
    """Where the groups of the first step start, ascending, and the end of the last.

    The queue holds the starts that are best for some end still to come, and since which end each is.
    """
    last = places.size - 1
    least = np.zeros(last + 1, rows[1].dtype)  # deviation of the best groups up to each place
    start = np.full(last + 1, -1, np.int32)  # of the last of them; -1 where no group may end
    start[0] = 0
    queue, since = np.empty(last + 1, np.int32), np.empty(last + 1, np.int32)
    head, tail, new = 0, 0, np.int64(0)
    for end in range(1, last + 1):
        while ends[new] <= end:
            if start[new] >= 0:
                from_ = end
                while tail > head:
                    old, from_ = queue[tail - 1], max(since[tail - 1], end)
                    if _beats(new, old, from_, least, rows):
                        tail -= 1
                    else:
                        # Past this end, cutting the old group where it may first end is as good as keeping it.
                        limit = ends[ends[old]] if ends[old] <= last else last + 1
                        from_ = _crossing(new, old, from_, limit, least, rows)
                        break
                if from_ <= last:
                    queue[tail], since[tail] = new, from_
                    tail += 1
            new += 1
        while tail - head > 1 and since[head + 1] <= end:
            head += 1
        if tail > head:
            start[end] = queue[head]
            least[end] = least[queue[head]] + _deviation(queue[head], end, rows)
    return _trace(start)


@kernel_with(inline="always")
def _beats(new, old, end, least, rows):  # type: ignore[no-untyped-def]
    """Whether a group with the new start is better for this end than one with the old."""
    return least[new] + _deviation(new, end, rows) < least[old] + _deviation(old, end, rows)


@kernel
def _crossing(new, old, loses, wins, least, rows):  # type: ignore[no-untyped-def]
    """The first end at which the new start is better: once it is, it stays so."""
    while wins - loses > 1:
        middle = (loses + wins) // 2
        if _beats(new, old, middle, least, rows):
            wins = middle
        else:
            loses = middle
    return wins


@kernel
def _trace(start):  # type: ignore[no-untyped-def]
    """Follow the groups back from the last."""
    groups, at = 0, start.size - 1
    while at > 0:
        groups += 1
        at = start[at]
    edges = np.empty(groups + 1, np.int64)
    at = start.size - 1
    for group in range(groups, -1, -1):
        edges[group] = at
        at = start[at]
    return edges


@kernel
def _divide(edges, places, values, counts, marks, k, e):  # type: ignore[no-untyped-def]
    """The group of the i-th row when rows are sorted by value, and the groups between these edges are divided."""
    out = np.empty(places[-1], np.int32)
    next_row, groups = np.zeros(counts.size, np.int64), np.int64(0)
    for v in range(1, counts.size):
        next_row[v] = next_row[v - 1] + counts[v - 1]
    for cut in range(edges.size - 1):
        pieces = [_held(edges[cut], edges[cut + 1], places, values)]
        while pieces:
            held, rows = pieces.pop()
            lower, upper = _halve(rows, marks, held, k, e)
            if lower.size:
                pieces.append(_some(held, upper))
                pieces.append(_some(held, lower))
                continue
            dealt = np.empty(_total(rows), np.int32)
            rule = Rule(1, 1, k, e, marks, np.zeros((0, 2), np.int64), np.zeros(0, np.bool_))
            hands = capacity(rows, held, rule) if dealt.size >= 2 * k else 1
            deal_out(rows, held, rule, hands, dealt, groups)
            groups += hands
            at = 0
            for i in range(held.size):
                v = held[i]
                for _ in range(rows[i]):
                    out[next_row[v]] = dealt[at]
                    next_row[v] += 1
                    at += 1
    return out


@kernel
def _held(first, last, places, values):  # type: ignore[no-untyped-def]
    """The values of a group between two edges, and how many of its rows hold each."""
    least = np.int32(values[first])
    rows = np.zeros(values[last - 1] + 1 - least, np.int64)
    held = np.empty(rows.size, np.int32)
    for i in range(held.size):
        held[i] = least + i
    for p in range(first, last):
        rows[values[p] - least] += places[p + 1] - places[p]
    return held, rows


@kernel
def _some(held, rows):  # type: ignore[no-untyped-def]
    """The values that rows hold, and how many each."""
    some, times, found = np.empty(held.size, np.int32), np.empty(held.size, np.int64), 0
    for i in range(held.size):
        if rows[i] > 0:
            some[found], times[found] = held[i], rows[i]
            found += 1
    return some[:found], times[:found]


@kernel
def _total(rows):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(rows.size):
        total += rows[i]
    return total


@kernel
def _halve(rows, marks, held, k, e):  # type: ignore[no-untyped-def]
    """How many rows of each value the lower and the upper half take, or nothing if it cannot be.

    Values are halved in their middle. A half that is no group yet borrows one row each of the nearest values
    of the other half that have one to spare: what lies far away stays away, so its range remains small.
    """
    nothing = rows[:0]
    if _total(rows) < 2 * k:
        return nothing, nothing
    m = rows.size
    lower, upper = rows.copy(), rows.copy()
    for i in range(m):
        if i < m // 2:
            upper[i] = 0
        else:
            lower[i] = 0
    distinct, last, i = m // 2, m // 2 - 1, m // 2
    while distinct < k or marks[held[last]] - marks[held[0]] < e:
        if i == m:
            return nothing, nothing
        if rows[i] > 1:
            lower[i], upper[i] = 1, rows[i] - 1
            distinct, last = distinct + 1, i
        i += 1
    distinct, first, i = m - m // 2, m // 2, m // 2 - 1
    while distinct < k or marks[held[m - 1]] - marks[held[first]] < e:
        if i < 0:
            return nothing, nothing
        if rows[i] > 1:
            lower[i], upper[i] = rows[i] - 1, 1
            distinct, first = distinct + 1, i
        i -= 1
    return lower, upper
