"""Deal: as many groups as the guarantee allows, by brute force; one row of a value per group before a second."""

from collections import Counter

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.guarantees import Guarantee
from discreet.partition.histogram.deal import assign, plan, runs
from discreet.partition.kernels import deal_out
from discreet.values.capacity import capacity as capacity_of
from discreet.values.random import RandomSource
from discreet.values.rule import Rule

COUNTS = st.lists(st.integers(1, 14), min_size=1, max_size=8)
THRESHOLDS = st.tuples(st.integers(1, 9), st.integers(1, 5), st.integers(1, 6))


def capacity(counts, *rule):
    return capacity_of(counts, np.arange(counts.size), Rule(*rule))


def dealt(counts, groups):
    """The values of every group when the counts are dealt into so many."""
    out = np.empty(sum(counts), np.int32)
    deal_out(np.array(counts), np.arange(len(counts)), Rule(), groups, out, 0)
    members = [Counter() for _ in range(groups)]
    rows = [value for value, count in enumerate(counts) for _ in range(count)]
    for value, group in zip(rows, out.tolist(), strict=True):
        members[group][value] += 1
    return members


def keeps(group, k, l, distinct_l):
    size = sum(group.values())
    return size >= k and len(group) >= distinct_l and all(times * l <= size for times in group.values())


@settings(max_examples=200, deadline=None)
@given(counts=st.lists(st.integers(1, 12), min_size=2, max_size=9), l=st.integers(2, 5), seed=st.integers(0, 99))
def test_deal_makes_floor_n_over_l_groups(counts, l, seed):
    while max(counts) * l > sum(counts):
        counts = [*counts, max(counts)]
    sensitive = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts)).astype(np.int32)
    groups = assign([], sensitive, Guarantee.of({"l": l}), RandomSource(seed)).tolist()
    assert sorted(set(groups)) == list(range(sum(counts) // l))
    pairs = Counter(zip(groups, sensitive.tolist(), strict=True))
    assert set(pairs.values()) == {1}
    assert {l <= size < 2 * l for size in Counter(groups).values()} == {True}


@settings(max_examples=200, deadline=None)
@given(
    counts=st.lists(st.integers(0, 12), min_size=2, max_size=9), l=st.integers(1, 5), spared=st.sets(st.integers(0, 8))
)
def test_runs_are_the_same_plan(counts, l, spared):
    harmless = np.isin(np.arange(len(counts) + l), [v for v in spared if v < len(counts)])
    counts = np.array([*counts, *[max(*counts, 1)] * l])  # so that it can be kept
    rule = Guarantee.of({"l": l}, harmless=harmless if harmless.any() else None).rule
    found, expected = runs(counts, rule), plan(counts, rule)
    rows = np.repeat(np.arange(counts.size), counts)
    assert (np.diff(found.firsts) > 0).all()
    assert Counter(zip(rows, found.expanded(rows.size).tolist(), strict=True)) == Counter(
        zip(rows, expected.tolist(), strict=True)
    )


def most_by_brute_force(counts, thresholds):
    """Deal into 1, 2, 3, ... groups and look: the largest number that works, or 0."""
    working = [g for g in range(1, sum(counts) + 1) if all(keeps(group, *thresholds) for group in dealt(counts, g))]
    return max(working, default=0)


@settings(max_examples=250, deadline=None)
@given(counts=COUNTS, thresholds=THRESHOLDS, alone=st.booleans())
def test_capacity_under_l_alone_and_without_it(counts, thresholds, alone):
    k, l, distinct_l = (1, thresholds[1], 1) if alone else (thresholds[0], 1, thresholds[2])
    assert capacity(np.array(counts), k, l, distinct_l) == most_by_brute_force(counts, (k, l, distinct_l))


@settings(max_examples=250, deadline=None)
@example(counts=[3, 2, 2], thresholds=(3, 2, 1))
@example(counts=[1], thresholds=(2, 1, 1))
@example(counts=[4, 1], thresholds=(1, 2, 1))
@given(counts=COUNTS, thresholds=THRESHOLDS)
def test_capacity_is_the_most_that_no_rounding_can_break(counts, thresholds):
    """Of every number of groups, take the smallest group and the largest share of a value that dealing may give."""
    (k, l, distinct_l), n = thresholds, sum(counts)

    def safe(g):
        spread = sum(min(count, g) for count in counts) // g
        return n // g >= k and (l == 1 or -(-max(counts) // g) * l <= n // g) and spread >= distinct_l

    assert capacity(np.array(counts), *thresholds) == max(filter(safe, range(1, n + 1)), default=0)


@settings(max_examples=250, deadline=None)
@given(counts=COUNTS, thresholds=THRESHOLDS)
def test_capacity_is_never_too_much(counts, thresholds):
    groups = capacity(np.array(counts), *thresholds)
    whole = Counter(dict(enumerate(counts)))
    assert (groups > 0) == keeps(whole, *thresholds)
    if groups:
        assert all(keeps(group, *thresholds) for group in dealt(counts, groups))


@settings(max_examples=300, deadline=None)
@given(counts=COUNTS, groups=st.integers(1, 20))
def test_surplus_comes_last(counts, groups):
    """Sizes are as equal as can be, and so are the rows of each value and the distinct values of the groups."""
    groups = min(groups, sum(counts))
    members = dealt(counts, groups)

    def even(numbers, total):
        assert sum(numbers) == total
        assert set(numbers) <= {total // groups, -(-total // groups)}

    even([sum(group.values()) for group in members], sum(counts))
    for value, count in enumerate(counts):
        even([group[value] for group in members], count)
    even([sum(times > 0 for times in group.values()) for group in members], sum(min(count, groups) for count in counts))


def test_values_come_first_even_when_some_have_a_surplus():
    """Six of the first value and one each of three others, k = 3: both groups still have all the variety there is."""
    groups = plan(np.array([6, 1, 1, 1, 1]), Rule(4, 1, 3)).tolist()
    members = [
        [value for value, group in zip([0] * 6 + [1, 2, 3, 4], groups, strict=True) if group == g] for g in (0, 1)
    ]
    assert sorted(set(groups)) == [0, 1]
    assert [len(set(group)) for group in members] == [3, 3]
    assert [len(group) for group in members] == [5, 5]


@settings(max_examples=400, deadline=None)
@example(counts=[2, 1, 2], gaps=[1, 1, 1, 1, 1, 1, 1, 1], distinct_l=2, e=2, floats=False)
@given(
    counts=COUNTS,
    gaps=st.lists(st.integers(1, 4), min_size=8, max_size=8),
    distinct_l=st.integers(1, 5),
    e=st.integers(0, 14),
    floats=st.booleans(),
)
def test_capacity_under_k_and_e(counts, gaps, distinct_l, e, floats):
    """Never too much; at least 1 whenever one group does; and as much as is safe: the g-th rows from either end lie e apart."""
    marks = np.cumsum([0, *gaps])[: len(counts)]
    given_marks = marks * 0.25 if floats else marks
    groups = capacity(np.array(counts), 1, 1, distinct_l, e * 0.25 if floats else e, given_marks)
    width = int(marks[-1] - marks[0])
    assert (groups > 0) == (len(counts) >= distinct_l and width >= e)
    if groups:
        assert all(len(g) >= distinct_l and marks[max(g)] - marks[min(g)] >= e for g in dealt(counts, groups))

    def safe(g):
        laid = [value for value, count in enumerate(counts) for _ in range(min(count, g))]
        return len(laid) // g >= distinct_l and len(laid) >= g and marks[laid[-g]] - marks[laid[g - 1]] >= e

    assert groups == max(filter(safe, range(1, sum(counts) + 1)), default=0)


def test_an_empty_histogram_has_no_groups():
    assert capacity(np.zeros(3, np.int64), 1, 1, 1) == 0
