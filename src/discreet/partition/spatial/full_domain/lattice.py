"""The lattice of full-domain generalizations: at a point of it, each quasi-identifier stands at one level for all rows.

Rows with the same nodes at a point share a group. The table is counted once, at the lowest point, unless it comes as
counts already, so many `times` each row: what lies in a lake is counted there. Every other point is rolled up from the
smallest point below it that is still in memory. A level that brings no two values of the table together is left out:
the level under it gives the same groups and costs no more.
Cost: a point takes time linear in the groups (and their distinct values, if asked for) of the point that
it is rolled up from; what is kept in memory is a few times the distinct rows.
Claim: counts_stand_for_rows — different rows with counts are raised to the same levels as the rows, and lose as much.
Claim: rolled_up_is_counted_anew — the groups of a point do not depend on what they are rolled up from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.partition.spatial.full_domain.rollup import Columns, Counts, merge, sort_by, tally
from discreet.partition.spatial.space import Codes, Dimension

Point: TypeAlias = tuple[int, ...]

KEPT = 8  # times the distinct rows that are kept in memory
KEY = 2**62  # keys are smaller
PACK = 2**15  # codes of several axes that are looked up at once
NEAR = 32  # times the distinct rows up to which a table of all keys is used, and a hash table beyond


@dataclass(frozen=True)
class Groups:
    """The groups of a point: a distinct row that lies in each, its rows, and how often each value stands in it.

    The latter are entries of group, value and count in the order of groups; none if nobody asks for values.
    The codes of the distinct rows are packed, and stand with the groups to be near when these are rolled up.
    """

    point: Point
    firsts: Codes
    packed: Columns
    sizes: Counts
    entry_groups: Codes
    entry_values: Codes
    entry_counts: Codes

    @property
    def weight(self) -> int:
        return self.firsts.size + self.entry_groups.size


@dataclass(frozen=True)
class Axis:
    """The levels of one dimension that differ: the node of each code, and its leaves; none if it is a single code."""

    size: int
    levels: tuple[int, ...]
    nodes: tuple[Counts, ...]
    kinds: tuple[int, ...]
    leaves: tuple[Counts, ...]

    @classmethod
    def of(cls, dimension: Dimension) -> Axis:
        levels = dimension.levels
        if levels is None:  # as it is, or anything
            levels = np.stack([np.arange(dimension.size), np.zeros(dimension.size)]).astype(np.int32)
        held = np.bincount(dimension.codes, minlength=dimension.size) > 0
        distinct = [np.unique(nodes[held]).size for nodes in levels]
        kept = tuple(i for i, number in enumerate(distinct) if i == 0 or number < distinct[i - 1])
        nodes = tuple(levels[i].astype(np.int64) for i in kept)
        under = (np.bincount(of_code)[of_code] for of_code in nodes)
        leaves = tuple(np.where(number > 1, number, 0) for number in under)
        return cls(dimension.size, kept, nodes, tuple(int(of_code.max()) + 1 for of_code in nodes), leaves)


@dataclass
class Lattice:
    """A table at every point of its lattice."""

    axes: tuple[Axis, ...]
    codes: npt.NDArray[Any]  # of the distinct rows, one after the other
    packs: tuple[tuple[int, ...], ...]  # axes that are looked up together
    distinct: Codes  # which of them each row is that was given
    values: int  # the kinds of sensitive values; 0 if nobody asks
    lowest: Groups
    _places: Codes  # a table for keys, all -1 between uses
    _kept: list[Groups] = field(default_factory=list)

    @classmethod
    def of(cls, space: Sequence[Dimension], sensitive: Codes | None, times: Codes | None = None) -> Lattice:
        """The lattice of a table with one quasi-identifier or more; without sensitive values if only rows matter.

        Each row stands for so many `times` as many, all of them fewer than 2**31.
        """
        order = _sort(space)
        columns = [dimension.codes[order] for dimension in space]
        differs = np.zeros(order.size, np.bool_)  # from the row before
        differs[:1] = True
        for column in columns:
            differs[1:] |= column[1:] != column[:-1]
        firsts = np.flatnonzero(differs)
        distinct = np.empty(order.size, np.int32)
        distinct[order] = np.cumsum(differs) - 1
        few = max(dimension.size for dimension in space) <= 2**16
        codes = np.empty((firsts.size, len(space)), np.uint16 if few else np.int32)
        for i, column in enumerate(columns):
            codes[:, i] = column[firsts]
        values, kinds = (distinct[:0], 0) if sensitive is None else (sensitive, int(sensitive.max()) + 1)
        everyone, sizes = np.arange(firsts.size, dtype=np.int32), np.diff(firsts, append=order.size)
        if times is None:
            times = np.ones(values.size, np.int32)
        else:
            sizes = np.add.reduceat(times[order], firsts, dtype=np.int64)
        entries = tally(distinct[: values.size], values, times[: values.size], firsts.size, kinds)
        axes, packs = tuple(Axis.of(dimension) for dimension in space), _packs(space)
        packed = _packed(codes, packs, axes)
        lowest = Groups((0,) * len(space), everyone, packed, sizes, *entries)
        places = np.full(min(NEAR * firsts.size, prod(axis.kinds[0] for axis in axes)), -1, np.int32)
        return cls(axes, codes, packs, distinct, kinds, lowest, places)

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.lowest.sizes.sum())

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each axis has."""
        return tuple(len(axis.levels) for axis in self.axes)

    def levels(self, point: Point) -> tuple[int, ...]:
        """The levels of a point, as the hierarchies count them."""
        return tuple(axis.levels[i] for axis, i in zip(self.axes, point, strict=True))

    def at(self, point: Point) -> Groups:
        """The groups of a point."""
        below = (kept for kept in self._kept if all(a <= b for a, b in zip(kept.point, point, strict=True)))
        start = min(below, key=lambda kept: kept.weight, default=self.lowest)
        if start.point == point:
            return start
        groups = self._roll_up(start, point)[1]
        self._keep(start, groups)
        return groups

    def of_rows(self, point: Point) -> tuple[Codes, Groups]:
        """The group of every row at a point, and all these groups."""
        found, groups = self._roll_up(self.lowest, point, told=True)
        return found[self.distinct], groups

    def of_distinct(self, point: Point) -> Codes:
        """The group of every distinct row at a point, numbered as `at` does."""
        return self._roll_up(self.lowest, point, told=True)[0]

    def nodes(self, groups: Groups) -> list[Counts]:
        """The node of each group, axis by axis."""
        codes = self.codes[groups.firsts]
        return [axis.nodes[groups.point[i]][codes[:, i]] for i, axis in enumerate(self.axes)]

    def _keep(self, start: Groups, groups: Groups) -> None:
        """Keep groups to roll up from, those used last at the end; forget the first if they are too many."""
        used = [start] if start is not self.lowest else []
        self._kept = [*(kept for kept in self._kept if kept is not start), *used, groups]
        total = sum(kept.weight for kept in self._kept)
        while total > KEPT * self.lowest.weight:
            total -= self._kept.pop(0).weight

    def _roll_up(self, start: Groups, point: Point, *, told: bool = False) -> tuple[Codes, Groups]:
        """The groups of a point above; and where the groups of the start are among them, if it is to be told."""
        found, first, last = np.zeros(0, np.int32), 0, 0
        while last < len(self.packs):  # as many packs at once as a key has room for
            worth: tuple[Counts, ...] = ()
            span = int(found.max()) + 1 if found.size else 1
            while last < len(self.packs) and (first == last or span * self._kinds(last, point) <= KEY):
                more, span = self._worth(last, point, span)
                worth, last = (*worth, more), last + 1
            told_now = told or self.values > 0 or last < len(self.packs)
            columns, first = start.packed[first:last], last
            found, firsts, sizes = merge(found, columns, worth, span, start.sizes, self._places, told=told_now)
        entries = start.entry_groups, start.entry_values, start.entry_counts
        if self.values:
            entries = tally(found[start.entry_groups], *entries[1:], sizes.size, self.values)
        packed = tuple(column[firsts] for column in start.packed)
        return found, Groups(point, start.firsts[firsts], packed, sizes, *entries)

    def _kinds(self, pack: int, point: Point) -> int:
        """How many nodes a pack has at a point."""
        return prod(self.axes[i].kinds[point[i]] for i in self.packs[pack])

    def _worth(self, pack: int, point: Point, span: int) -> tuple[Counts, int]:
        """What each code of a pack adds to a key whose lower digits span as much; and what they span then."""
        worth = np.zeros(1, np.int64)
        for i in self.packs[pack]:
            worth = np.add.outer(self.axes[i].nodes[point[i]] * span, worth).ravel()
            span *= self.axes[i].kinds[point[i]]
        return worth, span


def _packs(space: Sequence[Dimension]) -> tuple[tuple[int, ...], ...]:
    """Axes in the order of their size, as many in each pack as a small table has room for."""
    packs: list[list[int]] = [[]]
    for i in _by_size(space):
        if packs[-1] and prod(space[j].size for j in [*packs[-1], i]) > PACK:
            packs.append([])
        packs[-1].append(i)
    return tuple(map(tuple, packs))


def _packed(codes: npt.NDArray[Any], packs: Sequence[Sequence[int]], axes: Sequence[Axis]) -> Columns:
    """The columns of each pack as one, the first being the lowest digit."""
    packed = [np.zeros(len(codes), np.int32) for _ in packs]
    for pack, column in zip(packs, packed, strict=True):
        span = 1
        for i in pack:
            np.add(column, codes[:, i] * np.int32(span), out=column)
            span *= axes[i].size
    few = all(column.max(initial=0) < 2**16 for column in packed)
    return tuple(column.astype(np.uint16) if few else column for column in packed)


def _by_size(columns: Sequence[Dimension]) -> list[int]:
    """Columns with few codes first, to be the last digits of keys: rows sorted so meet near keys on all points."""
    return sorted(range(len(columns)), key=lambda i: columns[i].size)


def _sort(space: Sequence[Dimension]) -> Codes:
    """The rows in the order of their codes, the longest columns first: counting sorts, from the last digits on."""
    order = np.arange(space[0].codes.size, dtype=np.int32)
    digits, span = np.zeros(order.size, np.int32), 1
    for i in _by_size(space):
        if span * space[i].size > 2**16:
            order = sort_by(digits, span, order)
            digits, span = np.zeros(order.size, np.int32), 1
        digits += space[i].codes * np.int32(span)
        span *= space[i].size
    ordered: Codes = sort_by(digits, span, order)
    return ordered
