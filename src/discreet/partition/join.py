"""Groups of private rows together with public ones: k-join-anonymity.

Source: Sacharidis, Mouratidis and Papadias, "k-anonymity in the presence of external databases", TKDE 2010.
The first rows of the space are private, the others public. A group needs k rows, whoever they are, and
one of them private.

    direct      form groups of all rows, and leave out those without a private row
    refinement  form groups of the private rows alone, under the whole guarantee; these are the sensitive
                groups. Then form groups of all rows inside the box of each, and leave out those without
                a private row: so sensitive values are protected as by the groups of the first pass

Either way, public rows are left out where the group has enough without them and its box shrinks (see
`trim`). Groups of `direct` are all one sensitive group. A public row that lies in the boxes of
several sensitive groups, as it may where boxes overlap, goes to the smallest of them: a person counts once.
Cost: that of the partition on all rows, and rows x boxes that reach into the same bucket of the finest dimension.
Claim: every_joined_group_has_k_rows_and_a_private_one — and no private row is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.guarantees import Guarantee
from discreet.partition import Partition
from discreet.partition.merge import sort_by
from discreet.partition.secret import Secret
from discreet.partition.space import Codes, Dimension, ends, penalties
from discreet.partition.trim import trim

ABSENT = -1
BUCKETS = 1024  # of the finest dimension, about
PIECES = 8  # of the public rows, for threads


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

    def place(chosen: npt.NDArray[np.int64] | slice) -> Codes:
        part = [replace(dimension, codes=dimension.codes[chosen]) for dimension in space]
        alike = np.zeros(part[0].codes.size, np.int32)
        return np.asarray(partition.place(part, alike, of_k, secret, options), np.int32)

    if variant == "direct":
        groups, parts = place(slice(None)), np.zeros(rows, np.int32)
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
    shown = np.flatnonzero((groups >= 0) & needed[groups]).astype(np.int32)
    numbers = (np.cumsum(needed, dtype=np.int32) - 1)[groups[shown]]
    order = sort_by(numbers, np.count_nonzero(needed), np.arange(shown.size, dtype=np.int32))
    edges = np.append(np.flatnonzero(np.diff(numbers[order], prepend=-1)), order.size)
    stays = trim(space, shown[order], edges, private, k)
    pruned = np.full(groups.size, ABSENT, np.int32)
    pruned[stays] = (np.cumsum(needed, dtype=np.int32) - 1)[groups[stays]]
    return pruned


def _inside(space: Sequence[Dimension], first: Codes, private: int) -> Codes:
    """The sensitive group with the smallest box in which each public row lies, or -1."""
    count = int(first.max()) + 1
    mine = [replace(dimension, codes=dimension.codes[:private]) for dimension in space]
    by_size = np.argsort(penalties(mine, first).sum(axis=1), kind="stable").astype(np.int32)
    place = np.empty_like(by_size)
    place[by_size] = np.arange(count, dtype=np.int32)
    first = place[first]
    low, high = np.zeros((count, len(space)), np.int32), np.zeros((count, len(space)), np.int32)
    codes = np.empty((space[0].codes.size - private, len(space)), np.int32)
    offsets, covered = np.full(len(space), ABSENT), [np.zeros((count, 0), np.bool_)]
    # the code of a missing value, which lies in a box only if a row of the group lacks the value
    gone = np.full(len(space), ABSENT)
    lacks = np.zeros((count, len(space)), np.bool_)
    for j, (dimension, own) in enumerate(zip(space, mine, strict=True)):
        codes[:, j] = dimension.codes[private:]
        if dimension.form == "range":
            there = own.codes < dimension.size - dimension.missing
            gone[j] = dimension.size - 1 if dimension.missing else ABSENT
            lacks[first[~there], j] = True
            low[:, j], high[:, j] = ends(own.codes[there], first[there], count)
            empty = np.bincount(first[there], minlength=count) == 0
            low[empty, j], high[empty, j] = 1, 0
        else:  # a box is no interval of codes here, but some of them
            high[:, j] = dimension.size - 1
            offsets[j] = sum(part.shape[1] for part in covered)
            covered.append(_covered(dimension, own.codes, first, count))
    finest = int(np.argmax([0 if dimension.missing else dimension.size for dimension in space]))
    shift = max(space[finest].size.bit_length() - BUCKETS.bit_length(), 0)
    if space[finest].missing:  # every dimension has missing values: all boxes in one bucket
        shift = 31
    starts, boxes = _boxes_by_bucket(low[:, finest] >> shift, high[:, finest] >> shift)
    every = np.hstack(covered)
    with ThreadPoolExecutor() as threads:
        pieces = threads.map(
            lambda piece: _find(piece, low, high, offsets, every, gone, lacks, finest, shift, starts, boxes),
            np.array_split(codes, PIECES),
        )
        found = np.concatenate(list(pieces))
    return np.where(found >= 0, by_size[found], np.int32(ABSENT))


def _covered(dimension: Dimension, mine: Codes, first: Codes, count: int) -> npt.NDArray[np.bool_]:
    """Which codes the box of each group covers, where a box is a set of values or a node of a tree."""
    covered = np.zeros((count, dimension.size), np.bool_)
    if dimension.levels is None:
        covered[first, mine] = True
        return covered
    open_ = np.ones(count, np.bool_)
    for nodes in dimension.levels:
        low, high = ends(nodes[mine], first, count)
        shared = open_ & (low == high)
        covered[shared] = nodes[None, :] == low[shared, None]
        open_ &= ~shared
    return covered


def _boxes_by_bucket(low: Codes, high: Codes) -> tuple[npt.NDArray[np.int64], Codes]:
    """For each bucket of codes the boxes that reach into it, ascending: where its list starts, and all lists."""
    lengths = high - low + 1
    box = np.repeat(np.arange(low.size, dtype=np.int32), lengths)
    bucket = np.arange(box.size) - np.repeat(np.cumsum(lengths) - lengths, lengths) + low[box]
    order = np.argsort(bucket, kind="stable")
    return np.searchsorted(bucket[order], np.arange(2 * BUCKETS + 1)), box[order]


@nb.njit(cache=True, nogil=True)
def _find(codes, low, high, offsets, covered, gone, lacks, finest, shift, starts, boxes):  # type: ignore[no-untyped-def]
    """The first box that holds each row, or -1."""
    found = np.full(codes.shape[0], -1, np.int32)
    for i in range(codes.shape[0]):
        bucket = codes[i, finest] >> shift
        for at in range(starts[bucket], starts[bucket + 1]):
            box = boxes[at]
            inside = True
            for j in range(codes.shape[1]):
                c = codes[i, j]
                if c == gone[j]:
                    inside = lacks[box, j]
                elif offsets[j] >= 0:
                    inside = covered[box, offsets[j] + c]
                else:
                    inside = low[box, j] <= c <= high[box, j]
                if not inside:
                    break
            if inside:
                found[i] = box
                break
    return found
