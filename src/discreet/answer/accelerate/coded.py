"""Columns as codes: every distinct value has a number, in the order of values, a missing one the last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

DENSE = 2**16  # whole numbers in so small a range are their own codes
SAMPLE = 2**16  # rows that are looked at before a column is coded


@dataclass(frozen=True, eq=False)
class Coded:
    """The code of every row, and the value of every code; whole numbers in between may not occur."""

    codes: npt.NDArray[Any]
    values: pa.Array


def code(column: pa.ChunkedArray | pa.Array) -> Coded:
    """A column as codes.

    Claim: codes_keep_order — codes compare as values do, equal ones have the same, a missing one comes last.
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # of no chunks at all
        array = pa.array([], array.type)
    return _dense(array) or _by_dictionary(array)


def has_many(column: pa.ChunkedArray) -> bool:
    """Whether most rows seem to have a value of their own, so that codes would not pay."""
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        return False
    sample = column.slice(0, SAMPLE)
    return len(column) > SAMPLE and sample.combine_chunks().unique().null_count + len(sample.unique()) > SAMPLE // 2


def ranked(array: pa.Array) -> tuple[npt.NDArray[np.int32], pa.Array]:
    """The rank of every value among the distinct ones, and these in order; a missing one has the last."""
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.int32), array.slice(0, 1)
    ranks = pc.rank(array, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int32) - 1
    found, first = np.unique(ranks, return_index=True)
    return ranks.astype(np.int32), array.take(pa.array(first[np.argsort(found)]))


def _dense(array: pa.Array) -> Coded | None:
    """Whole numbers and dates in a small range, each its distance from the smallest."""
    kind = array.type
    narrow = pa.types.is_integer(kind) and kind.bit_width < 32  # in which a distance has no room
    if narrow or pa.types.is_boolean(kind) or pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    if not pa.types.is_integer(array.type) or array.null_count == len(array):
        return None
    found = pc.min_max(array).as_py()
    low, high = found["min"], found["max"]
    if high - low >= DENSE - 1:
        return None
    gaps = array.null_count > 0
    numbers = (array.fill_null(low) if gaps else array).to_numpy(zero_copy_only=False)
    codes = (numbers - numbers.dtype.type(low)).astype(_narrow(high - low + 1 + gaps))
    if gaps:
        codes[array.is_null().to_numpy(zero_copy_only=False)] = high - low + 1
    values = pa.array(range(low, high + 1), array.type).cast(kind)
    return Coded(codes, pa.concat_arrays([values, pa.nulls(1, kind)]) if gaps else values)


def _by_dictionary(array: pa.Array) -> Coded:
    coded = array.dictionary_encode()
    ranks, values = ranked(coded.dictionary)
    gaps = coded.indices.null_count > 0
    if gaps:
        ranks = np.append(ranks, np.int32(len(values)))
        values = pa.concat_arrays([values, pa.nulls(1, array.type)])
    indices = (coded.indices.fill_null(len(ranks) - 1) if gaps else coded.indices).to_numpy(zero_copy_only=False)
    return Coded(ranks.astype(_narrow(len(values)))[indices], values)


def _narrow(values: int) -> type[np.uint8 | np.uint16 | np.int32]:
    return np.uint8 if values <= 2**8 else np.uint16 if values <= 2**16 else np.int32
