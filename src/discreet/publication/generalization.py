"""Generalization: of a group, the box that its rows lie in, and beside it their sensitive values.

A box is as tight as the rows allow: of a column with an order from the smallest to the largest value
(or the ends of an interval, where the policy has intervals), of a hierarchy the lowest label that all
rows share, and of other columns the set of values. Rows of a group show the same box, so they are
written from the group's counts alone: nothing of a row is looked at again.
Source: the tables that all five papers compare with; LeFevre et al. (ICDE 2006) for the boxes.
Cost: linear in the rows, and one sort by group and value.
Claim: boxes_hold_their_rows — every row lies in the box of its group, and no smaller box holds them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines import connect
from discreet.engines.dialect import repeat_rows
from discreet.partition.spatial.space import common_nodes, ends
from discreet.publication.axes import Axis
from discreet.publication.draft import Draft, ascending, number, store_rows
from discreet.release.layouts.generalization import LABELS
from discreet.release.manifest import FieldSpec, Side, TableSpec
from discreet.release.write import Sheet

Codes = npt.NDArray[np.int32]


def sides(draft: Draft) -> tuple[Side, ...]:
    """How boxes show each quasi-identifier."""
    return tuple(_side(draft, axis) for axis in draft.axes)


def sheets(draft: Draft) -> Sequence[Sheet]:
    """The generalized table, and the values that its labels stand for."""
    boxes = Boxes(draft.axes, draft.groups, draft.histograms.sizes.size)
    shown = box_fields(draft)
    table = TableSpec(fields=(*shown, number(draft.group), draft.field(draft.policy.sensitive_column)))
    found = [Sheet("generalized", table, lambda path: _store(draft, boxes, [field.name for field in shown], path))]
    if any(axis.labelled for axis in draft.axes):
        found.append(labels_sheet(boxes))
    return found


def box_fields(draft: Draft) -> tuple[FieldSpec, ...]:
    """The columns that show boxes, as the manifest describes them."""
    fields: list[FieldSpec] = []
    for side in sides(draft):
        if side.label is not None:
            fields.append(FieldSpec(name=side.label, type="string"))
        else:
            fields += [FieldSpec(name=name, type=side.type) for name in (side.low, side.high) if name is not None]
        if side.missing is not None:
            fields.append(FieldSpec(name=side.missing, type="boolean"))
    return tuple(fields)


def labels_sheet(boxes: Boxes) -> Sheet:
    """The values that the labels of some boxes stand for."""
    spec = TableSpec(fields=tuple(FieldSpec(name=name, type="string") for name in LABELS))
    return Sheet("labels", spec, lambda path: store_rows(boxes.labels(), path))


class Boxes:
    """The boxes of numbered groups: of every axis the columns to show, one row per group."""

    def __init__(self, axes: Sequence[Axis], groups: Codes, count: int) -> None:
        self.axes = axes
        self._of_axis = [_Extents(axis, groups, count) for axis in axes]

    def columns(self) -> list[pa.Array]:
        """The columns that show boxes, in the order of `box_fields`."""
        return [column for extents in self._of_axis for column in extents.columns()]

    def labels(self) -> pa.Table:
        """Which values each label stands for, sorted."""
        rows = sorted(
            {(e.axis.name, *pair) for e in self._of_axis if e.axis.labelled for pair in e.meanings()},
            key=lambda row: (row[0], row[1], row[2] is None, row[2] or ""),
        )
        return pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(LABELS)})


class _Extents:
    """What the groups cover of one axis."""

    def __init__(self, axis: Axis, groups: Codes, count: int) -> None:
        self.axis = axis
        codes = axis.codes.codes
        self.absent = np.zeros(count, np.bool_)  # whether a value is missing
        if axis.codes.missing:
            gone = codes == len(axis.codes.domain)
            self.absent[groups[gone]] = True
            codes, groups = codes[~gone], groups[~gone]
        self.low, self.high = ends(codes, groups, count)
        self.only_missing = self.low > self.high
        self._level, self._node = self._common(codes, groups, count)
        self._sets = _sets(codes, groups, count) if axis.labelled and axis.levels is None else []

    def _common(self, codes: Codes, groups: Codes, count: int) -> tuple[Codes, Codes]:
        """The lowest level on which the present codes of a group share a node, and the node."""
        levels = self.axis.levels
        if levels is None:
            return np.full(count, -1, np.int32), np.zeros(count, np.int32)
        level, node = common_nodes(levels.nodes, codes, groups, count)
        root = (self.axis.labelled & self.absent & ~self.only_missing) | (level < 0)
        level[root], node[root] = len(levels.nodes) - 1, 0  # only the root holds a missing value too
        return level, node

    def columns(self) -> Iterator[pa.Array]:
        if self.axis.labelled:
            yield pa.array(self._labels(), pa.string())
            return
        domain, levels = self.axis.codes.domain, self.axis.levels
        anything = np.zeros(self.absent.size, np.bool_)
        if levels is None:
            yield from (domain.take(pa.array(end, mask=self.only_missing)) for end in (self.low, self.high))
        else:
            yield self._interval_ends(levels.lows or (), domain)
            yield self._interval_ends(levels.highs or (), domain)
            anything = (self._level == len(levels.nodes) - 1) & ~self.only_missing
        if self.axis.codes.missing:
            yield pa.array(self.absent, mask=anything)

    def _interval_ends(self, ends: Sequence[pa.Array], domain: pa.Array) -> pa.Array:
        """The end of the interval that each group lies in; none at the root, which may hold anything."""
        starts = np.cumsum([0, *(len(level) for level in ends)])[:-1]
        return pa.concat_arrays([level.cast(domain.type) for level in ends]).take(
            pa.array(starts[self._level] + self._node, mask=self.only_missing)
        )

    def _labels(self) -> list[str | None]:
        if self.axis.levels is None:
            return [None if only else text for only, text in zip(self.only_missing, self._texts(), strict=True)]
        labels = self.axis.levels.labels
        pairs = zip(self.only_missing, self._level, self._node, strict=True)
        return [None if only else labels[level][node] for only, level, node in pairs]

    def _texts(self) -> Iterator[str]:
        values = _as_texts(self.axis.codes.domain)
        for codes, missing in zip(self._sets, self.absent, strict=True):
            named: list[str | None] = [values[code] for code in codes]
            yield json.dumps([*named, *([None] if missing else [])], ensure_ascii=False)

    def meanings(self) -> Iterator[tuple[str, str | None]]:
        """Each label that is shown, with each value it stands for."""
        if self.axis.levels is None:
            for text in {label for label in self._labels() if label is not None}:
                yield from ((text, value) for value in json.loads(text))
            return
        root = len(self.axis.levels.nodes) - 1
        shown = ~self.only_missing
        for level, node in set(zip(self._level[shown].tolist(), self._node[shown].tolist(), strict=True)):
            label = self.axis.levels.labels[level][node]
            yield from ((label, value) for value in self.axis.levels.values[label])
            if level == root and self.axis.codes.missing:
                yield label, None


def _sets(codes: Codes, groups: Codes, count: int) -> list[Codes]:
    """The distinct codes of each group, ascending."""
    most = int(codes.max(initial=0)) + 1
    pairs = np.unique(groups.astype(np.int64) * most + codes)
    return np.split((pairs % most).astype(np.int32), np.searchsorted(pairs // most, np.arange(1, count)))


def _as_texts(domain: pa.Array) -> list[str]:
    return [str(text) for text in domain.cast(pa.string()).to_pylist()]


def _side(draft: Draft, axis: Axis) -> Side:
    kind = draft.field(axis.name).type
    if axis.labelled:
        return Side(name=axis.name, type=kind, label=axis.name)
    low, high = (draft.fresh(f"{axis.name}_{end}") for end in ("low", "high"))
    missing = draft.fresh(f"{axis.name}_missing") if axis.codes.missing else None
    return Side(name=axis.name, type=kind, low=low, high=high, missing=missing)


def _store(draft: Draft, boxes: Boxes, names: Sequence[str], path: Path) -> None:
    """Write as many rows as each group has of each value, sorted by both."""
    columns = boxes.columns()
    group, sensitive, count = draft.group, draft.policy.sensitive_column, draft.count
    numbers = np.arange(1, draft.histograms.sizes.size + 1, dtype=np.int32)
    with closing(connect()) as engine:
        engine.load("boxes", pa.table([*columns, pa.array(numbers)], names=[*names, group]), keep=False)
        engine.load("counts", draft.counts(), keep=False)
        shown = [exp.column(name, table="boxes", quoted=True) for name in (*names, group)]
        value = exp.column(sensitive, table="counts", quoted=True)
        times = repeat_rows(exp.column(count, table="counts", quoted=True))
        same = exp.EQ(this=shown[-1].copy(), expression=exp.column(group, table="counts", quoted=True))
        rows = exp.select(*shown, value, exp.alias_(times, "copy")).from_("counts").join("boxes", on=same)
        query = exp.select(*(exp.column(name, quoted=True) for name in (*names, group, sensitive)))
        engine.store(query.from_(rows.subquery("rows")).order_by(*map(ascending, (group, sensitive))), path)
