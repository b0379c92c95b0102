"""Generalization: of a group, the box that its rows lie in, and beside it their sensitive values.

Rows of a group show the same box, so they are written from the group's counts alone (see `groups`): nothing of a row
is looked at again, and whoever has groups needs no rows. Cost: linear, since counts stand by group and value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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

SOME = 1 << 17  # counts that are written out at a time


def files(groups: Groups) -> Sequence[FileToWrite]:
    """The generalized table, and the values that its labels stand for."""
    policy, shown = groups.policy, groups.boxes.fields()
    value = field_of(policy.sensitive_column, groups.sensitive.domain.type)
    table = TableSpec(fields=(*shown, number(fresh("group", policy.columns)), value))
    names = [field.name for field in shown]
    generalized = FileToWrite("generalized", table, lambda path: store_rows(_rows(groups, names), path))
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


def _rows(groups: Groups, names: Sequence[str]) -> pa.RecordBatchReader:
    """As many rows as each group has of each value, with the group's box on each, some at a time."""
    boxes, counts = [_once(column) for column in groups.boxes.columns()], groups.counts()
    group, value, count = counts.column_names
    counts = counts.set_column(1, value, _once(counts[value].combine_chunks())).combine_chunks()
    types = [*(column.type for column in boxes), counts[group].type, counts[value].type]

    def batches() -> Iterator[pa.RecordBatch]:
        for part in counts.to_batches(max_chunksize=SOME):
            entries = np.repeat(np.arange(len(part)), numbers(part[count]))
            box = array(numbers(part[group])[entries] - 1)
            own = (part[name].take(array(entries)) for name in (group, value))
            columns = [*(column.take(box) for column in boxes), *own]
            yield pa.RecordBatch.from_arrays(columns, names=[*names, group, value])

    return pa.RecordBatchReader.from_batches(pa.schema(zip((*names, group, value), types, strict=True)), batches())


def _once(column: pa.Array) -> pa.Array:
    """A column in which each text stands once, so that rows take the place of a text and not the text."""
    return column.dictionary_encode() if pa.types.is_string(column.type) else column


def _groups(draft: Draft) -> Groups:
    boxes = Boxes.of_rows(draft.policy, draft.axes, draft.groups, draft.histograms.sizes.size)
    return Groups(draft.policy, boxes, draft.sensitive, draft.histograms)


PUBLICATION = Publication(
    lambda draft: files(_groups(draft)),
    members=lambda draft: {"boxes": sides(draft.policy, draft.axes)},
    partition=lambda _: "mondrian",
    compared=("compact", "mondrian", "topdown", "full_domain"),
    boxed=True,
)
