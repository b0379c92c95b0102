"""Min_sum against the plain dynamic programme over items."""

from itertools import pairwise
from math import fsum

import numpy as np
from hypothesis import example, given, settings

from discreet.partition.ranges.min_sum import plan
from partition.ranges.multisets import groups_of, keeps, least, multisets, reach

FIGURE_1 = np.array([1, 1, 1, 1, 1, 2, 1, 1]), np.array([0, 1000, 2000, 11000, 16000, 21000, 26000, 31000])


@settings(max_examples=1000, deadline=None)
@example(case=(*FIGURE_1, 3, 2000))
@given(case=multisets())
def test_min_sum_is_optimal(case):
    counts, marks, k, e = case
    groups = groups_of(plan(*case), counts, marks)
    assert all(keeps(group, k, e) for group in groups)
    best = least(*case, reach, lambda before, last: before + last)
    if marks.dtype == np.int64:
        assert sum(map(reach, groups)) == best
    else:  # each of the sums, here and there, rounds less often than there are items
        rounding = 4 * counts.sum() * np.finfo(float).eps * float(marks[-1] - marks[0])
        assert abs(fsum(map(reach, groups)) - best) <= rounding


@settings(max_examples=500, deadline=None)
@given(case=multisets(kinds=("few integers", "integers", "quarters")))
def test_of_equal_sums_the_longest_groups(case):
    """Algorithm 1 keeps the first start that it finds, so that no two groups could be joined at no cost."""
    counts, marks, _, _ = case
    groups = groups_of(plan(*case), counts, marks)
    assert all(below[-1] < above[0] for below, above in pairwise(groups))


def test_figure_1():
    """The salaries of figure 1: dividing the 75,000s leaves no gap, so the upper six stay together."""
    groups = plan(*FIGURE_1, 3, 2000).tolist()
    assert groups == [0] * 3 + [1] * 6
