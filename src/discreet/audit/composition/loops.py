"""The compiled loops that intersect what releases leave of people: see `candidates.py`, which says what they count.

Cost: kinds of people x values in their groups.
"""
# ruff: noqa: ANN001, ANN201, ANN202 - compiled loops

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def shares_of(i, kind, places, groups, share, mark, stamp, seen):  # type: ignore[no-untyped-def]
    """Write the share of every value in the groups that a kind can be in; return how many values there are."""
    first, last, total, found = places.starts[i, kind], places.starts[i, kind + 1], 0.0, 0
    for place in range(first, last):
        total += places.rows[place]
    for place in range(first, last):
        group = places.groups[place]
        weight = places.rows[place] / total / groups.sizes[group]
        for entry in range(groups.starts[group], groups.starts[group + 1]):
            value = groups.values[entry]
            if mark[value] != stamp:
                mark[value], share[value], seen[found] = stamp, 0.0, value
                found += 1
            share[value] += weight * groups.counts[entry]
    return found


@nb.njit(cache=True, nogil=True)
def nothing_new(i, kind, places, twins):  # type: ignore[no-untyped-def]
    """Whether a kind is in the same groups as in an earlier release, or not in this one at all."""
    first, size = places.starts[i, kind], places.starts[i, kind + 1] - places.starts[i, kind]
    if size == 0:
        return True
    for j in range(i):
        other = places.starts[j, kind]
        same = places.starts[j, kind + 1] - other == size
        for n in range(size):
            if not same:
                break
            same = twins[places.groups[first + n]] == twins[places.groups[other + n]]
            same = same and places.rows[first + n] == places.rows[other + n]
        if same:
            return True
    return False


@nb.njit(cache=True, nogil=True)
def _intersect(kind, places, groups, base, scratch, weight, left, stamp):  # type: ignore[no-untyped-def]
    """Write the values that all releases leave for a kind, and their weights; return how many, and the next stamp."""
    share, mark, seen = scratch
    found, first = 0, True
    for i in range(places.starts.shape[0]):
        if nothing_new(i, kind, places, groups.twins):
            continue
        stamp += 1
        here = shares_of(i, kind, places, groups, share, mark, stamp, seen)
        if first:
            found, first = here, False
            for n in range(here):
                left[n] = seen[n]
                weight[seen[n]] = share[seen[n]]
            continue
        kept = 0
        for n in range(found):
            value = left[n]
            if mark[value] == stamp:
                left[kept] = value
                weight[value] *= share[value] / base[value]
                kept += 1
        found = kept
    return found, stamp


@nb.njit(cache=True, nogil=True)
def room(values):  # type: ignore[no-untyped-def]
    return np.zeros(values), np.full(values, -1, np.int64), np.zeros(values, np.int64)


@nb.njit(cache=True, nogil=True)
def count(kinds, places, groups, base):  # type: ignore[no-untyped-def]
    distinct, scratch, stamp = np.zeros(kinds.size, np.int64), room(base.size), 0
    weight, left = np.zeros(base.size), np.zeros(base.size, np.int64)
    for n in range(kinds.size):
        distinct[n], stamp = _intersect(kinds[n], places, groups, base, scratch, weight, left, stamp)
    return distinct


@nb.njit(cache=True, nogil=True)
def listed_values(kinds, starts, places, groups, base):  # type: ignore[no-untyped-def]
    values, weights = np.empty(starts[-1], np.int64), np.empty(starts[-1])
    scratch, stamp = room(base.size), 0
    weight, left = np.zeros(base.size), np.zeros(base.size, np.int64)
    for n in range(kinds.size):
        found, stamp = _intersect(kinds[n], places, groups, base, scratch, weight, left, stamp)
        values[starts[n] : starts[n] + found] = np.sort(left[:found])
        for at in range(starts[n], starts[n + 1]):
            weights[at] = weight[values[at]]
    return values, weights


@nb.njit(cache=True, nogil=True)
def most_alone(kinds, places, groups, values):  # type: ignore[no-untyped-def]
    posterior, fewest = np.zeros(kinds.size), np.full(kinds.size, values, np.int64)
    share, mark, seen = room(values)
    stamp = 0
    for n in range(kinds.size):
        for i in range(places.starts.shape[0]):
            stamp += 1
            found = shares_of(i, kinds[n], places, groups, share, mark, stamp, seen)
            if found:
                fewest[n] = min(fewest[n], found)
            for m in range(found):
                posterior[n] = max(posterior[n], share[seen[m]])
    return posterior, fewest


@nb.njit(cache=True, nogil=True)
def summed_up(candidates):  # type: ignore[no-untyped-def]
    bundles = candidates.starts.size - 1
    distinct, low, high = np.zeros(bundles, np.int64), np.full(bundles, -1, np.int64), np.full(bundles, -1, np.int64)
    guess, posterior = np.full(bundles, -1, np.int64), np.zeros(bundles)
    for bundle in range(bundles):
        total, top = 0.0, 0.0
        for at in range(candidates.starts[bundle], candidates.starts[bundle + 1]):
            weight, value = candidates.weights[at], candidates.values[at]
            if weight <= 0:
                continue
            distinct[bundle] += 1
            low[bundle] = value if low[bundle] < 0 else low[bundle]
            high[bundle] = value
            total += weight
            if weight > top:
                top, guess[bundle] = weight, value
        if total > 0:
            posterior[bundle] = top / total
    return distinct, low, high, guess, posterior
