"""Tell whether rows are sorted by some columns, a batch at a time.

Missing values come last. Cost: linear; memory one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import InputError
from discreet.values.buffers import flags, is_number, numbers


def first_disorder(batches: Iterable[pa.RecordBatch], columns: Sequence[str], *, strict: bool = False) -> int | None:
    """The number of the first row that should not follow the one before it, or None if all are in order.

    With `strict` a row must not be equal to the one before it either. Raise for NaN, wherever it stands: rows that no
    column before it leaves tied are never compared by it.
    """
    at = 0
    last: pa.RecordBatch | None = None
    for batch in batches:
        rows = batch.select(columns)
        if any(pa.types.is_floating(each.type) and pc.any(pc.is_nan(each)).as_py() for each in rows.columns):
            raise InputError("a column holds NaN, which has no place in an order")
        if last is not None and _first_out_of_order(_seam(last, rows), strict=strict) is not None:
            return at
        out = _first_out_of_order(rows.columns, strict=strict)
        if out is not None:
            return at + out + 1
        at += len(rows)
        last = rows.slice(len(rows) - 1) if len(rows) else last
    return None


def _seam(last: pa.RecordBatch, batch: pa.RecordBatch) -> list[pa.Array]:
    """The last row of a batch and the first of the next."""
    return [column.combine_chunks() for column in pa.Table.from_batches([last, batch.slice(0, 1)]).columns]


def _first_out_of_order(columns: Sequence[pa.Array], *, strict: bool) -> int | None:
    tied: npt.NDArray[np.bool_] | None = None  # whether a row and the next are alike in all columns so far; or all are
    for column in columns:
        alike, after = _compare(column)
        wrong = after if tied is None else tied & after
        if wrong.any():
            return int(wrong.argmax())
        tied = alike if tied is None else tied & alike
        if not tied.any():
            return None
    return int(tied.argmax()) if strict and tied is not None else None


def _compare(column: pa.Array) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Whether each value is like the one that follows it, and whether it comes after it."""
    if column.null_count == 0 and is_number(column.type):
        held = numbers(column)
        return held[:-1] == held[1:], held[:-1] > held[1:]
    here, there = column[:-1], column[1:]
    missing = flags(column.is_null())
    alike = flags(pc.equal(here, there).fill_null(False))
    more = flags(pc.greater(here, there).fill_null(False))
    return alike | (missing[:-1] & missing[1:]), more | (missing[:-1] & ~missing[1:])
