"""How often each sensitive value stands in each group: all that a guarantee may look at.

Cost: linear in the rows.
Claim: histograms_count_every_row — every row is counted once, in its group, under its value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Histograms:
    """One entry per (group, value) that occurs, ordered by both; and where each group starts, and its rows."""

    groups: npt.NDArray[np.int32]
    values: npt.NDArray[np.int32]
    counts: npt.NDArray[np.signedinteger[Any]]
    starts: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, groups: npt.NDArray[np.int32], values: npt.NDArray[np.integer[Any]]) -> Histograms:
        """Count the values of every group; groups are numbered from 0 without a gap."""
        from discreet.guarantees.tally import tally

        group, value, counts, sizes = tally(groups, values)
        starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
        return cls(group, value, counts, starts, sizes)

    @classmethod
    def of_counts(
        cls, groups: npt.NDArray[np.int32], values: npt.NDArray[np.int32], times: npt.NDArray[np.integer[Any]]
    ) -> Histograms:
        """The same of rows that stand for so many each; these are sorted."""
        order = np.lexsort((values, groups))
        group, value = groups[order], values[order]
        new = np.append(True, (group[1:] != group[:-1]) | (value[1:] != value[:-1]))
        entries = np.flatnonzero(new)
        counts = np.add.reduceat(times[order].astype(np.int64), entries)
        group = group[entries]
        starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        sizes = np.add.reduceat(counts, starts)
        return cls(group, value[entries], counts.astype(np.int32), starts, sizes)

    @classmethod
    def whole(cls, counts: npt.NDArray[np.int64]) -> Histograms:
        """A table with these counts of values as one group."""
        held = np.flatnonzero(counts).astype(np.int32)
        starts, sizes = np.zeros(1, np.int64), np.array([counts.sum()], np.int64)
        wide = np.int64 if int(counts.max(initial=0)) >= 1 << 31 else np.int32  # of a table that nobody holds
        return cls(np.zeros_like(held), held, counts[held].astype(wide), starts, sizes)

    def without(self, harmless: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int32], Histograms]:
        """What is left where no row holds a harmless value, and which groups have anything left."""
        kept = ~harmless[self.values]
        held, groups = np.unique(self.groups[kept], return_inverse=True)
        starts = np.searchsorted(groups, np.arange(held.size))
        sizes = np.bincount(groups, weights=self.counts[kept], minlength=held.size).astype(np.int64)
        return held, Histograms(groups.astype(np.int32), self.values[kept], self.counts[kept], starts, sizes)

    @property
    def tops(self) -> npt.NDArray[np.signedinteger[Any]]:
        """The rows that hold the most frequent value of each group."""
        return np.maximum.reduceat(self.counts, self.starts)

    def largest(self, values: int) -> npt.NDArray[np.int64]:
        """The rows that hold one of the so many most frequent values of each group."""
        order = np.lexsort((-self.counts, self.groups))
        rank = np.arange(order.size) - self.starts[self.groups[order]]
        return np.add.reduceat(np.where(rank < values, self.counts[order], 0).astype(np.int64), self.starts)

    @property
    def distinct(self) -> npt.NDArray[np.int64]:
        """The distinct values of each group."""
        return np.diff(np.append(self.starts, self.counts.size))
