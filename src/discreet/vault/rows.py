"""Values on their way into a vault and out again: places for ranges, texts for codes, and their exact types back.

A *place* is a value of a column with an order as a float that nothing is lost in: the number itself, the days of
a date, the microseconds of a time, a decimal number without its point. A value with no such place is refused. What
has no order, and what is sensitive, is kept as a text under a code.

Cost: linear in the values for places; for texts in the distinct ones.
Claim: places_give_the_values_back — a column turned into places and back is the same, values and type.
Claim: texts_give_the_values_back — distinct values turned into texts and back are the same, values and type.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import InputError

Floats = npt.NDArray[np.float64]
EXACT = 2**53  # every whole number up to here is a float
OUT_OF_REACH = "holds a value that a vault cannot keep exactly"


def is_set(kind: pa.DataType) -> bool:
    """Whether the values of a type have no order: boxes show the set of them."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_boolean(kind))


def places(values: pa.ChunkedArray, name: str) -> Floats:
    """The values of a column with an order as floats; a missing one is not a number."""
    kind = values.type
    if pa.types.is_floating(kind):
        found = np.asarray(values.cast(pa.float64()).to_numpy(), np.float64)
        if np.isinf(found).any():
            raise InputError(
                f"the column `{name}` holds infinite values", hint="a box needs ends: leave those rows out"
            )
        return found
    if pa.types.is_decimal(kind):
        whole = _unscaled(values.combine_chunks().cast(pa.decimal128(38, kind.scale)), name)
    elif pa.types.is_timestamp(kind) and kind.unit == "ns":
        whole = _microseconds(values, name)
    else:
        if pa.types.is_temporal(kind):
            values = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        whole = values.combine_chunks()
    ends = pc.min_max(whole).as_py()
    if ends["min"] is not None and max(abs(ends["min"]), abs(ends["max"])) > EXACT:
        raise _out_of_reach(name)
    return np.asarray(pc.cast(whole, pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


def values_at(found: Floats, kind: pa.DataType) -> pa.Array:
    """The values of a type that have these places."""
    gone = np.isnan(found)
    if pa.types.is_floating(kind):
        return pa.array(found, mask=gone).cast(kind)
    whole = np.where(gone, 0, found).astype(np.int64)
    if pa.types.is_decimal(kind):
        return _scaled(whole, gone, kind)
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        whole *= 1_000
    numbers = pa.array(whole, mask=gone)
    if pa.types.is_temporal(kind) and kind.bit_width == 32:
        numbers = numbers.cast(pa.int32())
    return numbers.cast(kind)


def _microseconds(values: pa.ChunkedArray, name: str) -> pa.Array:
    """Nanoseconds since 1970 outgrow a float in days: they must be whole microseconds."""
    whole = values.combine_chunks().cast(pa.int64())
    found = pc.divide(whole, 1_000)
    if not pc.all(pc.equal(pc.multiply(found, 1_000), whole), min_count=0).as_py():
        raise InputError(
            f"the column `{name}` holds times that are no whole microseconds",
            hint="a vault cannot keep them exactly: round them to microseconds",
        )
    return found


def _unscaled(values: pa.Array, name: str) -> pa.Array:
    """Decimal numbers without their point, from the two halves of their 128 bits."""
    gone = np.asarray(values.is_null())
    halves = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)[values.offset : values.offset + len(values)]
    halves = np.where(gone[:, None], 0, halves)
    if (halves[:, 1] != halves[:, 0] >> 63).any():
        raise _out_of_reach(name)
    return pa.array(halves[:, 0], mask=gone)


def _scaled(whole: npt.NDArray[np.int64], gone: npt.NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    halves = np.stack([whole, whole >> 63], axis=1)
    bits = pa.py_buffer(np.ascontiguousarray(halves))
    present = pa.array(~gone).buffers()[1]
    return pa.Array.from_buffers(pa.decimal128(38, kind.scale), whole.size, [present, bits]).cast(kind)


def _out_of_reach(name: str) -> InputError:
    return InputError(
        f"the column `{name}` {OUT_OF_REACH}: a number of more than 15 digits",
        hint="round the column, or turn it into text if its order means nothing",
    )


def texts(values: pa.Array) -> list[str | None]:
    """Distinct values as texts, a missing one as none."""
    kind = values.type
    if pa.types.is_temporal(kind):
        values = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    found = values.to_pylist()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return [None if value is None else str(value) for value in found]
    return [None if value is None else repr(value) if isinstance(value, float) else str(value) for value in found]


def values_of(found: Sequence[str | None], kind: pa.DataType) -> pa.Array:
    """The values of a type that have these texts."""
    make: Any = str
    if pa.types.is_boolean(kind):
        make = "True".__eq__
    elif pa.types.is_temporal(kind) or pa.types.is_integer(kind):
        make = int
    elif pa.types.is_decimal(kind):
        make = Decimal
    elif pa.types.is_floating(kind):
        make = float
    values = [None if text is None else make(text) for text in found]
    if pa.types.is_temporal(kind):
        return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)
    return pa.array(values, kind)


def keys(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    r"""One text per row that tells its identifiers apart from all others; missing where every one of them is.

    A single identifier is its own key. Several are joined by bars, theirs escaped, and a missing one is `\0`.
    """
    found = [column.cast(pa.string()) for column in columns]
    if len(found) == 1:
        return found[0]
    nobody = found[0].is_null()
    for column in found[1:]:
        nobody = pc.and_(nobody, column.is_null())
    escaped = [pc.replace_substring(pc.replace_substring(column, "\\", "\\\\"), "|", "\\|") for column in found]
    joined = pc.binary_join_element_wise(*(pc.fill_null(column, "\\0") for column in escaped), "|")
    return pc.if_else(nobody, pa.scalar(None, pa.string()), joined)
