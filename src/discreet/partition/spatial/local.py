"""Local: bring rows with similar quasi-identifiers together first, then deal and trade inside each cell.

Cells come from recursive cuts near the median of the widest quasi-identifier, as in Mondrian
(LeFevre et al., ICDE 2006), as long as both halves can still be dealt. Similar rows make
hits all-or-nothing, so answers are far more exact than from `deal` at the same guarantee. Groups of a cell trade values
(see `partition/trades.py`), so that a model can learn from them even where hardly a cell is cut.

A `blind` cut is made if and only if both halves can be dealt however the values lie in the cell: that follows from the
histogram of the cell, which its groups show. Exchange values inside a group, and all cells and the chances of all
deals and trades are the same; so the groups say nothing of who in a group holds which value. A `fitted` cut is refused
only if one half cannot be dealt as it is. That makes smaller cells, but tells something of the people there (see
`audit/replay/minimality.py`).
Cost: rows x quasi-identifiers x log(rows); memory about three copies of the encoded columns.
Claim: blind_cuts_tell_nothing — every table with the groups' values has the same cells, by the same chance.
Claim: local_cells_stay_eligible — every cell meets the guarantee by itself, so every group does.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Literal

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.kernels import FINE, IntArray, median, shuffle
from discreet.partition.trades import in_cells
from discreet.values.kernel import kernel
from discreet.values.random import RandomSource
from discreet.values.rule import Rule, fewest_rows, kept, nothing, see, surely

COARSE = 1 << 18  # rows below which a cell is left to one thread
DEEP = 64  # more cells than ever wait


def assign(
    quasi: Sequence[IntArray],
    sensitive: IntArray,
    guarantee: Guarantee,
    secret: RandomSource,
    *,
    cuts: Literal["blind", "fitted"] = "blind",
) -> IntArray:
    """The group of every row."""
    rows, values, edges = cells(quasi, sensitive, guarantee.rule, secret, blind=cuts == "blind")
    return in_cells(edges, values, rows, guarantee.rule, secret)


def cells(
    quasi: Sequence[IntArray], sensitive: IntArray, rule: Rule, secret: RandomSource, *, blind: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """The rows cell by cell, the values they hold, and where each cell starts and the last one ends."""
    n = sensitive.size
    order = shuffle(secret.words(n))
    spans = np.array([max(int(column.max()), 1) for column in quasi], np.int64)
    dtype = np.uint16 if not quasi or spans.max() < 2**16 else np.uint32
    points = np.empty((n, len(quasi)), dtype)
    with ThreadPoolExecutor() as threads:

        def gather(dimension: int) -> None:
            points[:, dimension] = quasi[dimension][order]

        list(threads.map(gather, range(len(quasi))))
        values, most = sensitive[order], int(sensitive.max())
        scratch = points.copy(), values.copy(), order.copy()

        starts = np.zeros(n + 1, np.bool_)

        def cut(low: int, high: int, coarse: int = 0) -> None:
            counts = np.zeros(most + 1, np.int32), None if blind else np.zeros(most + 1, np.int32)
            _cut(points, values, order, *scratch, low, high, coarse, spans, rule, *counts, starts)

        starts[n] = True
        cut(0, n, COARSE)
        list(threads.map(lambda ends: cut(*ends), pairwise(np.flatnonzero(starts).tolist())))
    return order, values, np.flatnonzero(starts)


@kernel
def _cut(points, values, rows, points2, values2, rows2, low, high, coarse, spans, rule, left, right, starts):  # type: ignore[no-untyped-def]
    """Cut rows low..high in place until no cut is left; mark in `starts` where the cells start.

    `left` and `right` count values, all zero before and after. Without `right` cuts are blind: what then is not needed
    is not compiled.
    """
    d = points.shape[1]
    fewest = fewest_rows(rule)
    histogram = np.empty(4 * 1024, np.int64)
    least, most, untried = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(d, np.bool_)
    waiting, top = np.empty((DEEP, 2), np.int64), 1
    waiting[0, 0], waiting[0, 1] = low, high
    while top:
        top -= 1
        a, b = waiting[top, 0], waiting[top, 1]
        starts[a] = True
        middle = -1
        if b - a > coarse and b - a >= 2 * fewest:
            small = fewest
            if right is None:
                small = surely(values[a:b], rule, left)
            for j in range(d):
                least[j] = most[j] = points[a, j]
                untried[j] = True
            for i in range(a + 1, b):
                for j in range(d):
                    c = points[i, j]
                    least[j] = min(least[j], c)
                    most[j] = max(most[j], c)
            for _ in range(d):
                j = _widest(least, most, spans, untried)
                if most[j] == least[j]:
                    break
                untried[j] = False
                room = min(most[j] - least[j] + 1, FINE * (b - a))
                if room > histogram.size:
                    histogram = np.empty(2 * room, np.int64)
                code, under, at = median(points[a:b, j], least[j], most[j], histogram)
                # The edges of the median value, nearest first; then the exact middle, its ties
                # falling to either side in the order of the rows, which is random.
                half = (b - a) // 2
                nearest_is_under = half - under <= under + at - half
                for attempt in range(3):
                    if attempt == 2:
                        take = half - under
                    else:
                        take = 0 if (attempt == 0) == nearest_is_under else at
                    size = under + take
                    if min(size, b - a - size) < small:
                        continue
                    if right is not None and not _fits(points, values, a, b, j, code, take, size, left, right, rule):
                        continue
                    _split(points, values, rows, points2, values2, rows2, a, b, j, code, take, size)
                    middle = a + size
                    break
                if middle >= 0:
                    break
        if middle >= 0:
            under = top + (2 * (middle - a) < b - a)  # the smaller half is cut first, so that few wait
            over = 2 * top + 1 - under
            waiting[under, 0], waiting[under, 1], waiting[over, 0], waiting[over, 1] = a, middle, middle, b
            top += 2


@kernel
def _widest(least, most, spans, untried):  # type: ignore[no-untyped-def]
    """Of the columns that were not tried, the one whose codes reach farthest, measured by what all rows span."""
    found, widest = 0, -1.0
    for j in range(spans.size):
        width = (most[j] - least[j]) / spans[j]
        if untried[j] and width > widest:
            found, widest = j, width
    return found


@kernel
def _split(points, values, rows, points2, values2, rows2, a, b, j, code, take, size):  # type: ignore[no-untyped-def]
    """Bring rows a..b below the cut to the front, keeping their order; the other arrays are scratch."""
    left, right = a, a + size
    for i in range(a, b):
        c = points[i, j]
        if c < code or (c == code and take > 0):
            if c == code:
                take -= 1
            at = left
            left += 1
        else:
            at = right
            right += 1
        for m in range(points.shape[1]):
            points2[at, m] = points[i, m]
        values2[at] = values[i]
        rows2[at] = rows[i]
    for i in range(a, b):
        for m in range(points.shape[1]):
            points[i, m] = points2[i, m]
        values[i], rows[i] = values2[i], rows2[i]


@kernel
def _fits(points, values, a, b, j, code, take, size, left, right, rule):  # type: ignore[no-untyped-def]
    """Whether both halves of a cut keep all promises; `left` and `right` are all zero before and after."""
    on_left, on_right = nothing(), nothing()
    for i in range(a, b):
        c, v = points[i, j], values[i]
        if c < code or (c == code and take > 0):
            take -= c == code
            left[v] += 1
            on_left = see(on_left, v, left[v], left[v] == 1, rule)
        else:
            right[v] += 1
            on_right = see(on_right, v, right[v], right[v] == 1, rule)
    for i in range(a, b):
        left[values[i]] = 0
        right[values[i]] = 0
    return kept(on_left, size, rule) and kept(on_right, b - a - size, rule)
