"""What an executor does with a block of rows: form groups by a partition's kernels, sort, and lay out what is shown.

All chance follows from the key of the release and the number of the block (`engines/spark/chance.py`), and rows are put
in the order of their content first: so whoever makes a block again makes the same.
Claim: blocks_are_repeated — a block whose rows come in another order is made the same, byte by byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.engines.spark.assign import codes
from discreet.engines.spark.blocks import in_order
from discreet.engines.spark.chance import Drawn
from discreet.guarantees import Guarantee
from discreet.guarantees.dominance import PARTS
from discreet.partition import PARTITIONS
from discreet.partition.cells import Steps, Tree
from discreet.publication.axes import Axis
from discreet.values.codes import Codes


@dataclass(frozen=True)
class InCell:
    """A partition that groups the rows of one cell: they are the table of its kernels."""

    partition: str
    options: Mapping[str, Any]
    axes: Sequence[Axis]
    sensitive: Codes
    guarantee: Guarantee

    def groups(self, rows: pa.Table, name: str, secret: Drawn) -> npt.NDArray[np.int32]:
        axes = [replace(axis, codes=_coded(rows[axis.name], axis.codes)) for axis in self.axes]
        values = _coded(rows[name], self.sensitive).codes
        partition = PARTITIONS[self.partition]
        placed = partition.place(partition.view(axes), values, self.guarantee, secret, self.options)
        return np.asarray(placed.groups, np.int32)


def _coded(values: pa.ChunkedArray, known: Codes) -> Codes:
    found = codes(values.combine_chunks(), known.domain)
    return Codes(found.to_numpy(zero_copy_only=False), known.domain, known.missing)


@dataclass(frozen=True)
class Cells:
    """The tree of cells, and by what rows are found in it."""

    tree: Tree
    axes: Sequence[Axis]
    steps: Sequence[Steps]
    sensitive: Codes

    def seen(self, batch: pa.RecordBatch | pa.Table) -> list[npt.NDArray[np.int32]]:
        """The step of every row on every axis."""
        found = []
        for axis, steps in zip(self.axes, self.steps, strict=True):
            column = codes(batch.column(axis.name), axis.codes.domain).to_numpy(zero_copy_only=False)
            found.append(steps.of[column])
        return found


@dataclass(frozen=True)
class Block:
    """How a block becomes the tables of a release: `per` groups each, or one cell, whose rows are grouped here."""

    publication: str
    quasi: tuple[str, ...]
    sensitive: str
    group: str
    count: str
    key: bytes = field(repr=False)
    per: int = 0
    cell: InCell | None = None

    def __call__(self, rows: pa.Table, number: int) -> tuple[dict[str, pa.Table], int, float]:
        """The tables, how many groups there are, and the largest share of one with the same value."""
        rows, place = self._grouped(rows, number)
        rows = in_order(rows, [self.group, *self.quasi, self.sensitive])
        counts = rows.group_by([self.group, self.sensitive], use_threads=False).aggregate([([], "count_all")])
        counts = in_order(counts.rename_columns([self.group, self.sensitive, self.count]), [self.group, self.sensitive])
        sizes = np.bincount(rows[self.group].to_numpy())
        if not sizes.all():
            raise ValueError("a group has no rows")
        tops = np.zeros(sizes.size, np.int64)
        np.maximum.at(tops, counts[self.group].to_numpy(), counts[self.count].to_numpy())
        share = int((-(-tops * PARTS // sizes)).max()) / PARTS
        return self._tables(rows, counts, Drawn(self.key, "shown", number)), sizes.size, share

    def _grouped(self, rows: pa.Table, number: int) -> tuple[pa.Table, int]:
        """Rows with their group, from 0 in this block."""
        if self.cell is None:
            at = rows.column_names.index(self.group)
            return rows.set_column(at, self.group, pc.subtract(rows[self.group], pa.scalar(number * self.per, pa.int32()))), at
        rows = in_order(rows, [*self.quasi, self.sensitive])
        groups = self.cell.groups(rows, self.sensitive, Drawn(self.key, "cell", number))
        return rows.append_column(self.group, pa.array(groups)), len(rows.column_names)

    def _tables(self, rows: pa.Table, counts: pa.Table, secret: Drawn) -> dict[str, pa.Table]:
        if self.publication == "anatomy":
            return {"qit": rows.select([*self.quasi, self.group]), "st": counts}
        groups, draws = rows[self.group].to_numpy(), secret.words(rows.num_rows)
        drawn = rows[self.sensitive].take(pa.array(np.lexsort((draws, groups))))  # rows stand group by group
        at = rows.column_names.index(self.sensitive)
        shown = in_order(rows.set_column(at, self.sensitive, drawn), [self.group, *self.quasi, self.sensitive])
        return {"permuted": shown.select([*self.quasi, self.sensitive, self.group])}
