"""A release in slices: so many rows at a time, cut after whole groups, and alike in all its files.

Whoever counts what every group has, slice by slice, needs memory that does not grow with the rows. It holds only where
every file stands in the order of groups, which is looked at here: else there are no slices, and the whole is counted.
Cost: linear in the rows. Memory: a slice, or the largest group.
Claim: slices_hold_every_group_once — and every row of it, of all files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.release.layouts import layout_of
from discreet.release.manifest import Manifest
from discreet.release.verify.batches import batches, beside
from discreet.values.buffers import numbers
from discreet.values.rule import IntArray

ROWS = 1 << 18  # of the largest file, in a slice; one more group may be in it
SLICED = ("anatomy", "permutation", "generalization")


class Unsliced(Exception):  # noqa: N818 - no fault by itself: the whole is counted then
    """Rows that do not stand in the order of whole numbers of groups."""


class _Rows:
    """The rows of a file, or of files side by side, from which those of some groups are taken, from the first on."""

    def __init__(self, source: Iterator[pa.RecordBatch], group: str) -> None:
        self.source, self.group = source, group
        self.held: list[pa.RecordBatch] = []
        self.rows, self.first, self.last, self.ended = 0, 0, -1, False

    def read(self) -> None:
        """Hold some more."""
        batch = next(self.source, None)
        if batch is None:
            self.ended = True
        elif len(batch):
            groups = _groups(batch, self.group)
            if int(groups[0]) < self.last or (groups[1:] < groups[:-1]).any():
                raise Unsliced
            self.first = self.first if self.held else int(groups[0])
            self.held.append(batch)
            self.rows, self.last = self.rows + len(batch), int(groups[-1])

    def taken(self, end: int | None) -> pa.Table | None:
        """All rows of groups below one, or all; then they are no longer held."""
        while not self.ended and (end is None or self.last < end):
            self.read()
        found: list[pa.RecordBatch] = []
        while self.held:
            batch = self.held[0]
            at = len(batch) if end is None else int(np.searchsorted(_groups(batch, self.group), end))
            found += [batch.slice(0, at)] if at else []
            if at < len(batch):
                self.held[0] = batch.slice(at)
                self.first = int(_groups(self.held[0], self.group)[0])
                break
            del self.held[0]
        self.rows = sum(map(len, self.held))
        return pa.Table.from_batches(found) if found else None


def _groups(batch: pa.RecordBatch, group: str) -> IntArray:
    column = batch.column(group)
    if column.null_count or not pa.types.is_integer(column.type):
        raise Unsliced
    return numbers(column)


def slices(folder: Path, manifest: Manifest, *, rows: int = ROWS) -> Iterator[dict[str, pa.Table]]:
    """Of every slice the rows of each table: its group, its number, its value and its count, as far as it has them.

    Raise `Unsliced` where rows stand otherwise.
    """
    promise = manifest.discreet
    if promise.publication not in SLICED or any(each.format != "parquet" for each in manifest.resources):
        raise Unsliced
    group = promise.group
    wanted = {group, promise.row, promise.sensitive_column, promise.count}
    together = [
        {name: [each for each in manifest.resource(name).kinds() if each in wanted] for name in files}
        for files, columns, _ in layout_of(promise).orders(promise)
        if columns[0] == group
    ]
    held = [
        _Rows(beside([batches(folder, manifest.resource(name), own) for name, own in files.items()]), group)
        for files in together
    ]
    for end in _ends(held[0], rows):
        found = [each.taken(end) for each in held]
        yield {
            name: table
            for files, rows_ in zip(together, found, strict=True)
            if rows_ is not None
            for name, table in _apart(files, rows_)
        }


def _apart(files: Mapping[str, list[str]], rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """The tables of files whose rows stand side by side; several may have a column of the same name."""
    start = 0
    for name, own in files.items():
        yield name, pa.table(rows.columns[start : start + len(own)], names=own)
        start += len(own)


def _ends(lead: _Rows, rows: int) -> Iterator[int | None]:
    """The group that each slice ends before; the last has all that is left."""
    while True:
        while not lead.ended and (lead.rows < rows or lead.first == lead.last):
            lead.read()
        if lead.ended:
            yield None
            return
        yield lead.last
