"""What boxes cost: one box, and those of all steps of a column, from the first on, from the last on, and alone.

A step is what a cut cannot part: the points that share a value of the column (see `steps`).
Cost: steps x columns; where columns are sets, points x columns.
"""

from __future__ import annotations

from discreet.partition.spatial.compact.steps import NAMES, ORDER, STARTS, UP
from discreet.partition.spatial.packed import RANGE, SET
from discreet.values.kernel import kernel
from discreet.values.rule import FAR


@kernel
def side_cost(j, low, high, frame):  # type: ignore[no-untyped-def]
    """What a box costs in a range, or in a tree whose codes stand in the order of its leaves; nothing in a set."""
    if low >= high:
        return 0.0
    if frame.forms[j] == RANGE:
        return min(frame.places[frame.starts[j] + high] - frame.places[frame.starts[j] + low], 1.0)
    if frame.forms[j] == SET:
        return 0.0
    at = frame.roots[j] + frame.sizes[j]
    while frame.nodes[at + low] != frame.nodes[at + high]:
        at += frame.sizes[j]
    return frame.shares[at + low]


@kernel
def set_cost(j, distinct, frame):  # type: ignore[no-untyped-def]
    """What so many names cost in a set."""
    return distinct / frame.sizes[j] if distinct > 1 else 0.0


@kernel
def costs_of_steps(steps, unordered, frame, scratch):  # type: ignore[no-untyped-def]
    """Write what boxes cost up to each step, from each, of each alone and of all others; without sets."""
    boxes, sums, here = scratch.boxes, scratch.sums, scratch.box
    low, high, later_low, later_high = boxes[0], boxes[1], boxes[2], boxes[3]
    d = boxes.shape[2]
    for turn in range(2):
        for j in range(d):
            here[0, j], here[1, j], scratch.side[j] = FAR, -1, 0.0
            later_low[steps, j], later_high[steps, j] = FAR, -1
        cost = 0.0
        for i in range(steps):
            s = i if turn else steps - 1 - i
            if turn and unordered:
                sums[2, s], sums[3, s] = 0.0, 0.0
                for j in range(d):
                    sums[2, s] += side_cost(j, low[s, j], high[s, j], frame)
                    a, b = min(here[0, j], later_low[s + 1, j]), max(here[1, j], later_high[s + 1, j])
                    sums[3, s] += side_cost(j, a, b, frame)
            more = 0.0
            for j in range(d):
                if low[s, j] < here[0, j] or high[s, j] > here[1, j]:
                    here[0, j], here[1, j] = min(here[0, j], low[s, j]), max(here[1, j], high[s, j])
                    now = side_cost(j, here[0, j], here[1, j], frame)
                    more += now - scratch.side[j]
                    scratch.side[j] = now
                if unordered and not turn:
                    later_low[s, j], later_high[s, j] = here[0, j], here[1, j]
            cost += more
            sums[1 - turn, s] = cost


@kernel
def add_costs_of_sets(step_of, m, number, unordered, frame, scratch):  # type: ignore[no-untyped-def]
    """Add what sets cost: a name is among the steps up to one if its first is, among those from one if its last is."""
    steps, sums, lines = scratch.steps, scratch.sums, scratch.lines
    up, starts, order = lines[UP], lines[STARTS], lines[ORDER]
    first, last = lines[NAMES], lines[NAMES + 1]  # step of each name
    begin, end, only = lines[NAMES + 2], lines[NAMES + 3], lines[NAMES + 4]  # of each step: the names that do so
    for j in range(steps.size):
        if frame.forms[j] != SET:
            continue
        for c in range(steps[j]):
            first[c], last[c] = FAR, -1
        for p in range(step_of.shape[0]):
            c, s = step_of[p, j], up[step_of[p, m]]
            first[c], last[c] = min(first[c], s), max(last[c], s)
        for s in range(number):
            begin[s], end[s], only[s] = 0, 0, 0
        for c in range(steps[j]):
            begin[first[c]] += 1
            end[last[c]] += 1
            only[first[c]] += first[c] == last[c]
        upto, since = 0, 0
        for s in range(number):
            upto += begin[s]
            since += end[number - 1 - s]
            sums[0, s] += set_cost(j, upto, frame)
            sums[1, number - 1 - s] += set_cost(j, since, frame)
            sums[3, s] += set_cost(j, steps[j] - only[s], frame)
            end[number - 1 - s] = 0
        if unordered:
            for c in range(steps[j]):
                last[c] = -1
            for step in range(steps[m]):
                s = up[step]
                for i in range(starts[step], starts[step + 1]):
                    c = step_of[order[i], j]
                    end[s] += last[c] != s  # from here on: the names in a step
                    last[c] = s
            for s in range(number):
                sums[2, s] += set_cost(j, end[s], frame)
