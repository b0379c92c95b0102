"""Min_max against the plain dynamic programme over items, and against overlapping groups."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings

from discreet.partition.ranges.min_max import plan
from partition.ranges import min_max_exact
from partition.ranges.multisets import groups_of, keeps, least, multisets, reach
from partition.ranges.test_min_sum import FIGURE_1


@settings(max_examples=1000, deadline=None)
@example(case=(*FIGURE_1, 3, 2000))
@example(case=(np.ones(7, np.int64), np.array([0, 2, 3, 7, 11, 12, 13]), 3, 0))  # the next width lies past a dead end
@given(case=multisets())
def test_min_max_is_optimal(case):
    """To the last bit, floats too: a range is one subtraction."""
    counts, marks, k, e = case
    groups = groups_of(plan(*case), counts, marks)
    assert all(keeps(group, k, e) for group in groups)
    assert all(below[-1] <= above[0] for below, above in pairwise(groups))
    assert max(map(reach, groups)) == least(*case, reach, max)


@settings(max_examples=300, deadline=None)
@given(case=multisets(kinds=("few integers", "integers"), most=12))
def test_min_max_is_at_most_twice_exact(case):
    counts, marks, _, _ = case
    here, exact = (max(map(reach, groups_of(made, counts, marks))) for made in (plan(*case), min_max_exact.plan(*case)))
    assert exact <= here <= 2 * exact


@pytest.mark.parametrize("e", [0, 40])
def test_a_few_thousand_rows(e):
    rng = np.random.default_rng(e)
    marks, counts = np.unique(np.sort(rng.lognormal(6, 1, 1500).astype(np.int64)), return_counts=True)
    marks -= marks[0]
    groups = groups_of(plan(counts, marks, 5, e), counts, marks)
    assert all(keeps(group, 5, e) for group in groups)
    assert max(map(reach, groups)) == best_of_runs(counts.tolist(), marks.tolist(), 5, e)


def best_of_runs(counts, marks, k, e):
    """The programme over distinct values: a group may start where the one before it ends if two rows are there."""
    ends = []
    for b in range(len(marks)):
        ways = []
        for a in range(b - k + 2):
            before = [0] if a == 0 else [ends[a - 1], ends[a] if counts[a] > 1 else None]
            reached = [f for f in before if f is not None]
            if marks[b] - marks[a] >= e and reached:
                ways.append(max(min(reached), marks[b] - marks[a]))
        ends.append(min(ways, default=None))
    return ends[-1]


def test_figure_1():
    assert plan(*FIGURE_1, 3, 2000).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
