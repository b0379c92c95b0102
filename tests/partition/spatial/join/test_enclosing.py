"""Boxes that hold rows: against looking at every box, in any space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.partition.spatial.join import enclosing
from discreet.partition.spatial.join.enclosing import smallest_boxes
from discreet.partition.spatial.space import Dimension, penalties
from partition.spatial.spaces import dimensions, members


def holds(axis, rows, row):
    """Whether the box of rows holds a row, in one dimension."""
    codes, code = axis.codes[rows].tolist(), int(axis.codes[row])
    if axis.form == "set":
        return code in codes
    if axis.form == "tree":
        shared = next(nodes for nodes in axis.levels if len(set(nodes[codes].tolist())) == 1)
        return shared[code] == shared[codes[0]]
    gone = axis.size - 1 if axis.missing else -1
    present = [c for c in codes if c != gone]
    return gone in codes if code == gone else bool(present) and min(present) <= code <= max(present)


@st.composite
def cases(draw):
    n = draw(st.integers(1, 30))
    space = [draw(dimensions(n)) for _ in range(draw(st.integers(1, 3)))]
    groups = draw(st.lists(st.integers(0, 6), min_size=1, max_size=n))
    return space, np.unique(groups, return_inverse=True)[1].astype(np.int32)


@settings(max_examples=300, deadline=None)
@given(case=cases(), word=st.sampled_from([1, 2, 64]))
def test_rows_are_found_in_the_smallest_box(case, word):
    space, groups = case
    mine = [Dimension(d.codes[: groups.size], d.size, d.places, d.levels, d.missing) for d in space]
    sizes = penalties(mine, groups).sum(axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enclosing, "WORD", word)
        found = smallest_boxes(space, groups)
    assert found.size == space[0].codes.size - groups.size
    for row, box in enumerate(found.tolist(), groups.size):
        around = [g for g, rows in enumerate(members(groups)) if all(holds(axis, rows, row) for axis in space)]
        assert box == min(around, key=lambda g: (sizes[g], g), default=-1)


def test_many_boxes():
    """More than fit in a word: every row lies in its own point."""
    codes = np.arange(1000, dtype=np.int32)
    space = [Dimension(np.concatenate([codes, codes[::-1]]), 1000, np.arange(1000.0))]
    assert np.array_equal(smallest_boxes(space, codes), codes[::-1])
