"""The space as compiled partitions see it: plain arrays that say what a box costs in each dimension.

Places are told in extents, so that the cost of a range is a difference; every node of a tree is told
with the share of all values that lies under it. Tables of all dimensions stand one after the other.
Claim: frame_costs_as_the_space_does — the cost of a set of codes is what `space.penalties` tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.partition.space import Codes, Dimension

RANGE, TREE, SET = 0, 1, 2
FORMS = {"range": RANGE, "tree": TREE, "set": SET}


class Frame(NamedTuple):
    """Of each dimension: its form, its codes, where its tables start, the levels of its tree; then the tables."""

    forms: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    heights: npt.NDArray[np.int64]
    places: npt.NDArray[np.float64]
    nodes: Codes
    shares: npt.NDArray[np.float64]


def frame(space: Sequence[Dimension]) -> Frame:
    """The arrays of a space."""
    places, nodes, shares = [np.zeros(0)], [np.zeros(0, np.int32)], [np.zeros(0)]
    starts, heights = np.zeros(len(space), np.int64), np.zeros(len(space), np.int64)
    for i, dimension in enumerate(space):
        if dimension.levels is not None:
            starts[i], heights[i] = sum(table.size for table in nodes), dimension.levels.shape[0]
            for level in dimension.levels:
                leaves = np.bincount(level)[level]
                nodes.append(level.astype(np.int32))
                shares.append(np.where(leaves > 1, leaves / dimension.size, 0.0))
        elif dimension.places is not None:
            starts[i] = sum(table.size for table in places)
            places.append(_places(dimension))
    forms = np.array([FORMS[dimension.form] for dimension in space], np.int64)
    sizes = np.array([dimension.size for dimension in space], np.int64)
    tables: list[npt.NDArray[Any]] = [np.concatenate(table) for table in (places, nodes, shares)]
    return Frame(forms, sizes, starts, heights, *tables)


def _places(dimension: Dimension) -> npt.NDArray[np.float64]:
    """Where the codes lie, in extents from the first; a missing value is one extent or more from all others."""
    if dimension.places is None or dimension.extent == 0:
        return np.arange(dimension.size, dtype=np.float64) if dimension.missing else np.zeros(dimension.size)
    return (dimension.places - dimension.places[0]) / dimension.extent


@nb.njit(cache=True, nogil=True)
def common_level(codes, j, frame):  # type: ignore[no-untyped-def]
    """The lowest level of dimension j at which all codes share a node."""
    size, start, level = frame.sizes[j], frame.starts[j], 0
    first = np.int64(codes[0])
    for i in range(codes.size):
        while frame.nodes[start + level * size + codes[i]] != frame.nodes[start + level * size + first]:
            level += 1
    return level


@nb.njit(cache=True, nogil=True)
def range_cost(low, high, j, frame):  # type: ignore[no-untyped-def]
    """What the range from code `low` to code `high` costs; never nothing if these differ."""
    if low == high:
        return 0.0
    length = frame.places[frame.starts[j] + high] - frame.places[frame.starts[j] + low]
    return min(max(length, 1e-300), 1.0)
