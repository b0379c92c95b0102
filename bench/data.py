"""The seeded table that benchmarks run on: seven integer quasi-identifiers and a sensitive column of fifty values."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DOMAINS = {"age": 78, "gender": 2, "education": 17, "marital": 6, "race": 9, "workclass": 10, "country": 83}
QUASI = tuple(DOMAINS)
SENSITIVE = "salary"
CHUNK = 5_000_000


def table(rows: int) -> Path:
    """The Parquet file with `rows` rows, made once and kept among the temporary files."""
    path = Path(tempfile.gettempdir()) / "discreet-bench" / f"{rows}.parquet"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        partial = path.with_suffix(".partial")
        chance = np.random.default_rng(2006)
        with pq.ParquetWriter(partial, _chunk(chance, 1).schema) as writer:
            for start in range(0, rows, CHUNK):
                writer.write_table(_chunk(chance, min(CHUNK, rows - start)))
        partial.rename(path)
    return path


def _chunk(chance: np.random.Generator, rows: int) -> pa.Table:
    columns = {}
    for name, size in DOMAINS.items():
        weights = 1 / np.arange(1, size + 1) ** 0.7
        columns[name] = chance.choice(size, rows, p=weights / weights.sum()).astype(np.int32)
    worth = 0.2 * columns["age"] + columns["education"] + chance.normal(0, 6, rows)
    columns[SENSITIVE] = np.clip((worth + 14) * 0.9, 0, 49).astype(np.int32)
    return pa.table(columns)
