"""Append 1,000 rows to a vault of 10,000, and to one of a million: the second may take three times as long.

The cost of an append must grow with its rows and the groups they touch, not with the vault. What a release costs is
printed beside it. Appends follow each other without a release between, which is dearer for the small vault: groups that
were not released yet are made anew. With a release before each, the ratio is higher.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa

import discreet
from discreet.table.people import people
from measure import verdict

SMALL, INCREMENT, TIMES, LIMIT = 10_000, 1_000, 7, 3
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
    taken: dict[int, list[float]] = {SMALL: [], rows: []}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        vaults = {size: stack.enter_context(filled(everybody, size, Path(folder))) for size in taken}
        for at in range(TIMES + 1):  # the first is a warm-up; by turns, so that both meet the same machine
            for size, vault in vaults.items():
                more = everybody.slice(size + at * INCREMENT, INCREMENT)
                start = time.perf_counter()
                vault.append(more)
                taken[size].append(time.perf_counter() - start)
        middle = {size: statistics.median(seconds[1:]) for size, seconds in taken.items()}
        print(f"\n{INCREMENT:,} rows more, medians of {TIMES}; then a release")
        for size, vault in vaults.items():
            start = time.perf_counter()
            vault.release(Path(folder) / f"{size}-1")
            released, waiting = time.perf_counter() - start, vault.status().waiting.rows
            print(f"{size:>10,} rows  {middle[size] * 1e3:6.0f} ms  release {released:5.1f} s  {waiting:,} rows wait")
    print(f"{'the larger one':>15}  {verdict(middle[rows] / middle[SMALL], LIMIT)}")


def filled(everybody: pa.Table, size: int, folder: Path) -> discreet.Vault:
    """A vault of so many rows that has been released."""
    vault = discreet.Vault.create(folder / f"vault of {size}", POLICY)
    start = time.perf_counter()
    vault.append(everybody.slice(0, size))
    middle = time.perf_counter()
    vault.release(folder / f"{size}-0")
    end = time.perf_counter()
    print(f"{size:>10,} rows  taken in in {middle - start:.1f} s, released in {end - middle:.1f} s")
    return vault


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
