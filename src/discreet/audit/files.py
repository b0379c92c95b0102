"""Read a released file as anyone could."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from discreet.release import Release


def read_file(release: Release, name: str) -> pa.Table:
    """One data file of a release, in the order of its rows."""
    resource = release.manifest.resource(name)
    path = release.file(name)
    if resource.format == "parquet":
        return pq.read_table(path)
    types = {column: TYPES[kind] for column, kind in resource.kinds().items()}
    return csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=False))


TYPES = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "time": pa.time64("us"),
}
