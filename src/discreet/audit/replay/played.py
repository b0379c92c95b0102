"""Run the partition of a release again, on other tables than its own: how it decides is known to everybody.

A release does not tell options, hierarchies, or whether texts have an order: the usual options are supposed, and that
there was nothing else. Of boxes it is told which columns have an order.
Cost: that of the partition.
Claim: the_partition_is_played_as_published — on the table itself, without chance, it makes the groups of the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.guarantees import Guarantee, needed
from discreet.learn.view import View
from discreet.partition import PARTITIONS
from discreet.partition.spatial.columns import halves, on_a_line, with_missing
from discreet.partition.spatial.space import Dimension
from discreet.release.harmless import harmless_values
from discreet.release.manifest import Promise
from discreet.values.coded import Coded
from discreet.values.codes import Codes
from discreet.values.columns import is_ordered
from discreet.values.positions import Scale
from discreet.values.random import RandomSource

Ints = npt.NDArray[np.int32]
SUPPOSED = "ran by its usual options, and no column had a hierarchy, nor texts an order"
WHOLE = {"full_domain"}  # partitions that decide about the whole table at once, and not about one part by itself


@dataclass(frozen=True)
class Column:
    """A quasi-identifier of all rows, as a partition may ask to see it."""

    codes: Codes
    ordered: bool

    @classmethod
    def of(cls, coded: Coded, *, ordered: bool | None) -> Self:
        """One whose codes all occur, a missing value the last."""
        missing = coded.values.null_count > 0
        domain = coded.values.slice(0, len(coded.values) - missing)
        codes = Codes(coded.codes.astype(np.int32), domain, missing)
        return cls(codes, is_ordered(domain.type) if ordered is None else ordered)

    @cached_property
    def dimension(self) -> Dimension:
        places = on_a_line(self.codes) if self.ordered else None
        return Dimension(self.codes.codes, self.codes.size, places, None, self.codes.missing)

    @cached_property
    def halved(self) -> Dimension:
        if not self.ordered:
            return self.dimension
        nodes = halves(np.arange(len(self.codes.domain), dtype=np.int32))
        levels = with_missing(nodes, missing=self.codes.missing)
        return Dimension(self.codes.codes, self.codes.size, levels=levels, missing=self.codes.missing)


@dataclass(frozen=True, eq=False)
class Player:
    """A partition and its guarantee, what it sees of the rows of a release, and where these lie, each column by itself.

    The whole of a release is one table to it if it decides about all rows `at_once`.
    """

    partition: str
    guarantee: Guarantee
    seen: Sequence[Any]
    places: npt.NDArray[np.float64]

    @classmethod
    def of(cls, promise: Promise, view: View) -> Self:
        ordered = {side.name: side.low is not None for side in promise.boxes or ()}
        columns = [Column.of(coded, ordered=ordered.get(name)) for name, coded in view.quasi.items()]
        return cls(
            promise.partition,
            _guarantee(promise, view),
            PARTITIONS[promise.partition].view(columns),
            np.stack([_shares(column) for column in columns]) if columns else np.zeros((0, view.rows)),
        )

    @property
    def at_once(self) -> bool:
        return self.partition in WHOLE

    def play(self, rows: npt.NDArray[np.int64], values: Ints, secret: RandomSource) -> Ints | None:
        """The group of some rows if they held these values; -1 where one is left out, None if there are no groups."""
        seen = [_of_rows(each, rows) for each in self.seen]
        try:
            return PARTITIONS[self.partition].assign(seen, values, self.guarantee, secret, {"cuts": "fitted"})
        except DiscreetError:  # no such table could have been published
            return None


def _guarantee(promise: Promise, view: View) -> Guarantee:
    """What every group of the release keeps, with the facts about its values that it needs."""
    needs, values = needed(promise.guarantee), view.values
    spared = None
    if promise.harmless:
        told = harmless_values(promise.harmless, values.type)
        spared = np.asarray(pa.compute.is_in(values, value_set=told))
    scale = Scale.of(values.drop_null(), promise.sensitive_column) if "scale" in needs else None
    counts = np.bincount(view.held, minlength=len(values)) if "population" in needs else None
    return Guarantee.of(promise.guarantee, scale, counts, spared)


def _shares(column: Column) -> npt.NDArray[np.float64]:
    """Where rows lie in a column, from 0 to 1."""
    places = on_a_line(column.codes)[column.codes.codes]
    span = np.ptp(places) if places.size else 0.0
    return np.asarray((places - places.min(initial=np.inf)) / span if span else np.zeros(places.size))


def _of_rows(seen: Any, rows: npt.NDArray[np.int64]) -> Any:
    """What a partition sees of some rows of a column; the column's own extent and hierarchy stay."""
    return replace(seen, codes=seen.codes[rows]) if isinstance(seen, Dimension) else seen[rows]
