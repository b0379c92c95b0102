"""Losses: exact on every point against counting row by row, and never below their bounds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.partition.spatial.full_domain.lattice import Lattice
from discreet.partition.spatial.full_domain.losses import LOSSES
from partition.spatial.lattices import groups_at, loss_at, spaces


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_bounds_lie_below_losses(name, data):
    """Some groups are suppressed, whichever; bounds hold before and after the groups of a point are known."""
    rows = data.draw(st.integers(1, 20))
    space = data.draw(spaces(rows, most=3))
    lattice = Lattice.of(space, None)
    loss = LOSSES[name](lattice)
    least = loss.least().copy()
    assert least.shape == loss.ranks().shape == lattice.shape
    points = data.draw(st.permutations(list(product(*map(range, lattice.shape)))))
    for point in points[:12]:
        groups = lattice.at(point)
        found = groups_at(space, lattice.levels(point))
        nodes = list(zip(*(column.tolist() for column in lattice.nodes(groups)), strict=True))
        chosen = data.draw(st.lists(st.booleans(), min_size=len(nodes), max_size=len(nodes)))
        suppressed = np.flatnonzero(chosen).astype(np.int32)
        published = {node for node, gone in zip(nodes, chosen, strict=True) if not gone}
        expected = loss_at(space, lattice.levels(point), found, published, name)
        assert loss.exact(groups, suppressed) == expected * loss.unit
        prices = loss.prices(groups, np.arange(len(nodes), dtype=np.int32))
        sums = groups.sizes @ np.where(chosen, loss.full, prices)
        scale = rows if name == "geometric" else 1  # which is no sum over rows
        assert name == "geometric" or sums == pytest.approx(float(expected))
        assert prices.max() <= loss.full * (1 + 1e-12)
        lost = groups.sizes[suppressed] // 2
        added = loss.added(groups, suppressed, lost)
        assert added == pytest.approx(float(lost @ (loss.full - prices[suppressed])) / scale)
        gone = loss.added(groups, suppressed, groups.sizes[suppressed])
        assert loss.exact(groups, suppressed[:0]) / loss.unit + gone <= float(expected) * (1 + 1e-9) + 1e-9
        loss.learn(groups, least[tuple(slice(i, None) for i in point)])
        everything = loss.exact(groups, suppressed[:0]) / loss.unit
        assert least[point] <= everything * (1 + 1e-12) <= float(expected) * (1 + 2e-12)


def test_ncp_by_hand():
    """Two columns, of 4 codes in pairs and of 2: half of one costs 2/4 per row, all of the other 1."""
    from discreet.partition.spatial.space import Dimension

    pairs = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32)
    space = [
        Dimension(np.array([0, 1, 2, 3, 3], np.int32), 4, levels=pairs),
        Dimension(np.array([0, 0, 1, 1, 1], np.int32), 2),
    ]
    lattice = Lattice.of(space, None)
    ncp, pairs_alike = (LOSSES[name](lattice) for name in ("ncp", "discernibility"))
    assert ncp.least().tolist() == [[0, 5], [2.5, 7.5], [5, 10]]
    none, first = np.zeros(0, np.int32), np.zeros(1, np.int32)
    assert ncp.exact(lattice.at((1, 0)), none) / ncp.unit == 2.5
    assert ncp.exact(lattice.at((1, 0)), first) / ncp.unit == 1.5 + 2 * 2
    assert pairs_alike.exact(lattice.at((1, 0)), none) == 4 + 9
    assert pairs_alike.exact(lattice.at((1, 0)), first) == 2 * 5 + 9
