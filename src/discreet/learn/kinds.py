"""The sensitive values as a model tells them apart: each by itself, or many numbers in bins of about equal size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.learn.features import bands, commonest, polynomials
from discreet.values.columns import is_ordered

KINDS, BINS = 64, 50
CURVES = 6

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Kinds:
    """For every value its kind, the share of rows of each kind, and curves over kinds that have an order.

    Values of one kind are told apart by nothing: inside a group they fall to the rows of their kind at random.
    """

    of: Ints
    share: npt.NDArray[np.float64]
    curves: Floats  # curves x kinds

    @property
    def size(self) -> int:
        return self.share.size

    @classmethod
    def among(cls, held: Ints, values: pa.Array) -> Kinds:
        """Numbers in bins by rank if there are more than `KINDS`; of other values the rarest together."""
        counts = np.bincount(held, minlength=len(values)).astype(np.float64)
        missing = np.zeros(counts.size, np.bool_)
        missing[-1] = bool(values.null_count)
        known = np.where(missing, 0, counts)
        ordered = is_ordered(values.type)
        rank = (np.cumsum(known) - known / 2) / max(known.sum(), 1)
        if ordered:
            kind = bands(rank, ~missing, KINDS, BINS)
            kind[missing] = kind.max() + 1
        else:
            kind = commonest(counts, KINDS)
        share = np.bincount(kind, counts) / counts.sum()
        curves = np.zeros((0, share.size), np.float32)
        if ordered:
            rows = np.bincount(kind, known).astype(np.float64)
            middle = np.bincount(kind, known * rank) / np.maximum(rows, 1)
            curves = polynomials(middle, rows, min(CURVES, share.size - 2)).T
            if (
                missing.any()
            ):  # it has no place on a curve: as one of many kinds it would share a spread with all of them
                curves = np.concatenate([curves, (np.arange(share.size) == kind[-1]).astype(np.float32)[None]])
        return cls(kind, share, curves)
