from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.values.columns import Column
from discreet.vault.safety.inference import Line, are_safe, chained, in_both, is_safe, only_later, shrunk
from discreet.vault.safety.rule import Rule
from vault.shelf import Shelf

VALUES = 4


def vector(values):
    return np.bincount(np.array(values, np.int64), minlength=VALUES)


def multiset(counts):
    return sorted(value for value, count in enumerate(counts.tolist()) for _ in range(count))


def shared(a, b):
    """The values of two lists that can be matched one to one, found by crossing them out."""
    left, found = list(b), []
    for value in a:
        if value in left:
            left.remove(value)
            found.append(value)
    return sorted(found)


def without(a, b):
    left = list(a)
    for value in b:
        if value in left:
            left.remove(value)
    return sorted(left)


some = st.lists(st.integers(0, VALUES - 1), max_size=7)


@given(some, st.lists(some, min_size=1, max_size=3))
def test_sets_are_as_listed_by_hand(old, groups):
    """An earlier group, and the groups that its rows are in now: the old rows dealt out among them, and new ones."""
    now = [group + old[at :: len(groups)] for at, group in enumerate(groups)]
    everything = [value for group in now for value in group]
    nobody = np.zeros(0, np.int64), np.zeros((0, VALUES), np.int64)
    line = Line(np.array([1]), vector(old)[None], (vector(everything) - vector(old))[None], *nobody)
    for group in now:
        assert multiset(in_both(line, vector(group))[0]) == shared(old, group)
        assert multiset(only_later(line, vector(group))[0]) == shared(without(everything, old), group)
    if len(now) == 1:
        assert multiset(only_later(line, vector(now[0]))[0]) == without(now[0], old)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6))
def test_chain_adds_up(seed, releases):
    draw = np.random.default_rng(seed)
    held = draw.integers(0, 4, (releases, VALUES))
    fresh = draw.integers(0, 4, (releases, releases, VALUES))  # since a state, at a release
    meets = draw.random((releases, releases)) < 0.8
    cohorts, chain = np.zeros(0, np.int64), np.zeros((0, VALUES), np.int64)
    for t in range(releases):
        states = [i for i in range(t) if meets[i, t]]
        linked = t > 0 and meets[t - 1, t]
        line = Line(
            np.array(states, np.int64),
            held[states],
            fresh[states, t],
            *((cohorts, chain) if linked else (cohorts[:0], chain[:0])),
        )
        cohorts, chain = chained(line, held[t], t)
        expected = {}
        for first in range(t + 1):
            if not all(meets[s, s + 1] for s in range(first, t)):
                continue
            left = held[first]
            for s in range(first, t + 1):
                left = np.minimum(left, held[s])
                for i in range(first):
                    if meets[i, s]:
                        left = np.minimum(left, fresh[i, s])
            if left.any():
                expected[first] = left.tolist()
        assert dict(zip(cohorts.tolist(), chain.tolist(), strict=True)) == expected


def test_a_line_without_states_is_safe():
    nothing = np.zeros((0, VALUES), np.int64)
    line = Line(np.zeros(0, np.int64), nothing, nothing, np.zeros(0, np.int64), nothing)
    assert is_safe(line, np.array([5, 0, 0, 0]), Rule.of({"distinct_l": 3}))
    assert chained(line, np.array([5, 0, 0, 0]), 1)[1].tolist() == [[5, 0, 0, 0]]


def test_what_is_neither_diverse_nor_empty_is_not_safe():
    rule = Rule.of({"distinct_l": 2})
    assert rule.safe(np.array([[0, 0], [1, 1]]))
    assert not rule.safe(np.array([[1, 1], [0, 3]]))
    assert rule.safe(np.zeros((0, 2), np.int64))
    share = Rule.of({"l": 3})
    assert share.diverse(np.array([[1, 1, 1], [2, 1, 1], [0, 0, 0]])).tolist() == [True, False, False]
    assert are_safe(np.array([1, 1, 0]), np.array([[3, 3, 3], [0, 0, 9]]), rule)
    assert not are_safe(np.array([1, 1, 0]), np.array([[3, 0, 3]]), rule)
    assert shrunk(np.array([1, 2]), np.array([5, 1]))
    assert not shrunk(np.array([1, 2]), np.array([1, 3]))


AGE = [Column("age", pa.float64())]


def rows(*ages):
    return np.array(ages, float)[:, None]


def counted(shelf):
    return sorted((leaf.box.lows[0], leaf.box.highs[0], Counter(multiset(leaf.counts))) for leaf in shelf.groups())


def test_an_insert_that_would_show_one_value_waits():
    """Alice (figure 4 of the paper): she alone is new among those in their twenties."""
    shelf = Shelf(AGE, Rule.of({"distinct_l": 2}, growth="insert"))
    shelf.append(rows(21, 23), np.array([0, 1]))
    shelf.release()
    shelf.append(rows(27), np.array([2]))
    assert counted(shelf) == [(21, 23, Counter([0, 1]))]
    assert shelf.waiting == 1
    shelf.append(rows(22), np.array([3]))  # together they are diverse
    assert counted(shelf) == [(21, 27, Counter([0, 1, 2, 3]))]


def test_rows_apart_from_a_group_found_their_own():
    shelf = Shelf(AGE, Rule.of({"distinct_l": 2}, growth="insert"))
    shelf.append(rows(21, 23), np.array([0, 1]))
    shelf.release()
    shelf.append(rows(52, 57), np.array([2, 3]))
    assert counted(shelf) == [(21, 23, Counter([0, 1])), (52, 57, Counter([2, 3]))]


def test_a_split_that_would_show_one_value_is_not_made():
    """Bob: of the two values of his old group only one is in the part he would be in."""
    shelf = Shelf(AGE, Rule.of({"distinct_l": 2}, withheld=100.0, growth="insert"))
    shelf.append(rows(52, 57), np.array([0, 1]))
    shelf.release()
    shelf.append(rows(53, 56), np.array([2, 3]))
    assert counted(shelf) == [(52, 57, Counter([0, 1, 2, 3]))]  # (52, 53) holds 0 and 2, of which only 0 was there
    fresh = Shelf(AGE, Rule.of({"distinct_l": 2}, withheld=100.0, growth="insert"))
    fresh.append(rows(52, 57), np.array([0, 1]))
    fresh.append(rows(53, 56), np.array([2, 3]))  # before anything is released nothing can be learned
    assert len(counted(fresh)) == 2
