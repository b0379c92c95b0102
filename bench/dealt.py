"""Compiled loops of `dealing.py`: groups of people who are near each other, and people who change places.

A place is a share of a range's extent, or the code of a set's value; `costs` are those of a value of each set.
"""
# ruff: noqa: C901, NPY002, PLR0912 - compiled loops

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def _side(places, people, size, instead, by, j, is_set, costs):
    """What a box loses in a column, around some people, one of whom may stand in for another."""
    if not is_set[j]:
        low, high = np.inf, -np.inf
        for i in range(size):
            at = places[by if i == instead else people[i], j]
            low, high = min(low, at), max(high, at)
        return high - low
    found = 0
    for i in range(size):
        at, new = places[by if i == instead else people[i], j], True
        for k in range(i):
            new = new and places[by if k == instead else people[k], j] != at
        found += new
    return found * costs[j] if found > 1 else 0.0


@nb.njit(cache=True, nogil=True)
def _lost(places, people, size, instead, by, is_set, costs):
    lost = 0.0
    for j in range(is_set.size):
        lost += _side(places, people, size, instead, by, j, is_set, costs)
    return lost


@nb.njit(cache=True, nogil=True)
def around(places, people, is_set, costs):
    """What the box around some people loses."""
    return _lost(places, people, people.size, -1, -1, is_set, costs)


@nb.njit(cache=True, nogil=True)
def exchange(places, lines, is_set, costs, rounds, tries, seed):
    """Let people of two lines, in the same place of each, change places where both lines lose less together."""
    np.random.seed(seed)
    count, size = lines.shape
    lost = np.empty(count)
    for g in range(count):
        lost[g] = around(places, lines[g], is_set, costs)
    for turn in range(rounds * count * size if count > 1 else 0):
        g, place = turn // size % count, turn % size
        for _ in range(tries):
            h = np.random.randint(count)
            mine, theirs = lines[g, place], lines[h, place]
            here = _lost(places, lines[g], size, place, theirs, is_set, costs)
            if here < lost[g] or np.random.random() < 0.1:  # seldom is it worth the other line's while otherwise
                there = _lost(places, lines[h], size, place, mine, is_set, costs)
                if g != h and here + there < lost[g] + lost[h] - 1e-9:
                    lines[g, place], lines[h, place] = theirs, mine
                    lost[g], lost[h] = here, there


@nb.njit(cache=True, nogil=True)
def near(places, values, order, size, exact, is_set, costs):
    """The group of everybody: one person, and the nearest of other values, until there are `size` values.

    If `exact`, nobody is left whose value is too frequent among the rest. Who is left at the end joins the group that
    loses least by it; if `exact`, one that lacks the value.
    """
    n, width = values.size, values.max() + 1
    group, left, found = np.full(n, -1), np.bincount(values), 0
    alive, many, rest = order.copy(), n, n
    people, has, must = np.empty(n, np.int64), np.empty(width, np.bool_), np.zeros(width, np.bool_)
    for first in order:
        if group[first] >= 0 or rest < size:
            continue
        pressing = 0
        for v in range(width):
            must[v] = exact and left[v] * size > rest - size
            pressing += must[v]
        has[:] = False
        people[0], has[values[first]], taken = first, True, 1
        pressing -= must[values[first]]
        while taken < size:
            best, least = -1, np.inf
            for at in range(many):
                person = alive[at]
                v = values[person]
                if group[person] >= 0 or has[v] or (pressing >= size - taken and not must[v]):
                    continue
                people[taken] = person
                lost = _lost(places, people, taken + 1, -1, -1, is_set, costs)
                if lost < least:
                    best, least = person, lost
            if best < 0:
                break
            people[taken], has[values[best]] = best, True
            pressing -= must[values[best]]
            taken += 1
        if taken < size:
            continue
        for person in people[:size]:
            group[person] = found
            left[values[person]] -= 1
        rest, found = rest - size, found + 1
        if found % 20 == 0:
            kept = 0
            for at in range(many):
                if group[alive[at]] < 0:
                    alive[kept] = alive[at]
                    kept += 1
            many = kept
    _join(places, values, group, found, exact, is_set, costs)
    return group


@nb.njit(cache=True, nogil=True)
def _join(places, values, group, found, exact, is_set, costs):
    sizes, n = np.bincount(group[group >= 0], minlength=found), values.size
    members = np.full((found, 8 * sizes.max()), -1)
    filled = np.zeros(found, np.int64)
    for person in range(n):
        if group[person] >= 0:
            members[group[person], filled[group[person]]] = person
            filled[group[person]] += 1
    for person in range(n):
        if group[person] >= 0:
            continue
        best, least = -1, np.inf
        for g in range(found):
            full, fits = filled[g], filled[g] < members.shape[1] - 1
            for at in range(full if exact else 0):
                fits = fits and values[members[g, at]] != values[person]
            if fits:
                before = _lost(places, members[g], full, -1, -1, is_set, costs)
                members[g, full] = person
                more = (full + 1) * _lost(places, members[g], full + 1, -1, -1, is_set, costs) - full * before
                if more < least:
                    best, least = g, more
        group[person], members[best, filled[best]] = best, person
        filled[best] += 1


@nb.njit(cache=True, nogil=True)
def certain(people, starts, values, known):
    """The share of those not known whose value is left when what is known, or found, is taken off every group."""
    sure, width, changed = known.copy(), values.max() + 1, True
    possible, counts = np.ones((known.size, width), np.bool_), np.zeros(width, np.int64)
    while changed:
        changed = False
        for g in range(starts.size - 1):
            group = people[starts[g] : starts[g + 1]]
            counts[:] = 0
            for person in group:
                counts[values[person]] += not sure[person]
            for person in group:
                if not sure[person]:
                    left = 0
                    for v in range(width):
                        possible[person, v] = possible[person, v] and counts[v] > 0
                        left += possible[person, v]
                    if left == 1:
                        sure[person] = changed = True
    return (sure.sum() - known.sum()) / (~known).sum()
