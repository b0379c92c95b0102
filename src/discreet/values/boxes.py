"""The smallest box around some rows: from where to where they lie in ordered columns, what they hold in others.

A row is a point: of a column with an order its position (`values/positions.py`), NaN if it is missing; of any other
the code of its value, a missing one's among them. Rows that lack values in the same columns are a stratum; boxes are
compared within one, but may be made and joined across.
Cost: linear in the rows.
Claim: boxes_hold_their_rows — every row lies in its box, and no smaller box holds them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.values.columns import Column
from discreet.values.positions import Floats, Ints

Flags = npt.NDArray[np.bool_]
Number = TypeVar("Number", bound=np.generic)

FEW = 24  # codes that are looked at one by one


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """The smallest box that holds some rows.

    `lows` and `highs` are the ends in columns with an order (NaN: all are missing; 0 for others); `sets` has an
    integer per column whose bit c says whether code c occurs (for columns with an order: 1 if some values are missing
    beside others, else 0).
    """

    lows: Floats
    highs: Floats
    sets: tuple[int, ...]

    def meets(self, other: Box) -> bool:
        """Whether the two boxes overlap in every column; both are of one stratum."""
        apart = (self.lows > other.highs) | (other.lows > self.highs)  # never true of NaN
        if apart.any():
            return False
        return all(mine & theirs or not (mine or theirs) for mine, theirs in zip(self.sets, other.sets, strict=True))

    def joined(self, other: Box) -> Box:
        """The smallest box that holds both."""
        one_has_none = (np.isnan(self.lows) != np.isnan(other.lows)).tolist()
        sets = tuple(mine | theirs | one for mine, theirs, one in zip(self.sets, other.sets, one_has_none, strict=True))
        return Box(np.fmin(self.lows, other.lows), np.fmax(self.highs, other.highs), sets)


def box_of(points: Floats, columns: Sequence[Column]) -> Box:
    """The smallest box that holds some rows; there is one at least."""
    lows, highs, sets = np.zeros(len(columns)), np.zeros(len(columns)), [0] * len(columns)
    for j, column in enumerate(columns):
        if column.ordered:
            here = points[:, j]
            lows[j], highs[j] = np.fmin.reduce(here), np.fmax.reduce(here)
            sets[j] = int(np.isnan(here).any() and not np.isnan(lows[j]))
        else:
            sets[j] = mask(points[:, j])
    return Box(lows, highs, tuple(sets))


def boxes_of(points: Floats, starts: Ints, columns: Sequence[Column]) -> list[Box]:
    """The boxes of many groups, whose rows stand together from each start to the next."""
    shape = starts.size, len(columns)
    lows, highs, sets = np.zeros(shape), np.zeros(shape), np.zeros(shape, object)
    for j, column in enumerate(columns):
        here = points[:, j]
        if column.ordered:
            lows[:, j], highs[:, j] = np.fmin.reduceat(here, starts), np.fmax.reduceat(here, starts)
            sets[:, j] = (np.logical_or.reduceat(np.isnan(here), starts) & ~np.isnan(lows[:, j])).astype(int)
        elif here.max() < 63:
            sets[:, j] = np.bitwise_or.reduceat(np.int64(1) << here.astype(np.int64), starts)
        else:
            sets[:, j] = [mask(codes) for codes in np.split(here, starts[1:])]
    return [Box(low, high, tuple(held)) for low, high, held in zip(lows, highs, sets.tolist(), strict=True)]


def ends(values: npt.NDArray[Number], groups: npt.NDArray[Any], count: int) -> tuple[npt.NDArray[Number], ...]:
    """The smallest and the largest value of each group, which are codes or floats; of none, the first is larger."""
    floats = np.issubdtype(values.dtype, np.floating)
    most, least = (np.inf, -np.inf) if floats else (np.iinfo(values.dtype.type).max, -1)  # type: ignore[type-var]
    low, high = np.full(count, most, values.dtype), np.full(count, least, values.dtype)
    np.minimum.at(low, groups, values)
    np.maximum.at(high, groups, values)
    return low, high


def mask(codes: Floats) -> int:
    """Some codes as the bits of a number."""
    if codes.size < FEW:
        found = 0
        for code in codes.tolist():
            found |= 1 << int(code)
        return found
    held = np.bincount(codes.astype(np.int64)).astype(np.bool_)
    return int.from_bytes(np.packbits(held, bitorder="little").tobytes(), "little")


def bits(number: int) -> Flags:
    """Whether each code is among those of a number; there is a bit for all, and one more."""
    size = number.bit_length() // 8 + 1
    packed = np.frombuffer(number.to_bytes(size, "little"), np.uint8)
    return np.unpackbits(packed, bitorder="little").astype(np.bool_)


def codes_of(number: int) -> Ints:
    """The codes that are the bits of a number, ascending; what `mask` undoes."""
    return np.flatnonzero(bits(number))
