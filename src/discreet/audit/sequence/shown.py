"""What the files of one release show of its groups: the box of each, how often it has each value, what labels mean.

Of Parquet files in the order of groups that is told by their runs; any others are read by an engine.
Cost: one pass over the rows.
Claim: runs_show_what_the_engine_reads — of files in order, the same boxes and counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sqlglot import exp

from discreet.errors import ReleaseError
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.release.layouts.file import column, named
from discreet.release.layouts.generalization import LABELS
from discreet.release.manifest import BoxColumn, Promise
from discreet.release.relations import loaded
from discreet.values.buffers import array, flags, numbers

NUMBERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64())
PLAIN = (*NUMBERS, pa.bool_(), pa.string(), pa.date32(), pa.timestamp("us"))  # Arrow and engine read them alike
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Shown:
    """What the files of one release show."""

    boxes: pa.Table  # `group`, and the columns that show boxes: a row for each group, ascending
    counts: pa.Table  # `grp`, `value` and `n`
    labels: pa.Table | None
    sides: dict[str, BoxColumn]


def shown_by(release: Release) -> Shown:
    """What a release shows; raise if it shows several boxes of one group."""
    found = in_runs(release) or by_engine(release)
    if len(found.boxes) != release.promise.groups or len(found.boxes) != len(found.boxes["group"].unique()):
        raise ReleaseError(f"`{release.path}` shows several boxes of one group", hint="check it with `discreet verify`")
    return found


def by_engine(release: Release) -> Shown:
    """The same, whatever the files are, and whatever their order."""
    promise = release.promise
    names, tables = _names(promise), layout_of(promise).relations(promise)
    with loaded(release) as engine:
        shown = [column(name) for name in names]
        group = exp.alias_(column(promise.group), "group", quoted=True)
        boxes = engine.run(exp.select(group, *shown).distinct().from_(tables["qit"].subquery("rows")).order_by("1"))
        counts = engine.run(tables["st"])
        labels = engine.run(exp.select("*").from_(named("labels file"))) if _labelled(promise) else None
    return Shown(boxes.rename_columns(["group", *names]), counts, labels, _sides(promise))


def in_runs(release: Release) -> Shown | None:
    """The same of files in order; None if they are not, or hold what an engine might read in another way."""
    promise = release.promise
    if promise.publication != "generalization" or any(
        resource.format != "parquet" for resource in release.manifest.resources
    ):
        return None
    names = [promise.group, *_names(promise), promise.sensitive_column]
    rows = _read(release, "generalized", names)
    labels = _read(release, "labels", LABELS) if _labelled(promise) else None
    if not rows or (labels is None and _labelled(promise)):
        return None
    group, *shown, value = (_changes(column) for column in rows.columns)
    numbered = rows.column(0)
    if numbered.null_count or not pa.types.is_integer(numbered.type) or (np.diff(numbers(numbered)) < 0).any():
        return None
    starts, entries = np.flatnonzero(group), np.flatnonzero(group | value)
    if reduce(np.logical_or, shown, group).sum() != starts.size or not _once_each(rows, entries):
        return None
    boxes = pa.table([_plain(column.take(array(starts))) for column in rows.columns[:-1]], ["group", *_names(promise)])
    own = [_plain(rows.column(at).take(array(entries))) for at in (0, -1)]
    counts = pa.table([*own, array(np.diff(entries, append=len(rows)))], ["grp", "value", "n"])
    told = None if labels is None else pa.Table.from_arrays([_plain(column) for column in labels.columns], list(LABELS))
    return Shown(boxes, counts, told, _sides(promise))


def _names(promise: Promise) -> list[str]:
    return [name for side in promise.boxes or () for name in side.columns]


def _sides(promise: Promise) -> dict[str, BoxColumn]:
    return {side.name: side for side in promise.boxes or ()}


def _labelled(promise: Promise) -> bool:
    return any(side.label is not None for side in promise.boxes or ())


def _read(release: Release, name: str, wanted: Sequence[str]) -> pa.RecordBatch | None:
    """Some columns of a table, each in one piece, texts as codes of different ones; None if they are not plain."""
    try:
        tables = [_table(path, wanted) for path in release.files(name)]
        table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
        table.validate(full=True)
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None  # the engine says what is wrong with them
    columns = [column.chunk(0) for column in table.columns if column.num_chunks == 1]
    columns = [column.dictionary_encode() if pa.types.is_string(column.type) else column for column in columns]
    if len(columns) < len(wanted) or not all(map(_is_plain, columns)):
        return None
    return pa.RecordBatch.from_arrays(columns, list(wanted))


def _table(path: Path, wanted: Sequence[str]) -> pa.Table:
    texts = [field.name for field in pq.read_schema(path) if pa.types.is_string(field.type)]
    with pq.ParquetFile(path, read_dictionary=[name for name in texts if name in wanted]) as file:
        return file.read(columns=list(wanted), use_threads=False).select(list(wanted))


def _is_plain(column: pa.Array) -> bool:
    """Whether equal values are sure to be alike, and to be what the engine would read."""
    if pa.types.is_dictionary(column.type):
        different = column.dictionary
        return different.type == pa.string() and different.null_count == 0 and len(different.unique()) == len(different)
    if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
        return False
    return column.type in PLAIN


def _changes(column: pa.Array) -> Flags:
    """Whether each row is unlike the one before it, as the first is."""
    there = column.is_valid() if column.null_count else None
    if pa.types.is_dictionary(column.type):
        column = column.indices
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        column = column.view(pa.int32() if column.type == pa.date32() else pa.int64())
    held = numbers(column if there is None else column.fill_null(0))
    new = np.ones(held.size, np.bool_)
    new[1:] = held[1:] != held[:-1]
    if there is not None:
        known = flags(there)
        new[1:] |= known[1:] != known[:-1]
    return new


def _once_each(rows: pa.RecordBatch, entries: npt.NDArray[np.int64]) -> bool:
    """Whether the runs of a group have ascending values, so that none is in two of them."""
    groups, values = (rows.column(at).take(array(entries)) for at in (0, -1))
    if not pa.types.is_dictionary(values.type):
        values = (pc.add(values, 0.0) if pa.types.is_floating(values.type) else values).dictionary_encode()
    last = len(values.dictionary)
    ranks = np.full(last + 1, last)  # a missing value comes last
    ranks[numbers(pc.sort_indices(values.dictionary))] = np.arange(last)
    held = ranks[numbers(values.indices.fill_null(last))]
    more, other = np.diff(held) > 0, np.diff(numbers(groups)) > 0
    return bool((more | other).all())


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
