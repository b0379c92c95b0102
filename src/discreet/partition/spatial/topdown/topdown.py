"""TopDown: part the rows around the two that lie farthest apart, again and again, then mend what became too small.

Source: Xu et al., "Utility-based anonymization using local recoding", KDD 2006, as told by Sacharidis et al.,
"k-join-anonymity", 2010, section 2.2. Of each part two rows that lie far apart are sought (the farthest from a
random row, the farthest from that, and once more); the other rows come in random order, each to the side
that it makes grow less. A part is parted while it has more rows than the promises need and one of its
sides still keeps them; sides that do not are mended afterwards (see `mend`). The boxes of both sides grow with
the rows that come, so that what a row would add is known without looking at the others.
What a part must keep is told by the `rule` (see `values.rule`).

If cuts are `blind`, a part is parted if and only if it has rows for two sides that keep the promises whatever they
hold (`surely`), and a side with fewer takes those of the other that lie nearest: so nothing is left to mend. That
follows from the histogram of the part and from where its rows lie, so that it tells nothing of who in a group holds
which value (the proof is that of `mondrian`). `fitted` sides are judged by what they hold, and so is mending.

Cost: rows x dimensions x depth, about log(rows) levels unless few rows lie very far out; then mending.
Memory: a float per row and dimension, twice.
Claim: blind_cuts_tell_nothing — every table with the groups' values is cut into the same groups, by the same chance.
Claim: topdown_keeps_its_promises — every group keeps the guarantee, in any mixture of ranges, trees and sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.kernels import IntArray, divide, shuffle
from discreet.partition.spatial.boxes import apart, growth, include, new_box, points_of, start
from discreet.partition.spatial.packed import frame
from discreet.partition.spatial.space import Codes, Dimension
from discreet.partition.spatial.topdown.mend import mend
from discreet.values.kernel import kernel
from discreet.values.ordered import order_of
from discreet.values.random import RandomSource
from discreet.values.rule import fewest_rows, keeps, only_counts, surely

COARSE = 1 << 16  # rows below which all is left to one thread
ROUNDS = 3
SAMPLE = 4096  # rows, which are in random order, among which those that lie far apart are sought


def assign(
    space: Sequence[Dimension],
    sensitive: Codes,
    guarantee: Guarantee,
    secret: RandomSource,
    *,
    cuts: Literal["blind", "fitted"] = "blind",
    needed: int | None = None,
) -> Codes:
    """The group of every row; -1 for some of those that share none with the first rows, if only these are `needed`."""
    n, rule, dims = sensitive.size, guarantee.rule, frame(space)
    rows = shuffle(secret.words(n))
    points, values = points_of(dims, [dimension.codes for dimension in space], rows), sensitive[rows]
    kinds, blind = int(values.max(initial=0)) + 1, cuts == "blind" and not only_counts(rule)
    starts, whole = np.zeros(1, np.int64), np.ones(1, np.bool_)
    with ThreadPoolExecutor() as threads:

        def part(low: int, high: int, *, coarse: int) -> tuple[IntArray, IntArray]:
            made: tuple[IntArray, IntArray] = _part(points, values, rows, low, high, coarse, blind, kinds, dims, rule)
            return made

        each = map if n <= COARSE else threads.map
        for coarse in (n // 2, n // 16, 0) if n > COARSE else (0,):
            finer = each(partial(part, coarse=coarse), starts.tolist(), [*starts[1:].tolist(), n])
            starts, whole = (np.concatenate(pieces) for pieces in zip(*finer, strict=True))
    idle = np.add.reduceat(rows < (n if needed is None else needed), starts, dtype=np.int64) == 0
    groups = np.empty(n, np.int32)
    if whole.all():
        groups[rows] = np.repeat(np.arange(starts.size, dtype=np.int32), np.diff(starts, append=n))
    else:
        groups[rows] = mend(points, values, np.append(starts, n), whole, idle, kinds, dims, rule)
    return groups


@kernel
def _part(points, values, rows, low, high, coarse, blind, kinds, frame, rule):  # type: ignore[no-untyped-def]
    """Part rows low..high in place; return where the parts start, and whether each keeps the promises."""
    d, longest, fewest = points.shape[1], high - low, fewest_rows(rule)
    left, right = new_box(frame), new_box(frame)
    counts, by_value = np.zeros(kinds, np.int32), not only_counts(rule)
    goes_right, held = np.empty(longest, np.bool_), np.empty(longest, np.int32)
    spare_points, spare = np.empty((longest, d)), np.empty(longest, np.int32)
    starts, whole = np.empty(longest, np.int64), np.empty(longest, np.bool_)
    found = 0
    stack = [(low, high, keeps(values[low:high], rule, counts))]
    while stack:
        a, b, kept = stack.pop()
        n, size = b - a, 0
        left_keeps = right_keeps = False
        small = surely(values[a:b], rule, counts) if blind and n > coarse else fewest
        if kept and n > coarse and n > fewest and (not blind or n >= 2 * small):
            size = _deal(points[a:b], left, right, frame, goes_right)
            if blind:
                size = _move(points[a:b], size, small, left, right, frame, goes_right)
            if by_value:
                for i in range(n):
                    held[i] = values[a + i]
                divide(held[:n], goes_right, spare)
            left_keeps, right_keeps = keeps(held[:size], rule, counts), keeps(held[size:n], rule, counts)
        if not (left_keeps or right_keeps):
            starts[found], whole[found] = a, kept
            found += 1
            continue
        if by_value:
            for i in range(n):
                values[a + i] = held[i]
        divide(points[a:b], goes_right, spare_points)
        divide(rows[a:b], goes_right, spare)
        stack.append((a + size, b, right_keeps))
        stack.append((a, a + size, left_keeps))
    return starts[:found].copy(), whole[:found].copy()


@kernel
def _deal(points, left, right, frame, goes_right):  # type: ignore[no-untyped-def]
    """Say which points go to the right side; return how many go left. Neither side is empty."""
    one, other = _far_apart(points, frame)
    start(left, points[one], frame)
    start(right, points[other], frame)
    lefts, rights = 1, 1
    left_cost, right_cost = 0.0, 0.0
    for i in range(points.shape[0]):
        if i in (one, other):
            goes_right[i] = i == other
            continue
        point = points[i]
        more_left, more_right = growth(left, point, frame), growth(right, point, frame)
        new_left, new_right = left_cost + (lefts + 1) * more_left, right_cost + (rights + 1) * more_right
        to_left = new_left < new_right or (new_left == new_right and lefts <= rights)
        goes_right[i] = not to_left
        if to_left:
            lefts += 1
            if more_left > 0:
                include(left, point, frame)
                left_cost += more_left
        else:
            rights += 1
            if more_right > 0:
                include(right, point, frame)
                right_cost += more_right
    return lefts


@kernel
def _move(points, size, small, left, right, frame, goes_right):  # type: ignore[no-untyped-def]
    """Give a side with fewer than `small` rows those it lacks, the nearest to its box; return how many go left."""
    n = points.shape[0]
    if min(size, n - size) >= small:
        return size
    margins = np.empty(n)
    for i in range(n):
        margins[i] = growth(left, points[i], frame) - growth(right, points[i], frame)
    size = small if size < small else n - small
    by_margin = order_of(margins)
    for i in range(n):
        goes_right[by_margin[i]] = i >= size
    return size


@kernel
def _far_apart(points, frame):  # type: ignore[no-untyped-def]
    """Two different points that lie far apart, among the first SAMPLE; the first two if all are the same."""
    one, other, most = 0, 1, -1.0
    for _ in range(ROUNDS):
        far, farthest = -1.0, 0
        for i in range(min(points.shape[0], SAMPLE)):
            if i != one:
                distance = apart(points[one], points[i], frame)
                if distance > far:
                    far, farthest = distance, i
        if far <= most:
            break
        one, other, most = farthest, one, far
    return one, other
