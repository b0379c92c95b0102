"""Blocks and parts: rows in their groups are written to private files in order, and the release is cut from these.

A block is some groups that follow each other, all rows of which one task holds: those of a cell, or so many. It is
sorted and written to private files under a name that follows from its number, by way of another name: a task that is
run twice writes the same bytes twice. Once all blocks are counted, groups and rows are numbered, and every part of
every table is cut from the blocks that it lies in, by a task of its own.
Cost: one shuffle of the rows; memory of a task about four times a block, or a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.engines.spark.errors import translating
from discreet.engines.spark.words import quoted
from discreet.errors import InternalError

BLOCK = "discreet block"
ROWS_AT_ONCE = 122_880  # of a row group, as DuckDB has it
TOLD = "block int, rows long, groups long, share double, value int, held long, among long"


@dataclass(frozen=True)
class Made:
    """The tables of a block, how many groups it has, and the largest share of a group with one value.

    `worst` is the value that fills a group most, the rows that hold it, and all rows of that group; zeros if none does.
    """

    tables: Mapping[str, pa.Table]
    groups: int
    share: float
    worst: tuple[int, int, int]


@dataclass(frozen=True)
class Blocks:
    """The blocks of a folder: how many groups and rows each has; the rest is as in `Made`, of all blocks."""

    folder: Path
    groups: tuple[int, ...]
    rows: tuple[int, ...]
    share: float
    worst: tuple[int, int, int]


def stored(rows: Any, folder: Path, finish: Callable[[pa.Table, int], Made]) -> Blocks:
    """Let every block be made files by `finish`."""
    place = str(folder)
    folder.mkdir()

    def write(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
        number = key[0].as_py()
        made = finish(table.drop_columns([BLOCK]), number)
        for name, each in made.tables.items():
            put(each, Path(place) / f"{name}-{number}.parquet")
        told = {"rows": table.num_rows, "groups": made.groups, "share": made.share}
        told |= dict(zip(("value", "held", "among"), made.worst, strict=True))
        types = {"block": pa.int32(), "share": pa.float64(), "value": pa.int32()}
        return pa.table(
            {name: pa.array([n], types.get(name, pa.int64())) for name, n in ({"block": number} | told).items()}
        )

    with translating():
        told = rows.groupBy(quoted(BLOCK)).applyInArrow(write, TOLD).toArrow().sort_by("block")
    if told["block"].to_pylist() != list(range(told.num_rows)):
        raise InternalError("blocks of rows are missing; nothing was published")
    worst = max(zip(*(told[name].to_pylist() for name in ("value", "held", "among")), strict=True), key=_filled)
    groups, sizes = (tuple(told[name].to_pylist()) for name in ("groups", "rows"))
    return Blocks(folder, groups, sizes, max(told["share"].to_pylist()), worst)


def _filled(worst: tuple[int, int, int]) -> float:
    return worst[1] / max(worst[2], 1)


@dataclass(frozen=True)
class Part:
    """A part of a table to be cut: of which blocks' table, which groups or rows, from 0, and what it is called."""

    of: str
    first: int
    last: int
    to: str
    by_group: bool
    columns: tuple[str, ...]


def cut(session: Any, blocks: Blocks, parts: Sequence[Part], *, group: str, row: str) -> list[int]:
    """Cut parts from blocks, each by a task, and say how many rows each has."""
    groups, rows = (np.append(0, np.cumsum(each)) for each in (blocks.groups, blocks.rows))
    folder, wanted = str(blocks.folder), tuple(parts)

    def make(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                part = wanted[number]
                found = _cut(Path(folder), part, groups, rows, group, row)
                put(found.select(list(part.columns)), Path(part.to))
                yield pa.record_batch({"part": pa.array([number], pa.int64()), "rows": [found.num_rows]})

    with translating():
        numbers = session.range(0, len(wanted), 1, len(wanted))
        told = numbers.mapInArrow(make, "part long, rows long").toArrow().sort_by("part")
    return [int(each) for each in told["rows"].to_pylist()]


def _cut(folder: Path, part: Part, groups: Any, rows: Any, group: str, row: str) -> pa.Table:
    """The rows of a part, with groups and rows numbered from 1 over all blocks."""
    edges, found = (groups if part.by_group else rows), []
    first = int(np.searchsorted(edges, part.first, side="right")) - 1
    for block in range(first, int(np.searchsorted(edges, part.last, side="left"))):
        table = pq.read_table(folder / f"{part.of}-{block}.parquet", partitioning=None)
        own = table[group].to_numpy()
        at = own + groups[block] if part.by_group else np.arange(rows[block], rows[block] + own.size)
        low, high = (int(np.searchsorted(at, end)) for end in (part.first, part.last))
        numbered = pa.array((own[low:high] + groups[block] + 1).astype(np.int32))
        kept = table.slice(low, high - low).set_column(table.column_names.index(group), group, numbered)
        if not part.by_group:
            kept = kept.append_column(row, pa.array(at[low:high] + 1))
        found.append(kept)
    return pa.concat_tables(found)


def put(table: pa.Table, path: Path) -> None:
    """Write a file under its name at once: whoever else writes it writes the same."""
    drafted = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        pq.write_table(table.replace_schema_metadata(None), drafted, row_group_size=ROWS_AT_ONCE, store_schema=False)
        drafted.replace(path)
    finally:
        drafted.unlink(missing_ok=True)


def in_order(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Rows sorted by columns, missing values last; rows that are equal in these are equal."""
    return table.take(pc.sort_indices(table, sort_keys=[(name, "ascending") for name in names]))
