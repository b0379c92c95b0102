"""Move rows to groups near by, once groups stand, where boxes become smaller by it.

Of each group that has rows to spare, those that are alike leave together if what that saves is more than what they
cost another group, among the 32 before and after it in the order that cuts made; the group that gains most takes them.
If values are promised anything, both groups must keep that.
Very large groups, which a promise does not let divide, stay as they are.
Cost: rows x columns x (rows of a group + groups near by) in each of two rounds.
Claim: moves_never_lose — the groups cost no more than before, and keep the rule.
"""

from __future__ import annotations

import numpy as np

from discreet.partition.spatial.compact.costs import set_cost, side_cost
from discreet.partition.spatial.packed import SET
from discreet.values.kernel import kernel, kernel_with
from discreet.values.rule import FAR, keeps

NEAR, ROUNDS = 32, 2
LARGE = 1_024  # rows of a group that stays as it is, unless groups need nearly as many: else it would cost their square
WORTH = 1e-9  # what a move must save, so that rounding alone moves nothing


@kernel_with(always=True)
def move(points, of_row, values, kinds, starts, frame, rule, fewest, groups):  # type: ignore[no-untyped-def]
    """Write the group of every row; before, group g has the rows from `starts[g]` on.

    Without a rule, `fewest` rows are all that a group needs.
    """
    n, d, number = of_row.size, points.shape[1], starts.size
    head, following, sizes = np.full(number, -1, np.int32), np.empty(n, np.int32), np.zeros(number, np.int64)
    low, high, costs = np.empty((number, d), np.int32), np.empty((number, d), np.int32), np.empty(number)
    marks = np.full(frame.places.size, -1, np.int64)
    turn = np.zeros(1, np.int64)
    counts, held = np.zeros(kinds, np.int32), np.empty(0 if rule is None else n, np.int32)
    new_low, new_high, most = np.empty(d, np.int32), np.empty(d, np.int32), max(LARGE, 3 * fewest)
    for g in range(number):
        for r in range(starts[g], starts[g + 1] if g + 1 < number else n):
            groups[r], following[r], head[g] = g, head[g], r
            sizes[g] += 1
        costs[g] = _cost(-1, head[g], points, of_row, following, frame, marks, turn, low[g], high[g])
    for _ in range(ROUNDS):
        for g in range(number):
            r = head[g] if fewest < sizes[g] <= most and costs[g] > 0 else -1
            while r >= 0:
                p, r = of_row[r], following[r]
                alike = _alike(p, head[g], of_row, following)
                if sizes[g] - alike < fewest:
                    continue
                left = _cost(p, head[g], points, of_row, following, frame, marks, turn, new_low, new_high)
                saved = sizes[g] * costs[g] - (sizes[g] - alike) * left
                best, to = WORTH, -1
                near = NEAR if saved > best else -1
                for h in range(max(0, g - near), min(number, g + near + 1)):
                    if h != g and sizes[h] <= most and saved - alike * costs[h] > best:
                        grown = _grown(points, p, low[h], high[h], head[h], of_row, following, frame)
                        gain = saved - (sizes[h] + alike) * grown + sizes[h] * costs[h]
                        if gain > best:
                            best, to = gain, h
                if to < 0:
                    continue
                if rule is not None and not (
                    _keep(p, False, head[g], -1, of_row, following, values, held, rule, counts)
                    and _keep(p, True, head[g], head[to], of_row, following, values, held, rule, counts)
                ):
                    continue
                _hand_over(p, g, to, of_row, following, head, groups)
                sizes[g] -= alike
                sizes[to] += alike
                for turned in range(2):
                    h = to if turned else g
                    costs[h] = _cost(-1, head[h], points, of_row, following, frame, marks, turn, low[h], high[h])
                r = head[g] if sizes[g] > fewest and costs[g] > 0 else -1


@kernel
def _cost(but, row, points, of_row, following, frame, marks, turn, low, high):  # type: ignore[no-untyped-def]
    """What the box around a chain of rows costs, without those at a point; write its ends, or of a set its names."""
    d = low.size
    turn[0] += 1
    for j in range(d):
        low[j], high[j] = FAR, -1
        if frame.forms[j] == SET:
            low[j] = 0
    last = but
    while row >= 0:
        p = of_row[row]
        if p not in (but, last):
            last = p
            for j in range(d):
                c = points[p, j]
                if frame.forms[j] == SET:
                    at = frame.starts[j] + c
                    low[j] += marks[at] != turn[0]
                    marks[at] = turn[0]
                else:
                    low[j], high[j] = min(low[j], c), max(high[j], c)
        row = following[row]
    cost = 0.0
    for j in range(d):
        cost += set_cost(j, low[j], frame) if frame.forms[j] == SET else side_cost(j, low[j], high[j], frame)
    return cost


@kernel
def _grown(points, p, low, high, row, of_row, following, frame):  # type: ignore[no-untyped-def]
    """What a box costs once it holds a point, too; `row` begins the chain of those in it."""
    cost = 0.0
    for j in range(low.size):
        c = points[p, j]
        if frame.forms[j] == SET:
            new, r = 1, row
            while r >= 0 and new:
                new = points[of_row[r], j] != c
                r = following[r]
            cost += set_cost(j, low[j] + new, frame)
        else:
            cost += side_cost(j, min(low[j], c), max(high[j], c), frame)
    return cost


@kernel
def _alike(p, row, of_row, following):  # type: ignore[no-untyped-def]
    """How many rows of a chain are at a point."""
    found = 0
    while row >= 0:
        found += of_row[row] == p
        row = following[row]
    return found


@kernel
def _keep(p, moved, row, other, of_row, following, values, held, rule, counts):  # type: ignore[no-untyped-def]
    """Whether rows of a chain that are not at a point keep the rule; or, once moved, those at it with another chain."""
    found = 0
    while row >= 0:
        if (of_row[row] == p) == moved:
            held[found] = values[row]
            found += 1
        row = following[row]
    while moved and other >= 0:
        held[found] = values[other]
        found += 1
        other = following[other]
    return keeps(held[:found], rule, counts)


@kernel
def _hand_over(p, g, to, of_row, following, head, groups):  # type: ignore[no-untyped-def]
    """Move all rows at a point from one chain to another."""
    row, last = head[g], -1
    while row >= 0:
        after = following[row]
        if of_row[row] == p:
            if last < 0:
                head[g] = after
            else:
                following[last] = after
            following[row], head[to], groups[row] = head[to], row, to
        else:
            last = row
        row = after
