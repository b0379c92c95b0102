"""Tables in parts: which column cuts them, how much a part holds, and how a file is cut.

The rows of the parts, one after another, are those of one file, in its order. Where rows stand group by group, every
part has the same number of groups, so none lies in two parts, and tables of the same groups have the same parts; else
every part has the same number of rows. The last part may have less. So where a part ends, and how many rows it has,
follows from the numbers of the groups and their sizes, which the rows show.
Cost: linear; memory one batch.
Claim: parts_are_one_file — the rows of the parts, in their order, are those of the file that they were cut from.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from discreet.engines import connect
from discreet.errors import InputError
from discreet.release.layouts import cut_column, layout_of
from discreet.release.manifest import MOST_PARTS, Promise, paths_of
from discreet.values.buffers import numbers

ROWS = 20_000_000  # about so many rows has a part unless it is said otherwise: a smaller table is one file
AT_ONCE = 1 << 17  # rows that are read together


def check_rows_per_part(rows_per_part: int | None, format: str) -> None:
    """Raise if tables cannot be written in parts of so many rows."""
    if rows_per_part is None:
        return
    if isinstance(rows_per_part, bool) or not isinstance(rows_per_part, int) or rows_per_part < 1:
        raise InputError("a part has a whole number of rows, at least 1", hint="say about how many, like 5000000")
    if format != "parquet":
        raise InputError("only Parquet files can be parts of a table", hint="publish as Parquet, or leave out the rows")


def per_part(promise: Promise, name: str, rows_per_part: int | None = None) -> int:
    """How many groups each part of a table has, so that it has about so many rows; or how many rows.

    A row of group `g` is in part `1 + (g - 1) // per_part`, where rows stand group by group (`cut_column`).
    """
    rows_per_part, column = rows_per_part or ROWS, cut_column(promise, name)
    if promise.rows > rows_per_part * (MOST_PARTS // 2):  # groups are whole, so there may be up to twice as many parts
        raise InputError(
            f"the release would have tables of more than {MOST_PARTS // 2:,} parts", hint="let a part have more rows"
        )
    if column is None:
        return rows_per_part
    groups, rows = _tallied(promise, column)
    return max(1, rows_per_part * groups // rows)


def cut(path: Path, promise: Promise, name: str, rows_per_part: int | None = None) -> list[Path]:
    """Cut the Parquet file of a table; one that has no more than a part stays as it is."""
    step, column = per_part(promise, name, rows_per_part), cut_column(promise, name)
    with pq.ParquetFile(path) as file:
        total = file.metadata.num_rows if column is None else _tallied(promise, column)[0]
        if total <= step:
            return [path]
        parts = [path.with_name(each) for each in paths_of(name, -(-total // step))]
        batches = groupby(_batches(file, column, step), key=itemgetter(0))
        with closing(connect(private=True)) as engine:
            for part, (_, rows) in zip(parts, batches, strict=True):
                reader = pa.RecordBatchReader.from_batches(file.schema_arrow, (batch for _, batch in rows))
                engine.load("rows", reader, keep=False)
                engine.store(exp.select("*").from_("rows"), part)
    path.unlink()
    return parts


def _tallied(promise: Promise, column: str) -> tuple[int, int]:
    """How many groups there are by that column, and how many rows they have."""
    tally = layout_of(promise).tally(promise)
    return (promise.groups, promise.rows) if column == promise.group else (tally.groups, tally.people)


def _batches(file: pq.ParquetFile, column: str | None, step: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of a file in their order, and in which part they are."""
    before = 0
    for batch in file.iter_batches(batch_size=AT_ONCE, use_threads=False):
        places = np.arange(before, before + len(batch)) if column is None else numbers(batch.column(column)) - 1
        part = places // step
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        for start, end in pairwise([*starts.tolist(), len(batch)]):
            yield int(part[start]), batch.slice(start, end - start)
        before += len(batch)
