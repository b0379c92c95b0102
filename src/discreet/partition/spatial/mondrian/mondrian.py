"""Mondrian: cut the rows in two at the median of one quasi-identifier, and the parts again, while promises hold.

Source: LeFevre et al., "Mondrian multidimensional k-anonymity", ICDE 2006; dimensions in turn as in
Sacharidis et al., "k-join-anonymity", 2010, section 2.2. A cut falls
 - in a range: between two values, as near to the median as the promises allow; if medians are `relaxed`,
   between any two rows, the rows of one value being told apart at random;
 - in a tree: between the children of the node that holds all rows; those that cannot stand alone stay together;
 - in a set: between two sets of values with about as many rows, whatever the values are called (see `sides`).
A dimension is passed over only if no cut of it is found, and a part is a group only if all are passed over.
What a part must keep is told by the `rule` (see `values.rule`).

If cuts are `blind`, all that is asked of a part is its number of rows: so many that any such number of rows of what is
cut keep the promises (`surely`), which follows from the histogram of what is cut. Exchange values inside a group, and
every part that was cut on the way to it has the same histogram as before, and every other part the same rows and
values; so all cuts are the same, by the same chance, and the groups say nothing of who in them holds which value.
Where no cut between two values is sure, the rows of one value may fall on both sides. A `fitted` cut is refused if a
part, as it is, would break a promise, which tells something of the people there (see `audit/replay/minimality.py`).
Cost: rows x dimensions x log(rows); memory about three copies of the encoded columns.
Claim: blind_cuts_tell_nothing — every table with the groups' values is cut into the same groups, by the same chance.
Claim: mondrian_leaves_nothing_to_cut — between two values of a range, at a node of a tree, in a set of few names.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.kernels import IntArray, shuffle
from discreet.partition.spatial.mondrian.ranges import cut_range
from discreet.partition.spatial.mondrian.unordered import cut_set, cut_tree
from discreet.partition.spatial.packed import RANGE, SET, TREE, common_level, frame, range_cost
from discreet.partition.spatial.space import Codes, Dimension
from discreet.values.kernel import kernel
from discreet.values.random import RandomSource
from discreet.values.rule import fewest_rows, only_counts, only_rows, surely

COARSE = 1 << 16  # rows below which a part is left to one thread


def assign(
    space: Sequence[Dimension],
    sensitive: Codes,
    guarantee: Guarantee,
    secret: RandomSource,
    *,
    cuts: Literal["blind", "fitted"] = "blind",
    dimension: Literal["widest", "round_robin"] = "widest",
    median: Literal["strict", "relaxed"] = "strict",
) -> Codes:
    """The group of every row."""
    n, d, rule = sensitive.size, len(space), guarantee.rule
    dims = frame(space)
    rows = shuffle(secret.words(n))
    largest = int(dims.sizes.max(initial=1)) - 1
    dtype = np.uint16 if largest < 2**16 else np.uint32  # each is compiled by itself
    points, values = np.empty((d, n), dtype), sensitive[rows]
    kinds = int(values.max(initial=0)) + 1
    in_turn, relaxed = dimension == "round_robin", median == "relaxed"
    forms = {dimension.form for dimension in space}
    # what is None is not needed, and not compiled
    blind = True if cuts == "blind" and not only_counts(rule) else None
    trees, sets = (True if form in forms else None for form in ("tree", "set"))
    with ThreadPoolExecutor() as threads:

        def gather(j: int) -> None:
            points[j] = space[j].codes.astype(dtype)[rows]

        def cut(low: int, high: int, last: int, *, coarse: int) -> tuple[IntArray, IntArray]:
            made: tuple[IntArray, IntArray] = _cut(
                points, values, rows, low, high, last, coarse, kinds, dims, rule, blind, trees, sets, in_turn, relaxed
            )
            return made

        each = map if n <= COARSE else threads.map
        list(each(gather, range(d)))
        starts, last = cut(0, n, d - 1, coarse=COARSE)
        parts = zip(starts.tolist(), [*starts[1:].tolist(), n], last.tolist(), strict=True)
        starts = np.concatenate(list(each(lambda part: cut(*part, coarse=0)[0], parts)))
    groups = np.empty(n, np.int32)
    groups[rows] = np.repeat(np.arange(starts.size, dtype=np.int32), np.diff(starts, append=n))
    return groups


@kernel
def _cut(points, values, rows, low, high, last, coarse, kinds, frame, rule, blind, trees, sets, in_turn, relaxed):  # type: ignore[no-untyped-def]
    """Cut rows low..high in place until no cut is left; return where parts start, and the dimension each was cut in."""
    d, longest = points.shape[0], high - low
    fewest = fewest_rows(rule)
    codes = np.int64(2)
    for j in range(d):
        codes = max(codes, frame.sizes[j])
    counts = np.zeros(kinds, np.int32)
    histogram, part_of, number = np.empty(codes + 1, np.int64), np.empty(codes, np.int32), np.full(codes, -1, np.int32)
    order, works = np.empty(longest, np.int32), np.empty(longest + 1, np.bool_)
    target, sizes = np.empty(longest, np.int32), np.empty(codes, np.int64)
    spare_points, spare = np.empty(longest, points.dtype), np.empty(longest, np.int32)
    least, most, widths = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(d)
    starts, cut_in = np.empty(longest // fewest + 1, np.int64), np.empty(longest // fewest + 1, np.int64)
    found = 0
    stack = [(low, high, last)]
    while stack:
        a, b, before = stack.pop()
        n, parts = b - a, 0
        if n > coarse and n >= 2 * fewest:
            _measure(points, a, b, frame, number, least, most, widths)
            held = values[a:b]
            given = points, a, b, frame, in_turn, before, least, most
            scratch = counts, histogram, order, works, spare, part_of, number, sizes, target
            if blind is None:
                parts, before = _part(held, rule, relaxed, widths, trees, sets, given, scratch)
            else:
                sure = only_rows(surely(held, rule, counts), rule)
                parts, before = _part(held, sure, relaxed, widths.copy(), trees, sets, given, scratch)
                if parts == 0 and not relaxed:  # through a value rather than not at all
                    parts, before = _part(held, sure, not relaxed, widths, trees, sets, given, scratch)
        if parts == 0:
            starts[found], cut_in[found] = a, before
            found += 1
            continue
        for m in range(d):
            _move(points[m, a:b], target, spare_points)
        _move(values[a:b], target, spare)
        _move(rows[a:b], target, spare)
        end = b
        for part in range(parts - 1, -1, -1):
            stack.append((end - sizes[part], end, before))
            end -= sizes[part]
    return starts[:found].copy(), cut_in[:found].copy()


@kernel
def _part(values, rule, relaxed, widths, trees, sets, given, scratch):  # type: ignore[no-untyped-def]
    """Find a cut of these rows, and write where each goes; return the number of parts, 0 if none, and the dimension."""
    points, a, b, frame, in_turn, before, least, most = given
    counts, histogram, order, works, spare, part_of, number, sizes, target = scratch
    d, n = points.shape[0], b - a
    if n < 2 * fewest_rows(rule):
        return 0, before
    for turn in range(d):
        j = (before + 1 + turn) % d if in_turn else _widest(widths)
        parts, here = 0, points[j, a:b]
        if widths[j] > 0 and frame.forms[j] == RANGE:
            code, take, size = cut_range(
                here, values, least[j], most[j], rule, relaxed, counts, histogram, order, works
            )
            if size:
                parts, sizes[0], sizes[1] = 2, size, n - size
                _aim_at_code(here, code, take, size, target)
        elif widths[j] > 0:
            if trees is not None and frame.forms[j] == TREE:
                parts = cut_tree(here, values, j, frame, rule, counts, histogram, order, spare, part_of, number, sizes)
            if sets is not None and frame.forms[j] == SET:
                parts = cut_set(here, values, rule, counts, histogram, order, works, part_of, number, sizes)
            if parts:
                _aim_at_parts(here, part_of, sizes[:parts], histogram, target)
        if parts:
            return parts, j
        widths[j] = -1
    return 0, before


@kernel
def _widest(widths):  # type: ignore[no-untyped-def]
    found = 0
    for j in range(widths.size):
        if widths[j] > widths[found]:
            found = j
    return found


@kernel
def _measure(points, a, b, frame, number, least, most, widths):  # type: ignore[no-untyped-def]
    """Write what the box around all points costs in each dimension; `number` is all -1 before and after."""
    for j in range(points.shape[0]):
        codes = points[j, a:b]
        if frame.forms[j] == RANGE:
            low, high = codes[0], codes[0]
            for i in range(codes.size):
                low = min(low, codes[i])
                high = max(high, codes[i])
            least[j], most[j] = low, high
            widths[j] = range_cost(np.int64(low), np.int64(high), j, frame)
        elif frame.forms[j] == TREE:
            level = common_level(codes, j, frame)
            widths[j] = frame.shares[frame.roots[j] + level * frame.sizes[j] + codes[0]] if level else 0.0
        else:
            distinct = 0
            for i in range(codes.size):
                distinct += number[codes[i]] < 0
                number[codes[i]] = 0
            for i in range(codes.size):
                number[codes[i]] = -1
            widths[j] = distinct / frame.sizes[j] if distinct > 1 else 0.0


@kernel
def _aim_at_code(codes, code, take, size, target):  # type: ignore[no-untyped-def]
    """Where each row goes if codes below `code`, and the first `take` rows of it, go left; their order stays."""
    left, right = 0, size
    for i in range(codes.size):
        c = codes[i]
        if c < code or (c == code and take > 0):
            take -= c == code
            target[i] = left
            left += 1
        else:
            target[i] = right
            right += 1


@kernel
def _aim_at_parts(codes, part_of, sizes, following, target):  # type: ignore[no-untyped-def]
    """Where each row goes if parts lie side by side; their order stays."""
    at = 0
    for part in range(sizes.size):
        following[part] = at
        at += sizes[part]
    for i in range(codes.size):
        part = part_of[codes[i]]
        target[i] = following[part]
        following[part] += 1


@kernel
def _move(column, target, spare):  # type: ignore[no-untyped-def]
    for i in range(column.size):
        spare[target[i]] = column[i]
    for i in range(column.size):
        column[i] = spare[i]
