"""Blocks and parts: rows in their groups are written to private files in order, and the release is cut from these.

A block is some groups that follow each other, all rows of which one task holds: those of a cell, or so many. Its rows
come from the files of the `shuffle`; it is sorted, and written to private files under a name that follows from its
number: a task that is run twice writes the same bytes twice. Once all blocks are counted, groups and rows are numbered,
and every part of every table is cut from the blocks that it lies in, by a task of its own.
Memory of a task: about four times a block, or a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.engines.spark.shuffle import Shuffled
from discreet.engines.spark.tasks import at_once, each_number
from discreet.errors import InternalError
from discreet.values.codes import encode
from discreet.values.rule import IntArray

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

    def cut(self, session: Any, parts: Sequence[Part], group: str, row: str, *, at_once: int) -> None:
        """Cut parts of tables, so many by a task."""
        groups, rows = (np.append(0, np.cumsum(each)) for each in (self.groups, self.rows))
        folder = str(self.folder)
        written(session, parts, lambda part: _cut(Path(folder), part, groups, rows, group, row), at_once=at_once)

    def read(self, name: str) -> Iterator[pa.Table]:
        """The tables of that name, block by block."""
        return (
            pq.read_table(self.folder / f"{name}-{block}.parquet", partitioning=None)
            for block in range(len(self.groups))
        )


def stored(session: Any, rows: Shuffled, folder: Path, finish: Callable[[pa.Table, int], Made]) -> Blocks:
    """Let every block be made files by `finish`, each by a task."""
    place = str(folder)
    folder.mkdir()

    def write(number: int) -> pa.RecordBatch:
        table = rows.block(number)
        made = finish(table, number)
        for name, each in made.tables.items():
            put(each, Path(place) / f"{name}-{number}.parquet")
        told = {"block": number, "rows": table.num_rows, "groups": made.groups, "share": made.share}
        told |= dict(zip(("value", "held", "among"), made.worst, strict=True))
        types = {"block": pa.int32(), "share": pa.float64(), "value": pa.int32()}
        return pa.record_batch({name: pa.array([n], types.get(name, pa.int64())) for name, n in told.items()})

    told = each_number(session, rows.blocks, write, TOLD).sort_by("block")
    if told["block"].to_pylist() != list(range(rows.blocks)):
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


def written(
    session: Any, parts: Sequence[Part], make: Callable[[Part], pa.Table | pa.RecordBatchReader], *, at_once: int
) -> None:
    """Let every part be made and written, so many one after another by a task."""
    wanted = tuple(parts)

    def write(number: int) -> pa.RecordBatch:
        own = range(number * at_once, min((number + 1) * at_once, len(wanted)))
        for i in own:
            put(make(wanted[i]), Path(wanted[i].to))
        return pa.record_batch({"part": pa.array(own, pa.int64())})

    found = each_number(session, -(-len(wanted) // at_once), write, "part long")
    if sorted(found["part"].to_pylist()) != list(range(len(wanted))):
        raise InternalError("parts of a table are missing; nothing was published")


def _cut(folder: Path, part: Part, groups: Any, rows: Any, group: str, row: str) -> pa.Table:
    """The rows of a part, with groups and rows numbered from 1 over all blocks."""
    edges, found = (groups if part.by_group else rows), []
    first = int(np.searchsorted(edges, part.first, side="right")) - 1
    for block in range(first, int(np.searchsorted(edges, part.last, side="left"))):
        with pq.ParquetFile(folder / f"{part.of}-{block}.parquet") as file:
            own = file.read([group])[group].to_numpy() + groups[block]
            at = own - 1 if part.by_group else np.arange(rows[block], rows[block] + own.size)
            low, high = (int(np.searchsorted(at, end)) for end in (part.first, part.last))
            table = _between(file, low, high)
        numbered = pa.array(own[low:high].astype(np.int32))
        kept = table.set_column(table.column_names.index(group), group, numbered)
        if not part.by_group:
            kept = kept.append_column(row, pa.array(at[low:high] + 1))
        found.append(kept)
    return pa.concat_tables(found).select(list(part.columns))


def _between(file: pq.ParquetFile, low: int, high: int) -> pa.Table:
    """Some rows of a file, of which no more groups of rows are read than hold them."""
    about = file.metadata
    sizes = np.array([about.row_group(i).num_rows for i in range(about.num_row_groups)], np.int64)
    ends = np.cumsum(sizes)
    wanted = np.flatnonzero((ends > low) & (ends - sizes < high))
    before = int((ends - sizes)[wanted[0]]) if wanted.size else 0
    return file.read_row_groups(wanted.tolist()).slice(low - before, high - low)


def put(rows: pa.Table | pa.RecordBatchReader, path: Path) -> None:
    """Write a file under its name at once: whoever else writes it writes the same."""
    whole, schema = isinstance(rows, pa.Table), rows.schema.remove_metadata()
    with at_once(path) as drafted, pq.ParquetWriter(drafted, schema, store_schema=False) as file:
        for table in [rows] if whole else (pa.Table.from_batches([batch]) for batch in rows):
            size = ROWS_AT_ONCE if whole else max(table.num_rows, 1)
            file.write_table(table.replace_schema_metadata(None), row_group_size=size)


def plain(rows: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Rows with every text in its place: a dictionary would be written whole, with texts of other files."""
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in rows.schema
    ]
    schema = pa.schema(fields)
    return pa.RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in rows))


def in_order(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Rows sorted by columns, missing values last; rows that are equal in these are equal."""
    keys: list[tuple[IntArray, int]] = []
    for name in names:
        ranks, bits = _ranks(table[name])
        if keys and keys[-1][1] + bits < 63:  # as many columns as there is room for are one number
            before, used = keys.pop()
            ranks, bits = (before << bits) | ranks, used + bits
        keys.append((ranks, bits))
    return table.take(pa.array(np.lexsort([ranks for ranks, _ in reversed(keys)])))


def _ranks(column: pa.ChunkedArray) -> tuple[IntArray, int]:
    """Whole numbers from 0 in the order of a column's values, missing ones last; and how many bits they need."""
    if pa.types.is_integer(column.type) and not column.null_count and len(column):
        low, high = (int(end.as_py()) for end in pc.min_max(column).values())
        if high - low < 1 << 62 and abs(low) < 1 << 62:
            return column.to_numpy().astype(np.int64) - low, (high - low).bit_length()
    encoded = encode(column)
    return encoded.codes, encoded.size.bit_length()
