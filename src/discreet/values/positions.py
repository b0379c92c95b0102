"""Where the values of an ordered column lie on a line, and which value lies at a position: the one place that knows.

There are three answers, by what they are for:

    Scale        distances from the smallest value, in exact integers wherever the type allows: what a guarantee
                 on ranges compares
    positions    floats in which nothing is lost, and back: the number itself, the days of a date, the microseconds
                 of a time, a decimal number without its point; a value with no such float is refused
    measured     floats near enough to measure by; dates and times in days, so that lengths can be told to people

Cost: linear in the values.
Claim: scale_keeps_distances — marks differ by exactly as much as the values they stand for.
Claim: positions_give_the_values_back — a column turned into positions and back is the same, values and type.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, nextafter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from discreet.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Marks: TypeAlias = Ints | Floats

PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
PER_DAY = {unit: 86_400 * units for unit, units in PER_SECOND.items()}
LARGEST = 2**63 - 1
EXACT = 2**53  # every whole number up to here is a float


def stored(type_: pa.DataType) -> pa.DataType:
    """The integers as which dates, times and timestamps are stored; any other type as it is."""
    if not types.is_temporal(type_):
        return type_
    return pa.int32() if type_.bit_width == 32 else pa.int64()


def per_day(type_: pa.DataType) -> int:
    """How many of the integers as which dates, times and timestamps are stored make a day; 1 for numbers."""
    if types.is_date(type_):
        return PER_DAY["ms"] if type_.bit_width == 64 else 1
    return PER_DAY[type_.unit] if types.is_temporal(type_) else 1


def measured(values: pa.Array | pa.ChunkedArray) -> Floats:
    """Where numbers, dates and times lie on a line, the latter two in days; what is missing is not a number."""
    numbers = pc.cast(values.cast(stored(values.type)), pa.float64(), safe=False)
    return np.asarray(numbers, np.float64) / per_day(values.type)


def positions(values: pa.ChunkedArray, name: str) -> Floats:
    """The values of a column with an order as floats that nothing is lost in; a missing one is not a number."""
    type_, values = values.type, values.combine_chunks()
    if types.is_floating(type_):
        found = np.asarray(values.cast(pa.float64()), np.float64)
        if np.isinf(found).any():
            raise InputError(
                f"the column `{name}` holds infinite values", hint="a box needs ends: leave those rows out"
            )
        return found
    if types.is_decimal(type_):
        gone, (low, high) = np.asarray(values.is_null()), _halves(values)
        if (high != low >> 63)[~gone].any():
            raise _out_of_reach(name)
        whole = pa.array(low, mask=gone)
    else:
        whole = values.cast(stored(type_))
        if types.is_timestamp(type_) and type_.unit == "ns":
            whole = _microseconds(whole, name)
    ends = pc.min_max(whole).as_py()
    if ends["min"] is not None and max(abs(ends["min"]), abs(ends["max"])) > EXACT:
        raise _out_of_reach(name)
    return np.asarray(pc.cast(whole, pa.float64(), safe=False), np.float64)


def values_at(found: Floats, type_: pa.DataType) -> pa.Array:
    """The values of a type that have these positions; what `positions` undoes."""
    gone = np.isnan(found)
    if types.is_floating(type_):
        return pa.array(found, mask=gone).cast(type_)
    whole = np.where(gone, 0, found).astype(np.int64)
    if types.is_decimal(type_):
        return _decimals(whole, gone, type_)
    if types.is_timestamp(type_) and type_.unit == "ns":
        whole *= 1_000
    return pa.array(whole, mask=gone).cast(stored(type_)).cast(type_)


@dataclass(frozen=True, slots=True)
class Scale:
    """A mark per value in ascending order, and how many marks make one unit of a range: a day, of dates and times."""

    marks: Marks
    unit: int = 1

    @classmethod
    def of(cls, domain: pa.Array, name: str) -> Scale:
        """The scale of a column's distinct values, given in ascending order; raise if they have none."""
        type_ = domain.type
        if types.is_floating(type_):
            return cls(_floats(domain.cast(pa.float64()).to_numpy(), name))
        if types.is_decimal(type_):
            return cls(*_digits(domain, name))
        if types.is_integer(type_) or types.is_date(type_) or types.is_timestamp(type_):
            return cls(_integers(domain.cast(stored(type_)).to_numpy(), name), per_day(type_))
        raise InputError(
            f"the sensitive column `{name}` holds {type_}: it has no ranges", hint="use it with `l` or `distinct_l`"
        )

    def steps(self, length: float) -> int | float:
        """How far marks must at least lie apart for a range of `length`."""
        if self.marks.dtype == np.float64:
            return float(length)
        return ceil(Fraction(repr(length)) * self.unit)

    def length(self, steps: Any) -> int | float:
        """The length of a range of marks; what `steps` undoes."""
        if self.marks.dtype == np.float64:
            return float(steps)
        exact = Fraction(int(steps), self.unit)
        if exact.denominator == 1:
            return exact.numerator
        near = float(exact)
        while Fraction(repr(near)) > exact:  # what is told must not be more than what is there
            near = nextafter(near, 0)
        return near


def _floats(values: Floats, name: str) -> Floats:
    if not np.isfinite(values).all():
        raise InputError(f"the sensitive column `{name}` holds infinite values", hint="leave those rows out")
    with np.errstate(over="ignore"):
        if values.size and not np.isfinite(values[-1] - values[0]):
            raise _too_far_apart(name)
    return values


def _integers(values: npt.NDArray[Any], name: str) -> Ints:
    if values.size and int(values[-1]) - int(values[0]) > LARGEST:
        raise _too_far_apart(name)
    if values.size and int(values[-1]) > LARGEST:
        values = values - values[0]
    marks = values.astype(np.int64)
    return marks - marks[0] if marks.size else marks


def _digits(domain: pa.Array, name: str) -> tuple[Ints, int]:
    """The distances from the smallest decimal in units of the last digit, and how many of these make one."""
    scale, (low, high) = domain.type.scale, _halves(domain)
    if (high == low >> 63).all():
        return _integers(low, name), 10**scale
    digits = [(int(above) << 64) + (int(below) & (2**64 - 1)) for below, above in zip(low, high, strict=True)]
    far = [digit - digits[0] for digit in digits]
    while scale and all(distance % 10 == 0 for distance in far):
        far, scale = [distance // 10 for distance in far], scale - 1
    if far[-1] > LARGEST:
        raise _too_far_apart(name)
    return np.array(far, np.int64), 10**scale


def _halves(values: pa.Array) -> tuple[Ints, Ints]:
    """Decimal numbers without their point: the lower and the upper half of their 128 bits.

    Where a number fits into the lower half, the upper one only repeats its sign.
    """
    wide = values.cast(pa.decimal128(38, values.type.scale))
    halves = np.frombuffer(wide.buffers()[1], np.int64).reshape(-1, 2)[wide.offset : wide.offset + len(wide)]
    return halves[:, 0], halves[:, 1]


def _decimals(whole: Ints, gone: npt.NDArray[np.bool_], type_: pa.DataType) -> pa.Array:
    """What `_halves` undoes, of numbers that fit into the lower half."""
    bits = pa.py_buffer(np.ascontiguousarray(np.stack([whole, whole >> 63], axis=1)))
    present = pa.array(~gone).buffers()[1]
    return pa.Array.from_buffers(pa.decimal128(38, type_.scale), whole.size, [present, bits]).cast(type_)


def _microseconds(nanoseconds: pa.Array, name: str) -> pa.Array:
    """Nanoseconds since 1970 outgrow a float: they must be whole microseconds."""
    found = pc.divide(nanoseconds, 1_000)
    if not pc.all(pc.equal(pc.multiply(found, 1_000), nanoseconds), min_count=0).as_py():
        raise InputError(
            f"the column `{name}` holds times that are no whole microseconds",
            hint="a vault cannot keep them exactly: round them to microseconds",
        )
    return found


def _out_of_reach(name: str) -> InputError:
    return InputError(
        f"the column `{name}` holds a value that a vault cannot keep exactly: a number of more than 15 digits",
        hint="round the column, or turn it into text if its order means nothing",
    )


def _too_far_apart(name: str) -> InputError:
    return InputError(
        f"the values of `{name}` lie too far apart for their differences to be computed",
        hint="leave the extreme values out, or publish them in a coarser unit",
    )
