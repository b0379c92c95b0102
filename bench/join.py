"""Publish 10,000 people together with a public table of a million, against publishing them alone.

The join may take ten times as long as the plain algorithm, beside the time to read the public table's columns.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from measure import seconds, verdict

QUASI = ("age", "income", "famsize", "education")
VARIANTS = ("direct", "refinement")
PRIVATE, K, TIMES, LIMIT = 10_000, 50, 5, 10


def people(rows: int) -> pa.Table:
    """Skewed and correlated, as in the census."""
    chance = np.random.default_rng(9)
    age = np.clip(chance.gamma(6, 7, rows), 0, 93).astype(np.int32)
    education = np.clip(chance.normal(11 - np.abs(age - 35) / 12, 3), 0, 17).astype(np.int32)
    income = np.minimum(chance.lognormal(9 + education / 12, 0.9).astype(np.int32) // 10 * 10, 1_000_000)
    size = np.minimum(chance.geometric(0.35, rows), 21).astype(np.int32)
    columns = dict(zip(QUASI, (age, income, size, education), strict=True))
    return pa.table({"id": np.arange(rows), **columns, "illness": chance.integers(0, 50, rows)})


def main(rows: int) -> None:
    everybody, private = people(rows), people(rows).slice(0, PRIVATE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "public.parquet"
        pq.write_table(everybody.drop_columns(["illness"]), path)

        def read() -> None:
            with discreet.read(path) as public:
                public.engine.run(public.select(["id", *QUASI]))

        def publish(partition: str, variant: str | None) -> None:
            joint = {"publication": "join", "join": "id", "options": {"variant": variant}}
            policy = discreet.Policy(
                identifiers=["id"],
                quasi=QUASI,
                sensitive="illness",
                guarantee={"k": K},
                partition=partition,
                **({"publication": "generalization"} if variant is None else joint),
            )
            with tempfile.TemporaryDirectory() as to:
                discreet.publish(private, policy, public=path if variant else None, to=Path(to) / "release")

        print(f"{PRIVATE:,} private rows, {rows:,} public ones; medians of {TIMES}, in turns")
        for partition in ("mondrian", "topdown"):
            acts = [partial(publish, partition, variant) for variant in (None, *VARIANTS)]
            reading, alone, *taken = seconds(read, *acts, times=TIMES, warm_up=True)
            print(f"\n{partition}: alone {alone:.2f} s, reading the public table {reading:.2f} s")
            for variant, own in zip(VARIANTS, taken, strict=True):
                print(f"{variant:10} {own:6.2f} s, less reading   {verdict((own - reading) / alone, LIMIT)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
