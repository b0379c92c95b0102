"""The harmless values of a release, as its manifest tells them, turned into values of its sensitive column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import time
from typing import Any, TypeAlias

import pyarrow as pa

from discreet.values.columns import kind_of

Told: TypeAlias = bool | int | float | str
# How a value of each kind is told, and what it becomes.
READ: Mapping[str, tuple[type, Callable[[Sequence[Any], pa.DataType], pa.Array]]] = {
    "integer": (int, pa.array),
    "float": (float, lambda told, type_: pa.array(told, pa.float64()).cast(type_)),
    "boolean": (bool, pa.array),
    "string": (str, pa.array),
    "time": (str, lambda told, type_: pa.array(map(time.fromisoformat, told), type_)),
}


def harmless_values(told: Sequence[Told], type_: pa.DataType) -> pa.Array:
    """The values in ascending order; raise ValueError if they are not told as a release tells them."""
    of, read = READ.get(kind_of(type_) or "", (str, lambda texts, as_: pa.array(texts, pa.string()).cast(as_)))
    if not all(type(value) is of for value in told):
        raise ValueError("harmless values of another type than the sensitive column")
    try:
        values = read(told, type_)
    except (pa.ArrowException, OverflowError) as error:
        raise ValueError("harmless values that the sensitive column cannot hold") from error
    if not values.equals(values.unique().sort()):
        raise ValueError("harmless values that repeat, or are out of order")
    return values
