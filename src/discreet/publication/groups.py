"""Groups without rows: the box of each, and how often each sensitive value occurs in it.

A box is as tight as the rows allow: of a column with an order from the smallest to the largest value
(or the ends of an interval, where the policy has intervals), of a hierarchy the lowest label that all
rows share, and of other columns the set of values. Only where a partition raises whole columns
(`full_domain`) every box of the release is at the same level of a column: the lowest that holds all groups.
Source: the tables that all five papers compare with; LeFevre et al. (ICDE 2006) for the boxes.
Cost: linear in the rows that groups are made from, or in the groups where these are known.
Claim: boxes_hold_their_rows — every row lies in the box of its group, and no smaller box holds them all.
Claim: full_domain_shows_one_level — there, any two boxes show the same of a column, or nothing in common.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.guarantees import Histograms
from discreet.partition import PARTITIONS
from discreet.partition.spatial.space import common_nodes
from discreet.policy import Policy
from discreet.publication.axes import Axis
from discreet.release.layouts.generalization import LABELS
from discreet.release.manifest import BoxColumn, FieldSpec
from discreet.values.boxes import ends
from discreet.values.codes import Codes
from discreet.values.columns import word_of
from discreet.values.names import fresh

Ints: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Extents:
    """What the groups cover of one axis: the lowest and highest code, or the codes in each, and who lacks a value.

    `level` and `node` are the place in the hierarchy, where there is one.
    """

    axis: Axis
    absent: npt.NDArray[np.bool_]  # whether a value is missing
    low: Ints
    high: Ints
    sets: Sequence[Ints] = ()
    level: Ints = field(default_factory=lambda: np.zeros(0, np.int32))
    node: Ints = field(default_factory=lambda: np.zeros(0, np.int32))

    @classmethod
    def of_rows(cls, axis: Axis, groups: Ints, count: int) -> Extents:
        """The extents of `count` groups, given the group of every row."""
        codes = axis.codes.codes
        absent = np.zeros(count, np.bool_)
        if axis.codes.missing:
            gone = codes == len(axis.codes.domain)
            absent[groups[gone]] = True
            codes, groups = codes[~gone], groups[~gone]
        low, high = ends(codes, groups, count)
        if axis.levels is None:
            return cls(axis, absent, low, high, _sets(codes, groups, count) if axis.labelled else ())
        level, node = common_nodes(axis.levels.nodes, codes, groups, count)
        root = (axis.labelled & absent & ~(low > high)) | (level < 0)
        level[root], node[root] = len(axis.levels.nodes) - 1, 0  # only the root holds a missing value too
        return cls(axis, absent, low, high, (), level, node)

    def raised(self) -> Extents:
        """The same with all groups at one level: the lowest at which each lies in one node, as all do at the root."""
        nodes = self.axis.halves if self.axis.levels is None else self.axis.levels.nodes
        some, root = ~self.only_missing, len(nodes) - 1
        if not some.any():
            return self
        if (self.absent & some).any():
            top = root
        elif self.axis.levels is None:
            low, high = self.low[some], self.high[some]
            top = next(i for i, level in enumerate(nodes) if (level[low] == level[high]).all())
        else:
            top = int(self.level[some].max())
        there = some | (top == root)  # below the root, a missing value is a node of its own
        code = np.where(some, self.low, 0)
        if self.axis.levels is not None:
            held = {"low": code, "high": code, "level": np.full_like(self.level, top), "node": nodes[top][code]}
            return replace(self, **{name: np.where(there, new, getattr(self, name)) for name, new in held.items()})
        first, last = ends(np.arange(nodes.shape[1], dtype=np.int32), nodes[top], int(nodes[top].max()) + 1)
        absent = self.absent | (self.axis.codes.missing and top == root)
        low, high = (np.where(there, end[nodes[top][code]], own) for end, own in ((first, self.low), (last, self.high)))
        return replace(self, low=low, high=high, absent=absent)

    @property
    def only_missing(self) -> npt.NDArray[np.bool_]:
        return self.low > self.high

    def columns(self) -> Iterator[pa.Array]:
        """The columns that show it, one row per group."""
        if self.axis.labelled:
            yield pa.array(self._labels, pa.string())
            return
        domain, levels = self.axis.codes.domain, self.axis.levels
        anything = np.zeros(self.absent.size, np.bool_)
        if levels is None:
            yield from (domain.take(pa.array(end, mask=self.only_missing)) for end in (self.low, self.high))
        else:
            yield self._interval_ends(levels.lows or (), domain)
            yield self._interval_ends(levels.highs or (), domain)
            anything = (self.level == len(levels.nodes) - 1) & ~self.only_missing
        if self.axis.codes.missing:
            yield pa.array(self.absent, mask=anything)

    def _interval_ends(self, ends: Sequence[pa.Array], domain: pa.Array) -> pa.Array:
        """The end of the interval that each group lies in; none at the root, which may hold anything."""
        starts = np.cumsum([0, *(len(level) for level in ends)])[:-1]
        return pa.concat_arrays([level.cast(domain.type) for level in ends]).take(
            pa.array(starts[self.level] + self.node, mask=self.only_missing)
        )

    @cached_property
    def _labels(self) -> list[str | None]:
        if self.axis.levels is None:
            gone = self.only_missing.tolist()
            return [None if only else text for only, text in zip(gone, self._texts(), strict=True)]
        labels = self.axis.levels.labels
        pairs = zip(self.only_missing, self.level, self.node, strict=True)
        return [None if only else labels[level][node] for only, level, node in pairs]

    def _texts(self) -> Iterator[str]:
        values = [json.dumps(text, ensure_ascii=False) for text in self._values]
        known = dict[tuple[bytes, bool], str]()  # many groups hold the same
        met = dict[tuple[int, bool], str]()  # often as the same array, which is not read again
        for codes, missing in zip(self.sets, self.absent.tolist(), strict=True):
            text = met.get((id(codes), missing))
            if text is None:
                held = codes.tobytes(), missing
                if held not in known:
                    named = [values[code] for code in codes.tolist()]
                    known[held] = f"[{', '.join([*named, 'null'] if missing else named)}]"
                text = met[id(codes), missing] = known[held]
            yield text

    @property
    def _values(self) -> list[str]:
        return [str(text) for text in self.axis.codes.domain.cast(pa.string()).to_pylist()]

    def meanings(self) -> tuple[pa.Array, pa.Array]:
        """Each label that is shown, ascending, beside each value it stands for, ascending, a missing one last."""
        if self.axis.levels is not None:
            rows = sorted(set(self._of_levels()), key=lambda row: (row[0], row[1] is None, row[1] or ""))
            return pa.array([row[0] for row in rows], pa.string()), pa.array([row[1] for row in rows], pa.string())
        values = self._values
        held = zip(self._labels, self.sets, self.absent.tolist(), strict=True)
        sets = {label: (codes, absent) for label, codes, absent in held if label is not None}
        labels, order = sorted(sets), sorted(range(len(values)), key=values.__getitem__)
        rank = np.empty(len(values) + 1, np.int64)
        rank[[*order, len(values)]] = np.arange(len(values) + 1)
        none = np.array([len(values)], np.int32)
        codes = [part for label in labels for part in (sets[label][0], none[: sets[label][1]])]
        widths = [sets[label][0].size + sets[label][1] for label in labels]
        of_label = np.repeat(np.arange(len(labels)), widths)
        keys = np.sort(of_label * rank.size + rank[np.concatenate([none[:0], *codes])])
        told = pa.array([*(values[at] for at in order), None], pa.string())
        return pa.array(labels, pa.string()).take(pa.array(of_label)), told.take(pa.array(keys % rank.size))

    def _of_levels(self) -> Iterator[tuple[str, str | None]]:
        if self.axis.levels is None:
            return
        root = len(self.axis.levels.nodes) - 1
        shown = ~self.only_missing
        for level, node in set(zip(self.level[shown].tolist(), self.node[shown].tolist(), strict=True)):
            label = self.axis.levels.labels[level][node]
            yield from ((label, value) for value in self.axis.levels.values[label])
            if level == root and self.axis.codes.missing:
                yield label, None


def _sets(codes: Ints, groups: Ints, count: int) -> list[Ints]:
    """The distinct codes of each group, ascending."""
    most = int(codes.max(initial=0)) + 1
    pairs = np.unique(groups.astype(np.int64) * most + codes)
    return np.split((pairs % most).astype(np.int32), np.searchsorted(pairs // most, np.arange(1, count)))


def sides(policy: Policy, axes: Sequence[Axis]) -> tuple[BoxColumn, ...]:
    """How boxes show each quasi-identifier."""
    return tuple(_side(policy, axis) for axis in axes)


def _side(policy: Policy, axis: Axis) -> BoxColumn:
    type_ = field_of(axis.name, axis.codes.domain.type).type
    if axis.labelled:
        return BoxColumn(name=axis.name, type=type_, label=axis.name)
    low, high = (fresh(f"{axis.name}_{end}", policy.columns) for end in ("low", "high"))
    missing = fresh(f"{axis.name}_missing", policy.columns) if axis.codes.missing else None
    return BoxColumn(name=axis.name, type=type_, low=low, high=high, missing=missing)


@dataclass(frozen=True)
class Boxes:
    """The boxes of numbered groups: what they cover of every axis."""

    policy: Policy
    extents: Sequence[Extents]

    @classmethod
    def of_rows(cls, policy: Policy, axes: Sequence[Axis], groups: Ints, count: int) -> Boxes:
        extents = [Extents.of_rows(axis, groups, count) for axis in axes]
        one_level = PARTITIONS[policy.grouping].sees == "hierarchies"
        return cls(policy, [each.raised() for each in extents] if one_level else extents)

    def fields(self) -> tuple[FieldSpec, ...]:
        """The columns that show boxes, as the manifest describes them."""
        fields: list[FieldSpec] = []
        for side in sides(self.policy, [extents.axis for extents in self.extents]):
            if side.label is not None:
                fields.append(FieldSpec(name=side.label, type="string"))
            else:
                fields += [FieldSpec(name=name, type=side.type) for name in (side.low, side.high) if name is not None]
            if side.missing is not None:
                fields.append(FieldSpec(name=side.missing, type="boolean"))
        return tuple(fields)

    def columns(self) -> list[pa.Array]:
        """The columns that show boxes, in the order of `fields`, one row per group."""
        return [column for extents in self.extents for column in extents.columns()]

    @property
    def labelled(self) -> bool:
        return any(extents.axis.labelled for extents in self.extents)

    def labels(self) -> pa.Table:
        """Which values each label stands for, sorted."""
        parts = []
        for extents in sorted((each for each in self.extents if each.axis.labelled), key=lambda each: each.axis.name):
            labels, values = extents.meanings()
            names = pa.repeat(extents.axis.name, len(labels))
            parts.append(pa.table(dict(zip(LABELS, (names, labels, values), strict=True))))
        return pa.concat_tables(parts).combine_chunks()


@dataclass(frozen=True)
class Groups:
    """All that is shown where rows are not: boxes, and the sensitive values of each group."""

    policy: Policy
    boxes: Boxes
    sensitive: Codes
    histograms: Histograms
    people: pa.Table | None = None  # how many each group has, and the most rows of one, where people may have several

    def counts(self) -> pa.Table:
        return counts(self.policy, self.sensitive, self.histograms)


def counts(policy: Policy, sensitive: Codes, histograms: Histograms) -> pa.Table:
    """How many rows of each group, numbered from 1, hold each sensitive value; ordered by both."""
    columns = {
        fresh("group", policy.columns): histograms.groups + 1,
        policy.sensitive_column: sensitive.decode(histograms.values),
        fresh("count", policy.columns): histograms.counts,
    }
    return pa.table(columns)


def field_of(name: str, type_: pa.DataType) -> FieldSpec:
    """A column as the manifest describes it."""
    return FieldSpec.model_validate({"name": name, "type": word_of(type_)})
