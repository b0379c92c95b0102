"""Cluster: part the rows around two made-up extreme rows, again and again, then deal inside each part.

Source: Li et al., "Permutation anonymization" (2015), algorithm 2 and then algorithm 1. The extreme rows have the
largest and the smallest value of the part in every dimension. Rows come in random order, each to the side whose NCP it
makes grow less: that of all its rows together, so that it costs a large side more to grow than a small one. If a
side breaks the promises, the boundary is moved as little as possible (see `halves`), or, if it is to stay `fixed`
as in the paper, this try has failed; after so many `tries` the part stays whole. Values without an order or a
hierarchy are taken in the order of their codes. Parts of rows that are all alike are not parted.

If cuts are `blind`, a side breaks the promises if it has fewer rows than keep them whatever they hold: that follows
from the histogram of the part that is cut. Rows are shuffled again before they are dealt, and groups of a
part trade values (see `partition/trades.py`). So the groups say nothing of who in them holds which value (the proof is
that of `local`). `fitted` sides are judged by what they hold.
Cost: rows x dimensions x depth, about log(rows) levels. Memory: a float per row and dimension, twice.
Claim: cluster_makes_groups_of_l_to_2l_minus_1 — under `l`, and all values in a group are distinct.
Claim: blind_cuts_tell_nothing — every table with the groups' values has the same cells, by the same chance.
Claim: cluster_is_algorithm_2 — with a fixed boundary and fitted cuts the parts are those of a plain reading of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Literal

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.kernels import IntArray, shuffle
from discreet.partition.spatial.boxes import points_of
from discreet.partition.spatial.cluster.halve import part
from discreet.partition.spatial.packed import frame
from discreet.partition.spatial.space import Codes, Dimension
from discreet.partition.trades import in_cells
from discreet.values.random import RandomSource
from discreet.values.rule import only_counts

COARSE = 1 << 15  # rows below which all is left to one thread
TRIES = 5


def assign(
    space: Sequence[Dimension],
    sensitive: Codes,
    guarantee: Guarantee,
    secret: RandomSource,
    *,
    cuts: Literal["blind", "fitted"] = "blind",
    tries: int = TRIES,
    boundary: Literal["moved", "fixed"] = "moved",
) -> Codes:
    """The group of every row."""
    n, rule, dims = sensitive.size, guarantee.rule, frame([in_order(dimension) for dimension in space])
    rows, words = shuffle(secret.words(n)), secret.words(n)
    points, values = points_of(dims, [dimension.codes for dimension in space], rows), sensitive[rows]
    kinds, blind = int(values.max(initial=0)) + 1, cuts == "blind" and not only_counts(rule)
    starts, depths, moved = np.zeros(1, np.int64), np.zeros(1, np.int64), boundary == "moved"
    with ThreadPoolExecutor() as threads:
        for coarse in (n // 2, n // 16, 0) if n > COARSE else (0,):

            def finer(low: int, high: int, depth: int, coarse: int = coarse) -> tuple[IntArray, IntArray]:
                made: tuple[IntArray, IntArray] = part(
                    points, values, rows, words, low, high, depth, coarse, tries, moved, blind, kinds, dims, rule
                )
                return made

            made = threads.map(finer, starts.tolist(), [*starts[1:].tolist(), n], depths.tolist())
            starts, depths = (np.concatenate(pieces) for pieces in zip(*made, strict=True))
    edges = np.append(starts, n)
    return in_cells(edges, values, rows, rule, secret)


def in_order(dimension: Dimension) -> Dimension:
    """The dimension with a line through its values if it is a set; a missing value lies one extent beyond."""
    if dimension.form != "set":
        return dimension
    places = np.arange(dimension.size, dtype=np.float64)
    if dimension.missing and dimension.size > 1:
        places[-1] += max(dimension.size - 3, 0)
    return replace(dimension, places=places)
