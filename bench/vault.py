"""Append 1,000 rows to a vault of 10,000, and to one of a million: the second may take three times as long.

The cost of an append must grow with its rows and the groups they touch, not with the vault. What a release costs is
printed beside it.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa

import discreet
from discreet.table.people import people
from measure import verdict

SMALL, INCREMENT, TIMES, LIMIT = 10_000, 1_000, 5, 3
POLICY = discreet.Policy(
    identifiers=["name"],
    quasi=["age", "sex", "zipcode", "education", "marital_status", "country"],
    sensitive="diagnosis",
    drop=["salary"],
    publication="generalization",
    guarantee={"l": 5},
)


def main(rows: int) -> None:
    everybody = people(rows + (TIMES + 1) * INCREMENT, seed=11)
    with tempfile.TemporaryDirectory() as folder:
        small, large = (per_increment(everybody, size, Path(folder)) for size in (SMALL, rows))
    print(f"\n{'a larger vault':20} {'':8}   {verdict(large / small, LIMIT)}")


def per_increment(everybody: pa.Table, size: int, folder: Path) -> float:
    """The seconds that the median append takes, with a release before each."""
    with discreet.Vault.create(folder / f"vault of {size}", POLICY) as vault:
        start = time.perf_counter()
        vault.append(everybody.slice(0, size))
        filled = time.perf_counter()
        print(f"{size:,} rows: taken in in {filled - start:.1f} s", end="", flush=True)
        vault.release(folder / f"{size}-0")
        print(f", first released in {time.perf_counter() - filled:.1f} s")
        taken = []
        for at in range(TIMES + 1):  # the first is a warm-up
            more = everybody.slice(size + at * INCREMENT, INCREMENT)
            start = time.perf_counter()
            vault.append(more)
            taken.append(time.perf_counter() - start)
        start = time.perf_counter()
        vault.release(folder / f"{size}-1")
        released = time.perf_counter() - start
        waiting = vault.status().waiting.rows
    middle = statistics.median(taken[1:])
    print(f"  {INCREMENT:,} more: {middle * 1e3:6.0f} ms, the median of {TIMES}; a release after them {released:.1f} s")
    print(f"  {waiting:,} rows wait")
    return middle


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
