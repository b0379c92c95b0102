"""The space as compiled partitions see it: plain arrays that say what a box costs in each dimension.

Places are told in extents, so that the cost of a range is a difference; every node of a tree is told
with the share of all values that lies under it. The codes of a tree have places too, those under one
node side by side. Tables of all dimensions stand one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.partition.spatial.space import Codes, Dimension
from discreet.values.kernel import kernel

RANGE, TREE, SET = 0, 1, 2
FORMS = {"range": RANGE, "tree": TREE, "set": SET}


class Frame(NamedTuple):
    """Of each dimension: its form, its number of codes, and where its places and its nodes start; then the tables."""

    forms: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    roots: npt.NDArray[np.int64]
    places: npt.NDArray[np.float64]
    nodes: Codes
    shares: npt.NDArray[np.float64]


def frame(space: Sequence[Dimension]) -> Frame:
    """The arrays of a space."""
    sizes = np.array([dimension.size for dimension in space], np.int64)
    heights = np.array([0 if dimension.levels is None else len(dimension.levels) for dimension in space], np.int64)
    trees = [dimension.levels for dimension in space if dimension.levels is not None]
    return Frame(
        np.array([FORMS[dimension.form] for dimension in space], np.int64),
        sizes,
        np.cumsum(sizes) - sizes,
        np.cumsum(sizes * heights) - sizes * heights,
        np.concatenate([np.zeros(0), *(_places(dimension) for dimension in space)]),
        np.concatenate([np.zeros(0, np.int32), *(levels.astype(np.int32).ravel() for levels in trees)]),
        np.concatenate([np.zeros(0), *(_shares(level) for levels in trees for level in levels)]),
    )


def _places(dimension: Dimension) -> npt.NDArray[np.float64]:
    """Where the codes lie, in extents from the first; a missing value is one extent or more from all others."""
    places = np.zeros(dimension.size)
    if dimension.levels is not None:
        places[np.lexsort(dimension.levels)] = np.arange(dimension.size) / dimension.size
    elif dimension.places is not None and dimension.extent > 0:
        places = (dimension.places - dimension.places[0]) / dimension.extent
    elif dimension.places is not None and dimension.missing:
        places[-1] = 1
    return places


def _shares(level: Codes) -> npt.NDArray[np.float64]:
    """The share of all codes that lies under the node of each code, nothing if it is alone."""
    leaves = np.bincount(level)[level]
    return np.where(leaves > 1, leaves / level.size, 0.0)


@kernel
def common_level(codes, j, frame):  # type: ignore[no-untyped-def]
    """The lowest level of dimension j at which all codes share a node."""
    size, start, level = frame.sizes[j], frame.roots[j], 0
    first = np.int64(codes[0])
    for i in range(codes.size):
        while frame.nodes[start + level * size + codes[i]] != frame.nodes[start + level * size + first]:
            level += 1
    return level


@kernel
def range_cost(low, high, j, frame):  # type: ignore[no-untyped-def]
    """What the range from code `low` to code `high` costs; never nothing if these differ."""
    if low == high:
        return 0.0
    length = frame.places[frame.starts[j] + high] - frame.places[frame.starts[j] + low]
    return min(max(length, 1e-300), 1.0)
