"""Publish 10 million rows, Parquet to release, against copying the same file in random order."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb

import discreet
from data import QUASI, SENSITIVE, table
from measure import cost, verdict

LIMITS = {"deal": 3, "anatomize": 3, "local": 10}
GIGABYTES = 4


def copy(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        columns = ", ".join([*QUASI, SENSITIVE])
        source, target = f"read_parquet('{path}')", f"{folder}/copy.parquet"
        connection = duckdb.connect()
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY (SELECT * FROM {source} ORDER BY hash({columns})) TO '{target}' (FORMAT parquet)")


def publish(path: Path, partition: str) -> None:
    policy = discreet.Policy(quasi=QUASI, sensitive=SENSITIVE, guarantee={"l": 10}, partition=partition)
    with tempfile.TemporaryDirectory() as folder:
        discreet.publish(path, policy, to=Path(folder) / "release")


def main(rows: int) -> None:
    path, small = table(rows), table(100_000)
    base = cost(copy, path, warm_up=(small,))
    print(f"{rows:,} rows; DuckDB copies them in random order in {base.seconds:.2f} s, {base.gigabytes:.2f} GB\n")
    print("partition   seconds   times the copy                 peak GB")
    for partition, limit in LIMITS.items():
        taken = cost(publish, path, partition, warm_up=(small, partition))
        ratio = verdict(taken.seconds / base.seconds, limit)
        print(f"{partition:10} {taken.seconds:8.2f}   {ratio:28} {verdict(taken.gigabytes, GIGABYTES)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
