"""Compiled checks of the promises, against counting by hand."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.values import rule as rules
from partition.spatial.spaces import cases, guarantee, keeps


@settings(max_examples=200, deadline=None)
@given(case=cases(forms=("set",)), data=st.data())
def test_sweep_marks_every_cut(case, data):
    _, sensitive, promised = case
    rule, counts = guarantee(promised).rule, np.zeros(8, np.int32)
    works = np.empty(sensitive.size + 1, np.bool_)
    rules.sweep(sensitive, rule, counts, works)
    values = sensitive.tolist()
    expected = [keeps(values[:i], promised) and keeps(values[i:], promised) for i in range(len(values) + 1)]
    assert works.tolist() == expected
    assert not counts.any()


@settings(max_examples=200, deadline=None)
@given(case=cases(forms=("set",)), size=st.integers(1, 60))
def test_runs_keep_what_counting_says(case, size):
    _, sensitive, promised = case
    rule, counts = guarantee(promised).rule, np.zeros(8, np.int32)
    assert rules.keeps(sensitive[:size], rule, counts) == keeps(sensitive[:size].tolist(), promised)
    assert not counts.any()


@settings(max_examples=200, deadline=None)
@given(case=cases(forms=("set",)), size=st.integers(1, 8))
def test_surely_means_any_of_them(case, size):
    """Of up to eight rows, any that are so many keep all promises; and if only `l` is promised, of fewer some do not."""
    _, sensitive, promised = case
    rule, counts = guarantee(promised).rule, np.zeros(8, np.int32)
    held = sensitive[:size].tolist()
    need = rules.surely(sensitive[:size], rule, counts)
    assert not counts.any()
    assert rules.surely_of(np.bincount(sensitive[:size], minlength=8), rule) == need
    for rows in range(need, len(held) + 1):
        assert all(keeps(list(some), promised) for some in combinations(held, rows))
    if promised.keys() == {"l"} and 1 < need <= len(held):
        assert not all(keeps(list(some), promised) for some in combinations(held, need - 1))
