"""TopDown: every promise in every space, near rows together, and the same result whatever the threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.guarantees import Histograms
from discreet.partition.spatial.space import Dimension, penalties
from discreet.partition.spatial.topdown import topdown
from discreet.partition.spatial.topdown.topdown import assign
from discreet.values.random import RandomSource
from partition.spatial.spaces import as_sets, cases, guarantee, keeps, members, named, ranged, tree, untouched

GOLDEN = np.array([(1, 1), (2, 2), (1, 4), (2, 3), (3, 1), (3, 2), (5, 4)])  # rows A to G of paper 2, figure 1


def alike(n):
    return np.zeros(n, np.int32)


@settings(max_examples=300, deadline=None)
@given(case=cases(), seed=st.integers(0, 2**32), cuts=st.sampled_from(("blind", "fitted")))
def test_topdown_keeps_its_promises(case, seed, cuts):
    space, sensitive, promised = case

    def act():
        return assign(space, sensitive, guarantee(promised), RandomSource(seed), cuts=cuts)

    groups = untouched(space, sensitive, act)
    assert groups.dtype == np.int32
    assert groups.shape == sensitive.shape
    assert all(keeps(sensitive[rows].tolist(), promised) for rows in members(groups))
    assert guarantee(promised).holds(Histograms.of(groups, sensitive)).all()
    assert np.array_equal(groups, act())


@settings(max_examples=200, deadline=None)
@given(case=cases(), seed=st.integers(0, 2**32), data=st.data())
def test_rows_that_are_not_needed_may_be_left_out(case, seed, data):
    space, sensitive, promised = case
    needed = data.draw(st.integers(1, sensitive.size))
    groups = assign(space, sensitive, guarantee(promised), RandomSource(seed), needed=needed)
    assert (groups[:needed] >= 0).all()
    kept = np.flatnonzero(groups >= 0)
    assert all(keeps(sensitive[kept[rows]].tolist(), promised) for rows in members(groups[kept]))


def test_paper_2_figure_1():
    """Seven rows, k = 3: two groups; the paper's own have NCP 62, and the best there are have no more."""
    space = [ranged(column) for column in GOLDEN.T]

    def perimeter(groups):
        return sum(len(rows) * 2 * np.ptp(GOLDEN[rows], axis=0).sum() for rows in members(groups))

    assert perimeter(np.array([0, 0, 0, 0, 1, 1, 1])) == 62
    found = []
    for seed in range(40):
        groups = assign(space, alike(7), guarantee({"k": 3}), RandomSource(seed))
        assert sorted(np.bincount(groups)) == [3, 4]
        found.append(perimeter(groups))
    assert min(found) <= 62


@pytest.mark.parametrize("promised", [{"k": 6}, {"l": 4}, {"distinct_l": 5}], ids=str)
@pytest.mark.parametrize("per_cluster", [24, 41])
def test_groups_do_not_cross_clusters(promised, per_cluster):
    """Clusters that lie far apart, each keeping the promises by itself: no group has rows of two."""
    rng = np.random.default_rng(3)
    x, y = np.divmod(np.repeat(np.arange(16), per_cluster), 4)
    sensitive = np.tile(np.arange(per_cluster) % 7, 16).astype(np.int32)
    space = [ranged(100 * side + rng.integers(0, 10, side.size)) for side in (x, y)]
    groups = assign(space, sensitive, guarantee(promised), RandomSource(3), cuts="fitted")
    for rows in members(groups):
        assert len({(x[row], y[row]) for row in rows}) == 1


def test_an_outlier_joins_its_neighbour():
    """Two rows far out cannot stand alone; they join the nearer of two clusters, or take rows of it."""
    values = np.array([*range(10), *range(50, 60), 70, 72])
    for seed in range(10):
        groups = assign([ranged(values)], alike(22), guarantee({"k": 4}), RandomSource(seed))
        assert min(np.bincount(groups)) >= 4
        assert groups[20] == groups[21]
        assert values[groups == groups[20]].min() >= 50


def test_rows_that_are_all_alike_are_dealt_evenly():
    sensitive = np.arange(64, dtype=np.int32) % 8
    groups = assign([ranged([5] * 64), named([2] * 64)], sensitive, guarantee({"k": 8}), RandomSource(0))
    assert np.bincount(groups).tolist() == [8] * 8


def test_boxes_are_far_smaller_than_by_chance():
    """In ranges, trees and sets together."""
    rng = np.random.default_rng(8)
    latent = rng.integers(0, 8, 4000)
    space = [
        ranged(100 * latent + rng.integers(0, 100, 4000)),
        tree(latent, [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1]),
        named(latent),
    ]
    groups = assign(space, alike(4000), guarantee({"k": 10}), RandomSource(1))
    near, far = penalties(space, groups), penalties(space, rng.permutation(groups))
    assert (near.mean(axis=0) < far.mean(axis=0) / 10).all()


@pytest.mark.parametrize("coarse", [1, 50, 1000])
@pytest.mark.parametrize("promised", [{"k": 7}, {"l": 4}], ids=str)
def test_threads_change_nothing(monkeypatch, coarse, promised):
    rng = np.random.default_rng(6)
    codes = [rng.integers(0, width, 3000).astype(np.int32) for width in (3, 50, 4000)]
    space = [tree(codes[0], [0, 0, 1]), named(codes[1]), Dimension(codes[2], 4000, np.arange(4000.0))]
    values = rng.integers(0, 8, 3000).astype(np.int32)
    alone = assign(space, values, guarantee(promised), RandomSource(11))
    monkeypatch.setattr(topdown, "COARSE", coarse)
    assert np.array_equal(assign(space, values, guarantee(promised), RandomSource(11)), alone)


def test_seeds_matter():
    rng = np.random.default_rng(1)
    space = [ranged(rng.integers(0, 30, 400)), ranged(rng.integers(0, 30, 400))]
    made = {
        frozenset(as_sets(assign(space, alike(400), guarantee({"k": 5}), RandomSource(seed)))) for seed in range(10)
    }
    assert len(made) == 10


def test_no_dimensions():
    groups = assign([], alike(12), guarantee({"k": 3}), RandomSource(0))
    assert np.bincount(groups).tolist() == [3] * 4
