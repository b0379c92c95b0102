"""Ask a (k,e)-anonymous permutation of 10 million rows, against the same aggregate on the original table.

Both are warm in DuckDB; the range condition takes about a quarter of the rows. Values repeat (whole numbers) or
never do (floats).
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import discreet
from ask import TIMES, milliseconds
from discreet.publication.publish import publish_groups
from measure import verdict

QUESTIONS = ("SUM", "AVG")
LIMITS = {100: 2, 10_000: 4}


def values(rows: int, kind: str) -> np.ndarray:
    drawn = np.random.default_rng(3).lognormal(10, 1, rows)
    if kind == "whole numbers":
        return np.rint(drawn).astype(np.int64) // 100 * 100
    return drawn - np.median(drawn) if kind == "floats of mixed sign" else drawn


def contiguous(rows: int, groups: int) -> np.ndarray:
    """The group of the i-th smallest value: of neighbours, dealt further where more than 100 groups are wanted."""
    blocks = np.arange(rows) * 100 // rows
    return blocks * (groups // 100) + np.arange(rows) % (groups // 100)


def main(rows: int) -> None:
    ages = np.random.default_rng(2).integers(17, 95, rows).astype(np.int32)
    print(f"{rows:,} rows, median of {TIMES}")
    for kind in ("whole numbers", "floats", "floats of mixed sign"):
        table = pa.table({"age": ages, "salary": values(rows, kind)})
        original = duckdb.connect()
        original.register("table_", table)
        original.execute("CREATE TABLE microdata AS FROM table_").fetchall()
        for groups, limit in LIMITS.items():
            ask(original, table, kind, groups, limit)
        original.close()


def ask(original: duckdb.DuckDBPyConnection, table: pa.Table, kind: str, groups: int, limit: float) -> None:
    """Publish with so many contiguous groups; time opening and asking."""
    policy = discreet.Policy(
        quasi=["age"], sensitive="salary", guarantee={"k": 2, "e": 0}, publication="permutation", partition="min_sum"
    )
    with tempfile.TemporaryDirectory() as folder, discreet.read(table) as private:
        codes = private.codes("salary")
        of_row = np.empty(len(table), np.int32)
        of_row[np.argsort(codes.codes, kind="stable")] = contiguous(len(table), groups)
        release = publish_groups(private, policy, codes, of_row, to=Path(folder) / "release")
        start = time.perf_counter()
        session = release.session
        opened = time.perf_counter() - start
        session.ask("SELECT SUM(salary) FROM microdata")
        print(f"\n{groups:,} groups of {kind}, opened in {opened:.1f} s")
        for function in QUESTIONS:
            sql = f"SELECT {function}(salary) FROM microdata WHERE age BETWEEN {{}} AND 40"
            base, taken = milliseconds(
                lambda turn, sql=sql: original.execute(sql.format(20 + turn)).fetchall(),
                lambda turn, sql=sql: session.ask(sql.format(20 + turn)),
            )
            print(f"{function:4} {base:8.1f} ms {taken:8.1f} ms   {verdict(taken / base, limit)}")
        release.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
