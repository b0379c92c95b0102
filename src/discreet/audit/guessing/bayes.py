"""Naive Bayes: how likely each kind of value is, by the shares of every quasi-identifier's values among its holders.

Cost: rows x columns; then different rows x kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.guessing.seen import Seen
from discreet.values.columns import is_ordered

BANDS = 64  # of the values of a quasi-identifier
WEIGHT = 20.0  # people that the whole table counts for, beside those who hold a value

Ints = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Bayes:
    """The log-probability of kinds among all rows, and for every code of every column what it adds to them."""

    base: Singles
    added: tuple[Singles, ...]  # codes x kinds

    def chances(self, columns: Sequence[npt.NDArray[np.integer]]) -> Singles:
        """The log-probability of every kind for rows, given their codes column by column."""
        found = np.tile(self.base, (len(columns[0]), 1))
        for codes, added in zip(columns, self.added, strict=True):
            found += added[codes]
        found -= found.max(1, keepdims=True)
        found -= np.log(np.exp(found).sum(1, keepdims=True))
        return found


def fit_bayes(seen: Seen, counts: Singles) -> Bayes:
    """Fit the model to how many of every look hold each kind of value, or are expected to (looks x kinds)."""
    holders, added = counts.sum(0, dtype=np.float64), []
    people = float(holders.sum())
    for each, codes in zip(seen.quasi, seen.distinct, strict=True):
        band = bands(each.values, np.bincount(each.codes, minlength=len(each.values)))
        size = int(band.max(initial=0)) + 1
        order = np.argsort(band[codes], kind="stable")
        used, starts = np.unique(band[codes][order], return_index=True)
        both = np.zeros((size, holders.size))
        both[used] = np.add.reduceat(counts[order], starts, dtype=np.float64)
        share = (both.sum(axis=1, keepdims=True) + 1 / size) / (people + 1)
        added.append(np.log((both + WEIGHT * share) / (holders + WEIGHT)).astype(np.float32)[band])
    return Bayes(np.log((holders + 1 / holders.size) / (people + 1)).astype(np.float32), tuple(added))


def bands(values: pa.Array, counts: Ints) -> Ints:
    """Few bands in the place of many values: stretches with about as many rows each, or the most frequent ones."""
    if len(values) <= BANDS:
        return np.arange(len(values))
    if is_ordered(values.type):
        found: Ints = np.cumsum(counts) * BANDS // (counts.sum() + 1)
        return found
    rank = np.empty(counts.size, np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(counts.size)
    return np.minimum(rank, BANDS - 1)
