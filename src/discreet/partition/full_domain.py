"""Full domain: raise every quasi-identifier to one level of its hierarchy for all rows, at the least loss there is.

Rows with the same nodes share a group; groups that break the guarantee are suppressed, if they have no more
rows together than the limit. The lattice of levels is searched along paths, each by halving (Kohlmayer et
al., "Flash: efficient, stable and optimal k-anonymity", 2012). Two facts about a point and all points below
it, where groups are parts of its groups, tell which points need no look:

- Rows that are lost. A group with fewer rows, fewer distinct values or a shorter range than promised has only
  such parts. A group that breaks `l` may have parts that keep it; but if t of its s rows hold one value, these
  parts hold at most floor((s-t)/(l-1)) of the t, and the others are lost. What a point loses so, the points
  below it lose as well. (They may suppress fewer rows than the point itself: all of a group that breaks `l`
  is suppressed, and it may have good parts.)
- Loss. If nothing were suppressed, the loss would fall on the way down, and a suppressed row costs as
  much as a row can; what lost rows cost beyond the price of their group only rises on the way down.

The loss is the NCP (the share of leaves under each node; a suppressed row costs 1 in every dimension) or
discernibility (a row costs the size of its group; a suppressed one, all rows). Losses are compared exactly;
of equal ones, the smallest sum of levels is taken, then the lexicographically first.
Cost: the heights multiplied, at worst; the points that are really counted are mostly a small part of these.
Claim: full_domain_is_optimal — no other point of the lattice that suppresses few enough rows has a smaller loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, prod
from typing import Literal

import numba as nb
import numpy as np

from discreet.errors import GuaranteeError, InputError
from discreet.guarantees import Guarantee, Thresholds
from discreet.partition.lattice import Counts, Groups, Lattice, Point
from discreet.partition.losses import LOSSES, Loss
from discreet.partition.secret import Secret
from discreet.partition.space import Codes, Dimension

LARGEST = 2**24  # points of a lattice that is searched
SLACK = 1 + 1e-9  # losses are exact, their bounds are floats


@dataclass(frozen=True)
class Found:
    """The best point: the level of every dimension, the loss, and how many rows are suppressed."""

    levels: tuple[int, ...]
    loss: Fraction
    suppressed: int


def assign(
    space: Sequence[Dimension],
    sensitive: Codes,
    guarantee: Guarantee,
    secret: Secret,
    *,
    suppression: float = 0.0,
    loss: Literal["ncp", "discernibility"] = "ncp",
) -> Codes:
    """The group of every row, -1 if it is suppressed. Nothing is left to chance."""
    search = Search(space, sensitive, guarantee, suppression=suppression, loss=loss)
    return search.groups(search.best())


class Search:
    """One search of the lattice of a table."""

    def __init__(
        self, space: Sequence[Dimension], sensitive: Codes, guarantee: Guarantee, *, suppression: float, loss: str
    ) -> None:
        if not 0 <= suppression <= 1:
            raise InputError(f"`suppression` is a share of the rows from 0 to 1, got {suppression}")
        self._rows = sensitive.size
        # at least one row is published; the share is the decimal that was written
        self._limit = min(floor(Fraction(repr(suppression)) * self._rows), self._rows - 1)
        self._thresholds = guarantee.thresholds
        _, l, distinct_l, _, marks = self._thresholds
        by_value = l > 1 or distinct_l > 1 or marks.size > 0
        space = space or [Dimension(np.zeros(self._rows, np.int32), 1)]
        self.lattice = Lattice.of(space, sensitive if by_value else None)
        self._shape = self.lattice.shape
        if prod(self._shape) > LARGEST:
            raise InputError(
                f"the hierarchies have {prod(self._shape):,} combinations of levels, and at most {LARGEST:,} are searched",
                hint="use fewer quasi-identifiers or lower hierarchies, or the partition `mondrian`",
            )
        self._loss: Loss = LOSSES[loss](self.lattice)
        self._open = np.ones(self._shape, np.bool_)
        self._sure = np.zeros(self._shape, np.bool_)
        self._least = self._loss.least()
        self._extra = np.zeros(self._shape)
        self._best: tuple[int, int, Point, int] | None = None
        self.counted = 0

    def best(self) -> Point:
        """The best point; raise if there is none."""
        ranks = self._loss.ranks()
        for start in np.argsort(ranks, axis=None, kind="stable"):
            point = tuple(int(i) for i in np.unravel_index(start, self._shape))
            if self._worth(point):
                self._halve([point] if self._sure[point] else self._path(point, ranks))
        if self._best is None:
            raise GuaranteeError(
                "no levels of the hierarchies keep the guarantee with so few rows suppressed",
                hint="lower the thresholds of the guarantee, or raise `suppression`",
            )
        return self._best[2]

    def found(self) -> Found: ...

    def _worth(self, point: Point) -> bool:
        """Whether a point could still be the best."""
        worst = inf if self._best is None else self._best[0] / self._loss.unit
        return bool(self._open[point] and self._least[point] + self._extra[point] <= worst * SLACK)

    def _path(self, point: Point, ranks) -> list[Point]:
        """A way up from a point along what ranks lowest."""
        path = [point]
        while True:
            ups = [(*point[:i], point[i] + 1, *point[i + 1 :]) for i, n in enumerate(self._shape) if point[i] + 1 < n]
            ups = [up for up in ups if self._open[up] and (not self._sure[up] or self._worth(up))]
            if not ups:
                return path
            point = min(ups, key=lambda up: ranks[up])
            path.append(point)

    def _halve(self, path: list[Point]) -> None:
        """Find where on a path points start to lose few enough rows."""
        low, high = 0, len(path)
        while low < high:
            middle = (low + high) // 2
            if self._open[path[middle]] and (not self._sure[path[middle]] or self._worth(path[middle])) and not self._count(path[middle]):
                low = middle + 1
            else:
                high = middle

    def _count(self, point: Point) -> bool:
        """Count a point; return whether it loses few enough rows."""
        self.counted += 1
        groups = self.lattice.at(point)
        below = tuple(slice(i + 1) for i in point)
        above = tuple(slice(i, None) for i in point)
        bad, lost = _bad(groups, self._thresholds)
        self._loss.learn(groups, self._least[above])
        if lost.sum() > self._limit:
            self._open[below] = False
            return False
        self._open[point] = False
        self._sure[above] = True
        suppressed = int(groups.sizes[bad].sum())
        if suppressed <= self._limit:
            rival = self._loss.exact(groups, bad), sum(self.levels(point)), point, suppressed
            self._best = rival if self._best is None else min(self._best, rival)
        extra = lost @ (self._loss.full - self._loss.prices(groups, bad))
        np.maximum(self._extra[below], extra, out=self._extra[below])
        return True

    def levels(self, point):
        return tuple(axis.levels[i] for axis, i in zip(self.lattice.axes, point, strict=True))

    def groups(self, point: Point) -> Codes:
        found, groups = self.lattice.of_rows(point)
        bad, _ = _bad(groups, self._thresholds)
        numbers = np.empty(groups.sizes.size, np.int32)
        kept = np.ones(groups.sizes.size, np.bool_)
        kept[bad] = False
        nodes = [
            axis.nodes[i][self.lattice.codes[groups.firsts[kept], d]]
            for d, (axis, i) in enumerate(zip(self.lattice.axes, point))
        ]
        order = np.lexsort(nodes[::-1])
        ranks = np.empty(order.size, np.int32)
        ranks[order] = np.arange(order.size)
        numbers[bad] = -1
        numbers[kept] = ranks
        return numbers[found]


def _bad(groups: Groups, thresholds: Thresholds) -> tuple[Codes, Counts]:
    k, l, distinct_l, e, marks = thresholds
    if not groups.entry_groups.size:
        bad = np.flatnonzero(groups.sizes < k)
        return bad, groups.sizes[bad]
    return _bad_by_value(
        groups.sizes, groups.entry_groups, groups.entry_values, groups.entry_counts, k, l, distinct_l, e, marks
    )


@nb.njit(cache=True, nogil=True)
def _bad_by_value(sizes, entry_groups, entry_values, entry_counts, k, l, distinct_l, e, marks):  # type: ignore[no-untyped-def]
    n = sizes.size
    tops, distinct = np.zeros(n, np.int64), np.zeros(n, np.int64)
    lows, highs = np.full(n, 2**31 - 1, np.int32), np.zeros(n, np.int32)
    for i in range(entry_groups.size):
        g = entry_groups[i]
        tops[g] = max(tops[g], entry_counts[i])
        distinct[g] += 1
        lows[g] = min(lows[g], entry_values[i])
        highs[g] = max(highs[g], entry_values[i])
    bad, lost = np.empty(n, np.int64), np.empty(n, np.int64)
    number = 0
    for g in range(n):
        narrow = marks.size > 0 and marks[highs[g]] - marks[lows[g]] < e
        if sizes[g] < k or distinct[g] < max(l, distinct_l) or narrow:
            bad[number], lost[number] = g, sizes[g]
            number += 1
        elif tops[g] * l > sizes[g]:
            bad[number], lost[number] = g, tops[g] - (sizes[g] - tops[g]) // (l - 1)
            number += 1
    return bad[:number].copy(), lost[:number].copy()
