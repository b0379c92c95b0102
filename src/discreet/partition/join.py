"""Groups of private rows together with public ones: k-join-anonymity.

Source: Sacharidis, Mouratidis and Papadias, "k-anonymity in the presence of external databases", TKDE 2010.
The first rows of the space are private, the others public. A group needs k rows, whoever they are, and
one of them private.

    direct      form groups of all rows, and leave out those without a private row
    refinement  form groups of the private rows alone, under the whole guarantee; these are the sensitive
                groups. Then form groups of all rows inside the box of each, and leave out those without
                a private row: so sensitive values are protected as by the groups of the first pass

Either way, public rows at the face of a box are left out where the group has enough without them and
the box shrinks. Groups of `direct` are all one sensitive group. A public row that lies in the boxes of
several sensitive groups goes to the first of them.
Cost: that of the partition on all rows, and rows x boxes that share a code in the finest dimension.
Claim: every_joined_group_has_k_rows_and_a_private_one — and no private row is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.guarantees import Guarantee
from discreet.partition import Partition
from discreet.partition.secret import Secret
from discreet.partition.space import Codes, Dimension

ABSENT = -1


def join(
    space: Sequence[Dimension],
    sensitive: Codes,
    guarantee: Guarantee,
    partition: Partition,
    options: Mapping[str, Any],
    variant: Literal["direct", "refinement"],
    secret: Secret,
) -> tuple[Codes, Codes]:
    """The group of every row of the space, -1 if it is left out, and its sensitive group."""
    rows, private = space[0].codes.size, sensitive.size
    k = guarantee.thresholds.k
    of_k = Guarantee.of({"k": k})

    def place(chosen: npt.NDArray[np.int64]) -> Codes:
        part = [replace(dimension, codes=dimension.codes[chosen]) for dimension in space]
        alike = np.zeros(chosen.size, np.int32)
        return np.asarray(partition.place(part, alike, of_k, secret, options), np.int32)

    if variant == "direct":
        groups, parts = place(np.arange(rows)), np.zeros(rows, np.int32)
    else:
        mine = [replace(dimension, codes=dimension.codes[:private]) for dimension in space]
        first = np.asarray(partition.place(mine, sensitive, guarantee, secret, options), np.int32)
        parts = np.concatenate([first, _inside(space, first, private)])
        groups = np.full(rows, ABSENT, np.int32)
        by_part = np.argsort(parts, kind="stable")
        starts = np.searchsorted(parts[by_part], np.arange(first.max() + 2))
        found = 0
        for start, end in pairwise(starts):
            chosen = by_part[start:end]
            inner = place(chosen)
            groups[chosen] = inner + found
            found += int(inner.max()) + 1
    return _pruned(space, groups, private, k), parts


def _pruned(space: Sequence[Dimension], groups: Codes, private: int, k: int) -> Codes:
    """Leave out groups without a private row, and public rows that only make a box larger; number the rest anew."""
    needed = np.zeros(int(groups.max()) + 1, np.bool_)
    needed[groups[:private]] = True
    groups = np.where((groups >= 0) & needed[groups], groups, np.int32(ABSENT))
    lines = [dimension for dimension in space if dimension.form == "range"]
    if lines:
        order = np.argsort(groups, kind="stable")
        order = order[np.searchsorted(groups[order], 0) :]
        points = np.column_stack([dimension.codes[order] for dimension in lines])
        size = max(dimension.size for dimension in lines)
        places = np.zeros((len(lines), size))
        for i, dimension in enumerate(lines):
            if dimension.places is not None and dimension.extent > 0:
                places[i, : dimension.size] = dimension.places / dimension.extent
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        _trim(points, places, order < private, np.append(starts, order.size), k, kept := np.ones(order.size, np.bool_))
        groups[order[~kept]] = ABSENT
    numbers = np.cumsum(np.bincount(groups[groups >= 0], minlength=needed.size) > 0, dtype=np.int32) - 1
    return np.where(groups >= 0, numbers[groups], np.int32(ABSENT)).astype(np.int32)


@nb.njit(cache=True, nogil=True)
def _trim(points, places, private, edges, k, kept):  # type: ignore[no-untyped-def]
    """In each group, cut off the face that shrinks the box most, while only public rows lie on it and k remain."""
    d = points.shape[1]
    for group in range(edges.size - 1):
        a, b = edges[group], edges[group + 1]
        left = b - a
        while left > k:
            best, best_gain, best_rows = -1, 0.0, 0
            for face in range(2 * d):
                j, up = face // 2, face % 2 == 1
                end, following, on_end, mine = -1, -1, 0, False
                for i in range(a, b):
                    if not kept[i]:
                        continue
                    c = points[i, j]
                    if end < 0 or (c > end if up else c < end):
                        following, end, on_end, mine = end, c, 0, False
                    elif c != end and (following < 0 or (c > following if up else c < following)):
                        following = c
                    if c == end:
                        on_end += 1
                        mine |= private[i]
                if mine or following < 0 or left - on_end < k:
                    continue
                gain = abs(places[j, end] - places[j, following]) / on_end
                if gain > best_gain:
                    best, best_gain, best_rows = face, gain, on_end
            if best < 0:
                break
            j, up, end = best // 2, best % 2 == 1, -1
            for i in range(a, b):
                if kept[i] and (end < 0 or (points[i, j] > end if up else points[i, j] < end)):
                    end = points[i, j]
            for i in range(a, b):
                if kept[i] and points[i, j] == end:
                    kept[i] = False
            left -= best_rows


def _inside(space: Sequence[Dimension], first: Codes, private: int) -> Codes:
    """The first sensitive group in whose box each public row lies, or -1."""
    count = int(first.max()) + 1
    low = np.empty((count, len(space)), np.int32)
    high = np.empty((count, len(space)), np.int32)
    codes = np.empty((space[0].codes.size - private, len(space)), np.int32)
    allowed: list[npt.NDArray[np.bool_]] = []
    for j, dimension in enumerate(space):
        mine = dimension.codes[:private]
        codes[:, j] = dimension.codes[private:]
        low[:, j], high[:, j] = np.iinfo(np.int32).max, -1
        np.minimum.at(low[:, j], first, mine)
        np.maximum.at(high[:, j], first, mine)
        if dimension.form != "range":  # a box is no interval of codes here
            allowed.append(_covered(dimension, mine, first, count))
            low[:, j], high[:, j] = 0, dimension.size - 1
        else:
            allowed.append(np.ones((0, 0), np.bool_))
    finest = int(np.argmax([dimension.size for dimension in space]))
    starts, boxes = _boxes_by_code(low[:, finest], high[:, finest], space[finest].size)
    found: Codes = _find(codes, low, high, finest, starts, boxes)
    for j, covered in enumerate(allowed):
        if covered.size:
            here = found >= 0
            here[here] = covered[found[here], codes[here, j]]
            found[~here] = ABSENT
    return found


def _covered(dimension: Dimension, mine: Codes, first: Codes, count: int) -> npt.NDArray[np.bool_]:
    """Which codes the box of each group covers, where a box is a set of values or a node of a tree."""
    covered = np.zeros((count, dimension.size), np.bool_)
    if dimension.levels is None:
        covered[first, mine] = True
        return covered
    open_ = np.ones(count, np.bool_)
    for nodes in dimension.levels:
        low, high = np.full(count, np.iinfo(np.int32).max, np.int32), np.full(count, -1, np.int32)
        np.minimum.at(low, first, nodes[mine])
        np.maximum.at(high, first, nodes[mine])
        shared = open_ & (low == high)
        covered[shared] = nodes[None, :] == low[shared, None]
        open_ &= ~shared
    return covered


def _boxes_by_code(low: Codes, high: Codes, size: int) -> tuple[npt.NDArray[np.int64], Codes]:
    """For each code the boxes that hold it, ascending: where its list starts, and all lists."""
    lengths = high - low + 1
    box = np.repeat(np.arange(low.size, dtype=np.int32), lengths)
    code = np.arange(box.size) - np.repeat(np.cumsum(lengths) - lengths, lengths) + low[box]
    order = np.argsort(code, kind="stable")
    return np.searchsorted(code[order], np.arange(size + 1)), box[order]


@nb.njit(cache=True, nogil=True)
def _find(codes, low, high, finest, starts, boxes):  # type: ignore[no-untyped-def]
    found = np.full(codes.shape[0], -1, np.int32)
    for i in range(codes.shape[0]):
        c = codes[i, finest]
        for at in range(starts[c], starts[c + 1]):
            box = boxes[at]
            inside = True
            for j in range(codes.shape[1]):
                if codes[i, j] < low[box, j] or codes[i, j] > high[box, j]:
                    inside = False
                    break
            if inside:
                found[i] = box
                break
    return found
