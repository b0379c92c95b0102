"""Where the values of an ordered column lie on a line: in exact integers wherever the type allows.

Integers, decimals, dates and timestamps become whole numbers counted from the smallest value;
only floats stay floats. Ranges of dates and timestamps are told in days.
Claim: scale_keeps_distances — marks differ by exactly as much as the values they stand for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, nextafter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import InputError

Marks: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]

DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Scale:
    """A mark per value in ascending order, and how many marks make one unit of a range."""

    marks: Marks
    unit: int = 1

    @classmethod
    def of(cls, domain: pa.Array, name: str) -> Scale:
        """The scale of a column's distinct values, given in ascending order; raise if they have none."""
        kind = domain.type
        if pa.types.is_floating(kind):
            return cls(_floats(domain.cast(pa.float64()).to_numpy(), name))
        if pa.types.is_integer(kind):
            return cls(_integers(domain.to_numpy(), name))
        if pa.types.is_decimal(kind):
            return cls(*_decimals(domain, name))
        if pa.types.is_date(kind):
            return cls(_integers(domain.cast(pa.date32()).cast(pa.int32()).to_numpy(), name))
        if pa.types.is_timestamp(kind):
            return cls(_integers(domain.cast(pa.int64()).to_numpy(), name), DAY[kind.unit])
        raise InputError(
            f"the sensitive column `{name}` holds {kind}: it has no ranges", hint="use it with `l` or `distinct_l`"
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


def _floats(values: npt.NDArray[np.float64], name: str) -> npt.NDArray[np.float64]:
    if not np.isfinite(values).all():
        raise InputError(f"the sensitive column `{name}` holds infinite values", hint="leave those rows out")
    with np.errstate(over="ignore"):
        if values.size and not np.isfinite(values[-1] - values[0]):
            raise _too_far_apart(name)
    return values


def _integers(values: npt.NDArray[Any], name: str) -> npt.NDArray[np.int64]:
    if values.size and int(values[-1]) - int(values[0]) > LARGEST:
        raise _too_far_apart(name)
    if values.size and int(values[-1]) > LARGEST:
        values = values - values[0]
    marks = values.astype(np.int64)
    return marks - marks[0] if marks.size else marks


def _decimals(domain: pa.Array, name: str) -> tuple[npt.NDArray[np.int64], int]:
    """The distances from the smallest decimal in units of the last digit, and how many of these make one."""
    scale = domain.type.scale
    wide = domain.cast(pa.decimal128(38, scale))
    halves = np.frombuffer(wide.buffers()[1], np.int64).reshape(-1, 2)[wide.offset : wide.offset + len(wide)]
    if (halves[:, 1] == halves[:, 0] >> 63).all():  # the upper half only repeats the sign of the lower
        return _integers(halves[:, 0], name), 10**scale
    digits = [(int(high) << 64) + (int(low) & (2**64 - 1)) for low, high in halves]
    far = [digit - digits[0] for digit in digits]
    while scale and all(distance % 10 == 0 for distance in far):
        far, scale = [distance // 10 for distance in far], scale - 1
    if far[-1] > LARGEST:
        raise _too_far_apart(name)
    return np.array(far, np.int64), 10**scale


def _too_far_apart(name: str) -> InputError:
    return InputError(
        f"the values of `{name}` lie too far apart for their differences to be computed",
        hint="leave the extreme values out, or publish them in a coarser unit",
    )
