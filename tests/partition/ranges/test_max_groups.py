"""Max_groups against the plain dynamic programme over items."""

from itertools import pairwise

from hypothesis import example, given, settings

from discreet.partition.ranges.max_groups import plan
from partition.ranges.multisets import groups_of, keeps, least, multisets
from partition.ranges.test_min_sum import FIGURE_1


@settings(max_examples=1000, deadline=None)
@example(case=(*FIGURE_1, 3, 2000))
@given(case=multisets())
def test_max_groups_is_optimal(case):
    counts, marks, k, e = case
    groups = groups_of(plan(*case), counts, marks)
    assert all(keeps(group, k, e) for group in groups)
    assert all(below[-1] <= above[0] for below, above in pairwise(groups))
    assert -len(groups) == least(*case, lambda group: -1, lambda before, last: before + last)


def test_figure_1():
    assert plan(*FIGURE_1, 3, 2000).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
