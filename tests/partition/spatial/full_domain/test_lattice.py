"""Lattice: points are counted right wherever they are rolled up from; levels that change nothing are left out."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.partition.spatial.full_domain.lattice import Axis, Lattice
from discreet.partition.spatial.space import Dimension
from partition.spatial.lattices import groups_at, spaces


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 25))
    sensitive = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    return draw(spaces(rows, most=3)), np.array(sensitive, np.int32)


@settings(max_examples=200, deadline=None)
@given(table=tables(), order=st.randoms(use_true_random=False), by_value=st.booleans())
def test_rolled_up_is_counted_anew(table, order, by_value):
    space, sensitive = table
    lattice = Lattice.of(space, sensitive if by_value else None)
    points = list(product(*map(range, lattice.shape)))
    order.shuffle(points)
    for point in points:
        groups = lattice.at(point)
        expected = groups_at(space, lattice.levels(point))
        nodes = list(zip(*(column.tolist() for column in lattice.nodes(groups)), strict=True))
        assert dict(zip(nodes, groups.sizes.tolist(), strict=True)) == {n: len(rows) for n, rows in expected.items()}
        entries = zip(groups.entry_groups.tolist(), groups.entry_values.tolist(), strict=True)
        held = Counter({(n, value): 1 for n, rows in expected.items() for value in sensitive[rows].tolist()})
        counted = {(nodes[group], value) for group, value in entries}
        assert counted == (set(held) if by_value else set())
        if by_value:
            assert np.array_equal(np.bincount(groups.entry_groups, groups.entry_counts), groups.sizes)
        of_rows, again = lattice.of_rows(point)
        assert {frozenset(np.flatnonzero(of_rows == g).tolist()) for g in range(again.sizes.size)} == {
            frozenset(rows) for rows in expected.values()
        }


def test_levels_that_join_nothing_are_left_out():
    """Codes 0 and 2 are held. The second level joins 0 and 1, which nobody sees; the third joins what is held."""
    levels = np.array([[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 1], [0, 0, 0, 0]], np.int32)
    axis = Axis.of(Dimension(np.array([0, 2, 2], np.int32), 4, levels=levels))
    assert axis.levels == (0, 2)
    assert axis.kinds == (4, 2)
    assert [leaves.tolist() for leaves in axis.leaves] == [[0, 0, 0, 0], [3, 3, 3, 0]]


@pytest.mark.parametrize("size", [2**16, 2**16 + 1])
def test_codes_beyond_sixteen_bits(size):
    codes = np.array([0, size - 1, size - 1, 5], np.int32)
    lattice = Lattice.of([Dimension(codes, size), Dimension(np.array([0, 1, 1, 0], np.int32), 2)], None)
    assert lattice.lowest.sizes.tolist() == [1, 1, 2]
    assert lattice.at((0, 1)).sizes.tolist() == [1, 1, 2]
    assert lattice.at((1, 0)).sizes.tolist() == [2, 2]
