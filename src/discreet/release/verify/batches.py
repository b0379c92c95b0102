"""The rows of a release's files in their order, some at once; of several files side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from discreet.engines import connect
from discreet.release.manifest import Resource

CODED = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}
AT_ONCE = 1 << 17  # rows that are looked at together: their columns stay in the processor's caches


def batches(
    folder: Path, resource: Resource, wanted: Collection[str], *, coded: Collection[str] = ()
) -> Iterator[pa.RecordBatch]:
    """The rows of a table in their order, with the columns that are wanted of it.

    Texts among the `coded` ones may come as codes of different texts, where that is how a Parquet file has them.
    """
    if resource.format == "parquet":
        columns = [name for name in resource.kinds() if name in wanted]
        for path in resource.paths:
            about = pq.read_metadata(folder / path)
            with pq.ParquetFile(folder / path, metadata=about, read_dictionary=_coded(about, coded)) as file:
                yield from file.iter_batches(batch_size=AT_ONCE, columns=columns, use_threads=False)
        return
    engine = connect()
    try:
        engine.load("file", [folder / path for path in resource.paths], kinds=resource.kinds())
        yield from engine.run(exp.select("*").from_("file")).to_batches()
    finally:
        engine.close()


def _coded(about: pq.FileMetaData, wanted: Collection[str]) -> list[str]:
    """The columns of texts among those wanted that a file has as codes, all of it."""
    if not wanted or not about.num_rows:
        return []
    schema, parts = about.schema.to_arrow_schema(), range(about.num_row_groups)
    return [
        field.name
        for at, field in enumerate(schema)
        if field.name in wanted
        and pa.types.is_string(field.type)
        and all(CODED & set(about.row_group(part).column(at).encodings) for part in parts)
    ]


def beside(files: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """The rows of several files side by side, in their order."""
    held: list[pa.RecordBatch | None] = [next(batches, None) for batches in files]
    while parts := [batch for batch in held if batch is not None]:
        if len(parts) < len(held):
            raise ValueError("files that belong together differ in length")
        rows = min(map(len, parts))
        names = [name for part in parts for name in part.schema.names]
        yield pa.RecordBatch.from_arrays([column.slice(0, rows) for part in parts for column in part.columns], names)
        held = [
            part.slice(rows) if len(part) > rows else next(batches, None)
            for part, batches in zip(parts, files, strict=True)
        ]
