"""Figures of an estimator in the place of those of `even`: kept inside the bounds, and said where they were not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.values.coded import to_arrow, to_numpy

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
ROUNDING = 1e-9  # of a bound: no estimate beyond it


class Put(NamedTuple):
    """An answer with an estimator's figures, what is to be said of them, its `own` rows, and those `left` to `even`."""

    answer: pa.Table
    notes: list[str]
    own: Flags
    left: Flags

    def made_by(self, name: str) -> str:
        """Who made the column: the estimator of this name, `even`, or both."""
        some = {name: self.own.any(), "even": self.left.any()}
        return ", ".join(each for each, made in some.items() if made) or name


@dataclass(frozen=True, eq=False)
class Column:
    """An estimate for each row of an answer, not a number where there is none; and its stderr, if it has one."""

    estimate: Floats
    stderr: Floats | None

    @property
    def nothing(self) -> bool:
        """Whether there is no estimate in any row."""
        return bool(self.estimate.size) and bool(np.isnan(self.estimate).all())

    def put(self, answer: pa.Table, name: str) -> Put:
        """An answer with these figures, and what is to be said of them."""
        low, high, even = (floats(answer.column(each)) for each in ("low", "high", "estimate"))
        usable = np.isfinite(self.estimate) & np.isfinite(low) & np.isfinite(high)
        if self.stderr is not None:
            usable &= np.isfinite(self.stderr)
            answer = _with(answer, "stderr", np.where(low == high, 0, np.where(usable, self.stderr, np.nan)), usable)
        inside = np.clip(self.estimate, low, high)
        moved = np.abs(inside - self.estimate) > ROUNDING * np.maximum(np.abs(inside), 1)
        left = ~usable & ~np.isnan(even)
        told = _told(name, usable & moved & (low < high), left)
        return Put(_with(answer, "estimate", inside, usable), [*told], usable, left)


@dataclass(frozen=True, eq=False)
class Places:
    """An estimate for each row as its place among `values`, which ascend; -1 where there is none."""

    places: npt.NDArray[np.int64]
    values: pa.Array

    @property
    def nothing(self) -> bool:
        """Whether there is no estimate in any row."""
        return bool(self.places.size) and bool((self.places < 0).all())

    def put(self, answer: pa.Table, name: str) -> Put:
        """The same, of values that need not be numbers."""
        low, high = (_places(answer.column(each), self.values) for each in ("low", "high"))
        usable = (self.places >= 0) & (low >= 0) & (high >= 0)
        inside = np.clip(self.places, low, high)
        some = np.asarray(answer.column("estimate").is_valid().to_numpy(), np.bool_)
        told = _told(name, usable & (inside != self.places), ~usable & some)
        found = self.values.take(to_arrow(np.maximum(inside, 0)))
        return Put(_with(answer, "estimate", found, usable), [*told], usable, ~usable & some)

    def as_numbers(self) -> Column:
        """The same where an answer lies between values."""
        found = floats(self.values.take(to_arrow(np.maximum(self.places, 0))))
        return Column(np.where(self.places < 0, np.nan, found), None)


def _with(answer: pa.Table, part: str, found: Floats | pa.Array, usable: Flags) -> pa.Table:
    """The answer with what was found, where it is usable."""
    at, column = answer.column_names.index(part), answer.column(part)
    new = to_arrow(found) if isinstance(found, np.ndarray) else found
    return answer.set_column(at, part, pc.if_else(pa.array(usable), new.cast(column.type), column))


def floats(column: pa.ChunkedArray | pa.Array) -> Floats:
    """As numbers, a missing one not a number."""
    found: Floats = to_numpy(column.cast(pa.float64(), safe=False).fill_null(np.nan))
    return found


def is_number(type_: pa.DataType) -> bool:
    """Whether values of a type can be added up."""
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def _places(column: pa.ChunkedArray, values: pa.Array) -> npt.NDArray[np.int64]:
    found = pc.index_in(column.cast(values.type), value_set=values).fill_null(-1)
    return to_numpy(found.cast(pa.int64()))


def told_moved(name: str, moved: Flags) -> Iterator[str]:
    """Say in how many rows an estimate was moved to its bounds."""
    if moved.any():
        yield f"{name}: in {in_rows(moved)} the estimate was beyond low or high, and was moved there"


def _told(name: str, moved: Flags, without: Flags) -> Iterator[str]:
    yield from told_moved(name, moved)
    if without.any():
        why = "too few rows match, or groups do not tell the values apart"
        yield f"{name}: in {in_rows(without)} the estimate is that of `even`: {why}"


def in_rows(some: Flags) -> str:
    return "this row" if some.size == 1 else f"{some.sum()} of {some.size} rows"
