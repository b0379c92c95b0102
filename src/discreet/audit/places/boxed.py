"""Which boxes of a generalized release can hold somebody, and rows drawn from them.

Of a column with an order a box is from `low` to `high`, of any other it is the values that its label stands for; one
that shows neither may hold anything. Rows are drawn evenly: whole numbers and dates between the ends, of other columns
with an order one of the two ends.
Cost: groups x values of the column that tells most; then for different people the groups that hold theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.audit.guessing.guesses import Flags, Floats, Ints
from discreet.audit.guessing.posterior import Places
from discreet.audit.metrics.truth import places
from discreet.release import Release
from discreet.release.layouts.file import named
from discreet.release.layouts.generalization import labelled
from discreet.release.manifest import BoxColumn
from discreet.release.relations import loaded
from discreet.values.columns import ARROW
from discreet.values.positions import measured, stored


@dataclass(frozen=True, eq=False)
class Side:
    """A column of boxes: `holds[v, g]` says whether group g may hold value v, which `coded` finds for people."""

    name: str
    low: pa.Array | None
    high: pa.Array | None
    missing: Flags  # whether a value may be missing
    labels: Ints | None  # the label of every group
    meanings: tuple[pa.Array, ...]  # of every label

    def covers(self, values: pa.Array) -> Flags:
        """Whether the box of each group may hold each of some values (values x groups)."""
        gone = np.asarray(values.is_null())[:, None]
        if self.low is None or self.high is None:
            held = np.stack([places(pa.chunked_array([values]), each) >= 0 for each in self.meanings], 1)
            return held[:, self.labels] | (gone & self.missing)
        low, high, at = measured(self.low), measured(self.high), measured(values)[:, None]
        anything = np.isnan(low) & ~self.missing
        return np.where(gone, self.missing, (low <= at) & (at <= high)) | anything

    def width(self) -> Floats:
        """How much each box covers, of whole numbers and labels in values."""
        if self.low is None or self.high is None:
            return np.array([max(len(each), 1) for each in self.meanings], np.float64)[self.labels]
        return np.nan_to_num(measured(self.high) - measured(self.low), nan=0.0) + 1

    def draw(self, group: Ints, chance: np.random.Generator) -> pa.ChunkedArray:
        """A value for each of some rows, from the boxes of their groups."""
        if self.low is None or self.high is None:
            sizes = np.array([len(each) for each in self.meanings])
            starts, label = np.cumsum(sizes) - sizes, self.labels[group] if self.labels is not None else group
            at = starts[label] + (chance.random(group.size) * sizes[label]).astype(np.int64)
            return pa.chunked_array([pa.concat_arrays(self.meanings).take(pa.array(at))])
        low, high = self.low.take(pa.array(group)), self.high.take(pa.array(group))
        whole = stored(low.type)
        if pa.types.is_integer(whole):
            ends = [np.asarray(pc.fill_null(each.cast(whole), 0), np.int64) for each in (low, high)]
            drawn = pa.array(chance.integers(ends[0], ends[1] + 1)).cast(whole).cast(low.type)
        else:
            drawn = pc.if_else(pa.array(chance.random(group.size) < 0.5), low, high)
        gone = self.missing[group] & (chance.random(group.size) < 0.5)
        return pa.chunked_array([pc.if_else(pc.or_(low.is_null(), pa.array(gone)), pa.scalar(None, low.type), drawn)])


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes of all groups, in their order."""

    sides: tuple[Side, ...]

    @classmethod
    def read(cls, release: Release, first: pa.Table) -> Boxes:
        """The boxes that the first row of every group shows."""
        promise = release.promise
        labels = None
        if labelled(promise):
            with loaded(release) as engine:
                labels = engine.run(exp.select("*").from_(named("labels file")))
        return cls(tuple(_side(side, first, labels) for side in promise.boxes or ()))

    def draw(self, sizes: Ints, chance: np.random.Generator) -> list[pa.ChunkedArray]:
        """As many rows of each group as it has, column by column."""
        group = np.repeat(np.arange(sizes.size), sizes)
        return [side.draw(group, chance) for side in self.sides]

    def where(self, people: pa.Table, sizes: Ints) -> Places:
        """The groups that each of some people may be in, as likely as they have people for their size."""
        covered, codes = [], []
        for side in self.sides:
            coded = people[side.name].combine_chunks().dictionary_encode(null_encoding="encode")
            covered.append(side.covers(coded.dictionary))
            codes.append(np.asarray(coded.indices, np.int64))
        dense = np.exp(np.log(sizes) - sum(np.log(side.width()) for side in self.sides))
        order = np.argsort([cover.mean() for cover in covered], kind="stable")
        lists, starts = _lists(covered[order[0]])
        rest = [covered[j] for j in order[1:]]
        first = np.cumsum([0, *(len(cover) for cover in rest)])[:-1]
        slots = (
            np.stack([codes[j] + at for j, at in zip(order[1:], first, strict=True)], 1)
            if rest
            else np.zeros((len(people), 0), np.int64)
        )
        every = np.concatenate(rest) if rest else np.zeros((0, sizes.size), np.bool_)
        return Places(*_where(codes[order[0]], starts, lists, slots, every, dense))


def _side(side: BoxColumn, first: pa.Table, labels: pa.Table | None) -> Side:
    groups = len(first)
    missing = np.zeros(groups, np.bool_)
    if side.missing is not None:
        missing = np.asarray(pc.fill_null(first[side.missing], False).combine_chunks())
    if side.label is None or labels is None:
        low, high = (first[name or ""].combine_chunks() for name in (side.low, side.high))
        return Side(side.name, low, high, missing, None, ())
    mine = labels.filter(pc.equal(labels["column"], side.name))
    coded = first[side.label].combine_chunks().dictionary_encode(null_encoding="encode")
    meanings = []
    for label in coded.dictionary:
        chosen = mine.filter(pc.equal(mine["label"], label)) if label.is_valid else mine.slice(0, 0)
        values = chosen["value"].combine_chunks().cast(ARROW[side.type])
        meanings.append(values if len(values) else pa.array([label.as_py()]).cast(ARROW[side.type]))
    return Side(side.name, None, None, missing, np.asarray(coded.indices, np.int64), tuple(meanings))


def _lists(covers: Flags) -> tuple[Ints, Ints]:
    """The groups that may hold each value, and where they start."""
    value, group = np.nonzero(covers)
    return group, np.searchsorted(value, np.arange(len(covers) + 1))


@nb.njit(cache=True, nogil=True)
def _where(
    value: Ints, starts: Ints, lists: Ints, slots: Ints, covers: Flags, dense: Floats
) -> tuple[Ints, Ints, Floats]:
    people, columns = slots.shape
    ends, used = np.zeros(people + 1, np.int64), 0
    found = np.empty(max(people, 1), np.int64)
    for i in range(people):
        for at in range(starts[value[i]], starts[value[i] + 1]):
            g = lists[at]
            inside = True
            for j in range(columns):
                if not covers[slots[i, j], g]:
                    inside = False
                    break
            if inside:
                if used == found.size:
                    found = np.concatenate((found, np.empty_like(found)))
                found[used] = g
                used += 1
        ends[i + 1] = used
    return ends, found[:used], dense[found[:used]]
