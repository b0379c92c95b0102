"""Which boxes of one release meet which of another: a tree of boxes, searched for each box of the other.

Two boxes meet if in every column some value, or a missing one, lies in both. The tree halves the boxes of a
release again and again, in the column in which the halves are smallest; what cannot meet the box around
a half need not be looked at one by one.
Boxes are compared by ranks and bits that releases have in common. A vault compares its own (`values/boxes.py`) by other
code, on purpose: each is a second opinion on the other.

Cost: n log^2 n to plant a tree of n boxes; a search looks at little more than what it finds.
Claim: tree_finds_what_meets — the same boxes as comparing each with each.
"""
# ruff: noqa: ANN001, ANN201, ANN202 - compiled loops

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from discreet.audit.sequence.groups import CodedBoxes, Numbers, Ranks

LEAF = 8  # boxes that are compared one by one


class Tree(NamedTuple):
    """Nodes from the root on, each before the nodes below it: the boxes it has, the box around them, where to go on.

    A node has the boxes `order[first:last]`; if the search does not enter it, it goes on at `skip`. `leaf` has no
    nodes below.
    """

    order: Ranks
    first: Ranks
    last: Ranks
    skip: Ranks
    leaf: Ranks
    around: CodedBoxes


@nb.njit(cache=True, nogil=True)
def meets(low, high, missing, bits, i, boxes, j):  # type: ignore[no-untyped-def]
    """Whether line i of some boxes has a point in common with box j."""
    for c in range(low.shape[1]):
        if max(low[i, c], boxes.low[j, c]) > min(high[i, c], boxes.high[j, c]) and not (
            missing[i, c] and boxes.missing[j, c]
        ):
            return False
    for c in range(boxes.words.size - 1):
        shared = False
        for w in range(boxes.words[c], boxes.words[c + 1]):
            if bits[i, w] & boxes.bits[j, w]:
                shared = True
                break
        if not shared:
            return False
    return True


@nb.njit(cache=True, nogil=True)
def search(boxes, tree, others):  # type: ignore[no-untyped-def]
    """For each of some boxes, the others that it meets: where its list starts in all lists, and the lists."""
    starts = np.zeros(boxes.low.shape[0] + 1, np.int64)
    found, count = np.empty(4 * starts.size, np.int32), 0
    for i in range(starts.size - 1):
        node = 0
        while node < tree.skip.size:
            if not meets(boxes.low, boxes.high, boxes.missing, boxes.bits, i, tree.around, node):
                node = tree.skip[node]
                continue
            if tree.leaf[node]:
                for place in range(tree.first[node], tree.last[node]):
                    j = tree.order[place]
                    if meets(boxes.low, boxes.high, boxes.missing, boxes.bits, i, others, j):
                        if count == found.size:
                            found = np.concatenate((found, np.empty(found.size, np.int32)))
                        found[count] = j
                        count += 1
            node += 1
        starts[i + 1] = count
        found[starts[i] : count].sort()
    return starts, found[:count].copy()


def plant(boxes: CodedBoxes) -> Tree:
    """The tree of the boxes of a release, of which there may be none."""
    if not boxes.low.shape[0]:
        nothing = np.zeros(0, np.int32)
        return Tree(nothing, nothing, nothing, nothing, nothing, boxes)
    every = np.bitwise_or.reduce(boxes.bits, axis=0, initial=np.uint64(0))
    held = np.bitwise_count(every).astype(np.int64)
    sets = np.add.reduceat(np.append(held, 0), boxes.words[:-1]) if held.size else held
    extents = np.concatenate([boxes.high.max(axis=0, initial=0) + 1, sets])
    return Tree(*_plant(boxes, extents.astype(np.float64)))


@nb.njit(cache=True, nogil=True)
def _plant(boxes, extents):  # type: ignore[no-untyped-def]
    n, ranges, sets = boxes.low.shape[0], boxes.low.shape[1], boxes.words.size - 1
    most = 4 * (n // LEAF + 1)
    order = np.arange(n).astype(np.int32)
    first, last, right = np.empty(most, np.int32), np.empty(most, np.int32), np.full(most, -1, np.int32)
    around = CodedBoxes(
        np.empty((most, ranges), np.int32),
        np.empty((most, ranges), np.int32),
        np.empty((most, ranges), np.bool_),
        np.empty((most, boxes.bits.shape[1]), np.uint64),
        boxes.words,
    )
    keys, best = np.empty(n, np.int64), np.empty(n, np.int32)
    nodes = 0
    stack = [(0, n, -1)]
    while stack:
        a, b, parent = stack.pop()
        node = nodes
        nodes += 1
        if parent >= 0:
            right[parent] = node
        first[node], last[node] = a, b
        _around(boxes, order[a:b], around, node)
        if b - a <= LEAF:
            continue
        middle, cheapest = (a + b) // 2, np.inf
        for c in range(ranges + sets):
            for place in range(a, b):
                keys[place] = _key(boxes, order[place], c)
            by_key = order[a:b][np.argsort(keys[a:b], kind="mergesort")]
            cost = _cost(boxes, by_key[: middle - a], extents) + _cost(boxes, by_key[middle - a :], extents)
            if cost < cheapest:
                cheapest = cost
                best[a:b] = by_key
        if cheapest < np.inf:
            order[a:b] = best[a:b]
        stack.append((middle, b, node))
        stack.append((a, middle, -1))
    skip = np.empty(nodes, np.int32)
    skip[0] = nodes
    for node in range(nodes):  # those below come after
        if right[node] >= 0:
            skip[node + 1], skip[right[node]] = right[node], skip[node]
    leaf = (right[:nodes] < 0).astype(np.int32)
    return order, first[:nodes], last[:nodes], skip, leaf, around


@nb.njit(cache=True, nogil=True)
def _around(boxes, which, around, node):  # type: ignore[no-untyped-def]
    """Write the smallest box around some boxes."""
    for c in range(boxes.low.shape[1]):
        low, high, missing = boxes.low[which[0], c], boxes.high[which[0], c], False
        for i in which:
            low, high = min(low, boxes.low[i, c]), max(high, boxes.high[i, c])
            missing = missing or boxes.missing[i, c]
        around.low[node, c], around.high[node, c], around.missing[node, c] = low, high, missing
    for w in range(boxes.bits.shape[1]):
        bits = np.uint64(0)
        for i in which:
            bits |= boxes.bits[i, w]
        around.bits[node, w] = bits


@nb.njit(cache=True, nogil=True)
def _cost(boxes, which, extents):  # type: ignore[no-untyped-def]
    """How large the box around some boxes is: the shares of all columns, summed."""
    cost = 0.0
    for c in range(boxes.low.shape[1]):
        low, high = boxes.low[which[0], c], boxes.high[which[0], c]
        for i in which:
            low, high = min(low, boxes.low[i, c]), max(high, boxes.high[i, c])
        cost += max(high - low + 1, 0) / extents[c]
    for c in range(boxes.words.size - 1):
        held = 0
        for w in range(boxes.words[c], boxes.words[c + 1]):
            bits = np.uint64(0)
            for i in which:
                bits |= boxes.bits[i, w]
            while bits:
                bits &= bits - np.uint64(1)
                held += 1
        cost += held / extents[boxes.low.shape[1] + c]
    return cost


@nb.njit(cache=True, nogil=True)
def _key(boxes, i, c):  # type: ignore[no-untyped-def]
    """What to sort boxes by in a column: the middle of a range, the first value of a set."""
    if c < boxes.low.shape[1]:
        return np.int64(boxes.low[i, c]) + np.int64(boxes.high[i, c])
    c -= boxes.low.shape[1]
    for w in range(boxes.words[c], boxes.words[c + 1]):
        bits = boxes.bits[i, w]
        if bits:
            place = 0
            while not (bits >> np.uint64(place)) & np.uint64(1):
                place += 1
            return np.int64(64 * (w - boxes.words[c]) + place)
    return np.int64(-1)


def turned(starts: Numbers, found: Ranks, count: int) -> tuple[Numbers, Ranks]:
    """The same links seen from the other side, of which there are `count`."""
    order = np.argsort(found, kind="stable")
    sources = np.repeat(np.arange(starts.size - 1, dtype=np.int32), np.diff(starts))
    return np.searchsorted(found[order], np.arange(count + 1)).astype(np.int64), sources[order]
