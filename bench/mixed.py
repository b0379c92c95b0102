"""How well groups can be told apart by the values they hold: `deal` and `anatomize` against rounds of `mixed`.

Printed are the smallest and the median eigenvalue of D^(-1/2) N'N D^(-1/2), where N counts the values of each group and
D those of the table, l = 10. The census tables of the Anatomy paper lie in the folder that $DISCREET_DATA names.
With a number of rows, `mixed` is timed against `deal` on the table of `data.py` instead: plans and rows' groups.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import data
from discreet.guarantees import Guarantee
from discreet.partition import PARTITIONS
from discreet.values.codes import encode
from discreet.values.random import RandomSource
from measure import seconds, verdict

TABLES = {"OCC": ("occ100k.parquet", "occupation", 100_000), "SAL": ("sal500k.parquet", "salary_class", 300_000)}
L, ROUNDS, LIMIT = 10, (1, 2, 3, 6, 10, 20), 15
Codes = npt.NDArray[np.int32]


def groups(sensitive: Codes, partition: str, **options: int) -> Codes:
    guarantee = Guarantee.of({"l": L}, None, None, None)
    return PARTITIONS[partition].assign([], sensitive, guarantee, RandomSource(1), options)


def spectrum(sensitive: Codes, groups: Codes) -> npt.NDArray[np.float64]:
    """The eigenvalues, ascending."""
    counts = np.zeros((int(groups.max()) + 1, int(sensitive.max()) + 1))
    np.add.at(counts, (groups, sensitive), 1)
    scaled = counts / np.sqrt(counts.sum(axis=0))
    return np.linalg.eigvalsh(scaled.T @ scaled)


def eigenvalues() -> None:
    home = Path(os.environ["DISCREET_DATA"]) / "census-anatomy"
    for name, (file, column, rows) in TABLES.items():
        sensitive = encode(pq.read_table(home / file, columns=[column])[column].slice(0, rows)).codes
        print(f"{name}, {rows:,} rows, l = {L}: smallest and median eigenvalue")
        ways = [("deal", {}), ("anatomize", {}), *(("mixed", {"rounds": rounds}) for rounds in ROUNDS)]
        for partition, options in ways:
            found = spectrum(sensitive, groups(sensitive, partition, **options))
            title = " ".join([partition, *(f"{value} {key}" for key, value in options.items())])
            print(f"  {title:18} {abs(found[0]):.3f}   {np.median(found):.3f}")


def times(rows: int) -> None:
    sensitive = encode(pq.read_table(data.table(rows), columns=[data.SENSITIVE])[data.SENSITIVE]).codes
    groups(sensitive[:1000], "mixed")  # compiles
    dealt, mixed = seconds(lambda: groups(sensitive, "deal"), lambda: groups(sensitive, "mixed"))
    print(f"{rows:,} rows: deal {dealt:.2f} s, mixed {mixed:.2f} s   times deal {verdict(mixed / dealt, LIMIT)}")


if __name__ == "__main__":
    times(int(sys.argv[1])) if len(sys.argv) > 1 else eigenvalues()
