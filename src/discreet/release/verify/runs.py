"""What every group of a release has, from files in the order of groups: one pass over runs, without a hash table.

It holds only for files whose order was checked, and where numbers are whole and none is missing; else the engine
counts. Cost: linear in the rows; where they do not stand by value, and groups are many, a sort of one number for each.
Claim: runs_tell_what_the_engine_counts — of files in order, the same of every group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.release.layouts.generalization import LABELS
from discreet.release.manifest import Promise
from discreet.values.buffers import array, flags, is_number, numbers

Ints = npt.NDArray[np.integer[Any]]
LARGE = 2**62  # keys of a group and a value, which are one number, stay below it


@dataclass(frozen=True, slots=True)
class Kept:
    """The group, the value and the count of every row that was read, as far as a file has them, in the order of files.

    And of boxes one row for each run of rows that show the same, and what is told of their labels; and of each file in
    the order of row numbers whether these begin and end as they must: as they ascend, those between do, too.
    """

    group: str
    row: str
    names: tuple[str, ...]
    boxes: tuple[str, ...] = ()
    files: list[tuple[bool, list[pa.RecordBatch]]] = field(default_factory=list)
    shown: list[pa.RecordBatch] = field(default_factory=list)
    told: list[pa.RecordBatch] = field(default_factory=list)
    numbered: dict[str, bool] = field(default_factory=dict)

    def _is_rows(self, columns: Sequence[str]) -> bool:
        """Whether a file that is sorted by these columns has several rows for each group: by more than the group."""
        return columns[0] == self.group and len(columns) > 1

    def wanted(self, columns: Sequence[str]) -> tuple[str, ...]:
        """What is kept of files that are sorted by these columns."""
        return (*self.names, *self.boxes) if self._is_rows(columns) else ()

    def passing(self, rows: Iterable[pa.RecordBatch], file: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The same rows of a file, sorted by these columns; what is needed of them is kept."""
        kept: list[pa.RecordBatch] = []
        count = 0
        if self._is_rows(columns):
            self.files.append((columns[1:2] == self.names[1:2], kept))
        for batch in rows:
            if self._is_rows(columns):
                kept.append(batch.select([name for name in self.names if name in batch.schema.names]))
            if self.boxes and columns == LABELS:
                self.told.append(batch)
            if self.boxes and {*self.boxes, self.group} <= set(batch.schema.names):
                self._show(batch.select([*self.boxes, self.group]))
            if columns == (self.row,) and len(batch):
                own = batch.column(self.row)
                ends = 1 + count, len(batch) + count
                whole = pa.types.is_integer(own.type) and (own[0].as_py(), own[-1].as_py()) == ends
                self.numbered[file] = whole and self.numbered.get(file, True)
                count += len(batch)
            yield batch

    def _show(self, boxes: pa.RecordBatch) -> None:
        """Keep the first row of every run, of one that began in the batch before only that."""
        starts = _starts(*(_codes(column) for column in boxes.columns))
        if self.shown and len(boxes):
            first = _in_full(boxes.slice(0, 1))
            seam = pa.Table.from_batches([self.shown[-1].slice(len(self.shown[-1]) - 1), first])
            starts = starts[len(_starts(*(column.combine_chunks() for column in seam.columns))) == 1 :]
        if starts.size:
            self.shown.append(_in_full(boxes.take(array(starts))))


def _codes(column: pa.Array) -> pa.Array:
    """What tells runs of texts apart: where a text has two codes there is a run too many, which does no harm."""
    return column.indices if pa.types.is_dictionary(column.type) else column


def _in_full(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows, with texts and not their codes."""
    coded = [pa.types.is_dictionary(column.type) for column in rows.columns]
    columns = [column.dictionary_decode() if each else column for each, column in zip(coded, rows.columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, rows.schema.names)


def kept_of(promise: Promise) -> Kept:
    sensitive = () if promise.sensitive is None else (promise.sensitive, promise.count)
    boxes = tuple(name for side in promise.boxes or () for name in side.columns)
    return Kept(promise.group, promise.row, (promise.group, *sensitive), boxes)


def groups_of(kept: Kept, harmless: pa.Array | None) -> tuple[pa.Table, pa.Table] | None:
    """Of each group its rows, and what it holds: as the engine would count them; None if that is left to it."""
    if not all(batches for _, batches in kept.files):  # a file without rows has no runs that could speak for it
        return None
    tables = [(by_value, pa.Table.from_batches(batches)) for by_value, batches in kept.files]
    held = next(((by, table) for by, table in tables if set(kept.names[1:2]) & set(table.column_names)), None)
    if held is None or not all(_plain(table) for _, table in tables):
        return None
    by_value, table = held
    rows, *others = [each for _, each in tables if each.column_names == [kept.group]] or [table]
    if not all(each.equals(rows) for each in others):  # blocks of which one has other rows
        return None
    groups, values = _numbers(table, kept.group), _one_zero(table[kept.names[1]].combine_chunks())
    counts = _numbers(table, kept.names[2]) if kept.names[2] in table.column_names else None
    if counts is not None and not 1 <= counts.min() <= counts.max() <= rows.num_rows:
        return None
    if counts is None:
        if not by_value and int(groups.max()) * (len(values) + 1) >= LARGE:
            return None
        groups, values, counts = _counted(groups, values) if by_value else _sorted(groups, values)
    return _rows(_numbers(rows, kept.group)), _held(groups, values, counts, harmless)


def _plain(table: pa.Table) -> bool:
    """Whether groups and counts are whole numbers, none missing, groups not negative, and texts fit into one array."""
    own = [column for i, column in enumerate(table.columns) if i != 1]
    whole = all(pa.types.is_integer(column.type) and column.null_count == 0 for column in own)
    fit = all(column.nbytes < 2**31 for column in table.columns)
    return bool(fit and whole and table.num_rows and pc.min(own[0]).as_py() >= 0)


def _numbers(table: pa.Table, name: str) -> Ints:
    return numbers(table[name].combine_chunks())


def _one_zero(values: pa.Array) -> pa.Array:
    """The same values, where 0.0 and -0.0 are one: Arrow's dictionaries and sets tell them apart."""
    return pc.add(values, pa.scalar(0.0, values.type)) if pa.types.is_floating(values.type) else values


def _starts(*columns: pa.Array) -> Ints:
    """Where a run of rows begins that agree in all columns."""
    new = np.zeros(len(columns[0]), np.bool_)
    new[:1] = True
    for column in columns:
        if column.null_count == 0 and is_number(column.type):
            held = numbers(column)
            new[1:] |= held[1:] != held[:-1]
        else:
            missing = flags(column.is_null())
            unlike = flags(pc.not_equal(column[1:], column[:-1]).fill_null(False))
            new[1:] |= unlike | (missing[1:] != missing[:-1])
    return np.flatnonzero(new)


def _counted(groups: Ints, values: pa.Array) -> tuple[Ints, pa.Array, Ints]:
    """Rows by group and value: each pair once, and how often there is one."""
    starts = _starts(array(groups), values)
    if starts.size == groups.size:  # no group has a value twice
        return groups, values, np.ones(groups.size, np.int64)
    return groups[starts], values.take(array(starts)), np.diff(starts, append=groups.size)


def _sorted(groups: Ints, values: pa.Array) -> tuple[Ints, pa.Array, Ints]:
    """The same of rows by group alone."""
    encoded = values.dictionary_encode()
    ascending = numbers(pc.sort_indices(encoded.dictionary))
    ranks, kinds = np.empty(ascending.size + 1, np.int64), ascending.size + 1
    ranks[ascending], ranks[-1] = np.arange(ascending.size), ascending.size  # missing ones come last
    codes = numbers(encoded.indices.fill_null(ascending.size))
    keys, counts = _tallied(groups.astype(np.int64) * kinds + ranks[codes])
    of_group, of_value = np.divmod(keys, kinds)
    places = array(np.append(ascending, np.uint64(0))[of_value], of_value < ascending.size)
    return of_group, encoded.dictionary.take(places), counts


def _tallied(keys: Ints) -> tuple[Ints, Ints]:
    """Each key once, in order, and how often there is one."""
    most = int(keys.max())
    if most <= 2 * keys.size:  # few groups of few values are counted in one pass
        counts = np.bincount(keys)
        held = np.flatnonzero(counts)
        return held, counts[held]
    keys = np.sort(keys.astype(np.int32) if most < 2**31 else keys)  # half as wide is sorted in half the time
    starts = _starts(array(keys))
    return keys[starts].astype(np.int64), np.diff(starts, append=keys.size)


def _rows(groups: Ints) -> pa.Table:
    starts = _starts(array(groups))
    return _table({"grp": groups[starts], "size": np.diff(starts, append=groups.size)})


def _held(groups: Ints, values: pa.Array, counts: Ints, harmless: pa.Array | None) -> pa.Table:
    """What each group holds; harmless values are left out of all but its size, least count, missing and odd ones."""
    starts = _starts(array(groups))
    ends = np.append(starts[1:], groups.size)

    def total(of: npt.NDArray[Any]) -> Ints:
        return np.asarray(np.add.reduceat(of, starts, dtype=np.int64))

    size, nothing = total(counts), np.zeros(starts.size, np.int64)
    others, of_others = counts, size
    kinds: Ints = ends - starts
    missing: Ints = nothing
    first, last = starts, ends - 1
    if harmless is not None or values.null_count:
        there = own = flags(values.is_valid())
        if harmless is not None:
            spared = flags(pc.is_in(values, value_set=harmless))
            own, others = there & ~spared, np.where(spared, 0, counts)
        place, none = np.arange(groups.size), groups.size
        first = np.minimum.reduceat(np.where(own, place, none), starts)
        last = np.maximum.reduceat(np.where(own, place, -1), starts)
        of_others, kinds, missing = total(others), total(others > 0), total(~there)
    real = pa.types.is_floating(values.type)
    return _table(
        {
            "grp": groups[starts],
            "size": size,
            "others": of_others,
            "least": np.minimum.reduceat(counts, starts),
            "top": np.maximum.reduceat(others, starts).astype(np.int64),
            "kinds": kinds,
            "low": values.take(array(first, first < groups.size)),
            "high": values.take(array(last, last >= 0)),
            "missing": missing,
            "odd": nothing,
            "infinite": total(flags(pc.is_inf(values).fill_null(False))) if real else nothing,
        }
    )


def _table(columns: Mapping[str, Ints | pa.Array]) -> pa.Table:
    arrays = [each if isinstance(each, pa.Array) else array(each) for each in columns.values()]
    return pa.Table.from_arrays(arrays, names=list(columns))
