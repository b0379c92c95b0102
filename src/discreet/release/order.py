"""Tell whether rows are sorted by some columns, a batch at a time.

Missing values come last. Cost: linear; memory one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def first_disorder(batches: Iterable[pa.RecordBatch], columns: Sequence[str]) -> int | None:
    """The number of the first row that should not follow the one before it, or None if all are in order."""
    at = 0
    last: pa.Table | None = None
    for batch in batches:
        table = pa.Table.from_batches([batch]).select(columns)
        rows = table if last is None else pa.concat_tables([last, table])
        out = _first_out_of_order([rows.column(name).combine_chunks() for name in columns])
        if out is not None:
            return at + out + (1 if last is None else 0)
        at += len(table)
        last = rows.slice(len(rows) - 1)
    return None


def _first_out_of_order(columns: Sequence[pa.Array]) -> int | None:
    tied = np.ones(max(len(columns[0]) - 1, 0), np.bool_)
    for column in columns:
        before, after = _compare(column)
        wrong = tied & after
        if wrong.any():
            return int(wrong.argmax())
        tied &= ~before
        if not tied.any():
            return None
    return None


def _compare(column: pa.Array) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Whether each value comes before, and whether it comes after, the one that follows it."""
    here, there = column[:-1], column[1:]
    if column.null_count == 0 and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        a, b = here.to_numpy(), there.to_numpy()
        return a < b, a > b
    missing = column.is_null().to_numpy(zero_copy_only=False)
    less = pc.less(here, there).fill_null(False).to_numpy(zero_copy_only=False)
    more = pc.greater(here, there).fill_null(False).to_numpy(zero_copy_only=False)
    return less | (~missing[:-1] & missing[1:]), more | (missing[:-1] & ~missing[1:])
