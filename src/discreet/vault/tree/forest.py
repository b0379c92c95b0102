"""The trees of a vault: boxes of rows, where a cut falls, and which leaf each new row is led to.

Rows that lack values of the same range columns are a *stratum*, with a tree of its own. A cut has two sides that never
meet. A row on neither side (between the ends of a range, or with a value that the cut has never seen) goes where
the loss of the leaf it ends in grows least, and belongs to that side from then on: rows with one value stay together,
and of the rows between two ends the smaller ones go left. So what is ever led to a leaf is apart from what is ever led
to another.
Cost: rows x depth; trees are read only where rows pass.
Claim: leaves_stay_apart — the boxes of all rows ever led to two leaves of a tree never meet.
Claim: known_values_keep_their_side — a row goes where an equal one went, however many cuts and rows came between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from discreet.errors import InputError, InternalError
from discreet.values.boxes import Box, bits, mask
from discreet.values.columns import Column
from discreet.vault.tree.model import Cut, Flags, Floats, Ints, Leaf, Node, Store

MOST_GAPS = 5  # cuts on one way, at most, where both sides are tried
FEW = 12  # rows that are led one by one


class Forest:
    """A working copy of the trees: what was read, and what has changed since."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.columns = tuple(store.columns)
        self.next_node = store.next_node
        self.nodes: dict[int, Node] = {}
        self.leaves: dict[int, Leaf] = {}
        self.width = 0  # of vectors of counts
        self.fresh: set[int] = set()  # nodes that the store does not have
        self.changed_nodes: set[int] = set()
        self.changed_leaves: set[int] = set()
        self.gone: set[int] = set()
        self.placed: list[tuple[Ints, int, bool]] = []

    def node(self, node: int) -> Node:
        if node not in self.nodes:
            self.nodes[node] = self.store.node(node)
        return self.nodes[node]

    def leaf(self, node: int) -> Leaf:
        if node not in self.leaves:
            found = self.store.leaf(node)
            self.leaves[node] = replace(found, counts=self.fit(found.counts))
        return self.leaves[node]

    def fit(self, counts: Ints) -> Ints:
        """A vector of counts as wide as all others."""
        return np.concatenate([counts, np.zeros(self.width - counts.size, np.int64)])

    def count(self, sensitive: Ints) -> Ints:
        """How often each sensitive value occurs."""
        return np.bincount(sensitive, minlength=self.width)

    def put(self, *, node: Node | None = None, leaf: Leaf | None = None) -> None:
        """Keep a node, a leaf, or both, as changed."""
        if node is not None:
            self.nodes[node.id] = node
            self.changed_nodes.add(node.id)
        if leaf is not None:
            self.leaves[leaf.node] = leaf
            self.changed_leaves.add(leaf.node)

    def new(self, parent: Node | None, stratum: int) -> Node:
        """A new leaf below a node, or a new root."""
        depth = 0 if parent is None else parent.depth + 1
        made = Node(self.next_node, None if parent is None else parent.id, stratum, depth)
        self.next_node += 1
        self.fresh.add(made.id)
        self.put(node=made)
        return made

    def drop(self, node: int) -> None:
        """Forget a group that was never released."""
        self.gone.add(node)
        self.leaves.pop(node, None)
        self.changed_leaves.discard(node)

    def cut(self, node: Node, cut: Cut) -> tuple[Node, Node]:
        """Cut a leaf in two; its sides have no rows yet."""
        left, right = self.new(node, node.stratum), self.new(node, node.stratum)
        self.put(node=replace(node, cut=cut, left=left.id, right=right.id))
        self.leaves.pop(node.id, None)
        self.changed_leaves.discard(node.id)
        return left, right

    def place(self, rows: Ints, node: int, *, member: bool) -> None:
        """Say where rows are now, for the last time."""
        if rows.size:
            self.placed.append((rows, node, member))

    def path(self, node: int) -> list[Node]:
        """The nodes from the root down to this one."""
        found = [self.node(node)]
        while (parent := found[-1].parent) is not None:
            found.append(self.node(parent))
        return found[::-1]

    def below(self, node: int) -> Iterator[Node]:
        """All leaves of the tree below a node."""
        waiting = [node]
        while waiting:
            here = self.node(waiting.pop())
            if here.left is None or here.right is None:
                yield here
            else:
                waiting += [here.right, here.left]


def strata(points: Floats, columns: Sequence[Column]) -> Ints:
    """The stratum of every row: bit j says that it has no value in column j."""
    ranges = [j for j, column in enumerate(columns) if column.ordered]
    missing = np.isnan(points[:, ranges])
    if missing.any() and len(columns) > 62:
        raise InputError("rows with missing values in tables of more than 62 quasi-identifiers cannot be kept apart")
    return np.asarray((missing * (1 << np.array(ranges, np.int64))).sum(axis=1), np.int64)


def loss(box: Box, space: Box) -> float:
    """What a row of a box costs: the share of the space that its box covers in each column, summed up."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = (box.highs - box.lows) / (space.highs - space.lows)
    total = float(np.nansum(shares))
    for held, known in zip(box.sets, space.sets, strict=True):
        count = held.bit_count()
        total += count / known.bit_count() if count > 1 else 0.0
    return total


def growth(leaf: Leaf, points: Floats, space: Box, columns: Sequence[Column]) -> Floats:
    """How much the loss of a leaf would grow with each of some rows."""
    rows = leaf.size + leaf.waiting
    box = leaf.reach
    more = np.zeros(len(points))
    for j, column in enumerate(columns):
        here = points[:, j]
        if column.ordered:
            extent = space.highs[j] - space.lows[j]
            if extent > 0:
                more += (np.maximum(here - box.highs[j], 0) + np.maximum(box.lows[j] - here, 0)) / extent
            continue
        known, held = box.sets[j], box.sets[j].bit_count()
        new = ~_holds(known, here.astype(np.int64))
        more += new * (1 if held > 1 else 2) / max(space.sets[j].bit_count(), 1)
    return np.asarray((rows + 1) * more + loss(box, space))


def route(forest: Forest, root: int, points: Floats, space: Box) -> Ints:
    """The leaf of each row; cuts take in values that they have not seen."""
    found = np.empty(len(points), np.int64)
    waiting = [(root, np.arange(len(points)))]
    while waiting:
        at, rows = waiting.pop()
        if rows.size <= FEW:
            for row in rows.tolist():
                found[row] = _route_one(forest, at, points[row], space)
            continue
        node = forest.node(at)
        if node.cut is None or node.left is None or node.right is None:
            found[rows] = at
            continue
        side = sides(node.cut, points[rows])
        between = side == 0
        if between.any():
            node = _assign_gap(forest, node, points[rows[between]], space)
            side = sides(_cut(node), points[rows])
        for child, chosen in ((node.left, rows[side < 0]), (node.right, rows[side > 0])):
            if chosen.size and child is not None:
                waiting.append((child, chosen))
    return found


def _route_one(forest: Forest, at: int, point: Floats, space: Box) -> int:
    node, values = forest.node(at), point.tolist()
    while (cut := node.cut) is not None:
        value = values[cut.column]
        if cut.left:
            left, right = cut.left >> int(value) & 1, cut.right >> int(value) & 1
        else:
            left, right = value <= cut.low_end, value >= cut.high_start
        if not left and not right:
            node = _assign_gap(forest, node, point[None, :], space)
            continue
        following = node.left if left else node.right
        if following is None:
            raise InternalError("a cut has a side that leads nowhere")
        node = forest.node(following)
    return node.id


def sides(cut: Cut, points: Floats) -> npt.NDArray[np.int8]:
    """On which side of a cut each row is: -1 left, 1 right, 0 neither."""
    here = points[:, cut.column]
    if not cut.left:
        return (here >= cut.high_start).astype(np.int8) - (here <= cut.low_end).astype(np.int8)
    codes = here.astype(np.int64)
    return _holds(cut.right, codes).astype(np.int8) - _holds(cut.left, codes).astype(np.int8)


def _holds(number: int, codes: Ints) -> Flags:
    held = bits(number)
    return np.asarray(held[np.minimum(codes, held.size - 1)])  # the last bit is always 0


def _cut(node: Node) -> Cut:
    if node.cut is None:
        raise InternalError("a leaf has no cut")
    return node.cut


def _assign_gap(forest: Forest, node: Node, points: Floats, space: Box) -> Node:
    """Decide on the sides of rows that are on neither; the cut then knows them."""
    cut = _cut(node)
    left, right = (_least(forest, child, points, space, 0) for child in (node.left, node.right))
    values, of_row = np.unique(points[:, cut.column], return_inverse=True)
    prefers = np.bincount(of_row, weights=right - left)  # how much better left is than right, of each value
    if cut.left:
        to_left = prefers > 0
        cut = replace(cut, left=cut.left | mask(values[to_left]), right=cut.right | mask(values[~to_left]))
    else:
        best = int(np.argmax(np.concatenate(([0.0], np.cumsum(prefers)))))
        low_end = cut.low_end if best == 0 else float(values[best - 1])
        high_start = cut.high_start if best == values.size else float(values[best])
        cut = replace(cut, low_end=low_end, high_start=high_start)
    node = replace(node, cut=cut)
    forest.put(node=node)
    return node


def _least(forest: Forest, at: int | None, points: Floats, space: Box, gaps: int) -> Floats:
    """How little the loss of a leaf below a node can grow with each row."""
    if at is None:
        raise InternalError("a cut has a side that leads nowhere")
    node = forest.node(at)
    if node.cut is None:
        return growth(forest.leaf(at), points, space, forest.columns)
    side = sides(node.cut, points)
    if gaps == MOST_GAPS:
        side[side == 0] = -1
    found = np.full(len(points), np.inf)
    for child, chosen in ((node.left, side <= 0), (node.right, side >= 0)):
        for both in (True, False):
            rows = chosen & ((side == 0) == both)
            if rows.any():
                least = _least(forest, child, points[rows], space, gaps + both)
                found[rows] = np.minimum(found[rows], least)
    return found
