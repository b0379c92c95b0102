"""Real tables to measure estimates on, from the folder that `DISCREET_DATA` names; see its README.

SAL, OCC    the census tables of Xiao and Tao (2006), with their first five quasi-identifiers; l = 10
Adult       UCI Adult; occupation has 15 values, the largest share is 12.6 %, so l = 7 is the largest; l = 5
ACS         American Community Survey 2018; income has 8,870 different values, l = 10
jobs        the same people; occupation has 529 different values, l = 10
unrelated   OCC with its occupations shuffled: nothing can be learned of them
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

CENSUS = ("age", "gender", "education", "marital", "race")


@dataclass(frozen=True)
class Source:
    """A file of the data folder, and what is published of it."""

    file: str
    quasi: tuple[str, ...]
    sensitive: str
    l: int
    rows: int | None = None
    shuffled: bool = False


ADULT = ("age", "education", "marital_status", "race", "sex")
ACS = ("Age", "Education", "Marital Status", "Gender", "Race")
INCOME, OCCUPATION = "acs-income-2018/acs_income_2018.parquet", "census-anatomy/occ100k.parquet"
SOURCES = {
    "SAL": Source("census-anatomy/sal500k.parquet", CENSUS, "salary_class", 10, rows=300_000),
    "OCC": Source(OCCUPATION, CENSUS, "occupation", 10),
    "Adult": Source("adult/adult_all.parquet", ADULT, "occupation", 5),
    "ACS": Source(INCOME, ACS, "Income", 10),
    "jobs": Source(INCOME, ACS, "Occupation", 10),
    "unrelated": Source(OCCUPATION, CENSUS, "occupation", 10, shuffled=True),
}


@dataclass(frozen=True)
class Private:
    """A table with the codes of its columns, the sensitive one last; codes follow the order of values."""

    name: str
    source: Source
    table: pa.Table
    domains: tuple[pa.Array, ...]
    codes: npt.NDArray[np.uint16]  # columns x rows

    @property
    def rows(self) -> int:
        return len(self.table)

    @cached_property
    def different(self) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int64]]:
        """Rows that differ from each other, and how many people each stands for."""
        rows, people = np.unique(self.codes, axis=1, return_counts=True)
        return rows, people


def private(name: str, rows: int | None = None) -> Private:
    """A table of `SOURCES`, perhaps only so many of its rows, drawn at random."""
    source, chance = SOURCES[name], np.random.default_rng(2006)
    folder = os.environ.get("DISCREET_DATA")
    if folder is None:
        raise SystemExit("set DISCREET_DATA to the folder with the real tables")
    table = pq.read_table(Path(folder) / source.file, columns=[*source.quasi, source.sensitive])
    wanted = min(rows or len(table), source.rows or len(table))
    if wanted < len(table):
        table = table.take(np.sort(chance.choice(len(table), wanted, replace=False)))
    if source.shuffled:
        mixed = table[source.sensitive].take(chance.permutation(len(table)))
        table = table.set_column(table.num_columns - 1, source.sensitive, mixed)
    domains = tuple(_domain(column) for column in table.columns)
    codes = np.stack([coded(column, domain) for column, domain in zip(table.columns, domains, strict=True)])
    return Private(name, source, table, domains, codes)


def coded(column: Any, domain: pa.Array) -> npt.NDArray[np.uint16]:
    """The place of every value in its domain."""
    found = pc.index_in(column.cast(domain.type), value_set=domain)
    if found.null_count:
        raise ValueError("a value is not in its domain")
    return np.asarray(found, np.uint16)


def _domain(column: pa.ChunkedArray) -> pa.Array:
    values = pc.unique(column)
    return values.take(pc.sort_indices(values))
