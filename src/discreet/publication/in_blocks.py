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

from discreet.engines.spark.blocks import Made, in_order, plain
from discreet.engines.spark.chance import Drawn
from discreet.engines.spark.copied import codes
from discreet.engines.spark.held import Held
from discreet.errors import GuaranteeError, InternalError
from discreet.guarantees import Guarantee, Histograms
from discreet.guarantees.dominance import dominating, largest_share
from discreet.partition import PARTITIONS
from discreet.partition.histogram.shares import Shares
from discreet.partition.kernels import shuffle_by_value
from discreet.policy import Policy
from discreet.publication.axes import Axis
from discreet.publication.generalization import Shown
from discreet.publication.groups import Boxes, Groups, counts
from discreet.values.codes import Codes
from discreet.values.names import fresh


def dealt(shares: Shares, number: int, values: npt.NDArray[np.int32], secret: Drawn) -> npt.NDArray[np.int32]:
    """The groups of a block's rows by a plan made of counts: each value's rows take its places by chance."""
    planned, groups = shares.of_block(number)
    by = shuffle_by_value(values, np.bincount(values), secret.words(values.size))
    if not np.array_equal(values[by], planned):
        raise InternalError("a block has other values than were planned; nothing was published")
    found = np.empty(values.size, np.int32)
    found[by] = groups - int(groups.min())
    return found


@dataclass(frozen=True)
class InCell:
    """A partition that groups the rows of one cell: they are the table of its kernels."""

    partition: str
    options: Mapping[str, Any]
    axes: Sequence[Axis]

    def groups(
        self, rows: pa.Table, values: npt.NDArray[np.int32], guarantee: Guarantee, secret: Drawn
    ) -> npt.NDArray[np.int32]:
        if not guarantee.holds(Histograms.whole(np.bincount(values))).all():  # it was split by chance
            raise GuaranteeError(
                "a value is so frequent that a part of the rows, drawn at random, does not keep the guarantee",
                hint='publish it again, set partition = "deal", or ask for less, such as a smaller l',
            )
        partition = PARTITIONS[self.partition]
        seen = partition.view(in_rows(self.axes, rows))
        return np.asarray(partition.place(seen, values, guarantee, secret, self.options).groups, np.int32)


def in_rows(axes: Sequence[Axis], rows: pa.Table) -> list[Axis]:
    """The axes of all rows, with the codes of some."""
    return [replace(axis, codes=coded(rows[axis.name], axis.codes)) for axis in axes]


def coded(values: pa.ChunkedArray | pa.Array, known: Codes) -> Codes:
    """A column by the codes of a domain that is known."""
    found = codes(values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values, known.domain)
    return Codes(found.to_numpy(zero_copy_only=False), known.domain, known.missing)


@dataclass(frozen=True)
class Block:
    """How a block becomes the tables of a release, and by what its rows are grouped.

    `axes` are the quasi-identifiers of all rows where boxes are shown: what a label stands for, and which columns show
    that a value is missing, must not depend on the block.
    """

    policy: Policy
    values: Codes
    population: npt.NDArray[np.int64]
    guarantee: Guarantee
    by: Shares | InCell
    axes: Sequence[Axis] = ()

    def made(self, rows: pa.Table, number: int, key: bytes) -> Made:
        """The tables of a block, and what is to be known of it."""
        rows = self._grouped(rows, number, key)
        sensitive = coded(rows[self.policy.sensitive_column], self.values)
        histograms = Histograms.of(rows[self._group].to_numpy() - np.int32(1), sensitive.codes)
        if not histograms.sizes.all() or not self.guarantee.holds(histograms).all():
            raise InternalError("a block of groups broke the guarantee; nothing was published")
        spared = self.guarantee.harmless
        share = largest_share(histograms, spared)
        worst = dominating(histograms, self.population, spared) or (0, 0, 0)
        tables = SHOWN[self.policy.publication](self, rows, histograms, Drawn(key, "shown", number))
        return Made(tables, histograms.sizes.size, share, worst)

    @property
    def _group(self) -> str:
        return fresh("group", self.policy.columns)

    def _grouped(self, rows: pa.Table, number: int, key: bytes) -> pa.Table:
        """Rows with their group, from 1 in this block, in the order of groups and of all that they hold."""
        rows = in_order(rows, self.policy.columns)
        values = coded(rows[self.policy.sensitive_column], self.values).codes
        secret = Drawn(key, "block", number)
        if isinstance(self.by, Shares):
            groups = dealt(self.by, number, values, secret)
        else:
            groups = self.by.groups(rows, values, self.guarantee, secret)
        by_group = pa.array(np.argsort(groups, kind="stable"))
        return rows.append_column(self._group, pa.array(groups + np.int32(1))).take(by_group)

    def anatomy(self, rows: pa.Table, histograms: Histograms, _: Drawn) -> dict[str, pa.Table]:
        shown = rows.select([*self.policy.quasi, self._group])
        return {"qit": shown, "st": counts(self.policy, self.values, histograms)}

    def permutation(self, rows: pa.Table, _: Histograms, secret: Drawn) -> dict[str, pa.Table]:
        quasi, sensitive, group = self.policy.quasi, self.policy.sensitive_column, self._group
        groups, draws = rows[group].to_numpy(), secret.words(rows.num_rows)
        drawn = rows[sensitive].take(pa.array(shuffle_by_value(groups, np.bincount(groups), draws)))
        at = rows.column_names.index(sensitive)
        shown = in_order(rows.set_column(at, sensitive, drawn), [group, *quasi, sensitive])
        return {"permuted": shown.select([*quasi, sensitive, group])}

    def generalization(self, rows: pa.Table, histograms: Histograms, _: Drawn) -> dict[str, pa.Table]:
        axes, groups = in_rows(self.axes, rows), rows[self._group].to_numpy() - np.int32(1)
        boxes = Boxes.of_rows(self.policy, axes, groups, histograms.sizes.size)
        shown = Shown.of(Groups(self.policy, boxes, self.values, histograms))
        labels = {"labels": boxes.labels()} if boxes.labelled else {}
        return {"generalized": plain(shown.rows()).read_all(), **labels}


SHOWN = {"anatomy": Block.anatomy, "permutation": Block.permutation, "generalization": Block.generalization}


@dataclass(frozen=True)
class Finish:
    """A block that waits in a private file, and the key, which does not: it travels with the function."""

    block: Held
    key: bytes = field(repr=False)

    def __call__(self, rows: pa.Table, number: int) -> Made:
        block: Block = self.block.get()
        return block.made(rows, number, self.key)
