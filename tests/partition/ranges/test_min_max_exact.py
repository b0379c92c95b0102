"""Min_max_exact against every partition of a small set, and how long it takes at its limit."""

import time

import numpy as np
import pytest
from hypothesis import given, settings

from partition.ranges.min_max_exact import LIMIT, plan
from partition.ranges.multisets import groups_of, items_of, keeps, multisets, reach


def partitions(items):
    """Every way to divide a list into groups."""
    if not items:
        yield []
        return
    for rest in partitions(items[:-1]):
        yield [*rest, items[-1:]]
        for i, group in enumerate(rest):
            yield [*rest[:i], [*group, items[-1]], *rest[i + 1 :]]


@settings(max_examples=300, deadline=None)
@given(case=multisets(kinds=("few integers", "integers", "floats"), most=7).filter(lambda case: case[0].sum() <= 7))
def test_min_max_exact_is_optimal(case):
    counts, marks, k, e = case
    groups = groups_of(plan(*case), counts, marks)
    assert all(keeps(group, k, e) for group in groups)
    every = (found for found in partitions(items_of(counts, marks)) if all(keeps(group, k, e) for group in found))
    assert max(map(reach, groups)) == min(max(map(reach, found)) for found in every)


def test_the_example_of_the_paper():
    """{1,2,3,5,5,6,6,8} with (4,5), section 6.2."""
    counts, marks = np.array([1, 1, 1, 2, 2, 1]), np.array([0, 1, 2, 4, 5, 7])
    groups = groups_of(plan(counts, marks, 4, 5), counts, marks + 1)
    assert sorted(groups) == [[1, 2, 5, 6], [3, 5, 6, 8]]


@pytest.mark.parametrize("k", [2, 5, 12, 20])
@pytest.mark.parametrize("rows_per_value", [1, 2])
def test_its_limit_takes_seconds(k, rows_per_value):
    marks = np.cumsum(np.random.default_rng(k).integers(1, 9, LIMIT // rows_per_value))
    begin = time.perf_counter()
    plan(np.full(marks.size, rows_per_value), marks - marks[0], min(k, marks.size), 10)
    assert time.perf_counter() - begin < 20  # about one on an idle machine
