"""Mending: broken parts of any kind are brought to keep the promises, without losing a row."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.partition.spatial.boxes import points_of
from discreet.partition.spatial.packed import frame
from discreet.partition.spatial.topdown.mend import mend
from partition.spatial.spaces import cases, guarantee, keeps, members, ranged


def mended(space, sensitive, promised, cuts, idle=None):
    """The groups after parts that start at the cuts, in the order of rows, are mended."""
    edges = np.array([0, *cuts, sensitive.size])
    parts = [sensitive[low:high].tolist() for low, high in pairwise(edges)]
    whole = np.array([keeps(part, promised) for part in parts])
    dims = frame(space)
    points = points_of(dims, [axis.codes for axis in space], np.arange(sensitive.size, dtype=np.int32))
    idle = np.zeros(whole.size, np.bool_) if idle is None else np.array(idle)
    return mend(points, sensitive, edges, whole, idle, 8, dims, guarantee(promised).rule)


@settings(max_examples=300, deadline=None)
@given(case=cases(), data=st.data())
def test_mending_loses_no_row(case, data):
    space, sensitive, promised = case
    cuts = data.draw(st.sets(st.integers(1, sensitive.size - 1)))
    groups = mended(space, sensitive, promised, sorted(cuts))
    assert all(keeps(sensitive[rows].tolist(), promised) for rows in members(groups))


def test_the_nearer_neighbour_is_merged():
    space = [ranged([0, 1, 2, 3, 20, 22, 30, 31, 32, 33])]
    groups = mended(space, np.zeros(10, np.int32), {"k": 4}, [4, 6])
    assert groups.tolist() == [0] * 4 + [1] * 6


def test_rows_are_taken_if_that_costs_less():
    """A neighbour with rows to spare gives its nearest."""
    space = [ranged([0, 1, *range(3, 13), 100])]
    groups = mended(space, np.zeros(13, np.int32), {"k": 4}, [2, 12])
    assert frozenset({0, 1, 2, 3}) in {frozenset(rows) for rows in members(groups)}


def test_what_keeps_the_promises_stays():
    space = [ranged(range(12))]
    groups = mended(space, np.zeros(12, np.int32), {"k": 3}, [3, 7])
    assert groups.tolist() == [0] * 3 + [1] * 4 + [2] * 5


def test_what_is_idle_is_not_mended():
    """Of three broken parts two are idle: the third takes the nearer of them, and the other is left out."""
    space = [ranged([0, 1, 2, 10, 11, 90, 91, 92])]
    groups = mended(space, np.zeros(8, np.int32), {"k": 4}, [3, 5], idle=[True, False, True])
    assert groups.tolist() == [0] * 5 + [-1] * 3
