"""Which sensitive values are told apart: each by itself, or neighbours together where groups are too few for that.

A regression on V values needs more than V groups. Numbers and dates of which there are more go into bins of nearly
equal numbers of rows, and within a bin a share is taken as the same for all values. For questions about whole bins that
does no harm if the values of a bin had the same chance to get to each group: then only the share of the bin matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.release.groups import Groups, Ints
from discreet.values.columns import is_ordered

Numbers: TypeAlias = npt.NDArray[Any]

MOST = 2000  # values, whose matrix is decomposed in seconds
GROUPS = 2  # for every value


@dataclass(frozen=True, eq=False)
class Classes:
    """The class of every code, and how many values and classes there are."""

    of: Ints
    values: int
    classes: int

    @property
    def binned(self) -> bool:
        return self.classes < self.values


def classes(groups: Groups, cells: int, most: int = MOST) -> Classes | None:
    """The classes of a release; None if its values are too many, and have no order to put neighbours together by."""
    coded = groups.values
    rows = np.bincount(coded.codes, groups.n if groups.n.size else None, len(coded.values))
    found = (np.cumsum(rows > 0) - 1).astype(np.int32)  # codes that do not occur share a number, and no row
    values, most = int((rows > 0).sum()), isqrt(most * most // cells)
    if not is_ordered(coded.values.type):
        return Classes(np.maximum(found, 0), values, values) if values <= most else None
    most = min(most, max((groups.rows.size - 1) // (GROUPS * cells), 1))
    if values <= most:
        return Classes(np.maximum(found, 0), values, values)
    missing = coded.values.null_count > 0
    bins = _bins(rows[: rows.size - missing], most)
    of = np.append(bins, bins.max(initial=-1) + 1) if missing else bins
    return Classes(of.astype(np.int32), values, int(of.max()) + 1)


def _bins(rows: Numbers, most: int) -> Ints:
    """Neighbours together, so that each bin has nearly as many rows; a value that has as many is a bin of its own."""
    upto = np.cumsum(rows)
    middle = (upto - rows / 2) * most / max(int(upto[-1]), 1)
    _, found = np.unique(middle.astype(np.int64), return_inverse=True)
    return found.astype(np.int32)
