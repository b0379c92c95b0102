"""The compiled steps: draws against exact arithmetic, shuffles against the uniform law."""

from collections import Counter
from itertools import pairwise, permutations, product
from math import factorial, sqrt

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.partition.kernels import below, deal_out, shuffle, shuffle_by_value
from discreet.values.random import RandomSource
from discreet.values.rule import Rule

WORDS = st.integers(0, 2**64 - 1)


def too_far(statistic, freedom):
    """Whether a chi-square statistic has a tail below exp(-20): Laurent and Massart (2000), lemma 1."""
    return statistic > freedom + 2 * sqrt(freedom * 20) + 2 * 20


def chi_square(seen, cells, draws):
    return sum((seen[cell] - draws / len(cells)) ** 2 / (draws / len(cells)) for cell in cells)


@settings(max_examples=500, deadline=None)
@example(word=2**64 - 1, m=2**32 - 1)
@example(word=2**64 - 1, m=1)
@example(word=0, m=7)
@given(word=WORDS, m=st.integers(1, 2**32 - 1))
def test_below_is_the_exact_share_of_the_word(word, m):
    drawn = int(below(np.uint64(word), m))
    assert drawn == word * m >> 64
    assert 0 <= drawn < m


def test_below_is_even():
    """Every one of 7 outcomes owns the same share of all words, but for one word in 2**64 / 7."""
    edges = [-(-i * 2**64 // 7) for i in range(8)]
    for outcome, (first, after) in enumerate(pairwise(edges)):
        assert {int(below(np.uint64(word), 7)) for word in (first, after - 1)} == {outcome}


def test_shuffle_reaches_every_permutation_once():
    """One word stands for each outcome of each draw: the 4! combinations give the 4! permutations, each once."""
    draws = [[np.uint64((j * 2**64 + 2**63) // m) for j in range(m)] for m in range(1, 5)]
    made = [tuple(shuffle(np.array(words, np.uint64)).tolist()) for words in product(*draws)]
    assert sorted(made) == sorted(permutations(range(4)))


def test_shuffle_is_uniform():
    secret, draws = RandomSource(4), 24_000
    seen = Counter(tuple(shuffle(secret.words(4)).tolist()) for _ in range(draws))
    cells = list(permutations(range(4)))
    assert set(seen) <= set(cells)
    assert not too_far(chi_square(seen, cells, draws), 23)


def test_the_test_of_uniformity_can_fail():
    """The classic mistake, swapping every place with any of the four, is found with the same number of draws."""
    rng, draws, seen = np.random.default_rng(4), 24_000, Counter()
    for row in rng.integers(0, 4, (draws, 4)).tolist():
        order = [0, 1, 2, 3]
        for i, j in enumerate(row):
            order[i], order[j] = order[j], order[i]
        seen[tuple(order)] += 1
    assert too_far(chi_square(seen, list(permutations(range(4))), draws), 23)


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.integers(0, 6), min_size=1, max_size=40), seed=st.integers(0, 2**32))
def test_shuffle_by_value_keeps_values_together(values, seed):
    column = np.array(values, np.int32)
    order = shuffle_by_value(column, np.bincount(column), RandomSource(seed).words(column.size)).tolist()
    assert sorted(order) == list(range(len(values)))
    assert [values[row] for row in order] == sorted(values)


def test_shuffle_by_value_is_uniform_in_each_value():
    """Values 0 and 1 stand interleaved; every order of the 3 and of the 4 rows is as likely, independently."""
    column, secret, draws = np.array([1, 0, 1, 1, 0, 0, 1], np.int32), RandomSource(8), 28_800
    counts = np.bincount(column)
    seen = Counter(tuple(shuffle_by_value(column, counts, secret.words(7)).tolist()) for _ in range(draws))
    cells = [(*zeros, *ones) for zeros in permutations([1, 4, 5]) for ones in permutations([0, 2, 3, 6])]
    assert set(seen) <= set(cells)
    assert len(cells) == factorial(3) * factorial(4)
    assert not too_far(chi_square(seen, cells, draws), len(cells) - 1)


def dealt_by_hand(counts, groups, first):
    """Every value lays down one row per group, then every value its surplus, always at the next group."""
    turn, hands = 0, [[] for _ in counts]
    for surplus in (False, True):
        for value, count in enumerate(counts):
            for _ in range(max(count - groups, 0) if surplus else min(count, groups)):
                hands[value].append(first + turn % groups)
                turn += 1
    return [group for hand in hands for group in hand]


@settings(max_examples=300, deadline=None)
@given(
    counts=st.lists(st.integers(0, 12), min_size=1, max_size=8).filter(any),
    groups=st.integers(1, 15),
    first=st.integers(0, 1000),
)
def test_deal_out_deals_round_robin(counts, groups, first):
    out = np.full(sum(counts), -1, np.int32)
    deal_out(np.array(counts), np.arange(len(counts)), Rule(), groups, out, first)
    assert out.tolist() == dealt_by_hand(counts, groups, first)
