"""Boxes that grow: around rows that come one by one, with what they cost in every dimension.

A row is a point: its place in a range, its code in a tree or a set. The cost of a box is its normalised
perimeter, the sum of what it costs in each dimension. Kernels put in one row at a time; boxes around rows that
are known at once are in `values/boxes.py`.

Claim: boxes_cost_as_the_space_does — a box around rows costs what `space.penalties` tells of them as a group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.partition.kernels import IntArray
from discreet.partition.spatial.packed import RANGE, SET, TREE, Frame
from discreet.partition.spatial.space import Codes
from discreet.values.kernel import kernel, kernel_with


class GrowingBox(NamedTuple):
    """Per dimension what it costs, and the ends of a range, or the level of a node and a code under it.

    Of a set `low` is the number of names. A name is in the box if its `marks` tell the box's `turn`, so that a box
    is emptied without a loop.
    """

    costs: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    marks: IntArray
    turn: IntArray


@kernel
def new_box(frame):  # type: ignore[no-untyped-def]
    d, names = frame.sizes.size, 0
    for j in range(d):
        if frame.forms[j] == SET:
            names = frame.places.size
    return GrowingBox(np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(names, np.int64), np.zeros(1, np.int64))


@kernel
def to_points(codes, j, frame, rows, points):  # type: ignore[no-untyped-def]
    """Write column j of the points: of the rows in the order told."""
    for i in range(rows.size):
        code = codes[rows[i]]
        points[i, j] = frame.places[frame.starts[j] + code] if frame.forms[j] == RANGE else code


@kernel
def start(box, point, frame):  # type: ignore[no-untyped-def]
    """Empty the box, and put one point in."""
    box.turn[0] += 1
    for j in range(point.size):
        box.costs[j] = 0
        box.low[j] = box.high[j] = point[j]
        if frame.forms[j] == TREE:
            box.low[j] = 0
        elif frame.forms[j] != RANGE:
            box.low[j] = 1
            box.marks[frame.starts[j] + np.int64(point[j])] = box.turn[0]


@kernel
def growth(box, point, frame):  # type: ignore[no-untyped-def]
    """How much more the box costs if a point is put in."""
    more = 0.0
    for j in range(point.size):
        x = point[j]
        if frame.forms[j] == RANGE:  # without a branch: nobody can guess where a point lies
            more += min(max(box.high[j], x) - min(box.low[j], x), 1.0) - box.costs[j]
        elif frame.forms[j] == TREE:
            level = _climb(box, x, j, frame)
            if level > box.low[j]:
                more += frame.shares[frame.roots[j] + level * frame.sizes[j] + np.int64(x)] - box.costs[j]
        elif box.marks[frame.starts[j] + np.int64(x)] != box.turn[0]:
            more += (box.low[j] + 1) / frame.sizes[j] - box.costs[j]
    return more


@kernel_with(inline="always")
def include(box, point, frame):  # type: ignore[no-untyped-def]
    """Put a point in."""
    for j in range(point.size):
        x = point[j]
        if frame.forms[j] == RANGE:
            if x < box.low[j] or x > box.high[j]:
                box.low[j], box.high[j] = min(box.low[j], x), max(box.high[j], x)
                box.costs[j] = min(box.high[j] - box.low[j], 1.0)
        elif frame.forms[j] == TREE:
            level = _climb(box, x, j, frame)
            if level > box.low[j]:
                box.low[j] = level
                box.costs[j] = frame.shares[frame.roots[j] + level * frame.sizes[j] + np.int64(x)]
        elif box.marks[frame.starts[j] + np.int64(x)] != box.turn[0]:
            box.marks[frame.starts[j] + np.int64(x)] = box.turn[0]
            box.low[j] += 1
            box.costs[j] = box.low[j] / frame.sizes[j]


@kernel
def _climb(box, x, j, frame):  # type: ignore[no-untyped-def]
    """The lowest level at which a code shares a node with those in the box."""
    level, code, held = np.int64(box.low[j]), np.int64(x), np.int64(box.high[j])
    at = frame.roots[j] + level * frame.sizes[j]
    while frame.nodes[at + code] != frame.nodes[at + held]:
        level += 1
        at += frame.sizes[j]
    return level


@kernel
def cost_of(box, points, members, frame):  # type: ignore[no-untyped-def]
    """What a box around some of the points costs; it is left in `box`."""
    start(box, points[members[0]], frame)
    for i in range(1, members.size):
        include(box, points[members[i]], frame)
    cost = 0.0
    for j in range(box.costs.size):
        cost += box.costs[j]
    return cost


@kernel_with(inline="always")
def apart(one, other, frame):  # type: ignore[no-untyped-def]
    """What a box around two points costs."""
    cost = 0.0
    for j in range(one.size):
        x, y = one[j], other[j]
        if frame.forms[j] == RANGE:
            cost += min(abs(x - y), 1.0)
        elif x == y:
            continue
        elif frame.forms[j] == TREE:
            at = frame.roots[j]
            while frame.nodes[at + np.int64(x)] != frame.nodes[at + np.int64(y)]:
                at += frame.sizes[j]
            cost += frame.shares[at + np.int64(x)]
        else:
            cost += 2 / frame.sizes[j]
    return cost


def points_of(frame: Frame, columns: list[Codes], rows: Codes) -> npt.NDArray[np.float64]:
    """The points of rows in the order told, one line each."""
    points = np.empty((rows.size, len(columns)))
    for j, codes in enumerate(columns):
        to_points(codes, j, frame, rows, points)
    return points
