"""The lattice of full-domain generalizations: at a point of it, each quasi-identifier stands at one level for all rows.

Rows with the same nodes at a point share a group. The table is counted once, at the lowest point; every
other point is rolled up from the smallest point below it that is still in memory. A level that brings no
two values of the table together is left out: the level under it gives the same groups and costs no more.
Cost: a point takes time linear in the groups (and their distinct values, if asked for) of the point that
it is rolled up from; what is kept in memory is a few times the distinct rows.
Claim: rolled_up_is_counted_anew — the groups of a point do not depend on what they are rolled up from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.partition.space import Codes, Dimension

Counts: TypeAlias = npt.NDArray[np.int64]
Point: TypeAlias = tuple[int, ...]

KEPT = 8  # times the distinct rows that are kept in memory
KEY = 2**62  # keys are smaller
PACK = 2**12  # codes of several axes that are looked up at once
NEAR = 32  # times the distinct rows up to which a table of all keys is used, and a hash table beyond


@dataclass(frozen=True)
class Groups:
    """The groups of a point: a distinct row that lies in each, its rows, and how often each value stands in it.

    The latter are entries of group, value and count in the order of groups; none if nobody asks for values.
    """

    point: Point
    firsts: Codes
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
    packed: npt.NDArray[Any]  # the code of each distinct row in each pack
    distinct: Codes  # which of them each row is
    values: int  # the kinds of sensitive values; 0 if nobody asks
    lowest: Groups
    _places: Codes  # a table for keys, all -1 between uses
    _kept: list[Groups] = field(default_factory=list)

    @classmethod
    def of(cls, space: Sequence[Dimension], sensitive: Codes | None) -> Lattice:
        """The lattice of a table with one quasi-identifier or more; without sensitive values if only rows matter."""
        order = _sort(space)
        columns = [dimension.codes[order] for dimension in space]
        differs = np.zeros(order.size, np.bool_)  # from the row before
        differs[:1] = True
        for column in columns:
            differs[1:] |= column[1:] != column[:-1]
        firsts = np.flatnonzero(differs)
        distinct = np.empty(order.size, np.int32)
        distinct[order] = np.cumsum(differs) - 1
        codes = _table([column[firsts] for column in columns])
        values, kinds = (distinct[:0], 0) if sensitive is None else (sensitive, int(sensitive.max()) + 1)
        entries = tally(distinct[: values.size], values, np.ones(values.size, np.int32), firsts.size, kinds)
        everyone, sizes = np.arange(firsts.size, dtype=np.int32), np.diff(firsts, append=order.size)
        lowest = Groups((0,) * len(space), everyone, sizes, *entries)
        axes = tuple(Axis.of(dimension) for dimension in space)
        places = np.full(min(NEAR * firsts.size, prod(axis.kinds[0] for axis in axes)), -1, np.int32)
        packs = _packs(space)
        sizes = [dimension.size for dimension in space]
        packed = _table([_packed([codes[:, i] for i in pack], [sizes[i] for i in pack]) for pack in packs])
        return cls(axes, codes, packs, packed, distinct, kinds, lowest, places)

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
        found, groups = self._roll_up(self.lowest, point)
        return found[self.distinct], groups

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

    def _roll_up(self, start: Groups, point: Point) -> tuple[Codes, Groups]:
        """The group at `point` of every group of a point below it, and the groups there."""
        found, number = np.zeros(start.sizes.size, np.int32), 1
        waiting = list(range(len(self.packs)))
        while waiting:  # as many packs at once as a key has room for
            worth: dict[int, Counts] = {}
            span = number
            while waiting and (not worth or span * self._kinds(waiting[0], point) <= KEY):
                pack = waiting.pop(0)
                if not worth or self._kinds(pack, point) > 1:
                    worth[pack], span = self._worth(pack, point, span)
            offsets = np.cumsum([0, *(of_code.size for of_code in worth.values())])
            taken, flat = np.array(list(worth)), np.concatenate(list(worth.values()))
            keys = _keys(found, self.packed, start.firsts, taken, offsets, flat)
            found, firsts, sizes = merge(keys, span, start.sizes, self._places)
            number = firsts.size
        entries = tally(found[start.entry_groups], start.entry_values, start.entry_counts, number, self.values)
        return found, Groups(point, start.firsts[firsts], sizes, *entries)

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


def _packed(columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int]) -> Counts:
    """Several columns as one, the first being the lowest digit."""
    strides = np.cumprod([1, *sizes])
    return np.sum([column.astype(np.int64) * strides[i] for i, column in enumerate(columns)], axis=0)


def _table(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Columns side by side, in few bytes."""
    few = max(int(column.max()) for column in columns) < 2**16
    table = np.empty((columns[0].size, len(columns)), np.uint16 if few else np.int32)
    for i, column in enumerate(columns):
        table[:, i] = column
    return table


def _by_size(columns: Sequence[Dimension]) -> list[int]:
    """Columns with few codes first, to be the last digits of keys: rows sorted so meet near keys on all points."""
    return sorted(range(len(columns)), key=lambda i: columns[i].size)


def _sort(space: Sequence[Dimension]) -> Codes:
    """The rows in the order of their codes, the longest columns first: counting sorts, from the last digits on."""
    order = np.arange(space[0].codes.size, dtype=np.int32)
    digits, span = np.zeros(order.size, np.int32), 1
    for i in _by_size(space):
        if span * space[i].size > 2**16:
            order = _sort_by(digits, span, order)
            digits, span = np.zeros(order.size, np.int32), 1
        digits += space[i].codes * np.int32(span)
        span *= space[i].size
    ordered: Codes = _sort_by(digits, span, order)
    return ordered


@nb.njit(cache=True, nogil=True)
def _sort_by(digits, span, order):  # type: ignore[no-untyped-def]
    """Sort rows by their digit; rows with the same keep their order."""
    next_of_digit = np.zeros(span + 1, np.int64)
    for digit in digits:
        next_of_digit[digit + 1] += 1
    next_of_digit = np.cumsum(next_of_digit)
    out = np.empty_like(order)
    for row in order:
        out[next_of_digit[digits[row]]] = row
        next_of_digit[digits[row]] += 1
    return out


@nb.njit(cache=True, nogil=True)
def _keys(found, codes, firsts, taken, offsets, worth):  # type: ignore[no-untyped-def]
    """A number for each group, alike where the nodes in these packs, and what was found before, are alike."""
    keys = np.empty(firsts.size, np.int64)
    for i in range(firsts.size):
        row, key = firsts[i], np.int64(found[i])
        for j in range(taken.size):
            key += worth[offsets[j] + codes[row, taken[j]]]
        keys[i] = key
    return keys


def merge(keys: Counts, span: int, counts: Counts, places: Codes) -> tuple[Codes, Codes, Counts]:
    """Number equal keys (from 0 to below `span`) alike, in the order in which they come.

    Returned are the number of each key, where each number came first, and the counts summed by number.
    """
    found, firsts, totals = _by_place(keys, counts, places) if span <= places.size else _by_hash(keys, counts)
    return found, firsts, totals


@nb.njit(cache=True, nogil=True)
def _by_place(keys, counts, places):  # type: ignore[no-untyped-def]
    """One place per key; all are -1 before and after."""
    n, number = keys.size, 0
    found, firsts, totals = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
    for i in range(n):
        now = places[keys[i]]
        if now < 0:
            now = number
            places[keys[i]], firsts[now], totals[now] = now, i, 0
            number += 1
        found[i] = now
        totals[now] += counts[i]
    for i in range(number):
        places[keys[firsts[i]]] = -1
    return found, firsts[:number].copy(), totals[:number].copy()


@nb.njit(cache=True, nogil=True)
def _by_hash(keys, counts):  # type: ignore[no-untyped-def]
    """Open addressing; the hash is a multiplication by 2**64 over the golden ratio."""
    n, number, bits = keys.size, 0, 1
    while 1 << bits < 2 * n:
        bits += 1
    found, firsts, totals = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
    slots = np.full(2 << bits, -1, np.int64)  # key and number side by side
    for i in range(n):
        at = 2 * np.int64((np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
        while slots[at] >= 0 and slots[at] != keys[i]:
            at += 2
            if at == slots.size:
                at = 0
        if slots[at] < 0:
            slots[at], slots[at + 1] = keys[i], number
            firsts[number], totals[number] = i, 0
            number += 1
        now = slots[at + 1]
        found[i] = now
        totals[now] += counts[i]
    return found, firsts[:number].copy(), totals[:number].copy()


@nb.njit(cache=True, nogil=True)
def tally(groups, values, counts, number, kinds):  # type: ignore[no-untyped-def]
    """The groups and values that occur together, one group after the other, and how often: a counting sort by group."""
    n = groups.size
    next_of_group = np.zeros(number + 1, np.int64)
    for i in range(n):
        next_of_group[groups[i] + 1] += 1
    next_of_group = np.cumsum(next_of_group)
    sorted_values, sorted_counts = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        at = next_of_group[groups[i]]
        sorted_values[at], sorted_counts[at] = values[i], counts[i]
        next_of_group[groups[i]] += 1
    # next_of_group[g] is now the end of g's run
    out_groups, out_counts = np.empty(n, np.int32), np.empty(n, np.int32)
    held = np.zeros(kinds, np.int32)
    entries, at = 0, 0
    for group in range(number):
        first = entries
        while at < next_of_group[group]:
            value = sorted_values[at]
            if held[value] == 0:
                sorted_values[entries], out_groups[entries] = value, group
                entries += 1
            held[value] += sorted_counts[at]
            at += 1
        for i in range(first, entries):
            out_counts[i] = held[sorted_values[i]]
            held[sorted_values[i]] = 0
    return out_groups[:entries].copy(), sorted_values[:entries].copy(), out_counts[:entries].copy()
