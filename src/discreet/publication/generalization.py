"""Generalization: of a group, the box that its rows lie in, and beside it their sensitive values.

Rows of a group show the same box, so they are written from the group's counts alone (see `groups`): nothing of a row
is looked at again, and whoever has groups needs no rows. Cost: linear, since counts stand by group and value; memory
that of the groups, and some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from discreet.publication.draft import Draft
from discreet.publication.groups import Boxes, Groups, field_of, sides
from discreet.publication.publication import Publication
from discreet.release.layouts.generalization import LABELS
from discreet.release.manifest import FieldSpec, TableSpec
from discreet.release.rows import number, store_rows
from discreet.release.write import FileToWrite
from discreet.values.buffers import array, numbers
from discreet.values.names import fresh

SOME = 1 << 17  # rows that are written out at a time


def files(groups: Groups) -> Sequence[FileToWrite]:
    """The generalized table, and the values that its labels stand for."""
    policy, shown = groups.policy, groups.boxes.fields()
    value = field_of(policy.sensitive_column, groups.sensitive.domain.type)
    table = TableSpec(fields=(*shown, number(fresh("group", policy.columns)), value))
    generalized = FileToWrite("generalized", table, lambda path: store_rows(Shown.of(groups).rows(), path))
    return [generalized, *labels_file(groups.boxes), *_people_file(groups.people)]


def _people_file(people: pa.Table | None) -> Sequence[FileToWrite]:
    """How many people each group has and how many rows at most one has, where they may have several."""
    if people is None:
        return []
    spec = TableSpec(fields=tuple(map(number, people.column_names)))
    return [FileToWrite("people", spec, lambda path: store_rows(people, path))]


def labels_file(boxes: Boxes) -> Sequence[FileToWrite]:
    """The values that the labels of some boxes stand for, if they have any."""
    spec = TableSpec(fields=tuple(FieldSpec(name=name, type="string") for name in LABELS))
    return [FileToWrite("labels", spec, lambda path: store_rows(boxes.labels(), path))] if boxes.labelled else []


def merged(tables: Iterable[pa.Table]) -> pa.Table:
    """The labels of several tables, some of which may be in many, as one table has them: each once, sorted."""
    found, waiting = pa.table({name: pa.array([], pa.string()) for name in LABELS}), list[pa.Table]()
    for table in tables:
        waiting.append(table)
        if sum(each.num_rows for each in waiting) > max(found.num_rows, SOME):
            found, waiting = _different([found, *waiting]), []
    return _different([found, *waiting]).sort_by([(name, "ascending") for name in LABELS])


def _different(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables).group_by(list(LABELS)).aggregate([]).select(list(LABELS))


@dataclass(frozen=True)
class Shown:
    """What the rows of some groups show: the columns of boxes, one row per group, and how often each value occurs.

    Groups are numbered from `first` on.
    """

    names: Sequence[str]
    boxes: Sequence[pa.Array]
    counts: pa.Table
    first: int = 1

    @classmethod
    def of(cls, groups: Groups) -> Shown:
        boxes, counts = [_once(column) for column in groups.boxes.columns()], groups.counts()
        value = counts.column_names[1]
        counts = counts.set_column(1, value, _once(counts[value].combine_chunks())).combine_chunks()
        return cls([field.name for field in groups.boxes.fields()], boxes, counts)

    def some(self, first: int, last: int) -> Shown:
        """The same of the groups from one number to another, the last not among them."""
        ends = np.searchsorted(self.counts.column(0).to_numpy(), [first, last])
        boxes = [column.slice(first - self.first, last - first) for column in self.boxes]
        return replace(self, boxes=boxes, counts=self.counts.slice(ends[0], ends[1] - ends[0]), first=first)

    def rows(self) -> pa.RecordBatchReader:
        """As many rows as each group has of each value, with the group's box on each, some at a time."""
        group, value, _ = self.counts.column_names
        groups, values, counts = (column.combine_chunks() for column in self.counts.columns)
        places, ends = numbers(groups) - self.first, np.cumsum(numbers(counts), dtype=np.int64)
        names = [*self.names, group, value]
        types = [*(column.type for column in self.boxes), groups.type, values.type]

        def batches() -> Iterator[pa.RecordBatch]:
            total = int(ends[-1]) if ends.size else 0
            for start in range(0, total, SOME):
                stop = min(start + SOME, total)
                low, high = np.searchsorted(ends, start, side="right"), np.searchsorted(ends, stop) + 1
                times = np.diff(np.minimum(ends[low:high], stop), prepend=start)
                entries = np.repeat(np.arange(low, high), times)
                box, own = array(places[entries]), array(entries)
                columns = [*(column.take(box) for column in self.boxes), groups.take(own), values.take(own)]
                yield pa.RecordBatch.from_arrays(columns, names=names)

        return pa.RecordBatchReader.from_batches(pa.schema(zip(names, types, strict=True)), batches())


def _once(column: pa.Array) -> pa.Array:
    """A column in which each text stands once, so that rows take the place of a text and not the text."""
    return column.dictionary_encode() if pa.types.is_string(column.type) else column


def groups_of(draft: Draft) -> Groups:
    """The groups of a draft, whose rows lie in boxes."""
    boxes = Boxes.of_rows(draft.policy, draft.axes, draft.groups, draft.histograms.sizes.size)
    return Groups(draft.policy, boxes, draft.sensitive, draft.histograms)


PUBLICATION = Publication(
    lambda draft: files(groups_of(draft)),
    members=lambda draft: {"boxes": sides(draft.policy, draft.axes)},
    partition=lambda _: "mondrian",
    compared=("compact", "mondrian", "topdown", "full_domain"),
    boxed=True,
)
