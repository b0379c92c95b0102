"""One copy of the private rows that stays the same: files of a private folder, each the work of one task.

Rows are read once, into Parquet files. All later stages read these: so a frame that would find other rows a second
time, or a file that somebody replaces, is published as it was found; and a task that is run again finds the same rows
in the same order. Executors read the files by Arrow, so that rows come to Python without a way through Java.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.engines.spark.errors import translating
from discreet.engines.spark.files import address, target
from discreet.engines.spark.session import AS_THEY_ARE, settled
from discreet.engines.spark.tasks import SHARED, of_numbers
from discreet.errors import EngineError, InternalError

ROWS = 1 << 20  # of a file, at most
AT_ONCE = 1 << 16  # rows of a batch
UNKNOWN = "a value was read that is not among those that were counted; nothing was published"


@dataclass(frozen=True)
class Copied:
    """The rows as a frame of Spark's, its files, how Arrow has their columns, and how many the files say they are."""

    session: Any
    rows: Any
    files: tuple[str, ...]
    schema: pa.Schema
    size: int

    @classmethod
    def of(cls, session: Any, rows: Any, schema: pa.Schema, folder: Path) -> Copied:
        """Copy rows to a folder that is not there yet; columns that are not in the schema are only in the frame."""
        with translating(), settled(rows.sparkSession, AS_THEY_ARE):
            written = rows.write.mode("error").option("compression", "lz4_raw").option("maxRecordsPerFile", ROWS)
            written.parquet(target(folder))
        files = sorted(map(str, folder.glob("*.parquet")))
        if not files:
            raise EngineError(
                f"the executors of Spark do not write to the folder `{folder.parent.parent}` that this process sees",
                hint=SHARED,
            )
        size = sum(pq.read_metadata(file).num_rows for file in files)
        with translating():
            return cls(session, session.read.parquet(address(folder)), tuple(files), schema, size)

    def each(self, make: Callable[[File], Iterator[pa.RecordBatch]], schema: str) -> Any:
        """A frame of what is made of every file, each by a task."""
        files, columns = self.files, self.schema
        return of_numbers(self.session, len(files), lambda number: make(File(number, files[number], columns)), schema)


@dataclass(frozen=True)
class File:
    """A file of the copy as an executor finds it: its number, from 0."""

    number: int
    path: str
    schema: pa.Schema

    def rows(self, names: Sequence[str] | None = None) -> pa.RecordBatch:
        """All its rows; a file may have none."""
        types = self._types(names)
        found = pa.Table.from_batches(self.batches(names), types).combine_chunks().to_batches()
        return found[0] if found else pa.RecordBatch.from_pylist([], schema=types)

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Its rows, some at once."""
        types = self._types(names)
        with pq.ParquetFile(self.path, coerce_int96_timestamp_unit="us") as file:
            for batch in file.iter_batches(AT_ONCE, columns=types.names):
                yield batch.select(types.names).cast(types)

    def _types(self, names: Sequence[str] | None) -> pa.Schema:
        return self.schema if names is None else pa.schema([self.schema.field(name) for name in names])


def codes(values: pa.Array | pa.ChunkedArray, domain: pa.Array) -> pa.Array:
    """The place of each value in its domain; a missing one has the last."""
    if pa.types.is_integer(values.type) and not values.null_count and len(domain) > len(values):
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        sought, known = values.to_numpy(), domain.cast(values.type).to_numpy()  # sorted: to hash it takes longer
        at = np.minimum(np.searchsorted(known, sought), known.size - 1)
        if not np.array_equal(known[at], sought):
            raise InternalError(UNKNOWN)
        return pa.array(at.astype(np.int32))
    found = pc.index_in(values, value_set=domain.cast(values.type))
    if (found.null_count or 0) > (values.null_count or 0):
        raise InternalError(UNKNOWN)
    return pc.fill_null(found, len(domain)).cast(pa.int32())
