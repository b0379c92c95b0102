"""Generalization: of a group, the box that its rows lie in, and beside it their sensitive values.

Rows of a group show the same box, so they are written from the group's counts alone (see `groups`): nothing of a row
is looked at again, and whoever has groups needs no rows. Cost: one sort by group and value.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.engines import connect
from discreet.engines.dialect import repeat_rows
from discreet.publication.draft import Draft
from discreet.publication.groups import Boxes, Groups, field_of, sides
from discreet.publication.publication import Publication
from discreet.release.layouts.generalization import LABELS
from discreet.release.manifest import FieldSpec, TableSpec
from discreet.release.rows import ascending, number, store_rows
from discreet.release.write import FileToWrite
from discreet.values.names import fresh


def files(groups: Groups) -> Sequence[FileToWrite]:
    """The generalized table, and the values that its labels stand for."""
    policy, shown = groups.policy, groups.boxes.fields()
    value = field_of(policy.sensitive_column, groups.sensitive.domain.type)
    table = TableSpec(fields=(*shown, number(fresh("group", policy.columns)), value))
    generalized = FileToWrite("generalized", table, lambda path: _store(groups, [field.name for field in shown], path))
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


def _store(groups: Groups, names: Sequence[str], path: Path) -> None:
    """Write as many rows as each group has of each value, with the group's box on each."""
    group, value, count = groups.counts().column_names
    numbers = np.arange(1, groups.histograms.sizes.size + 1, dtype=np.int32)
    with closing(connect(private=True)) as engine:
        columns = [*groups.boxes.columns(), pa.array(numbers)]
        engine.load("boxes", pa.table(columns, names=[*names, group]), keep=False)
        engine.load("counts", groups.counts(), keep=False)
        shown = [exp.column(name, table="boxes", quoted=True) for name in (*names, group)]
        times = repeat_rows(exp.column(count, table="counts", quoted=True))
        same = exp.EQ(this=shown[-1].copy(), expression=exp.column(group, table="counts", quoted=True))
        values = exp.column(value, table="counts", quoted=True)
        rows = exp.select(*shown, values, exp.alias_(times, "copy")).from_("counts").join("boxes", on=same)
        query = exp.select(*(exp.column(name, quoted=True) for name in (*names, group, value)))
        engine.store(query.from_(rows.subquery("rows")).order_by(*map(ascending, (group, value))), path)


def _groups(draft: Draft) -> Groups:
    boxes = Boxes.of_rows(draft.policy, draft.axes, draft.groups, draft.histograms.sizes.size)
    return Groups(draft.policy, boxes, draft.sensitive, draft.histograms)


PUBLICATION = Publication(
    lambda draft: files(_groups(draft)),
    members=lambda draft: {"boxes": sides(draft.policy, draft.axes)},
    partition=lambda _: "mondrian",
    compared=("mondrian", "topdown", "full_domain"),
    boxed=True,
)
