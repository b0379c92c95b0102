from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.values.boxes import Box, box_of, mask
from discreet.values.columns import Column
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.forest import Forest, growth, loss, route, sides, strata
from discreet.vault.tree.model import Cut, Leaf
from discreet.vault.tree.pool import cut_between
from vault.shelf import Shelf

NOTHING = np.zeros(1, np.int64)


class Grown:
    """A tree that is cut at random while rows are led through it."""

    def __init__(self, seed, kinds):
        self.draw = np.random.default_rng(seed)
        self.columns = tuple(Column(f"c{j}", kind) for j, kind in enumerate(kinds))
        self.forest = Forest(Shelf(self.columns, Rule.of({"l": 2})))
        self.forest.width = 1
        self.root = self.forest.new(None, 0).id
        self.rows = {}

    def points(self, n, wide):
        made = np.empty((n, len(self.columns)))
        for j, column in enumerate(self.columns):
            made[:, j] = self.draw.integers(0, wide, n) if not column.ordered else self.draw.random(n).round(2) * wide
        return made

    def put(self, leaf, points):
        self.rows[leaf] = np.concatenate([self.rows.get(leaf, points[:0]), points])
        box = box_of(self.rows[leaf], self.columns)
        self.forest.put(leaf=Leaf(leaf, NOTHING, None, box, len(self.rows[leaf]), False))

    def route(self, points):
        space = box_of(np.concatenate([points, *self.rows.values()]), self.columns)
        if not self.rows:
            self.put(self.root, points[:1])
        leaves = route(self.forest, self.root, points, space)
        for leaf in np.unique(leaves):
            self.put(int(leaf), points[leaves == leaf])
        return leaves

    def cut(self):
        """Cut a leaf at random, if it can be."""
        leaf = int(self.draw.choice(list(self.rows)))
        column = int(self.draw.integers(len(self.columns)))
        points = self.rows[leaf]
        values = np.unique(points[:, column])
        if values.size < 2:
            return
        if not self.columns[column].ordered:
            self.draw.shuffle(values)
        chosen = np.isin(points[:, column], values[: self.draw.integers(1, values.size)])
        parts = points[chosen], points[~chosen]
        cut = cut_between(column, self.columns[column], *(part[:, column] for part in parts))
        sides = self.forest.cut(self.forest.node(leaf), cut)
        del self.rows[leaf]
        for node, part in zip(sides, parts, strict=True):
            self.put(node.id, part)


def grown(seed, kinds, sizes):
    tree = Grown(seed, kinds)
    for at, size in enumerate(sizes):
        points = tree.points(size, 3 + 2 * at)
        leaves = tree.route(points)
        yield tree, points, leaves
        for _ in range(3):
            tree.cut()


KINDS = st.lists(st.sampled_from([pa.float64(), pa.string()]), min_size=1, max_size=3)
SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=10)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), KINDS, SIZES)
def test_leaves_stay_apart(seed, kinds, sizes):
    for tree, _, _ in grown(seed, kinds, sizes):
        boxes = [box_of(rows, tree.columns) for rows in tree.rows.values()]
        assert not any(a.meets(b) for a, b in combinations(boxes, 2))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), KINDS, SIZES)
def test_known_values_keep_their_side(seed, kinds, sizes):
    for tree, points, leaves in grown(seed, kinds, sizes):
        assert all((tree.rows[leaf] == point).all(axis=1).any() for leaf, point in zip(leaves, points, strict=True))
        for leaf, rows in list(tree.rows.items()):
            space = box_of(rows, tree.columns)
            assert (route(tree.forest, tree.root, rows, space) == leaf).all()  # many at once
            assert route(tree.forest, tree.root, rows[-1:], space).tolist() == [leaf]  # and one by one


def test_rows_between_two_sides_go_where_loss_grows_least():
    columns = (Column("x", pa.float64()), Column("y", pa.float64()))
    forest = Forest(Shelf(columns, Rule.of({"l": 2})))
    forest.width = 1
    root = forest.new(None, 0)
    low, high = forest.cut(root, Cut(0, low_end=10.0, high_start=20.0))
    for node, points in ((low, [[0, 0], [10, 1]]), (high, [[20, 50], [30, 60]])):
        box = box_of(np.array(points, float), columns)
        forest.put(leaf=Leaf(node.id, NOTHING, None, box, 2, False))
    space = Box(np.array([0.0, 0.0]), np.array([30.0, 60.0]), (0, 0))
    # 18 lies nearer to the right, but its y only to the left; a smaller x can then not go right
    found = route(forest, root.id, np.array([[18.0, 0.0], [12.0, 1.0], [19.0, 55.0]]), space)
    assert found.tolist() == [low.id, low.id, high.id]
    assert (forest.node(root.id).cut.low_end, forest.node(root.id).cut.high_start) == (18.0, 19.0)


def test_values_never_seen_go_where_loss_grows_least():
    columns = (Column("place", pa.string()), Column("y", pa.float64()))
    forest = Forest(Shelf(columns, Rule.of({"l": 2})))
    forest.width = 1
    root = forest.new(None, 0)
    left, right = forest.cut(root, Cut(0, left=0b01, right=0b10))
    for node, points in ((left, [[0, 0], [0, 1]]), (right, [[1, 8], [1, 9]])):
        forest.put(leaf=Leaf(node.id, NOTHING, None, box_of(np.array(points, float), columns), 2, False))
    space = Box(np.zeros(2), np.array([0.0, 9.0]), (0b1111, 0))
    found = route(forest, root.id, np.array([[2.0, 9.0], [3.0, 0.0], [2.0, 1.0], [2.0, 8.0]]), space)
    assert found.tolist() == [right.id, left.id, right.id, right.id]  # one value, one side
    assert (forest.node(root.id).cut.left, forest.node(root.id).cut.right) == (0b1001, 0b0110)


def test_growth_is_what_the_loss_grows_by():
    draw = np.random.default_rng(0)
    columns = (Column("a", pa.float64()), Column("b", pa.string()), Column("c", pa.string()))
    for _ in range(50):
        points = np.column_stack([draw.random(5) * 9, draw.integers(0, 3, 5), draw.integers(0, 2, 5)])
        new = np.column_stack([draw.random(4) * 9, draw.integers(0, 5, 4), draw.integers(0, 70, 4)])
        box, space = box_of(points, columns), box_of(np.concatenate([points, new]), columns)
        leaf = Leaf(1, np.array([2, 1]), None, box, 2, False)
        expected = [6 * loss(box.joined(box_of(row[None], columns)), space) - 5 * loss(box, space) for row in new]
        assert growth(leaf, new, space, columns) == pytest.approx(expected)


@given(st.lists(st.integers(0, 200), min_size=1, max_size=60), st.randoms())
def test_sets_are_cut_by_bits(codes, random):
    number = mask(np.array(codes, float))
    left = random.sample(sorted(set(codes)), len(set(codes)) // 2)
    cut = Cut(0, left=sum(1 << c for c in left) | 1 << 300, right=number & ~sum(1 << c for c in left))
    expected = [-1 if c in left else 1 if c in codes else 0 for c in range(250)]
    assert sides(cut, np.arange(250.0)[:, None]).tolist() == expected


def test_strata_are_told_by_what_is_missing():
    columns = [Column("a", pa.float64()), Column("b", pa.string()), Column("c", pa.float64())]
    nan = np.nan
    assert strata(np.array([[1, 0, 2], [nan, 0, 2], [nan, 1, nan], [3, 1, nan]]), columns).tolist() == [0, 1, 5, 4]
    many = [Column(f"c{j}", pa.float64()) for j in range(70)]
    assert strata(np.zeros((2, 70)), many).tolist() == [0, 0]
    with pytest.raises(InputError, match="62 quasi-identifiers"):
        strata(np.full((2, 70), nan), many)
