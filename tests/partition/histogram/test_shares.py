"""Rows of many files shared out among blocks: every place is filled once, as a shuffle of all rows would fill it."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.partition.histogram import shares as room
from discreet.partition.histogram.runs import Runs
from discreet.partition.histogram.shares import Shares


def of(groups, values, per):
    """The shares of a plan that gives rows, sorted by value, these groups."""
    values = np.array(values, np.int32)
    return Shares.of(Runs.of(np.array(groups, np.int32), values), np.bincount(values), per)


def before(counts):
    """How many rows of each value the files before each have, of a row for each file."""
    return np.cumsum([np.zeros_like(counts[0]), *counts], axis=0)


def generators(seed):
    return lambda node: np.random.default_rng([seed, node])


@st.composite
def plans(draw):
    values = sorted(draw(st.lists(st.integers(0, 4), min_size=1, max_size=40)))
    groups = draw(st.lists(st.integers(0, 9), min_size=len(values), max_size=len(values)))
    files = draw(st.lists(st.integers(0, 4), min_size=len(values), max_size=len(values)))
    return values, groups, files, draw(st.integers(1, 10)), draw(st.integers(0, 99))


@given(plans())
def test_every_place_is_filled_once(plan):
    values, groups, files, per, seed = plan
    made = of(groups, values, per)
    found = Counter()
    for block in range(10 // per + 1):
        value, group = made.of_block(block)
        assert (np.diff(value) >= 0).all()
        assert (group // per == block).all()
        found.update(zip(value.tolist(), group.tolist(), strict=True))
    assert found == Counter(zip(values, groups, strict=True))

    own = np.zeros((5, 5), np.int64)
    np.add.at(own, (files, values), 1)
    own = own[:, : made.values]
    sent = Counter()
    for file in range(5):
        blocks = made.of_file(file, own[file], before(own[:, made.spread]), generators(seed))
        sent.update(zip(np.repeat(np.arange(made.values), own[file]).tolist(), blocks.tolist(), strict=True))
    assert sent == Counter((value, group // per) for value, group in zip(values, groups, strict=True))


def test_shares_are_shuffles():
    """Seven rows of a value, of three files, in three blocks: how often each table is drawn, beside all shuffles."""
    groups, files = [0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 2, 2]
    made = of(groups, [0] * 7, 1)
    counts = np.array([[3], [2], [2]])

    def table(pairs):
        return tuple(sorted(Counter(pairs).items()))

    expected = Counter(table(zip(files, order, strict=True)) for order in permutations(groups))
    times, drawn = 4000, Counter()
    for seed in range(times):
        pairs = []
        for file in range(3):
            blocks = made.of_file(file, counts[file], before(counts), generators(seed))
            pairs += [(file, block) for block in blocks.tolist()]
        drawn[table(pairs)] += 1
    assert drawn.keys() <= expected.keys()
    total = sum(expected.values())
    apart = sum((drawn[each] - times * n / total) ** 2 / (times * n / total) for each, n in expected.items())
    free = len(expected) - 1
    assert apart < free + 4 * (2 * free) ** 0.5  # chi square: its mean, and four deviations


def test_values_in_one_block_need_no_counts():
    made = of([0, 1, 2, 3, 0, 1], [0, 0, 0, 0, 1, 1], 2)
    assert made.spread.tolist() == [0]
    blocks = made.of_file(1, np.array([1, 2]), before(np.array([[3], [1]])), generators(1))
    assert blocks[1:].tolist() == [0, 0]


def test_too_many_rows_of_a_value_are_refused(monkeypatch):
    monkeypatch.setattr(room, "MOST", 3)
    with pytest.raises(InputError, match="cannot be dealt on Spark"):
        of([0, 1, 2], [0, 0, 0], 1)
