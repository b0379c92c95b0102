from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.values.columns import Column
from discreet.vault.safety.rule import Rule
from vault.shelf import Shelf
from vault.tiny_auditor import channels, disjoint, grows, safe, shown

GROWTHS = ["settle", "fitted", "blind", "insert"]


@st.composite
def tables(draw, most=30):
    """A seed, columns, how many values, and the sizes of increments."""
    kinds = draw(st.lists(st.sampled_from([pa.float64(), pa.string()]), min_size=1, max_size=3))
    columns = [Column(f"c{j}", kind) for j, kind in enumerate(kinds)]
    sizes = draw(st.lists(st.integers(1, 40), min_size=1, max_size=most))
    return draw(st.integers(0, 2**32)), columns, draw(st.integers(2, 8)), sizes


rules = st.builds(
    lambda name, threshold, k, withheld: (({"k": k} if k > 1 else {}) | {name: threshold}, withheld),
    st.sampled_from(["l", "distinct_l", "k"]),
    st.integers(2, 3),
    st.integers(1, 5),
    st.sampled_from([0.02, 0.3, 1.0, 4.0]),
)


def increments(seed, columns, values, sizes):
    """Rows that come: more kinds of values with time, a skewed sensitive column that hangs together with the first."""
    draw = np.random.default_rng(seed)
    shares = draw.dirichlet(np.full(values, draw.choice([0.5, 3.0])))
    missing = draw.random() < 0.3
    for at, size in enumerate(sizes):
        points = np.empty((size, len(columns)))
        for j, column in enumerate(columns):
            wide = draw.integers(2, 4 + 2 * at) if column.ordered else draw.integers(1, 3 + at // 3)
            points[:, j] = draw.integers(0, wide + 1, size) / (1 if draw.random() < 0.5 or not column.ordered else 7)
            if missing and column.ordered:
                points[draw.random(size) < 0.2, j] = np.nan
        yield points, np.minimum(draw.choice(values, size=size, p=shares), 2 + at)


def check_rows(shelf, taken):
    """Every row is in one group or waits in one leaf, and groups are what their rows are."""
    held = Counter()
    for leaf in shelf.leaves.values():
        rows = shelf.rows(leaf.node)
        assert leaf.waiting == (~rows.member).sum()
        assert leaf.size == rows.member.sum()
        assert np.array_equal(np.bincount(rows.sensitive[rows.member], minlength=leaf.counts.size), leaf.counts)
        held.update(rows.ids.tolist())
        for j, column in enumerate(shelf.columns):
            mine = rows.points[rows.member, j]
            if leaf.box is None:
                assert not rows.member.any()
            elif column.ordered:
                ends = [np.fmin.reduce(mine), np.fmax.reduce(mine)]
                assert np.array_equal(ends, [leaf.box.lows[j], leaf.box.highs[j]], equal_nan=True)
                assert leaf.box.sets[j] == (np.isnan(mine).any() and not np.isnan(mine).all())
            else:
                assert leaf.box.sets[j] == sum(1 << int(code) for code in set(mine))
    assert held == Counter(range(1, taken + 1))
    assert sum(root.counts.sum() for root in shelf.roots.values()) == taken


def rule_of(thresholds, withheld, growth):
    """The rule of a way to grow; `fitted` and `blind` groups settle, and say how lots are divided."""
    if growth in {"fitted", "blind"}:
        return replace(Rule.of(thresholds, withheld), cuts=growth)
    return Rule.of(thresholds, withheld, growth)


def play(table, rule, growth, seed):
    """Append and release in turns; return the shelf and all releases."""
    draw = np.random.default_rng(seed)
    thresholds, withheld = rule
    shelf, releases, taken = Shelf(table[1], rule_of(thresholds, withheld, growth)), [], 0
    for points, sensitive in increments(*table):
        shelf.append(points, sensitive)
        taken += len(points)
        if draw.random() < 0.7:
            releases.append([shown(leaf, shelf.columns) for leaf in shelf.release()])
    check_rows(shelf, taken)
    return shelf, releases


@pytest.mark.parametrize("growth", GROWTHS)
@settings(max_examples=60, deadline=None)
@given(table=tables(), rule=rules, seed=st.integers(0, 99))
def test_no_release_opens_a_channel(growth, table, rule, seed):
    shelf, releases = play(table, rule, growth, seed)
    for groups in releases:
        assert all(safe(values, shelf.rule) and values.total() >= shelf.rule.k for _, values in groups)
        assert growth != "insert" or disjoint(groups)
    assert grows(releases)
    assert channels(releases, shelf.rule) == []


@pytest.mark.parametrize("growth", GROWTHS)
@settings(max_examples=60, deadline=None)
@given(table=tables(), rule=rules, seed=st.integers(0, 99))
def test_every_row_is_once_member_or_waiting(growth, table, rule, seed):
    thresholds, withheld = rule
    shelf, taken = Shelf(table[1], rule_of(thresholds, withheld, growth)), 0
    draw = np.random.default_rng(seed)
    for points, sensitive in increments(*table):
        shelf.append(points, sensitive)
        taken += len(points)
        check_rows(shelf, taken)
        if draw.random() < 0.5:
            shelf.release()


@pytest.mark.parametrize("growth", ["settle", "fitted", "blind"])
@settings(max_examples=60, deadline=None)
@given(table=tables(), rule=rules, seed=st.integers(0, 99))
def test_released_groups_never_change(growth, table, rule, seed):
    _, releases = play(table, rule, growth, seed)
    for earlier, later in pairwise(releases):
        assert Counter(map(repr, earlier)) <= Counter(map(repr, later))
