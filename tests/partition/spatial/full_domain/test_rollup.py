"""Merge: keys and values against counting by hand."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.partition.spatial.full_domain.rollup import merge, sort_by, tally


@settings(max_examples=100, deadline=None)
@given(digits=st.lists(st.integers(0, 9), min_size=1, max_size=60), order=st.randoms(use_true_random=False))
def test_rows_are_sorted_and_ties_keep_their_order(digits, order):
    rows = list(range(len(digits)))
    order.shuffle(rows)
    found = sort_by(np.array(digits, np.int32), 10, np.array(rows, np.int32))
    assert found.tolist() == sorted(rows, key=digits.__getitem__)


def numbered(keys, span, counts, places):
    """The keys merged, as if told by one column of codes and by two of which one was found before."""
    codes, worth = np.unique(np.array(keys, np.int64), return_inverse=True)[::-1]
    codes, nothing = codes.astype(np.uint16), np.zeros(0, np.int32)
    merged = merge(nothing, (codes,), (worth,), span, counts, places, told=True)
    assert (places == -1).all()
    _, firsts, totals = merge(nothing, (codes,), (worth,), span, counts, places, told=False)
    assert np.array_equal(firsts, merged[1])
    assert np.array_equal(totals, merged[2])
    low, high = worth & 7, worth - (worth & 7)
    again = merge(low[codes].astype(np.int32), (codes, codes), (high, 0 * high), span, counts, places, told=True)
    assert all(np.array_equal(one, other) for one, other in zip(merged, again, strict=True))
    return merged


@settings(max_examples=200, deadline=None)
@given(
    keys=st.lists(st.integers(0, 30) | st.integers(0, 2**62 - 1), min_size=1, max_size=80),
    near=st.booleans(),
)
def test_equal_keys_get_one_number(keys, near):
    keys = [key % 31 for key in keys] if near else keys
    counts = np.arange(1, len(keys) + 1)
    places = np.full(31, -1, np.int32)
    found, firsts, totals = numbered(keys, 31 if near else 2**62, counts, places)
    names = list(dict.fromkeys(keys))
    assert found.tolist() == [names.index(key) for key in keys]
    assert firsts.tolist() == [keys.index(name) for name in names]
    assert totals.tolist() == [sum(c for key, c in zip(keys, counts.tolist(), strict=True) if key == n) for n in names]


def test_keys_that_collide():
    """Multiples of a large power of two share the low bits; a table at full load still ends."""
    keys = np.arange(5000) << 40
    ones = np.ones(10_000, np.int64)
    found, firsts, totals = numbered(np.concatenate([keys, keys]), 2**62, ones, np.zeros(0, np.int32))
    assert np.array_equal(found, np.tile(np.arange(5000), 2))
    assert np.array_equal(firsts, np.arange(5000))
    assert (totals == 2).all()


@settings(max_examples=100, deadline=None)
@given(entries=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6), st.integers(1, 9)), max_size=60))
def test_values_are_tallied_by_group(entries):
    groups, values, counts = (
        np.array(column, np.int64) for column in (zip(*entries, strict=True) if entries else [[]] * 3)
    )
    expected = Counter()
    for group, value, count in entries:
        expected[group, value] += count
    of, held, times = (column.tolist() for column in tally(groups, values, counts, 6, 7))
    assert of == sorted(of)
    assert len(of) == len(expected)
    assert dict(zip(zip(of, held, strict=True), times, strict=True)) == expected
