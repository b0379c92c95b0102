"""Cut people into cells of similar quasi-identifiers, as `local` cuts rows: blindly.

A cut is made if and only if both halves keep the rule however the values lie in the cell: a half needs as many rows
as all values of the cell would. Of values, that looks at the histogram of the cell alone,
which its groups show; so no cut, and none that was not made, says who holds which (see `partition/spatial/local.py`).
Cost: people x (quasi-identifiers + log) x log(people), and every row once a level.
Claim: cuts_of_people_are_blind — exchange values inside the cells, and the cells are the same.
"""

from __future__ import annotations

import numpy as np

from discreet.partition.people.rule import kept, need_of
from discreet.values.kernel import kernel


@kernel
def cut(order, points, spans, starts, values, rule, counts):  # type: ignore[no-untyped-def]
    """Reorder people in place so that cells are runs of them; return where the cells start, ascending."""
    d = points.shape[1]
    found = [0 for _ in range(0)]
    stack = [(0, order.size)]
    while stack:
        a, b = stack.pop()
        middle = -1
        widths = np.zeros(d)
        needed = need_of(order[a:b], starts, values, rule, counts)
        for j in range(d):
            least, most = points[order[a], j], points[order[a], j]
            for p in order[a:b]:
                least, most = min(least, points[p, j]), max(most, points[p, j])
            widths[j] = (most - least) / spans[j]
        for j in np.argsort(-widths):
            if widths[j] == 0 or b - a < 2 * rule.k:
                break
            here = order[a:b].copy()
            codes = np.empty(b - a, np.int64)
            for i in range(b - a):
                codes[i] = points[here[i], j]
            here = here[np.argsort(codes, kind="mergesort")]  # ties stay in the order of people, which is random
            codes = np.sort(codes)
            half = (b - a) // 2
            under = np.searchsorted(codes, codes[half], side="left")
            over = np.searchsorted(codes, codes[half], side="right")
            near = under if half - under <= over - half else over
            rows = np.zeros(b - a + 1, np.int64)
            rows[1:] = np.cumsum(starts[here + 1] - starts[here])
            for at in (near, under + over - near, half):
                if (
                    0 < at < b - a
                    and kept(at, rows[at], needed, rule)
                    and kept(b - a - at, rows[b - a] - rows[at], needed, rule)
                ):
                    middle = a + at
                    break
            if middle >= 0:
                order[a:b] = here
                break
        if middle < 0:
            found.append(a)
        else:
            stack.append((middle, b))
            stack.append((a, middle))
    return np.array(found, np.int64)
