"""Anatomize against a literal reading of figure 3 of Xiao and Tao (VLDB 2006)."""

from collections import Counter
from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.guarantees import Guarantee
from discreet.partition.histogram.anatomize import assign, plan
from discreet.values.random import RandomSource


@st.composite
def eligible(draw):
    """Counts of which none exceeds n/l, and l."""
    l = draw(st.integers(2, 5))
    counts = draw(st.lists(st.integers(1, 9), min_size=l, max_size=l + 5))
    while max(counts) * l > sum(counts):
        counts[counts.index(min(counts))] += 1
    return draw(st.permutations(counts)), l


def planned(counts, l, seed):
    """The values of every group, as the plan says."""
    groups = plan(np.array(counts), l, RandomSource(seed).words(l)).tolist()
    rows = [value for value, count in enumerate(counts) for _ in range(count)]
    members = [[] for _ in range(max(groups) + 1)]
    for group, value in zip(groups, rows, strict=True):
        members[group].append(value)
    return members


def follows_lines_3_to_12(members, residues, counts, l):
    """Whether groups, made in this order, are what figure 3 allows if these are their residue tuples."""
    buckets = dict(enumerate(counts))
    for group, extra in zip(members, residues, strict=True):
        if sum(size > 0 for size in buckets.values()) < l:  # line 3
            return False
        taken = [value for value in group if value not in extra]
        largest = sorted(buckets.values(), reverse=True)[:l]  # line 5
        if sorted((buckets[value] for value in taken), reverse=True) != largest:
            return False
        for value in taken:  # lines 6-8
            buckets[value] -= 1
    left = sorted(value for value, size in buckets.items() if size)
    small = all(size <= 1 for size in buckets.values())  # property 1
    return small and len(left) < l and left == sorted(value for extra in residues for value in extra)  # lines 9-12


@settings(max_examples=300, deadline=None)
@example(case=([1, 1], 2), seed=0)
@example(case=([1, 1, 1], 2), seed=0)
@example(case=([5, 5, 5], 3), seed=0)
@example(case=([6, 2, 2, 2], 2), seed=0)
@given(case=eligible(), seed=st.integers(0, 2**32))
def test_anatomize_is_figure_3(case, seed):
    counts, l = case
    members = planned(counts, l, seed)
    assert len(members) == sum(counts) // l
    assert all(len(group) >= l for group in members)
    assert all(len(set(group)) == len(group) for group in members)
    assert Counter(value for group in members for value in group) == Counter(dict(enumerate(counts)))
    # Which tuples of a group came as residue is not published: some choice must be what figure 3 does.
    choices = [combinations(group, len(group) - l) for group in members]
    assert any(follows_lines_3_to_12(members, residues, counts, l) for residues in product(*choices))


def test_the_replay_can_fail():
    """Taking the two smallest buckets first is a fine 2-diverse partition, and not figure 3."""
    assert follows_lines_3_to_12([[0, 1], [0, 2]], [(), ()], [2, 1, 1], 2)
    assert not follows_lines_3_to_12([[1, 2], [0, 3], [0, 4]], [()] * 3, [2, 1, 1, 1, 1], 2)
    assert not follows_lines_3_to_12([[0, 1, 2]], [()], [1, 1, 1], 2)


@pytest.mark.parametrize("l", [2, 3, 10, 50])
def test_many_rows_and_skewed_values(l):
    """The same on thousands of rows, where many buckets tie; no residue, so every group can be replayed as it is."""
    counts = np.bincount(np.random.default_rng(l).zipf(1.3, 30_000) % 400)
    while counts.max() * l > counts.sum():
        counts = np.minimum(counts, counts.sum() // l)
    spare = counts.sum() % l
    counts[np.argsort(-counts)[l : l + spare]] -= 1
    buckets, n = counts.tolist(), int(counts.sum())
    assert n % l == 0
    assert max(buckets) * l <= n
    members = planned(buckets, l, 1)
    assert len(members) == n // l
    for group in members:
        assert len(set(group)) == len(group) == l
        assert sorted((buckets[value] for value in group), reverse=True) == sorted(buckets, reverse=True)[:l]
        for value in group:
            buckets[value] -= 1
    assert not any(buckets)


@pytest.mark.parametrize(("values", "l"), [(9, 2), (11, 4), (14, 3)])
def test_residue_joins_any_group_evenly(values, l):
    """With every value held once, a residue tuple may join any group; each choice is as likely, independently."""
    groups, residue, draws = values // l, values % l, 4000
    seen = Counter()
    for seed in range(draws):
        base = np.bincount(plan(np.ones(values, np.int64), l, RandomSource(seed).words(l)), minlength=groups) - l
        seen[tuple(base.tolist())] += 1
    expected = Counter()
    for choice in product(range(groups), repeat=residue):
        joined = Counter(choice)
        expected[tuple(joined[group] for group in range(groups))] += draws / groups**residue
    assert set(seen) <= set(expected)
    statistic = sum((seen[cell] - mean) ** 2 / mean for cell, mean in expected.items())
    freedom = len(expected) - 1
    assert statistic < freedom + 2 * sqrt(freedom * 20) + 2 * 20  # p < exp(-20): Laurent and Massart (2000), lemma 1


def test_residue_never_joins_a_group_that_has_its_value():
    """Value 0 is in all but the last groups made, and a row of it is left over: it has few places to go."""
    for seed in range(200):
        members = planned([4, 4, 1], 2, seed)
        assert sorted(map(sorted, members)) in (
            [[0, 1], [0, 1], [0, 1], [0, 1, 2]],
            [[0, 1], [0, 1], [0, 1, 2], [0, 1]],
        )


def test_assign_gives_every_row_a_place_of_its_value():
    counts, l = [7, 5, 5, 3, 2, 1], 3
    sensitive = np.random.default_rng(2).permutation(np.repeat(np.arange(6), counts)).astype(np.int32)
    groups = assign([], sensitive, Guarantee.of({"l": l}), RandomSource(9)).tolist()
    members = [sorted(v for v, g in zip(sensitive.tolist(), groups, strict=True) if g == group) for group in range(7)]
    assert sorted(map(len, members)) == [3, 3, 3, 3, 3, 4, 4]
    assert all(len(set(group)) == len(group) for group in members)
