"""Cut rows in two where least is lost: the best cut of some rows, and cuts of cuts until none is left.

A cut falls between two values of a range, or parts the more frequent values of a set from the others. Of all cuts whose
parts each have enough rows and are diverse, the one is taken after which the boxes of both parts cost least
(rows x the share of the space that their box covers, summed over columns). Of many rows only a sample is looked at,
and neither part may be much smaller than the other, so that few cuts lead to small parts.
Cost: rows x columns^2 for a cut.
Claim: best_cut_is_best — no cut between values of a range, or of a set by frequency, costs less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.values.kernel import kernel
from discreet.values.rule import at_least, kept, nothing, see

MANY, SAMPLE, SHARE = 4_096, 8_192, 16


class Scale(NamedTuple):
    """What columns cost, per unit of a range or value of a set; and all places of codes, column after column."""

    starts: npt.NDArray[np.int64]
    places: npt.NDArray[np.float64]
    is_set: npt.NDArray[np.bool_]
    costs: npt.NDArray[np.float64]


@kernel
def divide(codes, values, rows, scale, rule):  # type: ignore[no-untyped-def]
    """Order rows so that parts stand together; return where they start, ascending."""
    starts = np.empty(rows.size // max(rule.k, 1) + 1, np.int64)
    number = numbers(scale)
    found = 0
    stack = [(0, rows.size)]
    while stack:
        a, b = stack.pop()
        size = -1
        if b - a >= 2 * rule.k:
            here, left = rows[a:b].copy(), np.empty(b - a, np.bool_)
            if cut(codes, values, here, scale, rule, -1, number, left)[0] >= 0:
                size = _part(rows[a:b], here, left)
        if size < 0:
            starts[found] = a
            found += 1
        else:
            stack.append((a + size, b))
            stack.append((a, a + size))
    return starts[:found].copy()


@kernel
def _part(rows, here, left):  # type: ignore[no-untyped-def]
    """Write rows, the left ones first; return how many these are."""
    low, high = 0, here.size
    for i in range(here.size):
        if left[i]:
            rows[low] = here[i]
            low += 1
        else:
            high -= 1
            rows[high] = here[i]
    return low


@kernel
def numbers(scale):  # type: ignore[no-untyped-def]
    """A place for each code of a set, all -1, as `cut` finds it and leaves it."""
    most = 1
    for j in range(scale.is_set.size):
        if scale.is_set[j]:
            most = max(most, scale.starts[j + 1] - scale.starts[j])
    return np.full(most, -1, np.int32)


@kernel
def cut(codes, values, rows, scale, rule, column, number, left):  # type: ignore[no-untyped-def]
    """The column of the best cut, or of the best in one column, and what it saves; -1 if none saves anything.

    Write which rows are left of it.
    """
    n = rows.size
    step = n // SAMPLE if n > MANY else 0
    while True:
        # of many rows first a sample, and cuts far from the ends; what holds of it must hold of all rows
        some = rows[:: max(step, 1)].copy()
        side = np.empty(some.size, np.bool_)
        fewest = max(rule.k // max(step, 1), some.size // SHARE if n > MANY and step >= 0 else 0)
        found, saved = _search(codes, values, some, scale, at_least(fewest, rule), column, number, side)
        if step < 0 or n <= MANY:
            left[:] = side
            return found, saved
        if found >= 0:
            _apply(codes[found], rows, some, side, scale.is_set[found], left)
            if _parts_hold(values, rows, left, rule):
                return found, saved * max(step, 1)
        step = -1


@kernel
def _apply(codes, rows, some, side, is_set, left):  # type: ignore[no-untyped-def]
    """Put all rows to the sides of some; a value of a set that none of these has goes right."""
    if is_set:
        named = np.zeros(codes.max() + 1, np.bool_)
        for i in range(some.size):
            named[codes[some[i]]] = side[i]
        for i in range(rows.size):
            left[i] = named[codes[rows[i]]]
    else:
        upto = -1
        for i in range(some.size):
            if side[i]:
                upto = max(upto, codes[some[i]])
        for i in range(rows.size):
            left[i] = codes[rows[i]] <= upto


@kernel
def _parts_hold(values, rows, left, rule):  # type: ignore[no-untyped-def]
    counts = np.zeros((2, values.max() + 1), np.int64)
    for i in range(rows.size):
        counts[np.int64(left[i]), values[rows[i]]] += 1
    for part in range(2):
        held, so_far = np.flatnonzero(counts[part]), nothing()
        for v in held:
            so_far = see(so_far, v, counts[part, v], True, rule)
        size = counts[part].sum()
        if not kept(so_far, size, rule):
            return False
    return True


@kernel
def _search(codes, values, rows, scale, rule, column, number, left):  # type: ignore[no-untyped-def]
    """The best cut of all rows that are given, as in `cut`."""
    d, n = codes.shape[0], rows.size
    here, kinds = np.empty((d, n), np.int32), np.ones(d, np.int64)
    for j in range(d):
        for i in range(n):
            here[j, i] = codes[j, rows[i]]
        if scale.is_set[j]:
            kinds[j] = _renumber(here[j], number)
        elif here[j].min() != here[j].max():
            kinds[j] = 2
    held = np.empty(n, np.int32)
    for i in range(n):
        held[i] = values[rows[i]]
    seen, stamp = np.zeros((d, n), np.int32), 0
    counts = np.zeros(held.max() + 1, np.int32)
    costs, left_costs = np.empty(n + 1), np.empty(n + 1)
    holds, left_holds = np.empty(n + 1, np.bool_), np.empty(n + 1, np.bool_)
    best, best_cost, best_size, best_order = -1, np.inf, 0, np.empty(0, np.int64)
    whole = np.inf
    for j in range(d):
        if (column >= 0 and j != column) or kinds[j] == 1:
            continue
        keys = _ranks(here[j], kinds[j]) if scale.is_set[j] else here[j]
        order = _arranged(keys)
        _sweep(here, held, order, scale, rule, seen, stamp + 1, counts, left_costs, left_holds)
        _sweep(here, held, order[::-1].copy(), scale, rule, seen, stamp + 2, counts, costs, holds)
        stamp += 2
        whole = costs[n]
        for size in range(1, n):
            if left_holds[size] and holds[n - size] and keys[order[size - 1]] != keys[order[size]]:
                cost = left_costs[size] + costs[n - size]
                if cost < best_cost:
                    best, best_cost, best_size, best_order = j, cost, size, order
    if best < 0 or best_cost > whole * (1 - 1e-9):
        return -1, 0.0
    left[:] = False
    for i in range(best_size):
        left[best_order[i]] = True
    return best, whole - best_cost


@kernel
def _renumber(codes, number):  # type: ignore[no-untyped-def]
    """Number codes from 0 as they first occur; return how many there are."""
    found, names = 0, np.empty(codes.size, np.int32)
    for i in range(codes.size):
        code = codes[i]
        if number[code] < 0:
            number[code] = found
            names[found] = code
            found += 1
        codes[i] = number[code]
    for i in range(found):
        number[names[i]] = -1
    return found


@kernel
def _ranks(codes, kinds):  # type: ignore[no-untyped-def]
    """The rank of each code by frequency, the most frequent first."""
    counts = np.zeros(kinds, np.int64)
    for code in codes:
        counts[code] += 1
    rank, by_frequency = np.empty(kinds, np.int32), _arranged((codes.size - counts).astype(np.int32))
    for place in range(kinds):
        rank[by_frequency[place]] = place
    ranks = np.empty(codes.size, np.int32)
    for i in range(codes.size):
        ranks[i] = rank[codes[i]]
    return ranks


@kernel
def _arranged(keys):  # type: ignore[no-untyped-def]
    """Rows in the order of their keys, those of one key as they stand."""
    n, low, high = keys.size, keys.min(), keys.max()
    if high - low > 4 * n:
        return np.argsort(keys, kind="mergesort")
    following, order = np.zeros(high - low + 2, np.int64), np.empty(n, np.int64)
    for i in range(n):
        following[keys[i] - low + 1] += 1
    for key in range(high - low):
        following[key + 1] += following[key]
    for i in range(n):
        order[following[keys[i] - low]] = i
        following[keys[i] - low] += 1
    return order


@kernel
def _sweep(here, held, order, scale, rule, seen, stamp, counts, costs, holds):  # type: ignore[no-untyped-def]
    """What the first so many rows cost together, and whether they hold; `seen` bears no such stamp yet."""
    d, n = here.shape
    low, high, kinds = np.empty(d, np.int32), np.empty(d, np.int32), np.zeros(d, np.int64)
    for m in range(d):
        low[m] = high[m] = here[m, order[0]]
    counts[:] = 0
    so_far, cost = nothing(), 0.0
    costs[0], holds[0] = 0.0, False
    for i in range(n):
        row = order[i]
        for m in range(d):
            code, start = here[m, row], scale.starts[m]
            if scale.is_set[m]:
                if seen[m, code] != stamp:
                    seen[m, code] = stamp
                    kinds[m] += 1
                    if kinds[m] > 1:
                        cost += scale.costs[m] * (2 if kinds[m] == 2 else 1)
            elif code < low[m]:
                cost += scale.costs[m] * (scale.places[start + low[m]] - scale.places[start + code])
                low[m] = code
            elif code > high[m]:
                cost += scale.costs[m] * (scale.places[start + code] - scale.places[start + high[m]])
                high[m] = code
        v = held[row]
        counts[v] += 1
        so_far = see(so_far, v, counts[v], counts[v] == 1, rule)
        costs[i + 1] = cost * (i + 1)
        holds[i + 1] = kept(so_far, i + 1, rule)
