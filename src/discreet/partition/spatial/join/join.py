"""Groups of private rows together with public ones: k-join-anonymity.

Source: Sacharidis, Mouratidis and Papadias, "k-anonymity in the presence of external databases", TKDE 2010.
The first rows of the space are private, the others public. A group needs k rows, whoever they are, and
one of them private.

    direct      form groups of all rows, and leave out those without a private row
    refinement  form groups of the private rows alone, under the whole guarantee; these are the sensitive
                groups. Then form groups of all rows inside the box of each, and leave out those without
                a private row: so sensitive values are protected as by the groups of the first pass

Either way, public rows are left out where the group has enough without them and its box shrinks (see
`trim`). Groups of `direct` are all one sensitive group. A public row that lies in the boxes of several sensitive
groups, as it may where boxes overlap, goes to the smallest of them.
Cost: that of the partition on all rows, and that of finding the boxes of public rows (see `inside`).
Claim: every_joined_group_has_k_rows_and_a_private_one — and no private row is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition import Partition
from discreet.partition.spatial.full_domain.rollup import sort_by
from discreet.partition.spatial.join.enclosing import smallest_boxes
from discreet.partition.spatial.join.trim import trim
from discreet.partition.spatial.space import Codes, Dimension
from discreet.values.random import RandomSource

ABSENT = -1


def join(
    space: Sequence[Dimension],
    sensitive: Codes,
    guarantee: Guarantee,
    partition: Partition,
    options: Mapping[str, Any],
    variant: Literal["direct", "refinement"],
    secret: RandomSource,
) -> tuple[Codes, Codes]:
    """The group of every row of the space, -1 if it is left out, and its sensitive group."""
    rows, private = space[0].codes.size, sensitive.size
    k = guarantee.rule.k
    of_k = Guarantee.of({"k": k})

    def place(chosen: Codes, chance: RandomSource) -> Codes:
        part = [replace(dimension, codes=dimension.codes[chosen]) for dimension in space]
        alike, needed = np.zeros(chosen.size, np.int32), int(np.searchsorted(chosen, private))
        return np.asarray(partition.assign(part, alike, of_k, chance, options, needed), np.int32)

    if variant == "direct":
        groups, parts = place(np.arange(rows, dtype=np.int32), secret), np.zeros(rows, np.int32)
    else:
        mine = [replace(dimension, codes=dimension.codes[:private]) for dimension in space]
        first = np.asarray(partition.assign(mine, sensitive, guarantee, secret, options), np.int32)
        parts = np.concatenate([first, smallest_boxes(space, first)])
        groups = _within(parts, private, place, secret)
    return _pruned(space, groups, private, k), parts


def _within(parts: Codes, private: int, place: Callable[[Codes, RandomSource], Codes], secret: RandomSource) -> Codes:
    """Groups of the rows of each part; parts are numbered from 0, and each has its own chance."""
    inside = np.flatnonzero(parts >= 0).astype(np.int32)
    count = int(parts[:private].max()) + 1
    order = inside[sort_by(parts[inside], count, np.arange(inside.size, dtype=np.int32))]
    chosen = np.split(order, np.searchsorted(parts[order], np.arange(1, count)))
    groups, found = np.full(parts.size, ABSENT, np.int32), 0
    with ThreadPoolExecutor() as threads:
        placed = threads.map(place, chosen, [secret.branch() for _ in chosen])
        for rows, inner in zip(chosen, placed, strict=True):
            groups[rows] = np.where(inner >= 0, inner + found, ABSENT)
            found += int(inner.max()) + 1
    return groups


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
