"""Boxes that grow: what they cost, against the cost of a finished group."""

import numpy as np
import pytest
from hypothesis import given, settings

from discreet.partition.spatial.boxes import apart, cost_of, growth, include, new_box, points_of, start
from discreet.partition.spatial.packed import frame
from discreet.partition.spatial.space import Dimension, penalties
from partition.spatial.spaces import cases


@settings(max_examples=200, deadline=None)
@given(case=cases())
def test_boxes_cost_as_the_space_does(case):
    space, sensitive, _ = case
    dims, rows = frame(space), np.arange(sensitive.size, dtype=np.int32)
    points = points_of(dims, [axis.codes for axis in space], rows)

    def expected(rows):
        part = [Dimension(axis.codes[rows], axis.size, axis.places, axis.levels, axis.missing) for axis in space]
        return penalties(part, np.zeros(len(rows), np.int32))[0]

    box = new_box(dims)
    start(box, points[0], dims)
    for row in rows[1:]:
        before, more = box.costs.sum(), growth(box, points[row], dims)
        include(box, points[row], dims)
        assert box.costs == pytest.approx(expected(rows[: row + 1]))
        assert box.costs.sum() - before == pytest.approx(more)
        assert apart(points[0], points[row], dims) == pytest.approx(expected(np.array([0, row])).sum())
    assert cost_of(box, points, rows[::-1].copy(), dims) == pytest.approx(expected(rows).sum())
