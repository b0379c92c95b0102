"""Mending: bring parts that break a promise together with their neighbours, at the least cost.

Source: Xu et al., KDD 2006, section 5.2. A part that breaks a promise is merged with a neighbour, or is given
rows of a neighbour that can spare them, whichever costs less NCP; and so on until all keep the promises.
Neighbours are not sought among all parts: parts stand in the order of the cuts that made them, a balanced
tree of boxes is laid over that order, and a best-first search through it finds the NEAR parts whose boxes can be
merged at least cost (it gives up after MOST boxes); the BESIDE parts before and after are looked at, too.
Cost: per broken part a search of at most MOST boxes, and the rows of the parts found.
Claim: mending_loses_no_row — every row is in one group, and groups are numbered without a gap.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numba as nb
import numpy as np

from discreet.partition.boxes import cost_of, growth, new_box
from discreet.partition.frame import SET, TREE
from discreet.partition.promises import keeps, sweep

NEAR, BESIDE, MOST = 6, 2, 200


@nb.njit(cache=True, nogil=True)
def mend(points, values, edges, whole, kinds, frame, rule):  # type: ignore[no-untyped-def]
    """The group of every row, once parts between the edges that are not `whole` are mended."""
    parts, n = edges.size - 1, values.size
    following, head, tail, size = _as_lists(edges)
    before, after = np.arange(-1, parts - 1), np.arange(1, parts + 1)
    box, counts = new_box(frame), np.zeros(kinds, np.int32)
    members, works = np.empty(n, np.int64), np.empty(n + 1, np.bool_)
    costs = np.empty(parts)
    width = 1
    while width < parts:
        width *= 2
    low, high = np.full((2 * width, points.shape[1]), np.inf), np.full((2 * width, points.shape[1]), -np.inf)
    there = np.zeros(2 * width, np.int64)
    for part in range(parts):
        own = _gather(head[part], following, members, 0)
        costs[part] = cost_of(box, points, members[:own], frame)
        _bound(points, members[:own], frame, low[width + part], high[width + part])
        there[width + part] = 1
    for node in range(width - 1, 0, -1):
        _join(node, low, high, there)
    kept = whole.copy()
    queue = [part for part in range(parts) if not whole[part]]
    near = np.empty(NEAR + 2 * BESIDE, np.int64)
    done = 0
    while done < len(queue):
        part = queue[done]
        done += 1
        if size[part] == 0 or kept[part]:
            continue
        own = _gather(head[part], following, members, 0)
        found = _nearest(part, low, high, there, size, before, after, near)
        least, least_kept, mate, taken = np.inf, False, -1, 0
        for other in near[:found]:
            both = _gather(head[other], following, members, own)
            held = values[members[:both]]
            spent = own * costs[part] + (both - own) * costs[other]
            one_keeps = keeps(held, rule, counts)
            cost = both * cost_of(box, points, members[:both], frame) - spent
            fine = one_keeps or not kept[other]  # a part that keeps the promises is not broken for another
            if mate < 0 or (fine and not least_kept) or (fine == least_kept and cost < least):
                least, least_kept, mate, taken = cost, fine, other, 0
            if kept[other]:
                _sort_by_growth(points, members[:both], own, box, frame)
                sweep(values[members[:both]], rule, counts, works)
                gift = own + 1
                while gift < both and not works[gift]:
                    gift += 1
                if gift < both:
                    cost = gift * cost_of(box, points, members[:gift], frame) - spent
                    cost += (both - gift) * cost_of(box, points, members[gift:both], frame)
                    if not least_kept or cost < least:
                        least, least_kept, mate, taken = cost, True, other, gift - own
        if mate < 0:
            break
        both = _gather(head[mate], following, members, own)
        if taken:
            _sort_by_growth(points, members[:both], own, box, frame)
            _link(members[: own + taken], part, following, head, tail, size)
            _link(members[own + taken : both], mate, following, head, tail, size)
            kept[part] = True
        else:
            _link(members[:both], mate, following, head, tail, size)
            kept[mate] = keeps(values[members[:both]], rule, counts)
            size[part] = 0
            if before[part] >= 0:
                after[before[part]] = after[part]
            if after[part] < parts:
                before[after[part]] = before[part]
            if not kept[mate]:
                queue.append(mate)
        for changed in (part, mate):
            low[width + changed], high[width + changed], there[width + changed] = np.inf, -np.inf, size[changed] > 0
            if size[changed]:
                own = _gather(head[changed], following, members, 0)
                costs[changed] = cost_of(box, points, members[:own], frame)
                _bound(points, members[:own], frame, low[width + changed], high[width + changed])
            node = (width + changed) // 2
            while node:
                _join(node, low, high, there)
                node //= 2
    groups, number = np.empty(n, np.int32), 0
    for part in range(parts):
        if size[part]:
            groups[members[: _gather(head[part], following, members, 0)]] = number
            number += 1
    return groups


@nb.njit(cache=True, nogil=True)
def _as_lists(edges):  # type: ignore[no-untyped-def]
    """The rows of each part as a linked list: the row that follows each, -1 if none; first, last and number."""
    following = np.arange(1, edges[-1] + 1)
    following[edges[1:] - 1] = -1
    return following, edges[:-1].copy(), edges[1:] - 1, np.diff(edges)


@nb.njit(cache=True, nogil=True)
def _gather(row, following, members, at):  # type: ignore[no-untyped-def]
    """Write the rows of a list to `members` from `at` on; return where they end."""
    while row >= 0:
        members[at] = row
        row = following[row]
        at += 1
    return at


@nb.njit(cache=True, nogil=True)
def _link(members, part, following, head, tail, size):  # type: ignore[no-untyped-def]
    """Make the members the list of a part."""
    for i in range(members.size - 1):
        following[members[i]] = members[i + 1]
    following[members[-1]] = -1
    head[part], tail[part], size[part] = members[0], members[-1], members.size


@nb.njit(cache=True, nogil=True)
def _sort_by_growth(points, members, own, box, frame):  # type: ignore[no-untyped-def]
    """Put the members from `own` on in the order in which they make the box around those before them grow."""
    cost_of(box, points, members[:own], frame)
    more = np.empty(members.size - own)
    for i in range(more.size):
        more[i] = growth(box, points[members[own + i]], frame)
    members[own:] = members[own:][np.argsort(more, kind="mergesort")]


@nb.njit(cache=True, nogil=True)
def _bound(points, members, frame, low, high):  # type: ignore[no-untyped-def]
    """Where the members lie on the line of each dimension; sets have none."""
    for j in range(points.shape[1]):
        low[j], high[j] = np.inf, -np.inf
        for row in members:
            x = points[row, j]
            if frame.forms[j] == TREE:
                x = frame.places[frame.starts[j] + np.int64(x)]
            elif frame.forms[j] == SET:
                x = 0.0
            low[j], high[j] = min(low[j], x), max(high[j], x)


@nb.njit(cache=True, nogil=True)
def _join(node, low, high, there):  # type: ignore[no-untyped-def]
    """The box of a node from those of its two children."""
    one, two = 2 * node, 2 * node + 1
    there[node] = there[one] + there[two]
    for j in range(low.shape[1]):
        low[node, j], high[node, j] = min(low[one, j], low[two, j]), max(high[one, j], high[two, j])


@nb.njit(cache=True, nogil=True)
def _nearest(part, low, high, there, size, before, after, near):  # type: ignore[no-untyped-def]
    """Write the parts that can be merged at least cost, as far as their boxes tell, and those beside it; say how many."""
    width, own, found = there.size // 2, there.size // 2 + part, 0
    heap = [(0.0, 1)]
    for _ in range(MOST):
        if not heap or found == NEAR:
            break
        _, node = heappop(heap)
        if node >= width:
            near[found] = node - width
            found += 1
            continue
        for child in (2 * node, 2 * node + 1):
            if there[child] and child != own:
                if child < width:
                    gap = 0.0
                    for j in range(low.shape[1]):
                        gap += max(low[child, j] - high[own, j], low[own, j] - high[child, j], 0.0)
                    heappush(heap, (size[part] * gap, child))
                else:
                    mine, its = 0.0, 0.0
                    for j in range(low.shape[1]):
                        around = max(high[child, j], high[own, j]) - min(low[child, j], low[own, j])
                        mine += around - (high[own, j] - low[own, j])
                        its += around - (high[child, j] - low[child, j])
                    heappush(heap, (size[part] * mine + size[child - width] * its, child))
    one, two = before[part], after[part]
    for _ in range(BESIDE):
        for beside in (one, two):
            if 0 <= beside < before.size and not (near[:found] == beside).any():
                near[found] = beside
                found += 1
        one = before[one] if one >= 0 else -1
        two = after[two] if two < before.size else before.size
    return found
