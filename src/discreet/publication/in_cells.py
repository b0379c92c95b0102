"""Cut a table of Spark's into cells by counts of its columns, so that each cell is small enough for one task.

What comes here are counts: how often each value of each column occurs in all rows, and in every cell that is still too
large (`partition/cells.py`). Rows stay with the executors, which find the cell of each by the tree of cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.engines.spark.chance import words
from discreet.engines.spark.copied import Copied, File, codes
from discreet.engines.spark.held import Held
from discreet.engines.spark.shuffle import Shuffled
from discreet.engines.spark.tally import tallied
from discreet.errors import InputError
from discreet.partition.cells import Steps, Tree, cut
from discreet.partition.kernels import IntArray
from discreet.publication.axes import Axis
from discreet.values.codes import Tally
from discreet.values.rule import Rule

COUNTS = 1 << 27  # of one level of cuts, at most: 8 bytes each in this process, and pairs that come to it


@dataclass(frozen=True)
class Cells:
    """The tree of cells, and by what rows are found in it: the steps of quasi-identifiers; and the sensitive column."""

    tree: Tree
    axes: Sequence[Axis]
    steps: Sequence[Steps]
    sensitive: str
    values: Tally
    waiting: Sequence[int] = ()

    def found(self, batch: pa.RecordBatch) -> tuple[list[npt.NDArray[np.int32]], npt.NDArray[np.int64]]:
        """The step of every row on every axis, and the node of its cell."""
        seen = [
            steps.of[codes(batch.column(axis.name), axis.codes.domain).to_numpy(zero_copy_only=False)]
            for axis, steps in zip(self.axes, self.steps, strict=True)
        ]
        return seen, self.tree.find(seen)

    def cells(self, batch: pa.RecordBatch, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """The cell of every row, numbered from 0, with a word of chance for each."""
        return self.tree.drawn(self.found(batch)[1], words)

    def counted(self, batch: pa.RecordBatch) -> list[npt.NDArray[np.int64]]:
        """What is to be counted of rows: a number for each step and each value in the cells that wait."""
        seen, nodes = self.found(batch)
        own = np.full(len(self.tree.axes), -1, np.int64)
        own[list(self.waiting)] = np.arange(len(self.waiting))
        cell = own[nodes]
        there = cell >= 0
        values = codes(batch.column(self.sensitive), self.values.domain).to_numpy(zero_copy_only=False)
        columns = [column[there].astype(np.int64) for column in (*seen, values)]
        return [cell[there] * self.width + start + column for start, column in zip(self.starts, columns, strict=True)]

    @cached_property
    def sizes(self) -> list[int]:
        """How many steps every axis has, and how many values there are."""
        return [*(steps.firsts.size for steps in self.steps), self.values.size]

    @property
    def width(self) -> int:
        return sum(self.sizes)

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        sizes = np.array(self.sizes, np.int64)
        return np.cumsum(sizes) - sizes


def cells_of(
    rows: Copied,
    axes: Sequence[Axis],
    sensitive: str,
    values: Tally,
    rule: Rule,
    work: Path,
    tell: Callable[[str], None] = lambda _: None,
) -> Cells:
    """The cells of a table whose columns are counted; it will `tell` how far it is."""
    steps = [Steps.by(axis.codes.counts()) for axis in axes]
    passes = iter(range(1 << 30))

    def ask(tree: Tree, waiting: Sequence[int]) -> list[tuple[list[IntArray], IntArray]]:
        cells = Cells(tree, axes, steps, sensitive, values, waiting)
        if len(waiting) * cells.width > COUNTS:
            raise InputError(
                f"columns have so many values that {len(waiting):,} cells need more than {COUNTS:,} counts, which come"
                " to this process",
                hint=f'make `{_widest(cells)}` coarser, publish fewer columns, or set partition = "deal"',
            )
        number = next(passes)
        tell(f"grouping: cuts of {len(waiting):,} cells, level {number + 1}")
        held = Held.put(work, f"cells-{number}", cells)
        numbers, times = tallied(rows, lambda batch: held.get().counted(batch))
        counts = np.zeros(len(waiting) * cells.width, np.int64)
        counts[numbers] = times
        found = []
        for own in counts.reshape(len(waiting), cells.width):
            *columns, last = np.split(own, cells.starts[1:])
            found.append((columns, last))
        return found

    return Cells(cut(ask, steps, values.counts(), rule), axes, steps, sensitive, values)


def _widest(cells: Cells) -> str:
    """The column with the most steps, or different values."""
    return [*(axis.name for axis in cells.axes), cells.sensitive][int(np.argmax(cells.sizes))]


def in_cells(rows: Copied, cells: Cells, key: bytes, work: Path) -> Shuffled:
    """Rows by their cells, each a block; whatever is split by chance is split by the key."""
    held = Held.put(work, "cells", cells)

    def block_of(file: File, batch: pa.RecordBatch) -> npt.NDArray[np.int32]:
        cells: Cells = held.get()
        return cells.cells(batch, words(key, "cell", file.number, batch.num_rows))

    return Shuffled.of(rows, cells.tree.size, block_of, work / "shuffled")
