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
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import types as t

from discreet.engines.spark.errors import translating
from discreet.engines.spark.files import address
from discreet.engines.spark.words import quoted
from discreet.errors import EngineError

ROWS = 1 << 20  # of a file, at most
AT_ONCE = 1 << 16  # rows of a batch


@dataclass(frozen=True)
class Copied:
    """The rows as a frame of Spark's, the files that it is read from, and how Arrow has their columns."""

    session: Any
    rows: Any
    files: tuple[str, ...]
    schema: pa.Schema

    @classmethod
    def of(cls, session: Any, rows: Any, schema: pa.Schema, folder: Path) -> Copied:
        """Copy rows to a folder that is not there yet."""
        with translating():
            written = rows.write.mode("error").option("compression", "lz4_raw").option("maxRecordsPerFile", ROWS)
            written.parquet(address(folder))
        files = sorted(map(str, folder.glob("*.parquet")))
        if not files:
            raise EngineError(
                f"the executors of Spark do not write to the folder `{folder.parent.parent}` that this process sees",
                hint="publish to a folder on a disk that this process and every executor see under the same path",
            )
        with translating():
            return cls(session, session.read.parquet(address(folder)), tuple(files), schema)

    def each(self, make: Callable[[File], Iterator[pa.RecordBatch]], schema: Any) -> Any:
        """A frame of what is made of every file, each by a task."""
        files, columns = self.files, self.schema

        def made(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from make(File(number, files[number], columns))

        return self.session.range(0, len(files), 1, len(files)).mapInArrow(made, schema)

    def numbered(self, name: str, number: Callable[[File], Iterator[tuple[pa.RecordBatch, Any]]]) -> Any:
        """All rows with a whole number more, which `number` tells batch by batch."""

        def put(file: File) -> Iterator[pa.RecordBatch]:
            for batch, numbers in number(file):
                yield batch.append_column(name, pa.array(numbers, pa.int32()))

        names = [quoted(each) for each in self.schema.names]
        fields = self.rows.select(*names).schema.fields
        return self.each(put, t.StructType([*fields, t.StructField(name, t.IntegerType())]))


@dataclass(frozen=True)
class File:
    """A file of the copy as an executor finds it: its number, from 0."""

    number: int
    path: str
    schema: pa.Schema

    def codes(self, name: str, domain: pa.Array) -> npt.NDArray[np.int32]:
        """The codes of one column of all its rows."""
        found = [codes(batch.column(0), domain).to_numpy(zero_copy_only=False) for batch in self.batches([name])]
        return np.concatenate([np.zeros(0, np.int32), *found])

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Its rows, some at once."""
        wanted = list(names or self.schema.names)
        types = pa.schema([self.schema.field(name) for name in wanted])
        with pq.ParquetFile(self.path, coerce_int96_timestamp_unit="us") as file:
            for batch in file.iter_batches(AT_ONCE, columns=wanted):
                yield batch.select(wanted).cast(types)


def codes(values: pa.Array | pa.ChunkedArray, domain: pa.Array) -> pa.Array:
    """The place of each value in its domain; a missing one has the last."""
    found = pc.index_in(values, value_set=domain.cast(values.type))
    if (found.null_count or 0) > (values.null_count or 0):
        raise ValueError("a value was read that is not among those that were counted")
    return pc.fill_null(found, len(domain)).cast(pa.int32())
