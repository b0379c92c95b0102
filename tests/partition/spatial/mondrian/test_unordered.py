"""Cuts of trees and sets: found wherever there is one, by trying all; what is written fits together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.partition.spatial.mondrian.unordered import FEW, cut_set, cut_tree
from discreet.partition.spatial.packed import frame
from partition.spatial.spaces import cases, guarantee, keeps, named, names, nodes, tree


def parted(axis, sensitive, promised):
    """The parts of all rows that a cut makes, none if there is no cut."""
    n, size = sensitive.size, max(axis.size, 2)
    codes, rule = axis.codes.astype(np.uint8), guarantee(promised).rule
    counts, histogram, order = np.zeros(8, np.int32), np.empty(size + 1, np.int64), np.empty(n, np.int32)
    part_of, number, sizes = np.empty(size, np.int32), np.full(size, -1, np.int32), np.empty(size, np.int64)
    if axis.form == "tree":
        spare = np.empty(n, np.int32)
        given_ = rule, counts, histogram, order, spare, part_of, number, sizes
        parts = cut_tree(codes, sensitive, 0, frame([axis]), *given_)
    else:
        works = np.empty(n + 1, np.bool_)
        parts = cut_set(codes, sensitive, rule, counts, histogram, order, works, part_of, number, sizes)
    assert (number == -1).all()
    assert not counts.any()
    found = [[row for row in range(n) if part_of[codes[row]] == part] for part in range(parts)]
    assert sizes[:parts].tolist() == [len(rows) for rows in found]
    assert sum(map(len, found)) == (n if parts else 0)
    return found


@settings(max_examples=300, deadline=None)
@given(case=cases(forms=("tree",)))
def test_trees_are_parted_where_possible(case):
    (axis, *_), sensitive, promised = case

    def keep(rows):
        return keeps(sensitive[rows].tolist(), promised)

    rows = list(range(sensitive.size))
    found = parted(axis, sensitive, promised)
    assert all(keep(part) for part in found)
    possible = any(
        keep(part) and keep([row for row in rows if row not in part])
        for parts in nodes(axis, rows)
        for part in parts.values()
    )
    assert bool(found) == possible


@settings(max_examples=300, deadline=None)
@given(case=cases(forms=("set",), most=30), k=st.none() | st.integers(1, 12))
def test_sets_are_parted_where_possible(case, k):
    (axis, *_), sensitive, promised = case
    promised = promised if k is None else {"k": k}
    found = parted(axis, sensitive, promised)
    assert all(keeps(sensitive[part].tolist(), promised) for part in found)
    ways = [
        way
        for way in names(axis, list(range(sensitive.size)))
        if all(keeps(sensitive[part].tolist(), promised) for part in way)
    ]
    if "l" not in promised or len(set(axis.codes.tolist())) <= FEW:
        assert bool(found) == bool(ways)


@pytest.mark.parametrize(
    ("counts", "k", "sides"),
    [
        ((7, 6, 5, 4, 4), 13, {13}),  # the lighter side first would be 15 and 11
        ((5, 5, 4, 4, 4), 10, {10, 12}),
        ((20, 3), 4, set()),
        ((4, 4, 3), 5, set()),
    ],
)
def test_sums_are_reached(counts, k, sides):
    """With k alone a set is halved as evenly as it has to be."""
    codes = np.repeat(np.arange(len(counts)), counts)
    found = parted(named(codes), np.zeros(codes.size, np.int32), {"k": k})
    assert {len(part) for part in found} == sides


def test_a_rare_child_does_not_hold_the_others_back():
    """Two towns in the north, three in the south, a lonely island: all but the smallest that it needs leave it."""
    codes = np.repeat(np.arange(6), [30, 20, 10, 10, 10, 1])

    def towns(codes):
        axis = tree(codes, [0, 0, 1, 1, 1, 2])
        parts = parted(axis, np.zeros(codes.size, np.int32), {"k": 5})
        return sorted(sorted(set(codes[part].tolist())) for part in parts)

    assert towns(codes) == [[0, 1], [2, 3, 4, 5]]
    assert towns(codes[50:]) == [[2, 5], [3], [4]]  # one region and the island: towns leave, if the region cannot
    assert towns(codes[codes < 5]) == [[0, 1], [2, 3, 4]]
