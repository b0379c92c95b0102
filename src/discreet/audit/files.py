"""Read a released file as anyone could."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from discreet.release import Release


def read_file(release: Release, name: str) -> pa.Table:
    """One data file of a release, in the order of its rows."""
    path = release.file(name)
    return pq.read_table(path) if path.suffix == ".parquet" else pyarrow.csv.read_csv(path)
