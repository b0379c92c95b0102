"""Compact: cut where the boxes of both sides save most, group neighbours in the order that makes, then move rows.

    cuts      the column and place where tight boxes save most, uneven cuts before even ones, again and again
    segments  the order of the parts, divided into groups by a dynamic programme that never loses more than the parts
    moves     rows that make a box large go to a group near by

If only rows are counted (`k`), all three are taken without a look at sensitive values, and groups whose rows are all
alike are put together. Else, if cuts are `blind`, parts are the groups: a part is cut only where each side has as many
rows as keep the promises whichever they are, which follows from its histogram, and where it is cut follows from
quasi-identifiers alone. The proof that this tells nothing is that of `mondrian`. `fitted` steps ask whether groups keep
the promises as they are, which nobody attacks before publishing (see `warnings/minimality.py`).
Which of several rows that are alike goes where is drawn at random.
Cost: different rows x columns^2 x log(rows), about; memory six copies of the encoded columns.
Claim: blind_cuts_tell_nothing — every table with the groups' values is cut into the same groups, by the same chance.
Claim: compact_is_near_the_best — on tables small enough to try all groups, a quarter more than the best at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.guarantees import Guarantee
from discreet.partition.kernels import shuffle
from discreet.partition.spatial.compact.cuts import cut_up
from discreet.partition.spatial.compact.moves import move
from discreet.partition.spatial.compact.segments import segments
from discreet.partition.spatial.packed import frame
from discreet.partition.spatial.space import Codes, Dimension
from discreet.values.boxes import ends
from discreet.values.random import RandomSource
from discreet.values.rule import fewest_rows, only_counts


def assign(
    space: Sequence[Dimension],
    sensitive: Codes,
    guarantee: Guarantee,
    secret: RandomSource,
    *,
    cuts: Literal["blind", "fitted"] = "blind",
) -> Codes:
    """The group of every row."""
    n, least = sensitive.size, int(fewest_rows(guarantee.rule))
    rule = None if only_counts(guarantee.rule) else guarantee.rule  # kernels are compiled for what is asked
    blind = cuts == "blind" and rule is not None
    placed = [_in_order(dimension) for dimension in space]
    dims, rows = frame(placed), shuffle(secret.words(n))
    if blind:
        starts = np.arange(n, dtype=np.int32)
    else:
        keys = _keys(placed)[rows]
        by_key = np.argsort(keys, kind="stable")
        rows = rows[by_key]
        starts = np.flatnonzero(np.diff(keys[by_key], prepend=-1)).astype(np.int32)
    points = np.empty((starts.size, len(placed)), np.int32)
    for j, dimension in enumerate(placed):
        points[:, j] = dimension.codes[rows[starts]]
    values, kinds = sensitive[rows], int(sensitive.max(initial=0)) + 1
    weights, first = np.diff(starts, append=n).astype(np.int32), starts.copy()
    edges = np.zeros(starts.size, np.bool_)
    cut_up(points, weights, first, values, kinds, dims, rule, least, blind, edges)
    at = np.cumsum(weights) - weights
    parts = at[edges]
    order = np.repeat(first - at, weights) + np.arange(n)
    rows, values = rows[order], values[order]
    made = np.repeat(np.arange(parts.size, dtype=np.int32), np.diff(parts, append=n))
    if not blind:
        of_row = np.repeat(np.arange(starts.size, dtype=np.int32), weights)
        found = segments(points, of_row, values, kinds, parts.astype(np.int64), dims, rule, least)
        move(points, of_row, values, kinds, found, dims, rule, least, made)
        made = _merged(of_row, made, found.size)
    groups = np.empty(n, np.int32)
    groups[rows] = made
    return groups


def _merged(of_row: Codes, groups: Codes, number: int) -> Codes:
    """Groups whose rows are all at one point become one, which costs nothing; numbered from 0 without a gap."""
    low, high = ends(of_row, groups, number)
    same = np.arange(number)
    pure = np.flatnonzero(low == high)
    _, first, inverse = np.unique(low[pure], return_index=True, return_inverse=True)
    same[pure] = pure[first[inverse]]
    return np.unique(same, return_inverse=True)[1].astype(np.int32)[groups]


def _in_order(dimension: Dimension) -> Dimension:
    """The same dimension with codes in the order of a tree's leaves, or of a set's names by how many rows hold them."""
    if dimension.levels is not None:
        order = np.lexsort(dimension.levels)
        levels = dimension.levels[:, order]
    elif dimension.places is None:
        order, levels = np.argsort(-np.bincount(dimension.codes, minlength=dimension.size), kind="stable"), None
    else:
        return dimension
    code = np.empty(dimension.size, np.int32)
    code[order] = np.arange(dimension.size, dtype=np.int32)
    return replace(dimension, codes=code[dimension.codes], levels=levels)


def _keys(space: Sequence[Dimension]) -> npt.NDArray[np.int64]:
    """A number for each row, the same if rows are alike in all dimensions, never negative."""
    keys, most = np.zeros(space[0].codes.size if space else 0, np.int64), 1
    for dimension in space:
        if most * dimension.size >= 2**62:
            found, keys = np.unique(keys, return_inverse=True)
            most = found.size
        keys = keys * dimension.size + dimension.codes
        most *= dimension.size
    return keys
