"""Columns as codes: every distinct value has a number, in the order of values, a missing one the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    def decode(self) -> pa.Array:
        """The column itself."""
        return self.values.take(to_arrow(self.codes))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Both as arrays that can be kept."""
        sink = pa.BufferOutputStream()
        table = pa.table({"value": self.values})
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return {"codes": self.codes, "values": np.frombuffer(sink.getvalue(), np.uint8)}

    @classmethod
    def of(cls, arrays: Mapping[str, npt.NDArray[Any]] | None, entries: int) -> Coded | None:
        """The same from arrays that were kept; None if they were not, or are not of so many entries."""
        if arrays is None:
            return None
        codes = arrays["codes"]
        try:
            values = whole(pa.ipc.open_stream(pa.py_buffer(arrays["values"])).read_all().column("value"))
        except (pa.ArrowException, KeyError):
            return None
        sound = codes.shape == (entries,) and codes.dtype == narrow(len(values)) and codes.max(initial=0) < len(values)
        return cls(codes, values) if sound and codes.min(initial=0) >= 0 else None


def code(column: pa.ChunkedArray | pa.Array) -> Coded:
    """A column as codes.

    Claim: codes_keep_order — codes compare as values do, equal ones have the same, a missing one comes last.
    """
    array = whole(column)
    return _dense(array) or _by_dictionary(array)


def combined(columns: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """One number for every row, from 0 on without a gap, and the first row of each number.

    Rows have the same if all their codes are the same; else numbers compare as the first codes that differ.
    """
    found = np.zeros(len(columns[0]), np.int64)
    size = 1
    for codes in columns:
        values = int(codes.max(initial=0)) + 1
        if size * values >= 2**62:  # no room: without gaps they are no more than rows
            found = np.unique(found, return_inverse=True)[1]
            size = int(found.max(initial=0)) + 1
        found, size = found * values + codes, size * values
    _, first, numbers = np.unique(found, return_index=True, return_inverse=True)
    return numbers.astype(np.int32), first


def to_numpy(array: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """Numbers, none missing, as they lie; `to_numpy` of Arrow would import pandas for it, which takes longer."""
    found: npt.NDArray[Any] = np.from_dlpack(whole(array))
    return found


def to_arrow(numbers: npt.NDArray[Any]) -> pa.Array:
    """Numbers as they lie."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def whole_numbers(low: int, high: int, kind: pa.DataType) -> pa.Array:
    """All from low to high."""
    return to_arrow(np.arange(low, high + 1)).cast(kind)


def whole(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.nulls(0, array.type)


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
    ranks = to_numpy(pc.rank(array, sort_keys="ascending", tiebreaker="dense")).astype(np.int32) - np.int32(1)
    _, first = np.unique(ranks, return_index=True)
    return ranks, array.take(to_arrow(first))


def _dense(array: pa.Array) -> Coded | None:
    """Whole numbers and dates in a small range, each its distance from the smallest."""
    kind = array.type
    short = pa.types.is_integer(kind) and kind.bit_width < 32  # in which a distance has no room
    if short or pa.types.is_boolean(kind) or pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    if not pa.types.is_integer(array.type) or array.null_count == len(array):
        return None
    found = pc.min_max(array).as_py()
    low, high = found["min"], found["max"]
    if high - low >= DENSE - 1:
        return None
    gaps = array.null_count > 0
    numbers = to_numpy(array.fill_null(low) if gaps else array)
    codes = (numbers - numbers.dtype.type(low)).astype(narrow(high - low + 1 + gaps))
    if gaps:
        codes[array.is_null().to_numpy(zero_copy_only=False)] = high - low + 1
    values = (
        whole_numbers(low, high, array.type) if high < 2**63 - 1 else pa.array(range(low, high + 1), array.type)
    ).cast(kind)
    return Coded(codes, pa.concat_arrays([values, pa.nulls(1, kind)]) if gaps else values)


def _by_dictionary(array: pa.Array) -> Coded:
    coded = array.dictionary_encode()
    ranks, values = ranked(coded.dictionary)
    gaps = coded.indices.null_count > 0
    if gaps:
        ranks = np.append(ranks, np.int32(len(values)))
        values = pa.concat_arrays([values, pa.nulls(1, array.type)])
    indices = to_numpy(coded.indices.fill_null(len(ranks) - 1) if gaps else coded.indices)
    return Coded(ranks.astype(narrow(len(values)))[indices], values)


def narrow(values: int) -> type[np.uint8 | np.uint16 | np.int32]:
    """The type for so many codes."""
    return np.uint8 if values <= 2**8 else np.uint16 if values <= 2**16 else np.int32
