"""Tightest: its cuts against the plain dynamic programme over items, and what dividing does to them."""

import numpy as np
import pytest
from hypothesis import example, given, settings

from discreet.partition.ranges import tightest
from discreet.partition.ranges.tightest import plan
from partition.ranges.multisets import deviation, groups_of, keeps, least, multisets
from partition.ranges.test_min_sum import FIGURE_1


def cut(counts, marks, k, e):
    """The groups of the first step, as a plan."""
    places, edges = tightest.cuts(counts, marks, k, e)[:2]
    return np.repeat(np.arange(edges.size - 1), np.diff(places[edges]))


@settings(max_examples=1000, deadline=None)
@example(case=(*FIGURE_1, 3, 2000))
@given(case=multisets(most=20))
def test_tightest_deviates_least(case):
    counts, marks, k, e = case
    groups = groups_of(cut(*case), counts, marks)
    assert all(keeps(group, k, e) for group in groups)
    best = least(*case, deviation, lambda before, last: before + last)
    if marks.dtype == np.int64 and int(marks[-1]) * int(counts.sum()) < 2**63:
        assert sum(map(deviation, groups)) == best
    else:  # sums of all lengths are rounded: as often as there are items, a few times each
        total = float(np.dot((marks - marks[0]).astype(float), counts))
        assert sum(map(deviation, groups)) <= best + 16 * counts.sum() * np.finfo(float).eps * total


@settings(max_examples=1000, deadline=None)
@given(case=multisets(most=60))
def test_tightest_only_divides(case):
    counts, marks, k, e = case
    first, last = cut(*case).tolist(), plan(*case).tolist()
    assert all(keeps(group, k, e) for group in groups_of(np.array(last), counts, marks))
    assert len(set(zip(first, last, strict=True))) == len(set(last))


@pytest.mark.parametrize("kind", ["lognormal", "ties", "uniform"])
@pytest.mark.parametrize(("k", "e"), [(2, 0), (4, 30), (9, 200)])
def test_cuts_of_many_rows(kind, k, e):
    """The queue against a look at every start, over the same places, on as many rows as that takes."""
    rng = np.random.default_rng(k)
    drawn = {"lognormal": rng.lognormal(6, 1, 700), "ties": rng.poisson(60, 900) * 7, "uniform": rng.random(600) * 9999}
    marks, counts = np.unique(drawn[kind].astype(np.int64), return_counts=True)
    marks -= marks[0]
    items = np.repeat(marks, counts)
    f = np.full(items.size + 1, np.inf)
    f[0] = 0
    codes, sums = np.repeat(np.arange(marks.size), counts), np.append(0, np.cumsum(items))
    for i in range(1, items.size + 1):
        d = np.arange(np.count_nonzero((codes[i - 1] - codes[:i] + 1 >= k) & (items[i - 1] - items[:i] >= e)))
        middle = (d + i - 1) // 2
        apart = sums[i] - sums[middle + 1] - (sums[middle] - sums[d]) - items[middle] * (i - 1 - 2 * middle + d)
        f[i] = np.min(f[d] + apart, initial=np.inf)
    assert sum(map(deviation, groups_of(cut(counts, marks, k, e), counts, marks))) == f[-1]


def test_halves_borrow_what_they_lack():
    """Six values, k = 4: either half lacks one distinct value, and takes one row of the nearest that has two."""
    counts = np.array([5, 5, 5, 5, 5, 5])
    lower, upper = tightest._halve(counts, np.arange(6) * 10, np.arange(6), 4, 0)
    assert lower.tolist() == [5, 5, 4, 1, 0, 0]
    assert upper.tolist() == [0, 0, 1, 4, 5, 5]
    lower, upper = tightest._halve(np.array([5, 5, 1, 1, 5, 5]), np.arange(6) * 10, np.arange(6), 4, 0)
    assert lower.tolist() == [5, 4, 1, 0, 1, 0]
    assert upper.tolist() == [0, 1, 0, 1, 4, 5]
    assert not tightest._halve(np.ones(7, np.int64), np.arange(7), np.arange(7), 4, 0)[0].size


def test_figure_1():
    assert plan(*FIGURE_1, 3, 2000).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
