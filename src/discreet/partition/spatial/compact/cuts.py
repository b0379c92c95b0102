"""Cut points in two where most is saved, and the parts again: the best column and place by the boxes of both sides.

A cut parts the first values of a column from the others, in the order of a range, in that of the children of a tree's
lowest common node, or in that of a set's values; of a tree or a set it may also part one from all others. What it saves
is what the box around all rows costs them less what the tight boxes of both sides do, in all columns. Of cuts that save
alike the less even is preferred (saved x evenness^-0.3): it peels off rows that lie far out, and combinations that are
frequent, and even cuts were worse wherever it was measured.

Points are different rows with their `weights`, and `first` says where the values of their people stand. A wide range is
looked at in as many steps as are worth it. If cuts are blind, a side needs as many rows as keep the promises whichever
they are (`surely`), and a cut may pass through the rows of one value; else both sides must keep the rule as they are.
Cost: points x columns^2 for a level of cuts, beside rows x columns where values are looked at.
Claim: cuts_save_most — no cut between two values of ranges saves more, weighed by its evenness, if all steps are seen.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from discreet.partition.spatial.packed import RANGE, SET, TREE
from discreet.values.rule import keeps, surely, sweep

UNEVEN = 0.3
STEPS = 256  # of a wide range, beside four for each point
FAR = 2**31 - 1
BEFORE, ALONE, THROUGH = 0, 1, 2  # which rows go left: up to a step, those of a step, or up to some rows of it


@nb.njit(cache=True, nogil=True)
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


@nb.njit(cache=True, nogil=True)
def set_cost(j, distinct, frame):  # type: ignore[no-untyped-def]
    """What so many names cost in a set."""
    return distinct / frame.sizes[j] if distinct > 1 else 0.0


@nb.njit(cache=True, nogil=True)
def cut_up(points, weights, first, values, kinds, frame, rule, least, blind, edges):  # type: ignore[no-untyped-def]
    """Order points so that parts stand together, and mark in `edges` where each starts.

    Without a rule, `least` rows are all that a part needs.
    """
    m, d = points.shape
    steps, step_of, slots = np.empty(d, np.int64), np.empty((m, d), np.int32), np.empty(STEPS + 4 * m + 1, np.int32)
    number = np.full(max(frame.sizes.max(), 1), -1, np.int32)
    boxes, sums, ints = np.empty((4, m + 1, d), np.int32), np.empty((4, m + 1)), np.empty((7, m + 1), np.int32)
    held, works = np.empty(values.size, np.int32), np.empty(values.size + 1, np.bool_)
    counts, goes = np.zeros(kinds, np.int32), np.empty(m, np.int32)
    stack, top = np.empty((128, 2), np.int64), 1
    stack[0, 0], stack[0, 1] = 0, m
    while top:
        top -= 1
        a, b = stack[top, 0], stack[top, 1]
        edges[a] = True
        total, fewest = np.int64(0), np.int64(least)
        for p in range(a, b):
            total += weights[p]
        if rule is not None and blind and total >= 2 * fewest:
            for p in range(a, b):
                held[p - a] = values[first[p]]
            fewest = max(fewest, surely(held[: b - a], rule, counts))
        if total < 2 * fewest:
            continue
        x, w, f, own = points[a:b], weights[a:b], first[a:b], step_of[: b - a]
        _number(x, frame, steps, own, slots, number)
        column, way, low_step, high_step, take = _best(
            x, w, f, values, steps, own, total, fewest, blind, frame, rule, boxes, sums, ints, held, works, counts
        )
        if column < 0:
            continue
        n, size = b - a, 0
        for p in range(n):
            s = own[p, column]
            if way == ALONE:
                goes[p] = s < low_step or s > high_step
            elif way == BEFORE or s != high_step:
                goes[p] = s > high_step
            else:
                goes[p] = take <= 0
                take -= 1
            size += 1 - goes[p]
        _part(x, goes, size, boxes[0])
        _shift(w, goes, size, ints[0])
        _shift(f, goes, size, ints[0])
        larger_left = 2 * size >= n  # the smaller side is cut first, so that few wait
        stack[top, 0], stack[top, 1] = (a, a + size) if larger_left else (a + size, b)
        stack[top + 1, 0], stack[top + 1, 1] = (a + size, b) if larger_left else (a, a + size)
        top += 2


@nb.njit(cache=True, nogil=True)
def _shift(column, goes, size, spare):  # type: ignore[no-untyped-def]
    """Those that stay first, then those that go; the order of each stays."""
    left, right = 0, size
    for i in range(column.size):
        if goes[i]:
            spare[right] = column[i]
            right += 1
        else:
            spare[left] = column[i]
            left += 1
    for i in range(column.size):
        column[i] = spare[i]


@nb.njit(cache=True, nogil=True)
def _part(lines, goes, size, spare):  # type: ignore[no-untyped-def]
    left, right = 0, size
    for i in range(lines.shape[0]):
        at = right if goes[i] else left
        for j in range(lines.shape[1]):
            spare[at, j] = lines[i, j]
        right += goes[i]
        left += 1 - goes[i]
    for i in range(lines.shape[0]):
        for j in range(lines.shape[1]):
            lines[i, j] = spare[i, j]


@nb.njit(cache=True, nogil=True)
def _number(x, frame, steps, step_of, slots, number):  # type: ignore[no-untyped-def]
    """Write the step of every point in each column, of as many as differ: by order; many names, as they come."""
    n, d = x.shape
    for j in range(d):
        low, high = x[0, j], x[0, j]
        for p in range(n):
            low, high = min(low, x[p, j]), max(high, x[p, j])
        span, wide, found = np.int64(high) - low + 1, STEPS + 4 * n, 0
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
        steps[j] = found


@nb.njit(cache=True, nogil=True)
def _best(x, w, f, values, steps, step_of, total, fewest, blind, frame, rule, boxes, sums, ints, held, works, counts):  # type: ignore[no-untyped-def]
    """The column of the best cut, how it parts the steps, from which to which, and how many rows of it go left.

    The column is -1 if no cut saves anything.
    """
    left, right, alone, rest = sums[0], sums[1], sums[2], sums[3]
    rows, ends, up, order, starts = ints[0], ints[1], ints[2], ints[3], ints[4]
    d, column, way, best = x.shape[1], -1, 0, 0.0
    place, upmost, take = np.int64(0), np.int64(0), np.int64(0)
    any_set, fitted, whole = False, rule is not None and not blind, 0.0
    for j in range(d):
        any_set = any_set or frame.forms[j] == SET
    for m in range(d):
        number = steps[m]
        if number < 2:
            continue
        unordered = frame.forms[m] != RANGE
        _tabulate(x, w, step_of, m, number, boxes, rows)
        if fitted or (unordered and any_set):
            _arrange(step_of, m, number, starts, order)
        if rule is not None and fitted:
            at = 0
            for i in range(x.shape[0]):
                p = order[i]
                for r in range(f[p], f[p] + w[p]):
                    held[at] = values[r]
                    at += 1
            sweep(held[:total], rule, counts, works)
        for s in range(number):
            up[s] = ends[s] = s
        level = frame.roots[m]
        while True:
            _costs(number, unordered, frame, boxes, sums)
            if any_set:
                _set_costs(step_of, m, number, steps, unordered, frame, ints, sums)
            whole = left[number - 1]
            before, start = np.int64(0), np.int64(0)
            for s in range(number):
                own = np.int64(rows[s])
                upto = before + own
                if s + 1 < number and min(upto, total - upto) >= fewest and (not fitted or works[upto]):
                    saved = total * whole - upto * left[s] - (total - upto) * right[s + 1]
                    score = _score(saved, upto, total)
                    if score > best:
                        best, column, way, place, upmost = score, m, BEFORE, start, np.int64(ends[s])
                if unordered and min(own, total - own) >= fewest:
                    score = _score(total * whole - own * alone[s] - (total - own) * rest[s], own, total)
                    if score > best:
                        stand = True
                        if rule is not None:
                            stand = blind or _stand(held, before, upto, total, rule, counts)
                        if stand:
                            best, column, way, place, upmost = score, m, ALONE, start, np.int64(ends[s])
                if rule is not None and blind and before < fewest and total - upto < fewest and start == ends[s]:
                    for turn in range(2):
                        size = total - fewest if turn else fewest
                        saved = total * whole - size * left[s] - (total - size) * right[s]
                        score = _score(saved, size, total)
                        if score > best and before < size < upto:
                            best, column, way, place, upmost = score, m, THROUGH, start, start
                            take = size - before
                before, start = upto, np.int64(ends[s]) + 1
            if frame.forms[m] != TREE:
                break
            fine = number
            while fine == number and number > 1:
                level += frame.sizes[m]
                number = _merge(number, m, level, frame, boxes, ints, steps[m])
            if number == 1:
                break
    if best <= 1e-9 * total * whole:
        column = -1
    return column, way, place, upmost, take


@nb.njit(cache=True, nogil=True)
def _score(saved, size, total):  # type: ignore[no-untyped-def]
    """What a cut saves, and more if it is uneven."""
    return saved * (min(size, total - size) / total) ** -UNEVEN if saved > 0 else 0.0


@nb.njit(cache=True, nogil=True)
def _merge(number, m, level, frame, boxes, ints, steps):  # type: ignore[no-untyped-def]
    """Put steps together that share a node of a tree on a level; return how many are left."""
    low, high, rows, ends, up = boxes[0], boxes[1], ints[0], ints[1], ints[2]
    found = 0
    for s in range(1, number):
        if frame.nodes[level + low[s, m]] == frame.nodes[level + low[found, m]]:
            rows[found] += rows[s]
            for j in range(low.shape[1]):
                low[found, j], high[found, j] = min(low[found, j], low[s, j]), max(high[found, j], high[s, j])
        else:
            found += 1
            rows[found] = rows[s]
            for j in range(low.shape[1]):
                low[found, j], high[found, j] = low[s, j], high[s, j]
        ends[found] = ends[s]
    at = 0
    for s in range(steps):
        at += s > ends[at]
        up[s] = at
    return found + 1


@nb.njit(cache=True, nogil=True)
def _stand(held, a, b, total, rule, counts):  # type: ignore[no-untyped-def]
    """Whether rows a..b keep the promises, and so do all others."""
    if not keeps(held[a:b], rule, counts):
        return False
    others = np.empty(total - (b - a), np.int32)
    for i in range(a):
        others[i] = held[i]
    for i in range(b, total):
        others[i - (b - a)] = held[i]
    return keeps(others, rule, counts)


@nb.njit(cache=True, nogil=True)
def _tabulate(x, w, step_of, m, steps, boxes, rows):  # type: ignore[no-untyped-def]
    """Write the box and the rows of every step of a column."""
    d, low, high = x.shape[1], boxes[0], boxes[1]
    for s in range(steps):
        rows[s] = 0
        for j in range(d):
            low[s, j], high[s, j] = FAR, -1
    for p in range(x.shape[0]):
        s = step_of[p, m]
        rows[s] += w[p]
        for j in range(d):
            low[s, j] = min(low[s, j], x[p, j])
            high[s, j] = max(high[s, j], x[p, j])


@nb.njit(cache=True, nogil=True)
def _arrange(step_of, m, steps, starts, order):  # type: ignore[no-untyped-def]
    """Write points in the order of their steps, and where each step starts."""
    n = step_of.shape[0]
    for s in range(steps + 1):
        starts[s] = 0
    for p in range(n):
        starts[step_of[p, m] + 1] += 1
    for s in range(steps):
        starts[s + 1] += starts[s]
    for p in range(n):
        s = step_of[p, m]
        order[starts[s]] = p
        starts[s] += 1
    for s in range(steps, 0, -1):
        starts[s] = starts[s - 1]
    starts[0] = 0


@nb.njit(cache=True, nogil=True)
def _costs(steps, unordered, frame, boxes, sums):  # type: ignore[no-untyped-def]
    """Write what boxes cost up to each step, from each, of each alone and of all others; without sets."""
    low, high, later_low, later_high, d = boxes[0], boxes[1], boxes[2], boxes[3], boxes.shape[2]
    here, box = np.empty((2, d), np.int32), np.empty(d)
    for j in range(d):
        here[0, j], here[1, j], box[j] = FAR, -1, 0.0
        later_low[steps, j], later_high[steps, j] = FAR, -1
    cost = 0.0
    for s in range(steps - 1, -1, -1):
        cost += _include(s, low, high, here, box, frame)
        sums[1, s] = cost
        if unordered:
            for j in range(d):
                later_low[s, j], later_high[s, j] = here[0, j], here[1, j]
    for j in range(d):
        here[0, j], here[1, j], box[j] = FAR, -1, 0.0
    cost = 0.0
    for s in range(steps):
        if unordered:
            sums[2, s], sums[3, s] = 0.0, 0.0
            for j in range(d):
                sums[2, s] += side_cost(j, low[s, j], high[s, j], frame)
                a, b = min(here[0, j], later_low[s + 1, j]), max(here[1, j], later_high[s + 1, j])
                sums[3, s] += side_cost(j, a, b, frame)
        cost += _include(s, low, high, here, box, frame)
        sums[0, s] = cost


@nb.njit(cache=True, nogil=True)
def _include(s, low, high, here, box, frame):  # type: ignore[no-untyped-def]
    """How much more the box costs that now holds a step, too."""
    more = 0.0
    for j in range(box.size):
        if low[s, j] < here[0, j] or high[s, j] > here[1, j]:
            here[0, j], here[1, j] = min(here[0, j], low[s, j]), max(here[1, j], high[s, j])
            now = side_cost(j, here[0, j], here[1, j], frame)
            more += now - box[j]
            box[j] = now
    return more


@nb.njit(cache=True, nogil=True)
def _set_costs(step_of, m, number, steps, unordered, frame, ints, sums):  # type: ignore[no-untyped-def]
    """Add what sets cost: a name is among the steps up to one if its first is, among those from one if its last is."""
    n, up, order, starts, least, most = step_of.shape[0], ints[2], ints[3], ints[4], ints[5], ints[6]
    tally = np.empty((3, number), np.int32)  # of each step the names that begin in it, end in it, and are only there
    for j in range(steps.size):
        if frame.forms[j] != SET:
            continue
        for c in range(steps[j]):
            least[c], most[c] = FAR, -1
        for p in range(n):
            c, s = step_of[p, j], up[step_of[p, m]]
            least[c], most[c] = min(least[c], s), max(most[c], s)
        for s in range(number):
            tally[0, s], tally[1, s], tally[2, s] = 0, 0, 0
        for c in range(steps[j]):
            tally[0, least[c]] += 1
            tally[1, most[c]] += 1
            tally[2, least[c]] += least[c] == most[c]
        seen = 0
        for s in range(number):
            seen += tally[0, s]
            sums[0, s] += set_cost(j, seen, frame)
            sums[3, s] += set_cost(j, steps[j] - tally[2, s], frame)
        seen = 0
        for s in range(number - 1, -1, -1):
            seen += tally[1, s]
            sums[1, s] += set_cost(j, seen, frame)
        if unordered:
            for c in range(steps[j]):
                most[c] = -1
            for s in range(number):
                tally[2, s] = 0
            for step in range(steps[m]):
                for i in range(starts[step], starts[step + 1]):
                    c = step_of[order[i], j]
                    tally[2, up[step]] += most[c] != up[step]
                    most[c] = up[step]
            for s in range(number):
                sums[2, s] += set_cost(j, tally[2, s], frame)
