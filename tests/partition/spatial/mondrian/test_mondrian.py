"""Mondrian: against a plain-Python reading of the rule; medians, turns, trees and sets; nothing left to cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.guarantees import Histograms
from discreet.partition.spatial.mondrian import mondrian
from discreet.partition.spatial.mondrian.mondrian import assign
from discreet.partition.spatial.mondrian.unordered import FEW
from discreet.partition.spatial.space import Dimension, penalties
from discreet.values.random import RandomSource
from partition.spatial.spaces import (
    as_sets,
    branches,
    cases,
    edges,
    guarantee,
    keeps,
    members,
    named,
    names,
    nodes,
    ranged,
    tree,
    untouched,
)

DIMENSIONS, MEDIANS = ("widest", "round_robin"), ("strict", "relaxed")
GOLDEN = np.array([(1, 1), (2, 2), (1, 4), (2, 3), (3, 1), (3, 2), (5, 4)])  # rows A to G of paper 2, figure 1


def alike(n):
    return np.zeros(n, np.int32)


def by_hand(space, rows, sensitive, promised, last, *, in_turn):
    """Cut as the rule says, with strict medians, in ranges and trees."""
    if in_turn:
        turn = [(last + 1 + i) % len(space) for i in range(len(space))]
    else:
        width = [
            penalties([Dimension(d.codes[rows], d.size, d.places, d.levels, d.missing)], alike(len(rows)))
            for d in space
        ]
        turn = sorted(range(len(space)), key=lambda j: -width[j][0, 0])
    for j in turn:
        ways = (
            [branches(space[j], rows, lambda part: keeps(sensitive[part].tolist(), promised))]
            if space[j].form == "tree"
            else edges(space[j], rows)
        )
        for parts in ways:
            if len(parts) > 1 and all(keeps(sensitive[part].tolist(), promised) for part in parts):
                return [
                    group for part in parts for group in by_hand(space, part, sensitive, promised, j, in_turn=in_turn)
                ]
    return [rows]


@settings(max_examples=200, deadline=None)
@given(
    case=cases(),
    seed=st.integers(0, 2**32),
    cuts=st.sampled_from(("blind", "fitted")),
    dimension=st.sampled_from(DIMENSIONS),
    median=st.sampled_from(MEDIANS),
)
def test_any_space_and_any_promise(case, seed, cuts, dimension, median):
    space, sensitive, promised = case

    def act():
        return assign(
            space, sensitive, guarantee(promised), RandomSource(seed), cuts=cuts, dimension=dimension, median=median
        )

    groups = untouched(space, sensitive, act)
    assert groups.dtype == np.int32
    assert groups.shape == sensitive.shape
    assert all(keeps(sensitive[rows].tolist(), promised) for rows in members(groups))
    assert guarantee(promised).holds(Histograms.of(groups, sensitive)).all()
    assert np.array_equal(groups, act())


@settings(max_examples=200, deadline=None)
@given(case=cases(forms=("range", "tree")), seed=st.integers(0, 2**32), in_turn=st.booleans())
def test_cuts_are_those_of_the_rule(case, seed, in_turn):
    space, sensitive, promised = case
    groups = assign(
        space, sensitive, guarantee(promised), RandomSource(seed), cuts="fitted", dimension=DIMENSIONS[in_turn]
    )
    rows = list(range(sensitive.size))
    expected = by_hand(space, rows, sensitive, promised, len(space) - 1, in_turn=in_turn)
    assert as_sets(groups) == {frozenset(group) for group in expected}


@settings(max_examples=200, deadline=None)
@given(case=cases(), seed=st.integers(0, 2**32), dimension=st.sampled_from(DIMENSIONS), median=st.sampled_from(MEDIANS))
def test_mondrian_leaves_nothing_to_cut(case, seed, dimension, median):
    space, sensitive, promised = case
    groups = assign(
        space, sensitive, guarantee(promised), RandomSource(seed), cuts="fitted", dimension=dimension, median=median
    )
    for rows in members(groups):
        for axis in space:
            for parts in ways_to_cut(axis, rows):
                assert not all(keeps(sensitive[part].tolist(), promised) for part in parts)


def ways_to_cut(axis, rows):
    """In two, so that one side at least is smaller: between values of a range, at a node of a tree, in a set of few names."""
    if axis.form == "range":
        yield from edges(axis, rows)
    elif axis.form == "tree":
        for parts in nodes(axis, rows):
            for part in parts.values():
                yield part, [row for row in rows if row not in part]
    elif len(set(axis.codes[rows].tolist())) <= FEW:
        yield from names(axis, rows)


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("median", MEDIANS)
def test_paper_2_figure_1(dimension, median):
    """Seven rows, k = 3: two groups, and boxes no larger than those of the paper's own groups, whose NCP is 62."""
    space = [ranged(column) for column in GOLDEN.T]
    groups = assign(space, alike(7), guarantee({"k": 3}), RandomSource(1), dimension=dimension, median=median)
    assert sorted(np.bincount(groups)) == [3, 4]

    def perimeter(groups):
        return sum(len(rows) * 2 * np.ptp(GOLDEN[rows], axis=0).sum() for rows in members(groups))

    assert perimeter(np.array([0, 0, 0, 0, 1, 1, 1])) == 62
    if median == "strict":
        assert as_sets(groups) == {frozenset({0, 1, 2, 3}), frozenset({4, 5, 6})}


def test_relaxed_medians_are_even():
    """Whatever repeats: halves differ by one row at most, so no group of different values has 2k rows."""
    values = np.array([1] * 30 + [2] * 6 + [3] * 5)
    for seed in range(5):
        groups = assign([ranged(values)], alike(41), guarantee({"k": 4}), RandomSource(seed), median="relaxed")
        for rows in members(groups):
            assert len(rows) < 8 or len(set(values[rows].tolist())) == 1
    strict = assign([ranged(values)], alike(41), guarantee({"k": 4}), RandomSource(0))
    assert sorted(np.bincount(strict)) == [5, 6, 30]


def test_relaxed_ties_fall_by_chance():
    """Six rows of one value and two of another: which two of the six are beside the others is drawn."""
    space, draws = [ranged([1] * 6 + [2] * 2)], 600
    beside = np.zeros(8)
    for seed in range(draws):
        groups = assign(space, alike(8), guarantee({"k": 4}), RandomSource(seed), median="relaxed")
        assert groups[6] == groups[7]
        beside += groups == groups[6]
    # Hoeffding: a frequency is this far from its chance with p < 2 exp(-20).
    assert np.abs(beside[:6] / draws - 1 / 3).max() < np.sqrt(20 / (2 * draws))


def test_turns_and_widths():
    """Rows that differ little in the first dimension, much in the second: only taking turns cuts the first."""
    x = Dimension(np.arange(7, dtype=np.int32), 8, np.array([0, 1, 2, 3, 4, 5, 6, 1000.0]))
    narrow = [x, ranged([0, 16, 0, 16, 0, 16, 0])]
    widest = assign(narrow, alike(7), guarantee({"k": 3}), RandomSource(0))
    in_turn = assign(narrow, alike(7), guarantee({"k": 3}), RandomSource(0), dimension="round_robin")
    assert as_sets(widest) == {frozenset({0, 2, 4, 6}), frozenset({1, 3, 5})}
    assert as_sets(in_turn) == {frozenset({0, 1, 2}), frozenset({3, 4, 5, 6})}


def test_a_dimension_is_not_given_up():
    """The median cut breaks l on both sides of the median value; one nearer to the end keeps it."""
    values = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    sensitive = np.array([0, 1, 0, 1, 2, 2, 2, 0, 1, 3], np.int32)
    groups = assign([ranged(values)], sensitive, guarantee({"l": 2}), RandomSource(0), cuts="fitted")
    assert as_sets(groups) == {frozenset({0, 1}), frozenset({2, 3}), frozenset(range(4, 10))}


def test_trees_are_cut_at_nodes():
    """One tree: groups are its nodes, as far down as all children can stand alone."""
    rng = np.random.default_rng(4)
    codes = rng.choice(8, 300, p=[0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.09, 0.01]).astype(np.int32)
    space = [tree(codes, [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1])]
    made = {
        frozenset(codes[rows].tolist())
        for rows in members(assign(space, alike(300), guarantee({"k": 9}), RandomSource(0)))
    }
    assert made == {frozenset(nodes) for nodes in ({0}, {1}, {2}, {3}, {4}, {5}, {6, 7})}


@settings(max_examples=60, deadline=None)
@given(case=cases(), seed=st.integers(0, 2**32), data=st.data())
def test_names_of_a_set_do_not_matter(case, seed, data):
    """Codes of sets dealt out anew: the very same groups."""
    space, sensitive, promised = case
    renamed = []
    for axis in space:
        names = np.array(data.draw(st.permutations(range(axis.size))), np.int32)
        renamed.append(named(names[axis.codes], axis.size) if axis.form == "set" else axis)
    one, other = (assign(axes, sensitive, guarantee(promised), RandomSource(seed)) for axes in (space, renamed))
    assert np.array_equal(one, other)


def test_sets_are_halved_by_rows():
    """Frequencies 8, 7, 6, 5, 4, 3, 2, 1, dealt to the lighter side: 18 rows on either."""
    codes = np.repeat(np.arange(8), range(8, 0, -1))
    groups = assign([named(codes)], alike(36), guarantee({"k": 17}), RandomSource(0))
    assert sorted(np.bincount(groups)) == [18, 18]
    assert all(len(set(groups[codes == code].tolist())) == 1 for code in range(8))


@pytest.mark.parametrize("coarse", [1, 50, 1000])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_threads_change_nothing(monkeypatch, coarse, dimension):
    rng = np.random.default_rng(6)
    codes = [rng.integers(0, width, 5000).astype(np.int32) for width in (3, 50, 4000)]
    space = [tree(codes[0], [0, 0, 1]), named(codes[1]), Dimension(codes[2], 4000, np.arange(4000.0))]
    values = rng.integers(0, 8, 5000).astype(np.int32)
    alone = assign(space, values, guarantee({"l": 4}), RandomSource(11), dimension=dimension)
    monkeypatch.setattr(mondrian, "COARSE", coarse)
    assert np.array_equal(assign(space, values, guarantee({"l": 4}), RandomSource(11), dimension=dimension), alone)


@pytest.mark.parametrize("size", [200, 60_000, 2_000_000])
@pytest.mark.parametrize("promised", [{"k": 5}, {"l": 3}], ids=str)
def test_many_codes(size, promised):
    """Codes of one, two and four bytes; far more codes than rows."""
    rng = np.random.default_rng(size)
    codes = rng.integers(0, size, (2, 400)).astype(np.int32)
    sensitive = rng.integers(0, 8, 400).astype(np.int32)
    space = [Dimension(column, size, np.arange(size) / 4) for column in codes]
    groups = assign(space, sensitive, guarantee(promised), RandomSource(2), cuts="fitted")
    expected = by_hand(space, list(range(400)), sensitive, promised, 1, in_turn=False)
    assert as_sets(groups) == {frozenset(group) for group in expected}


def test_missing_values_are_cut_off():
    groups = assign([ranged(range(9), missing=3)], alike(12), guarantee({"k": 3}), RandomSource(0))
    assert as_sets(groups) == {frozenset(range(first, first + 3)) for first in (0, 3, 6, 9)}


def test_nothing_to_cut_by():
    for space in ([], [ranged([4] * 9)], [named([0] * 9)], [tree([1] * 9, [0, 0])]):
        assert assign(space, alike(9), guarantee({"k": 2}), RandomSource(0)).tolist() == [0] * 9
