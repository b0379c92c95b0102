"""Full domain: raise every quasi-identifier to one level of its hierarchy for all rows, at the least loss there is.

Rows with the same nodes share a group; groups that break the guarantee are suppressed, if they have no more
rows together than the limit. The lattice of levels is searched along paths, each by halving (Kohlmayer et
al., "Flash: efficient, stable and optimal k-anonymity", PASSAT 2012). Points are passed over by two facts
about a point and the points below it, where groups are parts of its own groups:

- Lost rows. A group with fewer rows, fewer distinct values or a shorter range than promised has only such
  parts: all its rows are lost. A group that breaks `l` may have parts that keep it. But if t of its s rows hold
  one value, those parts hold at most floor((s-t)/(l-1)) of the t, and the others are lost. What a point
  loses, the points below it lose, too; a point that loses more than the limit rules them out. (The rows that a
  point suppresses would be no such bound, with `l`: a point below may suppress fewer.)
- Loss. If nothing were suppressed it would only fall on the way down, and a suppressed row costs as much as
  a row can; what lost rows cost on top of the price of their group only rises on the way down.

What rules a point out depends on the values of groups that are not published, and so does what is best (a minimality
attack). With `cuts = "blind"` the lattice is not searched, but gone down while that tells nothing: see `blind`.
Losses are compared exactly; of equal ones the smallest sum of levels wins, then the lexicographically first.
Cost: the numbers of levels multiplied, at worst; in practice a small part of the points is counted.
Claim: full_domain_is_optimal — no other point of the lattice that keeps to the limit has a smaller loss, if fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, prod
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import GuaranteeError, InputError
from discreet.guarantees import Guarantee
from discreet.partition.spatial.full_domain.blind import descend
from discreet.partition.spatial.full_domain.lattice import Groups, Lattice, Point
from discreet.partition.spatial.full_domain.losses import LOSSES
from discreet.partition.spatial.full_domain.rollup import Counts
from discreet.partition.spatial.space import Codes, Dimension
from discreet.values.kernel import kernel
from discreet.values.random import RandomSource
from discreet.values.rule import Rule, kept, nothing, only_counts, see

Aim: TypeAlias = Literal["ncp", "lm", "geometric", "discernibility"]

LARGEST = 2**24  # points of a lattice that is searched
SLACK = 1 + 1e-9  # losses are exact, but bounds are floats


@dataclass(frozen=True)
class Best:
    """The best point: the level of every dimension, its loss, the rows suppressed; and how many points were counted."""

    levels: tuple[int, ...]
    loss: Fraction
    suppressed: int
    counted: int
    groups: Codes


def assign(
    space: Sequence[Dimension],
    sensitive: Codes,
    guarantee: Guarantee,
    secret: RandomSource,
    *,
    cuts: Literal["fitted", "blind"] = "fitted",
    suppression: float = 0.0,
    loss: Aim = "ncp",
) -> Codes:
    """The group of every row, numbered in the order of nodes, -1 if suppressed. Nothing is left to chance."""
    return search(space, sensitive, guarantee, cuts=cuts, suppression=suppression, loss=loss).groups


def search(
    space: Sequence[Dimension],
    sensitive: Codes,
    guarantee: Guarantee,
    *,
    cuts: Literal["fitted", "blind"] = "fitted",
    suppression: float = 0.0,
    loss: Aim = "ncp",
    times: Codes | None = None,
) -> Best:
    """The best point of the lattice, or that of the blind way down, and the group of every row there.

    Raise if there is none.

    `suppression` is the share of rows that may be suppressed; it is read as the decimal that it is written as. Where
    rows come as counts, each stands for so many `times` as many.
    """
    if not 0 <= suppression <= 1:
        raise InputError(
            f"`suppression` is {suppression}, expected the share of rows that may be suppressed, from 0 to 1",
            hint="0.05 stands for one row in twenty",
        )
    rule = guarantee.rule
    space = space or [Dimension(np.zeros(sensitive.size, np.int32), 1)]
    lattice = Lattice.of(space, None if only_counts(rule) else sensitive, times)
    limit = min(floor(Fraction(str(suppression)) * lattice.rows), lattice.rows - 1)  # somebody is published
    if cuts == "blind" and not only_counts(rule):
        last, counted = descend(lattice, rule, aim := LOSSES[loss](lattice), limit)
        levels = lattice.levels(last.groups.point)
        groups = _number(lattice, last.groups.point, np.flatnonzero(last.out))
        return Best(levels, Fraction(last.loss, aim.unit), last.suppressed, counted, groups)
    state = _Search(lattice, rule, limit, loss)
    state.run()
    if state.best is None:
        raise GuaranteeError(
            f"no levels of the hierarchies keep the guarantee with at most {limit:,} rows suppressed",
            hint="lower the thresholds of the guarantee, or raise `suppression`",
        )
    lost, _, point, suppressed = state.best
    groups = _number(lattice, point, _broken(lattice.at(point), rule)[0])
    return Best(lattice.levels(point), Fraction(lost, state.loss.unit), suppressed, state.counted, groups)


class _Search:
    """What is known of the points while the lattice is searched."""

    def __init__(self, lattice: Lattice, rule: Rule, limit: int, loss: Aim) -> None:
        if (points := prod(lattice.shape)) > LARGEST:
            raise InputError(
                f"the hierarchies have {points:,} combinations of levels, expected at most {LARGEST:,}",
                hint="name fewer quasi-identifiers, use hierarchies with fewer levels, or the partition `mondrian`",
            )
        self.lattice, self.rule, self.limit = lattice, rule, limit
        self.loss = LOSSES[loss](lattice)
        self.open = np.ones(lattice.shape, np.bool_)  # neither counted nor ruled out
        self.fit = np.zeros(lattice.shape, np.bool_)  # known not to lose more rows than the limit
        self.ranks, self.least = self.loss.ranks(), self.loss.least()
        self.extra = np.zeros(lattice.shape)  # what lost rows add to the least loss
        self.best: tuple[int, int, Point, int] | None = None
        self.counted = 0

    def run(self) -> None:
        for start in np.argsort(self.ranks, axis=None, kind="stable"):
            if self.open.flat[start]:
                point = tuple(int(i) for i in np.unravel_index(start, self.open.shape))
                if self._promising(point):
                    self._halve([point] if self.fit[point] else self._path(point))

    def _promising(self, point: Point) -> bool:
        """Whether a point could be the best."""
        worst = inf if self.best is None else self.best[0] / self.loss.unit
        return bool(self.least[point] + self.extra[point] <= worst * SLACK)

    def _telling(self, point: Point) -> bool:
        """Whether it would help to count a point: it could be the best, or rule out others."""
        return bool(self.open[point]) and (not self.fit[point] or self._promising(point))

    def _path(self, point: Point) -> list[Point]:
        """A way up, over what ranks lowest."""
        path = [point]
        while True:
            higher = [i for i, levels in enumerate(self.open.shape) if point[i] + 1 < levels]
            ups = [(*point[:i], point[i] + 1, *point[i + 1 :]) for i in higher]
            telling = [up for up in ups if self._telling(up)]
            if not telling:
                return path
            point = min(telling, key=self.ranks.__getitem__)
            path.append(point)

    def _halve(self, path: list[Point]) -> None:
        """Find the point of a path from which on not too many rows are lost."""
        low, high = 0, len(path)
        while low < high:
            middle = (low + high) // 2
            if self._telling(path[middle]) and not self._count(path[middle]):
                low = middle + 1
            else:
                high = middle

    def _count(self, point: Point) -> bool:
        """Count the groups of a point and note what they tell; whether it does not lose too many rows."""
        self.counted += 1
        groups = self.lattice.at(point)
        broken, lost = _broken(groups, self.rule)
        below, above = tuple(slice(i + 1) for i in point), tuple(slice(i, None) for i in point)
        self.loss.learn(groups, self.least[above])
        if lost.sum() > self.limit:
            self.open[below] = False
            return False
        self.open[point] = False
        self.fit[above] = True
        extra = self.loss.added(groups, broken, lost)
        np.maximum(self.extra[below], extra, out=self.extra[below])
        suppressed = int(groups.sizes[broken].sum())
        if suppressed <= self.limit:
            rival = self.loss.exact(groups, broken), sum(self.lattice.levels(point)), point, suppressed
            self.best = rival if self.best is None else min(self.best, rival)
        return True


def _number(lattice: Lattice, point: Point, out: npt.NDArray[Any]) -> Codes:
    """The group of every row at a point, -1 if it is left out. Numbers follow the nodes, and not the order of rows."""
    found, groups = lattice.of_rows(point)
    order = np.lexsort(lattice.nodes(groups)[::-1])
    kept = order[~np.isin(order, out)]
    numbers = np.full(order.size, -1, np.int32)
    numbers[kept] = np.arange(kept.size)
    return numbers[found]


def _broken(groups: Groups, rule: Rule) -> tuple[Codes, Counts]:
    """The groups that break the guarantee, and how many of their rows are lost however they are divided."""
    if groups.entry_groups.size == 0:
        few = np.flatnonzero(groups.sizes < rule.k).astype(np.int32)
        return few, groups.sizes[few]
    broken, lost = _broken_by_values(groups.sizes, groups.entry_values, groups.entry_counts, rule)
    return broken, lost


@kernel
def _broken_by_values(sizes, values, counts, rule):  # type: ignore[no-untyped-def]
    broken, lost = np.empty(sizes.size, np.int32), np.empty(sizes.size, np.int64)
    number, entry = 0, 0
    for group in range(sizes.size):
        size, rows, seen = sizes[group], 0, nothing()
        while rows < size:
            rows += counts[entry]
            seen = see(seen, values[entry], counts[entry], True, rule)
            entry += 1
        if kept(seen, size, rule):
            continue
        top, distinct, low, high, _, free = seen
        few = distinct < max(rule.l, rule.distinct_l, 1)
        narrow = not few and rule.marks.size > 0 and rule.marks[high] - rule.marks[low] < rule.e
        broken[number], lost[number] = group, 1
        if size < rule.k or few or narrow:
            lost[number] = size
        elif top * rule.l > size - free:
            lost[number] = top - (size - free - top) // (rule.l - 1)
        number += 1
    return broken[:number].copy(), lost[:number].copy()
