"""Carrying out a plan: which row of a value takes which of its places is drawn evenly."""

from collections import Counter
from itertools import permutations, product
from math import sqrt

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.partition.histogram.plan import carry_out
from discreet.values.random import RandomSource


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.integers(0, 5), min_size=1, max_size=30), seed=st.integers(0, 2**32))
def test_the_rows_of_a_value_take_the_places_of_that_value(values, seed):
    sensitive = np.array(values, np.int32)
    counts = np.bincount(sensitive)
    plan = np.arange(sensitive.size, dtype=np.int32)
    groups = carry_out(plan, sensitive, counts, RandomSource(seed)).tolist()
    ends = np.cumsum(counts).tolist()
    for value in set(values):
        places = list(range(ends[value] - int(counts[value]), ends[value]))
        assert sorted(group for group, mine in zip(groups, values, strict=True) if mine == value) == places


def test_every_row_of_a_value_is_alike():
    """Three rows of one value and four of another: each of the 3! x 4! ways to seat them is as likely.

    One draw per seed; the tail of the chi-square bound is exp(-20) (Laurent and Massart 2000, lemma 1).
    """
    sensitive = np.array([1, 0, 1, 1, 0, 0, 1], np.int32)
    counts, plan, draws = np.bincount(sensitive), np.arange(7, dtype=np.int32), 14_400
    seen = Counter()
    for seed in range(draws):
        groups = carry_out(plan, sensitive, counts, RandomSource(seed)).tolist()
        seen[tuple(groups[row] for row in (1, 4, 5)), tuple(groups[row] for row in (0, 2, 3, 6))] += 1
    cells = list(product(permutations(range(3)), permutations(range(3, 7))))
    assert set(seen) <= set(cells)
    expected, freedom = draws / len(cells), len(cells) - 1
    statistic = sum((seen[cell] - expected) ** 2 / expected for cell in cells)
    assert statistic < freedom + 2 * sqrt(freedom * 20) + 2 * 20
    assert statistic > freedom - 2 * sqrt(freedom * 20), "more even than chance: the draws are not independent"


def test_an_unseeded_plan_is_drawn_anew():
    sensitive = np.zeros(40, np.int32)
    counts, plan = np.array([40]), np.arange(40, dtype=np.int32)
    assert len({tuple(carry_out(plan, sensitive, counts, RandomSource()).tolist()) for _ in range(5)}) == 5
