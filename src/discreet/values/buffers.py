"""NumPy's view of Arrow's arrays and back, without their own ways across: these import pandas where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def is_number(type_: pa.DataType) -> bool:
    """Whether values are numbers that NumPy has, too."""
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_))


def numbers(array: pa.Array) -> npt.NDArray[Any]:
    """The numbers of an array without missing ones, not copied."""
    held = np.frombuffer(array.buffers()[1] or b"", array.type.to_pandas_dtype())
    return held[array.offset : array.offset + len(array)]


def flags(array: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    """The truth values of an array without missing ones."""
    bits = np.frombuffer(array.buffers()[1] or b"", np.uint8)
    return np.unpackbits(bits, count=array.offset + len(array), bitorder="little")[array.offset :].view(np.bool_)


def array(held: npt.NDArray[Any], there: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Numbers as an array; those that are not there are missing."""
    bits = None if there is None else pa.py_buffer(np.packbits(there, bitorder="little"))
    buffers = [bits, pa.py_buffer(np.ascontiguousarray(held))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(held.dtype), held.size, buffers)
