"""Boxes against all points of a small grid, and the ends of groups against each group by itself."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.values.boxes import bits, box_of, boxes_of, codes_of, ends, mask
from discreet.values.columns import Column

COLUMNS = (Column("age", pa.int64()), Column("town", pa.string()))
POINTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=6)


def inside(box, point):
    return box.lows[0] <= point[0] <= box.highs[0] and box.sets[1] >> point[1] & 1 == 1


def grid():
    return [(x, code) for x in range(5) for code in range(4)]


@given(POINTS)
def test_boxes_hold_their_rows(points):
    box = box_of(np.array(points, float), COLUMNS)
    held = {point for point in grid() if inside(box, point)}
    xs, codes = {x for x, _ in points}, {code for _, code in points}
    assert held == {(x, code) for x, code in grid() if min(xs) <= x <= max(xs) and code in codes}
    assert (box.sets[0], box.lows[1], box.highs[1]) == (0, 0.0, 0.0)


@given(POINTS, POINTS)
def test_boxes_meet_where_they_share_a_point(one, other):
    boxes = [box_of(np.array(points, float), COLUMNS) for points in (one, other)]
    shared = [point for point in grid() if all(inside(box, point) for box in boxes)]
    assert boxes[0].meets(boxes[1]) == boxes[1].meets(boxes[0]) == bool(shared)
    both, joined = box_of(np.array(one + other, float), COLUMNS), boxes[0].joined(boxes[1])
    assert (both.sets, both.lows.tolist(), both.highs.tolist()) == (
        joined.sets,
        joined.lows.tolist(),
        joined.highs.tolist(),
    )


def test_boxes_of_many_groups():
    draw = np.random.default_rng(1)
    columns = (Column("a", pa.float64()), Column("b", pa.string()), Column("c", pa.string()))
    points = np.column_stack([draw.random(50), draw.integers(0, 60, 50), draw.integers(0, 100, 50)])
    starts = np.array([0, 3, 20, 21])
    for box, rows in zip(boxes_of(points, starts, columns), np.split(points, starts[1:]), strict=True):
        alone = box_of(rows, columns)
        assert box.sets == alone.sets
        assert np.array_equal(box.lows, alone.lows)
        assert np.array_equal(box.highs, alone.highs)


def test_boxes_with_a_missing_column_meet_in_the_others():
    columns = (Column("a", pa.float64()), Column("b", pa.float64()))
    box = box_of(np.array([[np.nan, 1.0], [np.nan, 3.0]]), columns)
    assert box.meets(box_of(np.array([[np.nan, 2.0]]), columns))
    assert not box.meets(box_of(np.array([[np.nan, 4.0]]), columns))


@given(st.lists(st.integers(0, 200), min_size=1, max_size=60))
def test_sets_are_bits(codes):
    number = mask(np.array(codes, float))
    assert codes_of(number).tolist() == sorted(set(codes))
    assert not bits(number)[-1]


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4))))
def test_ends_are_those_of_each_group(kind, rows):
    values, groups = np.array(rows, kind).reshape(-1, 2).T
    low, high = ends(values, groups.astype(np.int64), 5)
    assert low.dtype == high.dtype == kind
    for group in range(5):
        mine = [value for value, of in rows if of == group]
        assert (low[group], high[group]) == (min(mine), max(mine)) if mine else low[group] > high[group]
