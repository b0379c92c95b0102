"""Local with fitted cuts: cells against a plain-Python reading of the rule, similar rows together, ties drawn evenly.

Blind cuts are judged by what they tell, in `tests/audit/test_minimality.py`.
"""

from collections import Counter, defaultdict
from functools import partial
from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.guarantees import Guarantee, Scale
from discreet.partition.spatial import local
from discreet.values.random import RandomSource
from discreet.values.rule import Rule

assign = partial(local.assign, cuts="fitted")
MARKS = np.cumsum([0, 1, 5, 2, 1, 9, 1, 3])


def keeps(values, k, l, distinct_l, e=0):
    counter = Counter(values)
    wide = not e or MARKS[max(values)] - MARKS[min(values)] >= e
    return wide and len(values) >= k and len(counter) >= distinct_l and max(counter.values()) * l <= len(values)


def cells_by_hand(rows, spans, thresholds):
    """Cut (quasi-identifiers, value) rows in two at the median of the widest column while both halves keep the promises.

    The median value's rows go to one side if they can, the nearer edge first; else the cut is in the exact
    middle and they are shared out in the order in which they stand.
    """
    half = len(rows) // 2
    width = [(max(q[j] for q, _ in rows) - min(q[j] for q, _ in rows)) / span for j, span in enumerate(spans)]
    for j in sorted(range(len(spans)), key=lambda j: -width[j]):
        if len(rows) < 2 * max(thresholds[:3]) or width[j] == 0:
            continue
        median = sorted(q[j] for q, _ in rows)[half]
        under = sum(q[j] < median for q, _ in rows)
        upto = sum(q[j] <= median for q, _ in rows)
        edges = [under, upto] if half - under <= upto - half else [upto, under]
        for size in (*edges, half):
            ties = size - under
            parts = [], []
            for q, value in rows:
                low = q[j] < median or (q[j] == median and ties > 0)
                ties -= low and q[j] == median
                parts[0 if low else 1].append((q, value))
            if all(part and keeps([value for _, value in part], *thresholds) for part in parts):
                return [cell for part in parts for cell in cells_by_hand(part, spans, thresholds)]
    return [rows]


def cut(points, values, thresholds):
    """The cells that the kernel makes, each a list of (quasi-identifiers, value)."""
    points, values = np.array(points, np.uint16), np.array(values, np.int32)
    spans = np.maximum(points.max(axis=0), 1).astype(np.int64)
    rows = np.arange(len(values), dtype=np.int32)
    scratch = points.copy(), values.copy(), rows.copy()
    counts = np.zeros((2, values.max() + 1), np.int32)
    starts = np.zeros(len(values), np.bool_)
    local._cut(points, values, rows, *scratch, 0, len(values), 0, spans, Rule(*thresholds, MARKS), *counts, starts)
    edges = [*np.flatnonzero(starts).tolist(), len(values)]
    found = [(tuple(q), value) for q, value in zip(points.tolist(), values.tolist(), strict=True)]
    return [found[a:b] for a, b in pairwise(edges)], rows.tolist(), spans.tolist()


@st.composite
def tables(draw):
    """Rows of one to three columns with a value each, and thresholds that all of them together keep."""
    d = draw(st.integers(1, 3))
    width = draw(st.sampled_from([1, 2, 4, 30, 60_000]))
    row = st.tuples(st.tuples(*[st.integers(0, width - 1)] * d), st.integers(0, draw(st.integers(1, 7))))
    rows = draw(st.lists(row, min_size=2, max_size=60))
    counts = Counter(value for _, value in rows)
    width = MARKS[max(counts)] - MARKS[min(counts)]
    return rows, (
        draw(st.integers(1, min(len(rows), 8))),
        draw(st.integers(1, max(1, min(5, len(rows) // max(counts.values()))))),
        draw(st.integers(1, len(counts))),
        draw(st.just(0) | st.integers(0, int(width))),
    )


@settings(max_examples=400, deadline=None)
@example(case=([((1,), 0), ((1,), 1), ((1,), 0), ((1,), 1)], (1, 2, 1, 0)))
@example(case=([((0,), i) for i in range(1)] + [((1,), i) for i in range(1, 8)], (1, 2, 1, 0)))
@given(case=tables())
def test_local_cells_stay_eligible(case):
    rows, thresholds = case
    points, values = zip(*rows, strict=True)
    cells, order, spans = cut(points, values, thresholds)
    assert all(keeps([value for _, value in cell], *thresholds) for cell in cells)
    assert sorted(order) == list(range(len(rows)))
    assert [rows[row] for row in order] == [row for cell in cells for row in cell]
    assert cells == cells_by_hand(rows, spans, thresholds)


@settings(max_examples=60, deadline=None)
@given(case=tables(), seed=st.integers(0, 2**32))
def test_groups_do_not_cross_cells(case, seed):
    """Every group lies inside one of the cells that the rule gives for the same shuffled rows."""
    rows, (k, l, distinct_l, e) = case
    quasi = [np.array(column, np.int32) for column in zip(*(q for q, _ in rows), strict=True)]
    values = np.array([value for _, value in rows], np.int32)
    k = 1 if e else k  # beside e, k counts distinct values
    promised = {"l": l, "distinct_l": distinct_l, "k": k, **({"e": e} if e else {})}
    guarantee = Guarantee.of(promised, Scale(MARKS))
    groups = assign(quasi, values, guarantee, RandomSource(seed)).tolist()
    order = local.shuffle(RandomSource(seed).words(len(rows))).tolist()
    spans = [max(int(column.max()), 1) for column in quasi]
    cells = cells_by_hand([rows[row] for row in order], spans, (k, l, distinct_l, e))
    made = defaultdict(list)
    for row in order:
        made[groups[row]].append(rows[row])
    # Groups are numbered in the order of the cells, so they must fill one cell after the other.
    number = 0
    for cell in cells:
        filled = Counter()
        while filled.total() < len(cell):
            filled.update(made[number])
            number += 1
        assert filled == Counter(cell)
    assert number == len(made)


def clusters(side, per_cluster, values, rng):
    """A grid of well separated clusters with as many rows each, shuffled: two columns, a value, the cluster."""
    rows = [
        (100 * x + int(rng.integers(0, 10)), 100 * y + int(rng.integers(0, 10)), i % values, side * x + y)
        for x in range(side)
        for y in range(side)
        for i in range(per_cluster)
    ]
    return [np.array(column, np.int32) for column in zip(*(rows[i] for i in rng.permutation(len(rows))), strict=True)]


@pytest.mark.parametrize("promised", [{"l": 4}, {"k": 6}, {"l": 2, "distinct_l": 5}])
@pytest.mark.parametrize("per_cluster", [24, 41])
def test_groups_do_not_cross_clusters(promised, per_cluster):
    """A cell of whole clusters can always be cut between clusters, so no group needs rows of two."""
    x, y, values, cluster = clusters(8, per_cluster, 7, np.random.default_rng(3))
    groups = assign([x, y], values, Guarantee.of(promised), RandomSource(3)).tolist()
    seen = defaultdict(set)
    for group, home in zip(groups, cluster.tolist(), strict=True):
        seen[group].add(home)
    assert {len(homes) for homes in seen.values()} == {1}


def test_groups_are_far_narrower_than_dealt_ones():
    """On uniform points a group of l = 4 rows spans little of either axis; dealt groups span most of it."""
    from discreet.partition.histogram import deal

    rng = np.random.default_rng(9)
    x, y = (rng.permutation(4096).astype(np.int32) for _ in range(2))
    values = rng.integers(0, 40, 4096).astype(np.int32)

    def width(groups):
        spread = [np.ptp(column[groups == group]) for group in range(groups.max() + 1) for column in (x, y)]
        return np.mean(spread) / 4096

    guarantee = Guarantee.of({"l": 4})
    near, far = (module.assign([x, y], values, guarantee, RandomSource(1)) for module in (local, deal))
    # The range of m uniform points is (m-1)/(m+1) on average: 0.6 for 4. A cell of 4 to 16 rows has a side near 1/20.
    assert width(far) > 0.55
    assert width(near) < 0.55 / 5


@pytest.mark.parametrize("coarse", [1, 50, 1000])
def test_threads_change_nothing(monkeypatch, coarse):
    """Cutting large cells first and the rest on several threads gives what one thread gives."""
    rng = np.random.default_rng(6)
    quasi = [rng.integers(0, width, 5000).astype(np.int32) for width in (3, 50, 4000)]
    values = rng.integers(0, 12, 5000).astype(np.int32)
    alone = assign(quasi, values, Guarantee.of({"l": 4}), RandomSource(11))
    monkeypatch.setattr(local, "COARSE", coarse)
    assert np.array_equal(assign(quasi, values, Guarantee.of({"l": 4}), RandomSource(11)), alone)


def test_ties_fall_to_either_side_at_random():
    """One row has code 0, seven have code 1: three of the seven, drawn evenly, share its cell."""
    codes, values, draws = np.array([0] + [1] * 7, np.int32), np.arange(8, dtype=np.int32), 2100
    beside = Counter()
    for seed in range(draws):
        groups = assign([codes], values, Guarantee.of({"l": 4}), RandomSource(seed)).tolist()
        mates = frozenset(row for row in range(1, 8) if groups[row] == groups[0])
        assert len(mates) == 3
        beside[mates] += 1
    expected, freedom = draws / 35, 34
    assert len(beside) == 35
    statistic = sum((seen - expected) ** 2 / expected for seen in beside.values())
    # p < exp(-20) by Laurent and Massart (2000), lemma 1
    assert statistic < freedom + 2 * sqrt(freedom * 20) + 2 * 20


def test_no_quasi_identifiers_is_one_cell():
    values = (np.arange(30) % 6).astype(np.int32)
    groups = assign([], values, Guarantee.of({"l": 3}), RandomSource(0)).tolist()
    assert sorted(Counter(groups).values()) == [3] * 10
