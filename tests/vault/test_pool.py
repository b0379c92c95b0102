from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.values.boxes import box_of
from discreet.values.columns import Column
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.forest import loss
from discreet.vault.tree.pool import Pool, asked


@st.composite
def some_rows(draw):
    kinds = draw(st.lists(st.sampled_from([pa.float64(), pa.string()]), min_size=1, max_size=3))
    seed, n = draw(st.integers(0, 2**32)), draw(st.integers(2, 30))
    random = np.random.default_rng(seed)
    points = np.column_stack([random.integers(0, random.integers(1, 9), n) ** 2.0 for _ in kinds])
    return tuple(Column(f"c{j}", kind) for j, kind in enumerate(kinds)), points, random.integers(0, 5, n)


rules = st.sampled_from([{"distinct_l": 2}, {"distinct_l": 3}, {"l": 2}, {"l": 2, "k": 4}])


def all_cuts(columns, points):
    """Every cut between two values of a range, or of a set by frequency, however equal frequencies are ordered."""
    for j, column in enumerate(columns):
        values, of_row = np.unique(points[:, j], return_inverse=True)
        if column.ordered:
            for at in range(1, values.size):
                yield j, of_row < at
        else:
            counts = np.bincount(of_row)
            first = np.array([np.argmax(of_row == v) for v in range(values.size)])
            order = np.lexsort((first, -counts))
            for at in range(1, values.size):
                yield j, np.isin(of_row, order[:at])


def cost(points, columns, space):
    return len(points) * loss(box_of(points, columns), space)


@settings(deadline=None, max_examples=200)
@given(some_rows(), rules)
def test_best_cut_is_best(rows, thresholds):
    columns, points, values = rows
    rule, space = Rule.of(thresholds), box_of(points, columns)
    allowed = []
    for column, left in all_cuts(columns, points):
        parts = [np.bincount(values[side], minlength=5) for side in (left, ~left)]
        if all(rule.group(part) for part in parts):
            allowed.append((cost(points[left], columns, space) + cost(points[~left], columns, space), column))
    pool = Pool.of(points, values, columns, space)
    for column in range(-1, len(columns)):
        found = pool.cut(np.arange(len(points)), asked(rule), column)
        best = min((costs for costs, j in allowed if column in (-1, j)), default=np.inf)
        if found is None:
            assert best >= cost(points, columns, space) * (1 - 1e-6)
            continue
        _, left = found
        assert cost(points[left], columns, space) + cost(points[~left], columns, space) == pytest.approx(best)
        assert all(rule.group(np.bincount(values[side], minlength=5)) for side in (left, ~left))


@settings(deadline=None, max_examples=100)
@given(some_rows(), rules)
def test_divided_rows_keep_the_rule_and_leave_nothing_to_cut(rows, thresholds):
    columns, points, values = rows
    rule, everybody = Rule.of(thresholds), np.arange(len(points))
    pool = Pool.of(points, values, columns, box_of(points, columns))
    order, starts = pool.divide(everybody, asked(rule))
    assert np.array_equal(np.sort(order), everybody)
    whole = rule.group(np.bincount(values, minlength=5))
    for part in np.split(order, starts[1:]):
        assert rule.group(np.bincount(values[part], minlength=5)) or not whole
        assert pool.cut(part, asked(rule)) is None


def test_many_rows_are_cut_by_a_sample():
    random = np.random.default_rng(3)
    n = 50_000
    columns = (Column("a", pa.float64()), Column("b", pa.string()), Column("c", pa.string()))
    points = np.column_stack([random.random(n), random.zipf(1.3, n) % 5_000, random.integers(0, 3, n)])
    values, rule = random.integers(0, 6, n), Rule.of({"distinct_l": 3, "k": 200})
    pool = Pool.of(points, values, columns, box_of(points, columns))
    order, starts = pool.divide(np.arange(n), asked(rule))
    assert np.array_equal(np.sort(order), np.arange(n))
    assert 60 < starts.size <= n // 200
    for part in np.split(order, starts[1:]):
        assert rule.group(np.bincount(values[part], minlength=6))
