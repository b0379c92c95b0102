"""Rows with harmless values, spread over the groups of the others."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.guarantees import Guarantee
from discreet.partition.histogram.anatomize import assign
from discreet.partition.spread import around
from discreet.values.random import RandomSource


@settings(max_examples=60, deadline=None)
@given(groups=st.integers(1, 9), free=st.integers(0, 200), seed=st.integers(0, 99))
def test_spread_is_in_proportion(groups, free, seed):
    """Groups of anatomize have l rows, or a few more; each gets harmless rows for each of them alike."""
    sensitive = np.array([*(1 + i % 3 for i in range(3 * groups)), 4, *[0] * free], np.int32)
    guarantee = Guarantee.of({"l": 3}, harmless=np.arange(5) == 0)
    found = around(assign, sensitive, guarantee, RandomSource(seed))
    own, spread = (Counter(found[(sensitive == 0) == harmless].tolist()) for harmless in (False, True))
    assert sorted(own) == list(range(groups))
    for group, rows in own.items():
        assert abs(spread[group] - free * rows / (3 * groups + 1)) < 1


def test_which_harmless_row_goes_where_is_drawn():
    sensitive = np.array([1, 2, 1, 2] + [0] * 30, np.int32)
    guarantee = Guarantee.of({"l": 2}, harmless=np.arange(3) == 0)
    found = {tuple(around(assign, sensitive, guarantee, RandomSource(seed))[4:].tolist()) for seed in range(20)}
    assert len(found) == 20
