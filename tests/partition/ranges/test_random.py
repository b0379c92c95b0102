"""Random against a replay of the scan in plain Python."""

from math import sqrt

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.guarantees import Guarantee, Scale
from discreet.partition.kernels import shuffle
from discreet.partition.ranges.random import assign
from discreet.values.random import RandomSource
from partition.ranges.multisets import keeps, multisets


def widened(group, mark):
    return max(group[0] - mark, mark - group[-1], 0)


@settings(max_examples=500, deadline=None)
@given(case=multisets(most=30), seed=st.integers(0, 2**32))
def test_random_closes_groups_early(case, seed):
    """Group by group, rows join until the promise is kept; the rest join where they widen least."""
    counts, marks, k, e = case
    sensitive = np.random.default_rng(seed).permutation(np.repeat(np.arange(marks.size), counts)).astype(np.int32)
    guarantee = Guarantee.of({"k": k, "e": e}, Scale(marks))
    groups = assign([], sensitive, guarantee, RandomSource(seed)).tolist()
    order = shuffle(RandomSource(seed).words(sensitive.size)).tolist()
    closed, scanned = [], []
    for row in order:
        scanned.append(row)
        held = sorted(marks[sensitive[scanned]].tolist())
        if keeps(held, k, e):
            assert {groups[row] for row in scanned} == {len(closed)}
            closed.append(held)
            scanned = []
    assert sorted(set(groups)) == list(range(len(closed)))
    for row in scanned:
        mark = marks[sensitive[row]].item()
        assert widened(closed[groups[row]], mark) == min(widened(group, mark) for group in closed)


def test_groups_do_not_follow_row_order():
    """Two rows of a group are as far apart in the table as any two rows: a third of its length on average."""
    n = 20_000
    sensitive = np.arange(n, dtype=np.int32)
    groups = assign([], sensitive, Guarantee.of({"k": 2, "e": 0}, Scale(np.arange(n))), RandomSource(5))
    pairs = np.argsort(groups, kind="stable").reshape(-1, 2)
    distance = np.abs(pairs[:, 0] - pairs[:, 1]) / n
    # the distance of two uniform points has mean 1/3 and variance 1/18; six standard errors
    assert abs(distance.mean() - 1 / 3) < 6 * sqrt(1 / 18 / len(pairs))


def test_many_leftovers_are_placed_quickly():
    """One value is rare, and no group does without it: after it was met for the last time, all rows are left over."""
    sensitive = np.random.default_rng(1).permutation(np.append(np.arange(300_000) % 4, 4)).astype(np.int32)
    groups = assign([], sensitive, Guarantee.of({"k": 5, "e": 0}, Scale(np.arange(5))), RandomSource(0))
    assert set(groups.tolist()) == {0}
