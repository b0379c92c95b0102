"""Leave out public rows where a group has enough without them and its box shrinks.

A box shrinks when all rows on one face of a range are left out, all that hold one value of a set or lack a value of a
range, or all that lie beside the one child of a tree's node that holds the private rows. The cut that saves most
per row goes first, until there is none that takes only public rows and leaves k.
Cost: per cut, the rows of the group in every dimension; few groups have many more rows than twice k.
Claim: trimmed_boxes_cannot_shrink — whichever public rows were left out besides, if k remain, the box stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from discreet.partition.spatial.full_domain.rollup import Counts
from discreet.partition.spatial.packed import RANGE, TREE, common_level, frame
from discreet.partition.spatial.space import Codes, Dimension
from discreet.values.kernel import kernel

NOWHERE = 2**40  # beyond every code
PIECES = 8  # of the groups, for threads


def trim(space: Sequence[Dimension], rows: Codes, edges: Counts, private: int, k: int) -> Codes:
    """The rows that stay, of groups that stand between the edges, each with its private rows first and one at least."""
    dims = frame(space)
    gone = np.array([dimension.size - 1 if dimension.missing else NOWHERE for dimension in space])

    def piece(inner: Counts) -> Codes:
        here = rows[inner[0] : inner[-1]].copy()
        codes = np.stack([dimension.codes[here] for dimension in space])
        own = np.add.reduceat(here < private, inner[:-1] - inner[0], dtype=np.int64)
        stays: npt.NDArray[np.bool_] = _trim(codes, here, inner - inner[0], own, k, dims, gone)
        return here[stays]

    cuts = np.linspace(0, edges.size - 1, min(PIECES, edges.size - 1) + 1).astype(np.int64)
    with ThreadPoolExecutor() as threads:
        return np.concatenate(list(threads.map(piece, [edges[a : b + 1] for a, b in pairwise(cuts)])))


@kernel
def _trim(codes, rows, edges, own, k, frame, gone):  # type: ignore[no-untyped-def]
    """Make the best cut of each group, again and again, its rows moving up; say where a row stands that stays."""
    stays, on = np.zeros(rows.size, np.bool_), np.zeros(frame.places.size, np.int64)
    for group in range(edges.size - 1):
        a, b = edges[group], edges[group + 1]
        while b - a > k:
            best, cut, most = -1, np.int64(0), 0.0
            for j in range(codes.shape[0]):
                here, spare = codes[j, a:b], b - a - k
                if frame.forms[j] == RANGE:
                    at, gain = _face(here, own[group], spare, j, frame, gone[j])
                elif frame.forms[j] == TREE:
                    at, gain = _branch(here, own[group], spare, j, frame)
                else:
                    at, gain = _name(here, own[group], spare, j, frame, on)
                if gain > most:
                    best, cut, most = j, at, gain
            if best < 0:
                break
            left = a
            for i in range(a, b):
                c = codes[best, i]
                if frame.forms[best] == TREE:
                    outside = frame.nodes[cut + c] != frame.nodes[cut + codes[best, a]]
                else:
                    outside = c == cut
                if not outside:
                    codes[:, left], rows[left] = codes[:, i], rows[i]
                    left += 1
            b = left
        stays[a:b] = True
    return stays


@kernel
def _face(codes, own, spare, j, frame, gone):  # type: ignore[no-untyped-def]
    """The code to cut off a range, at one end or missing, and what is saved per row; nothing if no cut is left."""
    low, low_next, low_rows = NOWHERE, NOWHERE, 0
    high, high_next, high_rows = -NOWHERE, -NOWHERE, 0
    missing = 0
    for i in range(codes.size):
        c, rows = codes[i], NOWHERE if i < own else 1
        if c == gone:
            missing += rows
            continue
        if c < low:
            low, low_next, low_rows = c, low, rows
        elif c == low:
            low_rows += rows
        elif c < low_next:
            low_next = c
        if c > high:
            high, high_next, high_rows = c, high, rows
        elif c == high:
            high_rows += rows
        elif c > high_next:
            high_next = c
    best, most = 0, 0.0
    if 0 < missing <= min(spare, codes.size - 1):
        best, most = gone, 1 / missing
    for end, after, rows in ((low, low_next, low_rows), (high, high_next, high_rows)):
        if 0 < rows <= spare and (low < high or missing):
            start, gain = frame.starts[j], 1.0
            if low < high:
                gain = abs(frame.places[start + end] - frame.places[start + after])
            if gain / rows > most:
                best, most = end, gain / rows
    return best, most


@kernel
def _branch(codes, own, spare, j, frame):  # type: ignore[no-untyped-def]
    """Where the nodes start of which the rows keep only the one of the private rows, and what is saved per row."""
    level = common_level(codes, j, frame)
    at = frame.roots[j] + (level - 1) * frame.sizes[j]
    if common_level(codes[:own], j, frame) == level:
        return at, 0.0
    on = 0
    for c in codes:
        on += frame.nodes[at + c] != frame.nodes[at + codes[0]]
    saved = frame.shares[at + frame.sizes[j] + codes[0]] - frame.shares[at + codes[0]]
    return at, saved / on if on <= spare else 0.0


@kernel
def _name(codes, own, spare, j, frame, on):  # type: ignore[no-untyped-def]
    """The code to take out of a set, and what is saved per row; `on` is all zero before and after."""
    best, most, distinct, start = np.int64(0), 0.0, 0, frame.starts[j]
    for i in range(codes.size):
        distinct += on[start + codes[i]] == 0
        on[start + codes[i]] += NOWHERE if i < own else 1
    saved = (2 if distinct == 2 else 1) / frame.sizes[j]
    for c in codes[own:]:
        if on[start + c] <= spare and saved / on[start + c] > most:
            best, most = np.int64(c), saved / on[start + c]
    for c in codes:
        on[start + c] = 0
    return best, most
