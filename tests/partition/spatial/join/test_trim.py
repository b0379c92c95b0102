"""Trimmed boxes: against all ways to leave public rows out, on tiny tables of any form."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.partition.spatial.join.trim import trim
from partition.spatial.spaces import dimensions, members, named, ranged, tree


def box(space, rows):
    """What a release would show of rows: ends and whether any is missing, the lowest node they share, or all values."""
    sides = []
    for axis in space:
        codes = axis.codes[rows].tolist()
        if axis.form == "range":
            present = [code for code in codes if code < axis.size - axis.missing]
            sides.append((min(present, default=None), max(present, default=None), len(present) < len(codes)))
        elif axis.form == "tree":
            level = next(i for i, nodes in enumerate(axis.levels) if len(set(nodes[codes].tolist())) == 1)
            sides.append((level, int(axis.levels[level, codes[0]])))
        else:
            sides.append(frozenset(codes))
    return sides


def trimmed(space, groups, private, k):
    """The rows that stay of every group that has a private row."""
    own = [rows for rows in members(np.asarray(groups)) if rows[0] < private]
    edges = np.cumsum([0, *map(len, own)])
    stays = trim(space, np.array([row for rows in own for row in rows], np.int32), edges, private, k).tolist()
    return [([row for row in stays if row in rows], rows) for rows in own]


@st.composite
def cases(draw):
    n = draw(st.integers(1, 12))
    groups = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    space = [draw(dimensions(n)) for _ in range(draw(st.integers(1, 3)))]
    groups = np.unique(groups, return_inverse=True)[1]
    return space, groups, draw(st.integers(1, n)), draw(st.integers(1, 5))


@settings(max_examples=300, deadline=None)
@given(case=cases())
def test_trimmed_boxes_cannot_shrink(case):
    space, groups, private, k = case
    for stays, rows in trimmed(space, groups, private, k):
        assert set(stays) <= set(rows)
        assert len(stays) >= min(k, len(rows))
        assert [row for row in stays if row < private] == [row for row in rows if row < private]
        public = [row for row in stays if row >= private]
        here = box(space, stays)
        for number in range(1, len(stays) - k + 1):
            for out in combinations(public, number):
                assert box(space, [row for row in stays if row not in out]) == here


def test_rows_that_shrink_nothing_stay():
    """As many as there are: more people look alike."""
    space = [ranged([1, 2, 3, 2, 2, 2, 2])]
    assert trimmed(space, [0] * 7, 3, 2) == [([0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6])]


def test_every_form_is_trimmed():
    """Two private rows and four public ones, of which two are needed: those that are like the private ones."""
    for space in (
        [ranged([5, 6, 6, 5, 9, 2])],
        [ranged([5, 6, 6, 5], missing=2)],
        [named([0, 1, 1, 0, 2, 3])],
        [tree([0, 1, 1, 0, 2, 3], [0, 0, 1, 1])],
    ):
        assert trimmed(space, [0] * 6, 2, 4) == [([0, 1, 2, 3], [0, 1, 2, 3, 4, 5])]


def test_what_saves_most_per_row_goes_first():
    """One row reaches far out in the first column; three, a little farther than others, in the second."""
    space = [ranged([0, 0, 0, 0, 0, 64]), ranged([0, 0, 4, 4, 4, 0])]
    assert trimmed(space, [0] * 6, 2, 5) == [([0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5])]
    assert trimmed(space, [0] * 6, 2, 2) == [([0, 1], [0, 1, 2, 3, 4, 5])]
    assert trimmed(space, [0] * 6, 2, 3) == [([0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5])]
