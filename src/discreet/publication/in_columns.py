"""What is known here of a table of Spark's: some of its rows, drawn by chance, and how often each value occurs.

A table that has no more rows than are drawn is here as a whole, and is counted here; of a larger one Spark counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from discreet.engines.spark.copied import Copied
from discreet.engines.spark.source import counted, drawn
from discreet.errors import InternalError
from discreet.values.codes import Tally, encode
from discreet.values.columns import Column

VALUES = 5_000_000  # different values of a column: this process and every executor hold them
DRAWN = 50_000  # rows that are looked at here, to warn of what columns tell


@dataclass(frozen=True)
class Columns:
    """The published columns of a copy."""

    rows: Copied
    columns: Sequence[Column]

    @cached_property
    def some(self) -> pa.Table:
        """Some of the rows, drawn at random; or all, if they are few."""
        names = [column.name for column in self.columns]
        rows = drawn(self.rows.rows, names, min(1.0, DRAWN / max(self.rows.size, 1)))
        if self._all_drawn and rows.num_rows != self.rows.size:
            raise InternalError("rows were lost on the way, or are there twice; nothing was published")
        return pa.table([rows[column.name].cast(column.type) for column in self.columns], names=names)

    def tally(self, name: str) -> Tally:
        """How often each value of a column occurs."""
        if self._all_drawn:
            return _tally_of(self.some[name])
        found = counted(self.rows.rows, name, VALUES)
        return Tally.of(found["value"].cast(self.rows.schema.field(name).type), found["n"].to_numpy())

    @property
    def _all_drawn(self) -> bool:
        return self.rows.size <= DRAWN


def _tally_of(values: pa.ChunkedArray) -> Tally:
    found = encode(values)
    counts = np.bincount(found.codes, minlength=found.size).astype(np.int64)
    return Tally(np.zeros(0, np.int32), found.domain, found.missing, counts)
