"""The steps of a column among some points: runs of codes, in order, that a cut can part from each other.

Each code is a step of its own, but in a wide range, of which as many steps are made as are worth it; in a tree, steps
under one node of a level are put together to look at cuts between such nodes.
Cost: points for each column.
"""

from __future__ import annotations

from discreet.partition.spatial.packed import SET
from discreet.values.kernel import kernel
from discreet.values.rule import FAR

STEPS = 256  # of a wide range, beside four for each point
# Lines of `scratch`: the rows of each step; where a step is among those that were put together, and of these the last
# step; the points in the order of their steps, and where each step starts; then what sets are counted in.
ROWS, UP, ENDS, ORDER, STARTS, NAMES, LINES = 0, 1, 2, 3, 4, 5, 10


@kernel
def number_steps(x, step_of, frame, scratch):  # type: ignore[no-untyped-def]
    """Write the step of every point in each column, of as many as differ: by order; many names, as they come."""
    slots, number = scratch.slots, scratch.number
    n, d = x.shape
    for j in range(d):
        low, high = x[0, j], x[0, j]
        for p in range(n):
            low, high = min(low, x[p, j]), max(high, x[p, j])
        span, wide, found = high - low + 1, STEPS + 4 * n, 0
        if span > wide and frame.forms[j] == SET:
            for p in range(n):
                c = x[p, j]
                if number[c] < 0:
                    number[c] = found
                    found += 1
                step_of[p, j] = number[c]
            for p in range(n):
                number[x[p, j]] = -1
        else:
            width = min(span, wide)
            for s in range(width):
                slots[s] = -1
            for p in range(n):
                slots[(x[p, j] - low) * width // span if span > wide else x[p, j] - low] = 0
            for s in range(width):
                if slots[s] == 0:
                    slots[s] = found
                    found += 1
            for p in range(n):
                step_of[p, j] = slots[(x[p, j] - low) * width // span if span > wide else x[p, j] - low]
        scratch.steps[j] = found


@kernel
def tabulate(x, w, step_of, m, steps, scratch):  # type: ignore[no-untyped-def]
    """Write the box and the rows of every step of a column; each is by itself."""
    d, low, high, rows = x.shape[1], scratch.boxes[0], scratch.boxes[1], scratch.lines[ROWS]
    for s in range(steps):
        rows[s], scratch.lines[UP, s], scratch.lines[ENDS, s] = 0, s, s
        for j in range(d):
            low[s, j], high[s, j] = FAR, -1
    for p in range(x.shape[0]):
        s = step_of[p, m]
        rows[s] += w[p]
        for j in range(d):
            low[s, j], high[s, j] = min(low[s, j], x[p, j]), max(high[s, j], x[p, j])


@kernel
def arrange(step_of, m, steps, scratch):  # type: ignore[no-untyped-def]
    """Write points in the order of their steps, and where each step starts."""
    starts, order = scratch.lines[STARTS], scratch.lines[ORDER]
    for s in range(steps + 1):
        starts[s] = 0
    for p in range(step_of.shape[0]):
        starts[step_of[p, m] + 1] += 1
    for s in range(steps):
        starts[s + 1] += starts[s]
    for p in range(step_of.shape[0]):
        s = step_of[p, m]
        order[starts[s]] = p
        starts[s] += 1
    for s in range(steps, 0, -1):
        starts[s] = starts[s - 1]
    starts[0] = 0


@kernel
def merge(number, m, level, frame, scratch):  # type: ignore[no-untyped-def]
    """Put steps together that share a node of a tree on a level; return how many are left."""
    low, high, rows, ends = scratch.boxes[0], scratch.boxes[1], scratch.lines[ROWS], scratch.lines[ENDS]
    found = 0
    for s in range(1, number):
        same = frame.nodes[level + low[s, m]] == frame.nodes[level + low[found, m]]
        found += not same
        rows[found] = rows[s] + (rows[found] if same else 0)
        for j in range(low.shape[1]):
            low[found, j] = min(low[found, j], low[s, j]) if same else low[s, j]
            high[found, j] = max(high[found, j], high[s, j]) if same else high[s, j]
        ends[found] = ends[s]
    at = 0
    for s in range(scratch.steps[m]):
        at += s > ends[at]
        scratch.lines[UP, s] = at
    return found + 1
