"""One sweep over the groups, a block of them after the other, so that what is known of a block stays at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate.finish import Totals
from discreet.answer.accelerate.grouped import names_in
from discreet.answer.accelerate.kernels import Candidates, Counts, Floats, Ints, Longs, fill, matched
from discreet.answer.accelerate.labels import Labels, NotServed, Part
from discreet.answer.accelerate.sums import counted, edges, nearest, runs, summed, summed_all, weighed
from discreet.values.coded import ranked, to_numpy

BLOCK = 2**18  # entries of a side
NEAREST = {"min": 1, "max": -1}
MOST_CELLS, MOST_RUNS = 2**20, 2**22  # pairs of keys; and times values


@dataclass(frozen=True, eq=False)
class Subject:
    """What aggregates are about: the labels of candidates by key and value, and the distinct values in order."""

    labels: Labels
    keys: int
    shift: int
    in_order: bool
    all_present: bool  # every entry that satisfies the condition has a value
    values: pa.Array
    numbers: Floats  # none, if the values are no numbers
    certain: bool  # every entry is a candidate

    @classmethod
    def of(cls, labels: Labels, argument: exp.Expr) -> Subject:
        """The candidates of an argument, from the entries that satisfy the condition."""
        entries = labels.entries
        entries.read(names_in(argument))
        [(codes, found)] = entries.evaluate(names_in(argument), [argument.copy()])
        ranks, values = ranked(found)
        all_present = values.null_count == 0
        if not all_present:
            ranks = np.where(ranks == len(values) - 1, -1, ranks).astype(np.int32)
            values = values.slice(0, len(values) - 1)
        shift = max(len(values) - 1, 0).bit_length()
        both = labels.beside(Part(codes, ranks, 1 << shift))
        lut = both.parts[-1].lut
        in_order = (
            entries.in_order and labels.size == len(both.parts) == 1 and bool((np.diff(lut[lut >= 0]) >= 0).all())
        )
        return cls(
            both, labels.size, shift, in_order, all_present, values, _numbers(values), all_present and not labels.parts
        )

    @cached_property
    def kept(self) -> Candidates:
        """The candidates of all groups at once, for later questions."""
        offsets, n = self.labels.entries.offsets, self.labels.entries.n
        count = int(offsets[-1])
        found = Candidates.room(offsets.size - 1, count, sums=self.numbers.size > 0)
        labels = self.labels.write(0, count, np.empty(count, np.int32))
        fill(offsets, labels, n, self.numbers, self.shift, self.in_order, _scratch(offsets), found)
        return found


@dataclass(frozen=True)
class Wanted:
    """What is to be added up beside how many are drawn: sums; per value how many are expected, and at both ends.

    Of both MIN and MAX ask less than quantiles, and than means of an uncertain number of rows.
    """

    sums: bool
    weight: bool
    nearest: tuple[str, ...]
    ends: bool
    all_ends: bool

    @classmethod
    def of(cls, functions: set[str], subject: Subject) -> Wanted:
        """What aggregates of a subject want."""
        weight = bool(functions & {"quantile_disc", "quantile_cont"})
        nearest = tuple(functions & {*NEAREST})
        all_ends = weight or ("avg" in functions and not subject.certain)
        return cls(bool(functions & {"sum", "avg"}), weight, nearest, all_ends or bool(nearest), all_ends)


def _numbers(values: pa.Array) -> Floats:
    """The values as numbers to add up; none of what is no number."""
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        found: Floats = to_numpy(values.cast(pa.float64(), safe=False))
        return found
    return np.zeros(0)


def _scratch(offsets: Longs) -> Longs:
    """Room for the largest group; one more is written before it is known whether it counts."""
    return np.empty(int(np.diff(offsets).max(initial=0)) + 1, np.int64)


class _Side:
    """How often each key occurs in the groups of a block."""

    def __init__(self, labels: Labels, size: Ints, blocks: list[tuple[int, int]]) -> None:
        self._labels, self._size, offsets = labels, size, labels.entries.offsets
        most = max(int(offsets[b] - offsets[a]) for a, b in blocks)
        groups = max(b - a for a, b in blocks)
        if labels.parts and labels.kept is None:
            self._room, self._buffer = Counts.room(groups, max(most, groups) + 1), np.empty(most, np.int32)
            self._seen = np.zeros(labels.size + 1, np.int32)
        else:
            self._all = np.arange(groups + 1), np.zeros(groups, np.int32)

    def counts(self, first: int, last: int) -> Counts:
        if not self._labels.parts:
            return Counts(*self._all, self._size[first:last])
        kept = self._labels.kept
        if kept is not None:
            return kept._replace(offsets=kept.offsets[first : last + 1])
        offsets, n = self._labels.entries.offsets[first : last + 1], self._labels.entries.n
        labels = self._labels.write(offsets[0], offsets[-1], self._buffer)
        matched(offsets, labels, n[offsets[0] : offsets[-1]], self._seen, self._room)
        return self._room


def rows(drawn: Labels, candidates: Labels, size: Ints) -> Totals:
    """How many rows match on both sides, by the keys of both."""
    cells = drawn.size * candidates.size
    if cells > MOST_CELLS:
        raise NotServed
    blocks = _blocks(drawn, candidates)
    one, other = _Side(drawn, size, blocks), _Side(candidates, size, blocks)
    counts, found = np.zeros((cells, 2)), np.zeros((cells, 2), np.int64)
    for first, last in blocks:
        picks, totals = one.counts(first, last), other.counts(first, last)
        counted(size[first:last], picks, totals, candidates.size, counts, found)
    none = np.zeros(0)
    return Totals(counts, found, none, none, {}, np.zeros(0, np.int64), pa.nulls(0), none)


def values(drawn: Labels, subject: Subject, size: Ints, wanted: Wanted, *, kept: bool) -> Totals:
    """What the candidates that are drawn can add up to, and what they are."""
    blocks = _blocks(drawn, subject.labels)
    side, numbers, keys = _Side(drawn, size, blocks), subject.numbers, subject.keys
    cells, width = drawn.size * keys, max(len(subject.values), 1)
    if cells > MOST_CELLS or (wanted.ends and cells * width > MOST_RUNS):
        raise NotServed
    counts, found, sums = np.zeros((cells, 2)), np.zeros((cells, 2), np.int64), np.zeros((cells, 8))
    sums[:, 5] = np.nan
    weight, ends = np.zeros((cells, width * wanted.weight)), np.zeros((cells, width * wanted.ends, 4), np.int64)
    near = {name: np.zeros((cells, width)) for name in wanted.nearest}
    bounds = {name: np.full(cells, width - 1 if name == "min" else 0, np.int32) for name in near}
    for first, last, held in _candidates(subject, blocks, sums=wanted.sums, kept=kept):
        here, picks = size[first:last], side.counts(first, last)
        if wanted.sums and subject.certain:
            summed_all(here, picks, held, numbers, sums, found)
        elif wanted.sums:
            summed(here, picks, held, numbers, keys, counts, found, sums)
        else:
            counted(here, picks, Counts(held.offsets, held.keys, held.total), keys, counts, found)
        if wanted.weight:
            weighed(here, picks, held, keys, weight)
        for name, found_near in near.items():
            nearest(here, picks, held, keys, NEAREST[name], bounds[name], found_near)
        if wanted.ends:
            (runs if wanted.all_ends else edges)(here, picks, held, keys, ends)
    if wanted.sums and subject.certain:
        found[:, 1], counts[:, 0] = found[:, 0], found[:, 0]
    return Totals(counts, found, sums, weight, near, ends, subject.values, numbers)


def _candidates(
    subject: Subject, blocks: list[tuple[int, int]], *, sums: bool, kept: bool
) -> Iterator[tuple[int, int, Candidates]]:
    if kept:
        for first, last in blocks:
            yield first, last, subject.kept._replace(offsets=subject.kept.offsets[first : last + 1])
        return
    offsets, n = subject.labels.entries.offsets, subject.labels.entries.n
    most = max(int(offsets[b] - offsets[a]) for a, b in blocks)
    found = Candidates.room(max(b - a for a, b in blocks), most, sums=sums)
    buffer, scratch = np.empty(most, np.int32), _scratch(offsets)
    numbers = subject.numbers if sums else np.zeros(0)
    for first, last in blocks:
        here = offsets[first : last + 1]
        labels = subject.labels.write(here[0], here[-1], buffer)
        fill(here, labels, n[here[0] : here[-1]], numbers, subject.shift, subject.in_order, scratch, found)
        yield first, last, found


def _blocks(*sides: Labels) -> list[tuple[int, int]]:
    """Groups in a row, from which to which, so that neither side has many more entries than a block."""
    groups = sides[0].entries.offsets.size - 1
    most = max((side.entries.offsets for side in sides), key=lambda offsets: int(offsets[-1]))
    starts = np.unique(np.searchsorted(most, np.arange(0, most[-1], BLOCK), side="right") - 1)
    return list(zip(starts.tolist(), [*starts[1:].tolist(), groups], strict=True))
