"""Publish 10,000 people together with a public table of a million, against publishing them alone.

The join may take ten times as long as the plain algorithm, beside the time to read the public table's columns.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from measure import verdict

QUASI = ("age", "income", "famsize", "education")
PRIVATE, K, TIMES, LIMIT = 10_000, 50, 3, 10


def people(rows: int) -> pa.Table:
    """Skewed and correlated, as in the census."""
    chance = np.random.default_rng(9)
    age = np.clip(chance.gamma(6, 7, rows), 0, 93).astype(np.int32)
    education = np.clip(chance.normal(11 - np.abs(age - 35) / 12, 3), 0, 17).astype(np.int32)
    income = np.minimum(chance.lognormal(9 + education / 12, 0.9).astype(np.int32) // 10 * 10, 1_000_000)
    size = np.minimum(chance.geometric(0.35, rows), 21).astype(np.int32)
    columns = dict(zip(QUASI, (age, income, size, education), strict=True))
    return pa.table({"id": np.arange(rows), **columns, "illness": chance.integers(0, 50, rows)})


def seconds(act: Callable[[Path], object]) -> float:
    taken = []
    for _ in range(TIMES + 1):  # the first is a warm-up
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            act(Path(folder) / "release")
            taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:])


def main(rows: int) -> None:
    everybody = people(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "public.parquet"
        pq.write_table(everybody.drop_columns(["illness"]), path)
        private = everybody.slice(0, PRIVATE)

        def read(_: Path) -> None:
            with discreet.read(path) as public:
                public.engine.run(public.select(["id", *QUASI]))

        reading = seconds(read)
        print(f"{PRIVATE:,} private rows, {rows:,} public ones, read in {reading:.2f} s; medians of {TIMES}")
        for partition in ("mondrian", "topdown"):
            policy = {
                "identifiers": ["id"],
                "quasi": QUASI,
                "sensitive": "illness",
                "guarantee": {"k": K},
                "partition": partition,
            }
            alone = discreet.Policy(publication="generalization", **policy)
            plain = seconds(lambda to, alone=alone: discreet.publish(private, alone, to=to))
            print(f"\n{partition}: alone {plain:.2f} s")
            for variant in ("direct", "refinement"):
                joint = discreet.Policy(publication="join", join="id", options={"variant": variant}, **policy)
                taken = seconds(lambda to, joint=joint: discreet.publish(private, joint, public=path, to=to))
                print(f"{variant:10} {taken:6.2f} s, less reading   {verdict((taken - reading) / plain, LIMIT)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
