"""Compact: each step against brute force, any space and promise, and how far it is from the best groups there are."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.guarantees import Guarantee, Histograms
from discreet.partition.spatial.compact.compact import assign
from discreet.partition.spatial.compact.cuts import UNEVEN, cut_up
from discreet.partition.spatial.compact.moves import LARGE, move
from discreet.partition.spatial.compact.segments import FINE, segments
from discreet.partition.spatial.mondrian import mondrian
from discreet.partition.spatial.packed import frame
from discreet.partition.spatial.space import Dimension, penalties
from discreet.values.random import RandomSource
from partition.spatial.spaces import as_sets, cases, guarantee, keeps, members, named, ranged, tree, untouched


def cost_of(space, groups):
    """Rows times what their boxes cost."""
    return float(np.bincount(groups) @ penalties(space, groups).sum(axis=1))


def cost_of_rows(space, rows):
    part = [Dimension(d.codes[list(rows)], d.size, d.places, d.levels, d.missing) for d in space]
    return len(rows) * float(penalties(part, np.zeros(len(rows), np.int32)).sum())


@settings(max_examples=200, deadline=None)
@given(case=cases(), seed=st.integers(0, 2**32), cuts=st.sampled_from(("blind", "fitted")))
def test_any_space_and_any_promise(case, seed, cuts):
    space, sensitive, promised = case

    def act():
        return assign(space, sensitive, guarantee(promised), RandomSource(seed), cuts=cuts)

    groups = untouched(space, sensitive, act)
    assert groups.dtype == np.int32
    assert groups.shape == sensitive.shape
    assert all(keeps(sensitive[rows].tolist(), promised) for rows in members(groups))
    assert guarantee(promised).holds(Histograms.of(groups, sensitive)).all()
    assert np.array_equal(groups, act())


def asked(promised):
    """The rule as kernels take it, none if rows are all that counts, and the fewest rows."""
    return guarantee(promised).rule if promised["distinct_l"] > 1 else None, max(promised.values())


def in_line(space):
    """Points as kernels take them, a row each, in the order in which rows stand; trees must have their leaves in order."""
    points = np.stack([d.codes for d in space], axis=1).astype(np.int32)
    return points, np.arange(points.shape[0], dtype=np.int32), frame(space)


@st.composite
def lines(draw, most=11):
    """Up to eleven rows in an order, where the parts of it start, and k; a tree has its leaves in order."""
    n = draw(st.integers(4, most))
    numbers = st.lists(st.integers(0, 7), min_size=n, max_size=n)
    columns = [draw(numbers) for _ in range(3)]
    space = [
        ranged(np.array(columns[0])),
        tree(columns[1], [0, 0, 1, 1, 1, 2, 2, 2]),
        named(columns[2], 8),
    ]
    k = draw(st.integers(1, n // 2))
    starts = [0]
    while n - starts[-1] >= 2 * k and draw(st.booleans()):
        starts.append(draw(st.integers(starts[-1] + k, n - k)))
    return space, k, np.array(starts, np.int64)


def divisions(n, allowed):
    """All ways to divide 0..n into allowed stretches."""
    if n == 0:
        yield []
    for a in range(n):
        if (a, n) in allowed:
            yield from ([*before, (a, n)] for before in divisions(a, allowed))


@settings(max_examples=100, deadline=None)
@given(line=lines(), values=st.lists(st.integers(0, 3), min_size=11, max_size=11), distinct=st.integers(1, 2))
def test_segments_are_the_cheapest(line, values, distinct):
    space, k, starts = line
    points, of_row, dims = in_line(space)
    n, promised = of_row.size, {"k": k, "distinct_l": distinct}
    values = np.array(values[:n], np.int32)
    ends = [*starts[1:].tolist(), n]
    parts = set(zip(starts.tolist(), ends, strict=True))
    if not all(keeps(values[a:b].tolist(), promised) for a, b in parts):
        return
    longest = 2 * k - 1 if distinct == 1 else 3 * max(k, distinct)
    short = {(a, b) for a, b in combinations(range(n + 1), 2) if b - a <= longest}
    allowed = {(a, b) for a, b in short | parts if keeps(values[a:b].tolist(), promised)}
    found = segments(points, of_row, values, 4, starts, dims, *asked(promised))
    stretches = list(zip(found.tolist(), [*found[1:].tolist(), n], strict=True))
    assert set(stretches) <= allowed
    best = min(sum(cost_of_rows(space, range(a, b)) for a, b in way) for way in divisions(n, allowed))
    assert sum(cost_of_rows(space, range(a, b)) for a, b in stretches) == pytest.approx(best)


def test_segments_never_lose_more_than_parts():
    """Of groups so large that they end at every fourth row only, or that are longer than is looked back."""
    rng = np.random.default_rng(5)
    space = [ranged(rng.integers(0, 50, 3_000)), named(rng.integers(0, 5, 3_000))]
    points, of_row, dims = in_line(space)
    values, starts = np.zeros(3_000, np.int32), np.array([0, 101, 220, 1_000, 2_800])
    for k in (4, 3 * FINE + 4):
        found = segments(points, of_row, values, 1, starts, dims, None, k)
        groups = np.repeat(np.arange(found.size), np.diff(found, append=3_000))
        assert np.bincount(groups).min() >= k
        parts = np.repeat(np.arange(starts.size), np.diff(starts, append=3_000))
        assert cost_of(space, groups) <= cost_of(space, parts)


@settings(max_examples=100, deadline=None)
@given(line=lines(most=30), values=st.lists(st.integers(0, 3), min_size=30, max_size=30), distinct=st.integers(1, 2))
def test_moves_never_lose(line, values, distinct):
    space, k, starts = line
    points, of_row, dims = in_line(space)
    n, promised = of_row.size, {"k": k, "distinct_l": distinct}
    values, before = np.array(values[:n], np.int32), np.repeat(np.arange(starts.size), np.diff(starts, append=n))
    if not all(keeps(values[rows].tolist(), promised) for rows in members(before)):
        return
    groups = np.empty(n, np.int32)
    _, alike = np.unique(points, axis=0, return_inverse=True)  # rows that are alike leave together
    distinct_points = np.unique(points, axis=0).astype(np.int32)
    move(distinct_points, alike.reshape(-1).astype(np.int32), values, 4, starts, dims, *asked(promised), groups)
    assert all(keeps(values[rows].tolist(), promised) for rows in members(groups))
    assert cost_of(space, groups) <= cost_of(space, before) + 1e-9


def test_a_row_moves_where_it_belongs():
    """0 0 0 9 | 9 9 9: the fourth row costs its group a whole column, and the other one nothing."""
    space = [ranged(np.array([0, 0, 1, 9, 9, 8, 9]))]
    points, of_row, dims = in_line(space)
    groups = np.empty(7, np.int32)
    move(points, of_row, np.zeros(7, np.int32), 1, np.array([0, 4]), dims, None, 3, groups)
    assert groups.tolist() == [0, 0, 0, 1, 1, 1, 1]


def test_very_large_groups_stay_as_they_are():
    """To try each of their rows would cost the square of these; the same few rows move in a group that is not as large."""
    for rows, left in ((LARGE, 0), (LARGE + 1, 1)):
        space = [ranged(np.array([*[0] * (rows - 1), 9, 9, 8, 9]))]
        points, of_row, dims = in_line(space)
        groups = np.empty(rows + 3, np.int32)
        move(points, of_row, np.zeros(rows + 3, np.int32), 1, np.array([0, rows]), dims, None, 3, groups)
        assert np.bincount(groups).tolist() == [rows - 1 + left, 4 - left]


@settings(max_examples=100, deadline=None)
@given(
    columns=st.lists(st.lists(st.integers(0, 9), min_size=14, max_size=14), min_size=1, max_size=3),
    k=st.integers(1, 7),
)
def test_cuts_save_most(columns, k):
    """The first cut is the best of all: parts lie on one side of it or the other."""
    space = [ranged(np.array(column)) for column in columns]
    everyone = list(range(14))
    best, ways = 0.0, []
    for axis in space:
        for code in range(axis.size - 1):
            left = [row for row in everyone if axis.codes[row] <= code]
            right = [row for row in everyone if axis.codes[row] > code]
            if min(len(left), len(right)) < k:
                continue
            saved = cost_of_rows(space, everyone) - cost_of_rows(space, left) - cost_of_rows(space, right)
            score = saved * (min(len(left), len(right)) / 14) ** -UNEVEN
            if score > best * (1 + 1e-9):
                best, ways = score, []
            if score >= best * (1 - 1e-9):
                ways.append((set(left), set(right)))
    points, first, dims = in_line(space)
    edges = np.zeros(14, np.bool_)
    cut_up(points, np.ones(14, np.int32), first, np.zeros(14, np.int32), 1, dims, None, k, False, edges)
    parts = [set(part.tolist()) for part in np.split(first, np.flatnonzero(edges)[1:])]
    if not ways:
        assert len(parts) == 1
    else:
        assert any(all(part <= left or part <= right for part in parts) for left, right in ways)


def test_one_node_leaves_a_tree():
    """Of four towns in two counties the only large one leaves from under the root: nobody else can."""
    towns = np.array([0] * 2 + [1] * 9 + [2] * 2 + [3] * 2)
    groups = assign([tree(towns, [0, 0, 1, 1])], np.zeros(15, np.int32), guarantee({"k": 6}), RandomSource(1))
    assert as_sets(groups) == {frozenset(range(2, 11)), frozenset([0, 1, 11, 12, 13, 14])}


def test_alike_rows_share_one_group():
    """However many there are: to part them would save nothing."""
    space = [ranged(np.array([5] * 100 + [1] * 7 + [9] * 7)), named(np.array([0] * 107 + [1] * 7))]
    groups = assign(space, np.zeros(114, np.int32), guarantee({"k": 3}), RandomSource(1))
    assert as_sets(groups) == {frozenset(range(100)), frozenset(range(100, 107)), frozenset(range(107, 114))}


def test_missing_values_are_far_from_all():
    space = [ranged(np.array([1, 2, 3, 4]), missing=4)]
    groups = assign(space, np.zeros(8, np.int32), guarantee({"k": 2}), RandomSource(1))
    assert as_sets(groups) == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5, 6, 7})}


def test_a_range_of_very_many_values():
    """More values than are looked at one by one: groups still have k to 2k - 1 rows, and are far smaller than all."""
    rng = np.random.default_rng(2)
    space = [ranged(rng.choice(10**6, 4_000, replace=False)), ranged(rng.choice(10**6, 4_000, replace=False))]
    groups = assign(space, np.zeros(4_000, np.int32), guarantee({"k": 10}), RandomSource(1))
    sizes = np.bincount(groups)
    assert sizes.min() >= 10
    assert cost_of(space, groups) / 8_000 < 0.1


def best_there_is(space, k):
    """The cheapest way to part a few rows into groups of at least k: over all subsets."""
    n = space[0].codes.size
    sized = [[i for i in range(n) if mask >> i & 1] for mask in range(1 << n)]
    price = {mask: cost_of_rows(space, rows) for mask, rows in enumerate(sized) if k <= len(rows) < 2 * k}

    @cache
    def least(left):
        first = left & -left
        return (
            min((cost + least(left ^ m) for m, cost in price.items() if m & first and m & left == m), default=np.inf)
            if left
            else 0.0
        )

    return least((1 << n) - 1)


def test_compact_is_near_the_best():
    """Forty tables of nine rows, k = 3: the groups cost at most a quarter more than the best, and less than Mondrian's."""
    rng, mine, its, optimal = np.random.default_rng(19), 0.0, 0.0, 0.0
    for trial in range(40):
        columns = rng.integers(0, 8, (3, 9))
        space = [ranged(columns[0]), tree(columns[1], [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1])]
        space += [ranged(columns[2])] if trial % 2 else [named(columns[2] // 2, 4)]
        best, of_k = best_there_is(space, 3), Guarantee.of({"k": 3})
        found = cost_of(space, assign(space, np.zeros(9, np.int32), of_k, RandomSource(trial)))
        assert found >= best - 1e-9
        mine, optimal = mine + found, optimal + best
        its += cost_of(space, mondrian.assign(space, np.zeros(9, np.int32), of_k, RandomSource(trial)))
    print(f"nine rows, k = 3, times the best there is: compact {mine / optimal:.3f}, mondrian {its / optimal:.3f}")
    assert mine <= 1.25 * optimal
    assert mine < its
