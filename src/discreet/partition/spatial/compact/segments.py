"""Group neighbours in an order of rows so that least is lost: a dynamic programme over where groups end.

A group is a stretch of the order that keeps the rule and has fewer than twice the rows that any group needs, or three
times as many where values are looked at; or it is one of the parts that the order was cut into, as a whole. Of all ways
to divide the order into such groups the cheapest is found, so that it never costs more than the parts themselves.
If groups need very many rows, a group ends only at every so manieth row of a part.
Cost: rows x the rows that a group needs x columns, divided by the square of that step.
Claim: segments_are_the_cheapest — no other division of the order into groups of that kind costs less.
Claim: segments_never_lose_more_than_parts — the parts that the order was cut into cost at least as much.
"""

from __future__ import annotations

import numpy as np

from discreet.partition.spatial.compact.costs import set_cost, side_cost
from discreet.partition.spatial.packed import SET
from discreet.values.kernel import kernel_with
from discreet.values.rule import FAR, kept, nothing, see

FINE = 32  # groups of so many rows may end at every row


@kernel_with(always=True)
def segments(points, of_row, values, kinds, parts, frame, rule, fewest):  # type: ignore[no-untyped-def]
    """Where groups start: points stand as ordered, `of_row` is the point of each row, `parts` where parts start.

    Without a rule, `fewest` rows are all that a group needs.
    """
    n, d = of_row.size, points.shape[1]
    longest = 2 * fewest - 1 if rule is None else 3 * fewest
    step = 1 + fewest // FINE
    ends, found, whole = np.empty(n + 1, np.int64), 1, np.empty(n + 1, np.int64)
    ends[0] = 0
    for part in range(parts.size):
        a, b = parts[part], parts[part + 1] if part + 1 < parts.size else n
        start = found - 1
        for at in range(a + step, b, step):
            ends[found], whole[found] = at, -1
            found += 1
        ends[found], whole[found] = b, start
        found += 1
    costs, back = np.full(found, np.inf), np.empty(found, np.int64)
    low, high, box, names = np.empty(d, np.int32), np.empty(d, np.int32), np.empty(d), np.empty(d, np.int64)
    sets = np.zeros(d, np.bool_)
    for j in range(d):
        sets[j] = frame.forms[j] == SET
    marks, turn = np.full(frame.places.size, -1, np.int64), 0
    counts = np.zeros(kinds, np.int32)
    costs[0] = 0.0
    for e in range(1, found):
        for j in range(d):
            low[j], high[j], box[j], names[j] = FAR, -1, 0.0, 0
        cost, end, last, turn, first = 0.0, ends[e], -1, turn + 1, e
        if rule is not None:
            seen = nothing()
        while first > 0 and (end - ends[first - 1] <= longest or first > whole[e] >= 0):
            first -= 1
            for r in range(ends[first + 1] - 1, ends[first] - 1, -1):
                if rule is not None:
                    v = values[r]
                    counts[v] += np.int32(1)
                    seen = see(seen, v, counts[v], counts[v] == 1, rule)
                p = of_row[r]
                if p == last:
                    continue
                last = p
                for j in range(d):
                    c = points[p, j]
                    if sets[j]:
                        at = frame.starts[j] + c
                        if marks[at] != turn:
                            marks[at] = turn
                            names[j] += 1
                            now = set_cost(j, names[j], frame)
                            cost += now - box[j]
                            box[j] = now
                    elif c < low[j] or c > high[j]:
                        low[j], high[j] = min(low[j], c), max(high[j], c)
                        now = side_cost(j, low[j], high[j], frame)
                        cost += now - box[j]
                        box[j] = now
            size = end - ends[first]
            if size > longest and first != whole[e]:
                continue
            keeps = size >= fewest
            if rule is not None:
                keeps = keeps and kept(seen, size, rule)
            if keeps:
                new = costs[first] + size * cost
                if new < costs[e]:
                    costs[e], back[e] = new, first
        if rule is not None:
            for r in range(ends[first], end):
                counts[values[r]] = 0
    groups, e = 0, found - 1
    starts = np.empty(found, np.int64)
    while e > 0:
        e = back[e]
        starts[groups] = ends[e]
        groups += 1
    return starts[:groups][::-1].copy()
