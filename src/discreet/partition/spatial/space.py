"""The space that rows lie in: one dimension per quasi-identifier, as partitions that form boxes see it.

A dimension is a `range` where values have an order and distances, a `tree` where a hierarchy says what
belongs together, and else a `set`: values that have nothing in common but being named together. What a
box costs in one dimension is the share of the dimension that it covers, nothing if it is a point; the
sum over all rows and dimensions is the normalised certainty penalty (NCP).

Source: Xu et al., "Utility-based anonymization using local recoding", KDD 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.values.boxes import ends

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Dimension:
    """The code of every row, of `size` codes in the order of values; a `missing` value has the last.

    `places` says where each code lies on a line, a missing value one whole extent beyond the largest.
    `levels` has the node of each code from the code itself up to the root, which is node 0.
    """

    codes: Codes
    size: int
    places: npt.NDArray[np.float64] | None = None
    levels: Codes | None = None
    missing: bool = False

    @property
    def form(self) -> Literal["range", "tree", "set"]:
        if self.levels is not None:
            return "tree"
        return "set" if self.places is None else "range"

    @cached_property
    def extent(self) -> float:
        """How far the present values lie apart."""
        if self.places is None or self.size - self.missing < 2:
            return 0.0
        return float(self.places[self.size - 1 - self.missing] - self.places[0])


def penalties(space: Sequence[Dimension], groups: Codes) -> npt.NDArray[np.float64]:
    """What a row of each group costs in each dimension, from 0 to 1: a line per group; negative groups are left out."""
    kept = groups >= 0
    of_row, count = groups[kept], int(groups.max(initial=-1)) + 1
    costs = np.zeros((count, len(space)))
    for i, dimension in enumerate(space):
        codes = dimension.codes[kept]
        if dimension.form == "range":
            costs[:, i] = _range(dimension, codes, of_row, count)
        elif dimension.levels is not None:
            costs[:, i] = _tree(dimension.levels, codes, of_row, count)
        else:
            pairs = np.unique(of_row.astype(np.int64) * dimension.size + codes)
            distinct = np.bincount(pairs // dimension.size, minlength=count)
            costs[:, i] = np.where(distinct > 1, distinct / dimension.size, 0.0)
    return costs


def _range(dimension: Dimension, codes: Codes, groups: Codes, count: int) -> npt.NDArray[np.float64]:
    if dimension.places is None or dimension.extent == 0:
        mixed = np.zeros(count, np.bool_)
        if dimension.missing:
            low, high = ends(codes, groups, count)
            mixed = low != high
        return mixed.astype(np.float64)
    low, high = ends(codes, groups, count)
    return np.minimum((dimension.places[high] - dimension.places[low]) / dimension.extent, 1.0)


def common_nodes(levels: Codes, codes: Codes, groups: Codes, count: int) -> tuple[Codes, Codes]:
    """The lowest level on which all codes of a group share a node, and that node; level -1 if it has no code."""
    level, node = np.full(count, -1, np.int32), np.zeros(count, np.int32)
    for i, nodes in enumerate(levels):
        low, high = ends(nodes[codes], groups, count)
        shared = (level < 0) & (low == high)
        level[shared], node[shared] = i, low[shared]
    return level, node


def _tree(levels: Codes, codes: Codes, groups: Codes, count: int) -> npt.NDArray[np.float64]:
    """The leaves under the lowest node that all codes of a group share, among all leaves."""
    leaves, (level, node) = np.zeros(count), common_nodes(levels, codes, groups, count)
    for i, nodes in enumerate(levels):
        leaves[level == i] = np.bincount(nodes)[node[level == i]]
    return np.where(leaves > 1, leaves / levels.shape[1], 0.0)
