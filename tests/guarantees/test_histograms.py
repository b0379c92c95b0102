"""Counting the values of every group, against collections.Counter."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.guarantees.histograms import Histograms


def by_hand(groups, values):
    return sorted((*pair, times) for pair, times in Counter(zip(groups, values, strict=True)).items())


def entries(histograms):
    return list(zip(histograms.groups.tolist(), histograms.values.tolist(), histograms.counts.tolist(), strict=True))


@settings(deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=80), kind=st.data())
def test_histograms_count_every_row(rows, kind):
    dense = {group: i for i, group in enumerate(sorted({group for group, _ in rows}))}
    groups, values = [dense[group] for group, _ in rows], [value for _, value in rows]
    dtypes = st.sampled_from([np.int32, np.int64])
    given_groups, given_values = np.array(groups, kind.draw(dtypes)), np.array(values, kind.draw(dtypes))
    histograms = Histograms.of(given_groups, given_values)
    assert entries(histograms) == by_hand(groups, values)
    assert int(histograms.counts.sum()) == len(rows)
    assert given_groups.tolist() == groups
    assert given_values.tolist() == values
    per_group = [Counter(v for g, v in zip(groups, values, strict=True) if g == group) for group in range(len(dense))]
    assert histograms.sizes.tolist() == [sum(counter.values()) for counter in per_group]
    assert histograms.tops.tolist() == [max(counter.values()) for counter in per_group]
    assert histograms.distinct.tolist() == [len(counter) for counter in per_group]
    starts = [
        next(i for i, entry in enumerate(entries(histograms)) if entry[0] == group) for group in range(len(dense))
    ]
    assert histograms.starts.tolist() == starts


@pytest.mark.parametrize("distinct", [2, 2**15, 2**16 + 1, 80_000])
def test_many_groups_and_values_do_not_overflow(distinct):
    """Group number times code reaches past 32 bits, and nothing is confused."""
    rng = np.random.default_rng(distinct)
    groups = rng.permutation(np.concatenate([np.arange(70_000), rng.integers(0, 70_000, 10_000)])).astype(np.int32)
    values = rng.permutation(np.arange(80_000) % distinct).astype(np.int32)
    histograms = Histograms.of(groups, values)
    assert entries(histograms) == by_hand(groups.tolist(), values.tolist())
