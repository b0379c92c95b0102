"""Mending: bring parts that break a promise together with their neighbours, at the least cost.

Source: Xu et al., KDD 2006, section 5.2. A part that breaks a promise is merged with a neighbour, or is given
rows of a neighbour that can spare them, whichever costs less NCP; and so on until all keep the promises.
Neighbours are not sought among all parts: parts stand in the order of the cuts that made them, a balanced
tree of boxes is laid over that order, and a best-first search through it finds the NEAR parts whose boxes can be
merged at least cost (it gives up after MOST boxes); the BESIDE parts before and after are looked at, too.
Parts that are `idle` need not be mended: what nobody takes of them is left out.
What a part must keep is told by the `rule` (see `values.rule`).

Cost: per broken part a search of at most MOST boxes, and the rows of the parts found.
Memory: a box and a few numbers per part.
Claim: mending_loses_no_row — every row is in one group, and groups are numbered without a gap.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.partition.kernels import IntArray
from discreet.partition.spatial.boxes import cost_of, growth, new_box
from discreet.partition.spatial.packed import RANGE, SET
from discreet.values.kernel import kernel
from discreet.values.ordered import order_of
from discreet.values.rule import keeps, sweep

NEAR, BESIDE, MOST = 6, 2, 200


class Parts(NamedTuple):
    """The rows of each part as a linked list, the parts beside it, what its box costs; and the tree of boxes.

    Node 1 is the root, node i has the children 2i and 2i + 1, and the last half are the parts. `there` counts
    the parts under a node: one that was merged is no longer there.
    """

    following: IntArray
    head: IntArray
    size: IntArray
    before: IntArray
    after: IntArray
    costs: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    there: IntArray


@kernel
def mend(points, values, edges, whole, idle, kinds, frame, rule):  # type: ignore[no-untyped-def]
    """The group of every row, once parts between the edges that are not `whole` are mended; -1 if left out."""
    n, count = values.size, edges.size - 1
    box, counts = new_box(frame), np.zeros(kinds, np.int32)
    members, works = np.empty(n, np.int64), np.empty(n + 1, np.bool_)
    parts = _lay_out(points, edges, members, box, frame)
    kept, idle = whole.copy(), idle.copy()
    queue = [part for part in range(count) if not (whole[part] or idle[part])]
    done = 0
    while done < len(queue):
        part = queue[done]
        done += 1
        if parts.size[part] == 0 or kept[part]:
            continue
        mate, taken = _choose(part, parts, points, values, kept, members, works, box, counts, frame, rule)
        if mate < 0:
            break  # all rows are one group
        own = _gather(parts, part, members, 0)
        both = _gather(parts, mate, members, own)
        if taken:
            _sort_by_growth(points, members[:both], own, box, frame)
            _link(parts, part, members[: own + taken])
            _link(parts, mate, members[own + taken : both])
            kept[part] = True
        else:
            _link(parts, mate, members[:both])
            _leave(parts, part)
            kept[mate], idle[mate] = _keep(members[:both], values, rule, counts), False
            if not kept[mate]:
                queue.append(mate)
        for changed in (part, mate):
            _measure(parts, changed, points, members, box, frame)
            node = (parts.there.size // 2 + changed) // 2
            while node:
                _join(parts, node)
                node //= 2
    groups, number = np.empty(n, np.int32), 0
    for part in range(count):
        if parts.size[part]:
            left_out = idle[part] and not kept[part]
            for i in range(_gather(parts, part, members, 0)):
                groups[members[i]] = -1 if left_out else number
            number += not left_out
    return groups


@kernel
def _lay_out(points, edges, members, box, frame):  # type: ignore[no-untyped-def]
    """The parts between the edges."""
    count, width = edges.size - 1, 1
    while width < count:
        width *= 2
    following, head, size = np.empty(edges[-1], np.int64), edges[:-1].copy(), np.empty(count, np.int64)
    before, after = np.empty(count, np.int64), np.empty(count, np.int64)
    low, high = np.empty((2 * width, points.shape[1])), np.empty((2 * width, points.shape[1]))
    for part in range(count):
        size[part], before[part], after[part] = edges[part + 1] - edges[part], part - 1, part + 1
        for row in range(edges[part], edges[part + 1]):
            following[row] = row + 1 if row + 1 < edges[part + 1] else -1
    for node in range(2 * width):  # some stay empty
        for j in range(points.shape[1]):
            low[node, j], high[node, j] = np.inf, -np.inf
    parts = Parts(following, head, size, before, after, np.empty(count), low, high, np.zeros(2 * width, np.int64))
    for part in range(count):
        _measure(parts, part, points, members, box, frame)
    for node in range(width - 1, 0, -1):
        _join(parts, node)
    return parts


@kernel
def _choose(part, parts, points, values, kept, members, works, box, counts, frame, rule):  # type: ignore[no-untyped-def]
    """With which part to bring a part together, and how many rows to take of it, 0 for all of them."""
    near = np.empty(NEAR + 2 * BESIDE, np.int64)
    found = _nearest(parts, part, near)
    own = _gather(parts, part, members, 0)
    least, safe, mate, taken = np.inf, False, -1, 0
    for at in range(found):
        other = near[at]
        both = _gather(parts, other, members, own)
        spent = own * parts.costs[part] + (both - own) * parts.costs[other]
        cost = both * cost_of(box, points, members[:both], frame) - spent
        # a part that keeps the promises is not broken if there is another way
        unharmed = not kept[other] or _keep(members[:both], values, rule, counts)
        if mate < 0 or (unharmed and not safe) or (unharmed == safe and cost < least):
            least, safe, mate, taken = cost, unharmed, other, 0
        if kept[other]:
            _sort_by_growth(points, members[:both], own, box, frame)
            sweep(_values_of(members[:both], values), rule, counts, works)
            upto = own + 1
            while upto < both and not works[upto]:
                upto += 1
            if upto < both:
                cost = upto * cost_of(box, points, members[:upto], frame) - spent
                cost += (both - upto) * cost_of(box, points, members[upto:both], frame)
                if not safe or cost < least:
                    least, safe, mate, taken = cost, True, other, upto - own
    return mate, taken


@kernel
def _values_of(members, values):  # type: ignore[no-untyped-def]
    held = np.empty(members.size, np.int32)
    for i in range(members.size):
        held[i] = values[members[i]]
    return held


@kernel
def _keep(members, values, rule, counts):  # type: ignore[no-untyped-def]
    """Whether these rows keep the promises as one group."""
    return keeps(_values_of(members, values), rule, counts)


@kernel
def _gather(parts, part, members, at):  # type: ignore[no-untyped-def]
    """Write the rows of a part to `members` from `at` on; return where they end."""
    row = parts.head[part]
    for i in range(at, at + parts.size[part]):
        members[i] = row
        row = parts.following[row]
    return at + parts.size[part]


@kernel
def _link(parts, part, members):  # type: ignore[no-untyped-def]
    """Make the members the rows of a part."""
    for i in range(members.size - 1):
        parts.following[members[i]] = members[i + 1]
    parts.head[part], parts.size[part] = members[0], members.size


@kernel
def _leave(parts, part):  # type: ignore[no-untyped-def]
    """Take a part out of the order."""
    before, after = parts.before[part], parts.after[part]
    if before >= 0:
        parts.after[before] = after
    if after < parts.after.size:
        parts.before[after] = before
    parts.size[part] = 0


@kernel
def _sort_by_growth(points, members, own, box, frame):  # type: ignore[no-untyped-def]
    """Put the members from `own` on in the order in which they make the box around those before them grow."""
    cost_of(box, points, members[:own], frame)
    more = np.empty(members.size - own)
    for i in range(more.size):
        more[i] = growth(box, points[members[own + i]], frame)
    by_growth, before = order_of(more), members[own:].copy()
    for i in range(more.size):
        members[own + i] = before[by_growth[i]]


@kernel
def _measure(parts, part, points, members, box, frame):  # type: ignore[no-untyped-def]
    """Write what the box of a part costs, and where it lies on the line of each dimension; sets have no line."""
    node, own = parts.there.size // 2 + part, _gather(parts, part, members, 0)
    parts.there[node] = own > 0
    for j in range(points.shape[1]):
        parts.low[node, j], parts.high[node, j] = np.inf, -np.inf
    if own == 0:
        return
    parts.costs[part] = cost_of(box, points, members[:own], frame)
    for j in range(points.shape[1]):
        if frame.forms[j] == RANGE:
            parts.low[node, j], parts.high[node, j] = box.low[j], box.high[j]
        elif frame.forms[j] == SET:
            parts.low[node, j] = parts.high[node, j] = 0.0
        else:
            for i in range(own):
                x = frame.places[frame.starts[j] + np.int64(points[members[i], j])]
                parts.low[node, j], parts.high[node, j] = min(parts.low[node, j], x), max(parts.high[node, j], x)


@kernel
def _join(parts, node):  # type: ignore[no-untyped-def]
    """The box of a node from those of its two children."""
    low, high, one, two = parts.low, parts.high, 2 * node, 2 * node + 1
    parts.there[node] = parts.there[one] + parts.there[two]
    for j in range(low.shape[1]):
        low[node, j], high[node, j] = min(low[one, j], low[two, j]), max(high[one, j], high[two, j])


@kernel
def _nearest(parts, part, near):  # type: ignore[no-untyped-def]
    """Write the parts that can be merged at least cost, as far as boxes tell, and those beside; say how many."""
    width, found = parts.there.size // 2, 0
    heap = [(0.0, 1)] if width > 1 else [(0.0, 1)][:0]
    for _ in range(MOST):
        if not heap or found == NEAR:
            break
        _, node = heappop(heap)
        if node >= width:
            near[found] = node - width
            found += 1
            continue
        for child in (2 * node, 2 * node + 1):
            if parts.there[child] and child != width + part:
                heappush(heap, (_cost_to_join(parts, part, child), child))
    one, two = part, part
    for _ in range(BESIDE):
        one = parts.before[one] if one >= 0 else one
        two = parts.after[two] if two < parts.after.size else two
        for beside in (one, two):
            new = 0 <= beside < parts.after.size
            for i in range(found):
                new = new and near[i] != beside
            if new:
                near[found] = beside
                found += 1
    return found


@kernel
def _cost_to_join(parts, part, node):  # type: ignore[no-untyped-def]
    """What it costs to merge two boxes; of many under a node, no more than each of them costs."""
    low, high, own = parts.low, parts.high, parts.there.size // 2 + part
    mine, its = 0.0, 0.0
    for j in range(low.shape[1]):
        if node < parts.there.size // 2:
            mine += max(low[node, j] - high[own, j], low[own, j] - high[node, j], 0.0)
        else:
            around = max(high[node, j], high[own, j]) - min(low[node, j], low[own, j])
            mine += around - (high[own, j] - low[own, j])
            its += parts.size[node - parts.there.size // 2] * (around - (high[node, j] - low[node, j]))
    return parts.size[part] * mine + its
