"""How to part rows in a dimension that has no line: the children of a tree's node, the names of a set.

In a tree the children of the node that holds all rows become parts, if each can stand alone. If some cannot, these stay
together, along with as few of the others as they need, the smallest first; then only those that leave get a
smaller node. If that fails too, one child leaves that can be spared, and if none can, what is below them.
In a set, names are taken by falling frequency, each to the side with fewer rows. If that breaks a promise, other
ways to part them are tried, the most even first: all ways if k is all that is promised or names are few, else
the frequent from the rare, and one from all others.
What a part must keep is told by the `rule` (see `values.rule`).
Cost: linear in the rows where the first way works; arrays that are written to are the caller's.
Claim: trees_are_parted_where_possible — unless no node below the common one can leave without breaking a promise.
Claim: sets_are_parted_where_possible — if k is all that is promised or names are few, unless no two sides keep it.
"""

from __future__ import annotations

import numpy as np

from discreet.partition.spatial.mondrian.ranges import cut_range
from discreet.partition.spatial.packed import common_level
from discreet.values.kernel import kernel
from discreet.values.ordered import order_of
from discreet.values.rule import fewest_rows, keeps, only_counts

FEW = 7  # names that are parted in all ways
SINGLES = 16  # names that are tried against all others, the most frequent


@kernel
def cut_tree(codes, values, j, frame, rule, counts, histogram, order, spare, part_of, number, sizes):  # type: ignore[no-untyped-def]
    """Write the part of each code and the rows of each part; return how many parts there are, 0 if no cut was found.

    `number` is all -1 before and after.
    """
    for level in range(common_level(codes, j, frame) - 1, -1, -1):
        nodes = frame.nodes[frame.roots[j] + level * frame.sizes[j] :][: frame.sizes[j]]
        parts = 0
        for c in codes:
            if number[nodes[c]] < 0:
                number[nodes[c]] = parts
                sizes[parts] = 0
                parts += 1
            part_of[c] = number[nodes[c]]
            sizes[number[nodes[c]]] += 1
        found = parts
        if not _all_keep(codes, values, rule, counts, histogram, order, part_of, sizes[:parts]):
            node_of = np.empty(parts, np.int64)
            for c in codes:
                node_of[part_of[c]] = nodes[c]
            _lay_out(codes, values, histogram, order, part_of, sizes[:parts])
            now, found = _leave(order[: codes.size], sizes[:parts], node_of, rule, counts, spare)
            for c in codes:
                part_of[c] = now[number[nodes[c]]]
            rows = sizes[:parts].copy()
            for part in range(parts):
                sizes[part] = 0
            for part in range(parts):
                sizes[now[part]] += rows[part]
        for c in codes:
            number[nodes[c]] = -1
        if found:
            return found
    return 0


@kernel
def _leave(values, sizes, nodes, rule, counts, spare):  # type: ignore[no-untyped-def]
    """What becomes of each part if some stay together as part 0: their numbers, and how many there are; 0 if none work.

    Values stand part by part. Parts of one size are told apart by their nodes.
    """
    starts, now = np.empty(sizes.size, np.int64), np.zeros(sizes.size, np.int64)
    alone, at, stay = np.zeros(sizes.size, np.bool_), np.int64(0), np.int64(0)
    for part in range(sizes.size):
        starts[part] = at
        at += sizes[part]
        alone[part] = keeps(values[starts[part] : at], rule, counts)
        if not alone[part]:
            stay = _append(values, starts[part], at, spare, stay)
    by_node, of_node = order_of(nodes), np.empty(sizes.size, np.int64)
    for i in range(sizes.size):
        of_node[i] = sizes[by_node[i]]
    by_size, small_first, some = order_of(of_node), np.empty(sizes.size, np.int64), 0
    for i in range(sizes.size):
        if alone[by_node[by_size[i]]]:
            small_first[some] = by_node[by_size[i]]
            some += 1
    taken = 0
    while taken < some and not keeps(spare[:stay], rule, counts):
        part = small_first[taken]
        stay = _append(values, starts[part], starts[part] + sizes[part], spare, stay)
        taken += 1
    leave = small_first[taken:some]
    if taken == some and taken > 1:
        for i in range(some - 1, -1, -1):
            part = small_first[i]
            before = _append(values, np.int64(0), starts[part], spare, np.int64(0))
            both = _append(values, starts[part] + sizes[part], np.int64(values.size), spare, before)
            if keeps(spare[:both], rule, counts):
                leave = small_first[i : i + 1]
                break
    for i in range(leave.size):
        now[leave[i]] = i + 1
    return now, leave.size + 1 if leave.size else 0


@kernel
def _append(values, low, high, to, at):  # type: ignore[no-untyped-def]
    """Write some of the values from `at` on; return where they end."""
    for i in range(low, high):
        to[at + i - low] = values[i]
    return at + high - low


@kernel
def _all_keep(codes, values, rule, counts, histogram, order, part_of, sizes):  # type: ignore[no-untyped-def]
    """Whether each part keeps all promises."""
    for size in sizes:
        if size < fewest_rows(rule):
            return False
    if only_counts(rule):
        return True
    _lay_out(codes, values, histogram, order, part_of, sizes)
    at = 0
    for size in sizes:
        if not keeps(order[at : at + size], rule, counts):
            return False
        at += size
    return True


@kernel
def _lay_out(codes, values, histogram, order, part_of, sizes):  # type: ignore[no-untyped-def]
    """Write the values to `order`, part by part."""
    at = 0
    for part in range(sizes.size):
        histogram[part] = at
        at += sizes[part]
    for i in range(codes.size):
        part = part_of[codes[i]]
        order[histogram[part]] = values[i]
        histogram[part] += 1


@kernel
def cut_set(codes, values, rule, counts, histogram, order, works, part_of, number, sizes):  # type: ignore[no-untyped-def]
    """Write the side, 0 or 1, of each code and the rows of each side; return 2, or 0 if no cut was found.

    Equally frequent names are told apart by which stands first, never by their codes. `number` is all -1 before
    and after.
    """
    n, distinct = codes.size, 0
    met, fewer = np.empty(min(n, part_of.size), np.int64), np.zeros(min(n, part_of.size), np.int64)
    for c in codes:
        if number[c] < 0:
            number[c] = distinct
            met[distinct] = c
            distinct += 1
        fewer[number[c]] -= 1
    by_frequency = order_of(fewer[:distinct])
    names, rows, right = np.empty(distinct, np.int64), np.empty(distinct, np.int64), np.zeros(distinct, np.bool_)
    lighter = 0
    for i in range(distinct):
        names[i], rows[i] = met[by_frequency[i]], -fewer[by_frequency[i]]
        right[i] = lighter > 0
        lighter += -rows[i] if right[i] else rows[i]
    given = codes, values, rule, counts, histogram, order, part_of, sizes[:2]
    found = _part(names, rows, right, *given)
    if not found and n - rows[0] >= fewest_rows(rule):
        if only_counts(rule):
            _halve(rows, n, right)
            found = _part(names, rows, right, *given)
        elif distinct <= FEW:
            for way in _ways(rows, n):
                for i in range(distinct):
                    right[i] = way >> i & 1
                if _part(names, rows, right, *given):
                    found = True
                    break
        else:
            ranks = np.empty(n, codes.dtype)
            for i in range(distinct):
                number[names[i]] = i
            for i in range(n):
                ranks[i] = number[codes[i]]
            given_range = np.int64(0), np.int64(distinct - 1), rule, np.bool_(False)
            first, _, size = cut_range(ranks, values, *given_range, counts, histogram, order, works)
            for i in range(distinct):
                right[i] = i >= first
            found = size > 0 and _part(names, rows, right, *given)
            for i in range(min(distinct, SINGLES)):
                if not found:
                    for m in range(distinct):
                        right[m] = m == i
                    found = _part(names, rows, right, *given)
    for name in names:
        number[name] = -1
    return 2 if found else 0


@kernel
def _part(names, rows, right, codes, values, rule, counts, histogram, order, part_of, sizes):  # type: ignore[no-untyped-def]
    """Write the side of each name and the rows of each side; say whether both keep all promises."""
    for side in range(sizes.size):
        sizes[side] = 0
    for i in range(names.size):
        part_of[names[i]] = right[i]
        sizes[np.int64(right[i])] += rows[i]
    return _all_keep(codes, values, rule, counts, histogram, order, part_of, sizes)


@kernel
def _halve(rows, n, right):  # type: ignore[no-untyped-def]
    """Part names so that no other way is more even: by the sums that names up to each can reach."""
    last = np.full(n + 1, -1, np.int64)  # the name with which a sum was first reached
    last[0] = 0
    for i in range(1, rows.size):
        for total in range(n, rows[i] - 1, -1):
            if last[total] < 0 <= last[total - rows[i]]:
                last[total] = i
    total = 0
    for other in range(n + 1):
        if last[other] >= 0 and abs(n - 2 * other) < abs(n - 2 * total):
            total = other
    for i in range(right.size):
        right[i] = False
    while total:
        right[last[total]] = True
        total -= rows[last[total]]


@kernel
def _ways(rows, n):  # type: ignore[no-untyped-def]
    """All ways to part names, the most even first; a bit tells who goes to the right, which the first never does."""
    uneven = np.empty((1 << (rows.size - 1)) - 1, np.int64)
    for w in range(uneven.size):
        total = 0
        for i in range(rows.size):
            total += rows[i] * (2 * (w + 1) >> i & 1)
        uneven[w] = abs(n - 2 * total)
    ways = order_of(uneven)
    for w in range(ways.size):
        ways[w] = 2 * (ways[w] + 1)
    return ways
