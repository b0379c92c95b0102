"""Cut a table that nobody holds into cells, by counts alone: a tree of cuts, grown level by level.

Of every cell that is too large it is asked how often each value of each quasi-identifier occurs in it, and each
sensitive value. It is cut near the median of the quasi-identifier that reaches farthest, as `local` does, if and only
if both halves keep the guarantee however the sensitive values lie in the cell: that follows from how often each occurs,
so cuts are blind. A quasi-identifier with many values is seen in steps, each of about as many rows. A cell that cannot
be cut and is too large for one task is split by chance alone, which looks at no value: rows of a cell are alike enough.
Cost: one pass over the rows for each level; here, so many numbers for each cell as there are steps and values.
Claim: cells_keep_the_guarantee — every cell that is not split keeps the guarantee by itself, and no row is in two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from discreet.partition.kernels import IntArray
from discreet.values.rule import Rule, surely_of

STEPS = 1024  # of one quasi-identifier, at most
SIZE = 1 << 19  # rows of a cell that is small enough
MOST = 1 << 23  # rows of a cell that one task can still hold


@dataclass
class Tree:
    """Cuts: of every node its axis, -1 if it is not cut; from which step on rows go right; and its two halves.

    What is not cut is a cell, or as many as it is `split` into by chance.
    """

    axes: list[int] = field(default_factory=lambda: [-1])
    steps: list[int] = field(default_factory=lambda: [0])
    left: list[int] = field(default_factory=lambda: [0])
    right: list[int] = field(default_factory=lambda: [0])
    split: list[int] = field(default_factory=lambda: [1])

    def grow(self, node: int, axis: int, step: int) -> tuple[int, int]:
        """Cut a cell in two."""
        one = len(self.axes)
        self.axes[node], self.steps[node], self.left[node], self.right[node] = axis, step, one, one + 1
        for _ in range(2):
            self.axes.append(-1)
            self.steps.append(0)
            self.left.append(0)
            self.right.append(0)
            self.split.append(1)
        return one, one + 1

    def find(self, rows: Sequence[IntArray]) -> npt.NDArray[np.int64]:
        """The cell of every row, as the number of its node, by its step on every axis."""
        axes, steps, left, right = (np.array(each) for each in (self.axes, self.steps, self.left, self.right))
        at = np.zeros(rows[0].size if rows else 0, np.int64)
        open_ = np.flatnonzero(axes[at] >= 0)
        while open_.size:
            here = at[open_]
            goes_right = np.zeros(open_.size, np.bool_)
            for axis in np.unique(axes[here]):
                mine = axes[here] == axis
                goes_right[mine] = rows[axis][open_[mine]] >= steps[here[mine]]
            at[open_] = np.where(goes_right, right[here], left[here])
            open_ = open_[axes[at[open_]] >= 0]
        return at

    def numbers(self) -> npt.NDArray[np.int32]:
        """Of every node the number of its first cell, from 0, -1 if it is none."""
        cells = self._cells()
        return np.where(cells > 0, np.cumsum(cells) - cells, -1).astype(np.int32)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(self._cells().sum())

    def drawn(self, nodes: IntArray, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """The cells of rows whose nodes are given, by a word of chance for each."""
        among = self._cells()[nodes].astype(np.uint64)
        return self.numbers()[nodes] + (words % among).astype(np.int32)

    def _cells(self) -> npt.NDArray[np.int64]:
        """Of every node how many cells it is."""
        return np.where(np.array(self.axes) < 0, self.split, 0)


@dataclass(frozen=True)
class Steps:
    """How the codes of a quasi-identifier fall into steps: the step of every code, and the first code of every step."""

    of: IntArray
    firsts: IntArray

    @classmethod
    def by(cls, counts: IntArray) -> Steps:
        """Each code by itself, or each step with about as many rows."""
        if counts.size <= STEPS:
            step = np.arange(counts.size)
        else:
            before = np.cumsum(counts) - counts
            step = np.unique(before * STEPS // max(int(counts.sum()), 1), return_inverse=True)[1]
        return cls(step.astype(np.int32), np.flatnonzero(np.diff(step, prepend=-1)))


# Of the nodes that are given: how often each step of each axis occurs in it, and each sensitive value.
Ask = Callable[[Tree, Sequence[int]], list[tuple[list[IntArray], IntArray]]]


def cut(ask: Ask, axes: Sequence[Steps], sensitive: IntArray, rule: Rule) -> Tree:
    """The tree of a table with these sensitive values."""
    tree, waiting = Tree(), [0] if int(sensitive.sum()) > SIZE else []
    while waiting:
        following = []
        for node, (counts, values) in zip(waiting, ask(tree, waiting), strict=True):
            found = _cut(counts, axes, int(surely_of(values, rule)))
            if found is not None:
                sizes = int(counts[found[0]][: found[1]].sum()), int(counts[found[0]][found[1] :].sum())
                halves = tree.grow(node, *found)
                following += [half for half, size in zip(halves, sizes, strict=True) if size > SIZE]
            elif int(values.sum()) > MOST:
                tree.split[node] = -(-int(values.sum()) // (MOST // 2))
        waiting = following
    return tree


def _cut(counts: Sequence[IntArray], axes: Sequence[Steps], small: int) -> tuple[int, int] | None:
    """The axis and step to cut a cell at: of the axis that reaches farthest, as near to the middle as may be."""
    reaches = []
    for j, (own, axis) in enumerate(zip(counts, axes, strict=True)):
        there = np.flatnonzero(own)
        if there.size > 1:
            span = axis.firsts[there[-1]] - axis.firsts[there[0]]
            reaches.append((-span / max(int(axis.firsts[-1]), 1), j))
    for _, j in sorted(reaches):
        below = np.cumsum(counts[j])
        total, half = int(below[-1]), int(below[-1]) // 2
        first = int(np.searchsorted(below, half, side="right"))  # the step that the median is in
        edges = [step for step in (first, first + 1) if 0 < step < below.size]
        for step in sorted(edges, key=lambda step: abs(int(below[step - 1]) - half)):
            under = int(below[step - 1])
            if min(under, total - under) >= max(small, 1):
                return j, step
    return None
